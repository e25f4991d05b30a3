package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"

	"newtop/datasets/survey"
	"newtop/internal/cli/flags"
	"newtop/internal/cli/job"
	"newtop/internal/cli/launch"
	"newtop/internal/cli/print"
	"newtop/internal/filelock"
	"newtop/internal/format"
	"newtop/trainer"
)

// dataShow is what the command line of newtop data show says.
type dataShow struct {
	run    flags.Run
	format string
	all    bool
}

func newDataShow(dir *string) *cobra.Command {
	var s dataShow
	cmd := &cobra.Command{
		Use: "show NAME|FILE|-", Short: "Describe a data set, and how the columns of a table are read",
		Long: `Describe a data set: what its columns contain, which inputs of a network they
become, which are left out and why, which may leak the target, how many rows
there are for training, validation and test, and how frequent each class is.

ALONE is how well a column alone predicts the target, on rows that the rule was
not fitted to: the share of the variance that it explains, or the share that it
avoids of the errors of guessing the most frequent class. A mark from 90 % on
warns of a column that may be made from the target and unknown when you predict.`,
		Example: `  newtop data show table.csv --target price
  newtop data show letter
  newtop data show table.csv --format json | jq '.columns[].name'`,
		Args: flags.OneArgument("a data set's name or a table's file"), ValidArgsFunction: flags.First(flags.DataSets),
		RunE: func(cmd *cobra.Command, args []string) error { return s.show(cmd, args[0], *dir) },
	}
	s.run.AddData(cmd)
	cmd.Flags().BoolVar(&s.all, "all", false, "list all columns")
	cmd.Flags().StringVar(&s.format, "format", "text", "text, or json: one object")
	flags.Choices(cmd, "format", "text", "json")
	flags.Under(flags.Output, cmd.Flags(), "all", "format")
	return cmd
}

func (s *dataShow) show(cmd *cobra.Command, name, dir string) error {
	if err := flags.OneOf("--format", s.format, "text", "json"); err != nil {
		return err
	}
	config, err := s.run.DataConfig(cmd)
	if err != nil {
		return err
	}
	config.Data, config.DataDir = name, dir
	if name == job.StandardInput {
		temporary, err := filelock.TempDir("")
		if err != nil {
			return err
		}
		defer filelock.RemoveDir(temporary)
		if config.Data, err = job.SaveInput(cmd, temporary); err != nil {
			return err
		}
	}
	found, err := launch.Until(cmd.Context(), func() (*survey.Survey, error) { return surveyOf(&config) })
	if err != nil {
		return err
	}
	if s.format == "json" {
		e := json.NewEncoder(cmd.OutOrStdout())
		e.SetIndent("", "  ")
		e.SetEscapeHTML(false)
		return e.Encode(found)
	}
	width := cmp.Or(print.Width(cmd.OutOrStdout()), 120)
	_, err = io.WriteString(cmd.OutOrStdout(), surveyText(found, width, s.all))
	return err
}

func surveyOf(c *trainer.Config) (*survey.Survey, error) {
	d, err := trainer.LoadData(c)
	if err != nil {
		return nil, err
	}
	return survey.Of(d), nil
}

// surveyText writes a survey for a terminal of that many columns.
func surveyText(s *survey.Survey, width int, all bool) string {
	var b strings.Builder
	line := func(text string) {
		b.WriteString(strings.Join(print.Wrapped(print.Printable(text), width), "\n") + "\n")
	}
	line(s.Title)
	line(fmt.Sprintf("%s, scaled: %s; %s", format.Counted(s.Inputs, "input"), s.Scaling,
		format.Counted(s.Outputs, "output")))
	if s.Repeated > 0 {
		line(fmt.Sprintf("repeated rows: %s, %s of them in the test rows", format.Count(s.Repeated),
			format.Count(s.Seen)))
	}
	if len(s.Features) > 0 {
		line("features for the gates of a mixture: " + strings.Join(s.Features, ", "))
	}
	b.WriteString("\n")
	b.WriteString(columnTable(s, width, all))
	if text := classText(s); text != "" {
		b.WriteString("\n")
		line(text)
	}
	var leaks []string
	for i := range s.Columns {
		if c := &s.Columns[i]; c.Leak {
			leaks = append(
				leaks, fmt.Sprintf(
					"%s predicts the target alone (%s): is it known before the target? --table drop=%s leaves it "+
						"out", c.Name,
					share(*c.Alone), format.Quote(c.Name)))
		}
	}
	if notes := slices.Concat(leaks, s.Notes); len(notes) > 0 {
		b.WriteString("\n")
		for _, note := range notes {
			line(note)
		}
	}
	return b.String()
}

// share writes a share in per cent, down so that not all is said to be all.
func share(v float64) string {
	text := strconv.FormatFloat(float64(int(1000*v))/10, 'f', 1, 64)
	return strings.TrimSuffix(text, ".0") + " %"
}

// classText says how often classes are there.
func classText(s *survey.Survey) string {
	if len(s.Classes) == 0 {
		return ""
	}
	low, high, total := s.Classes[0], s.Classes[0], 0
	var each []string
	for _, c := range s.Classes {
		total += c.Rows
		if c.Rows < low.Rows {
			low = c
		}
		if c.Rows > high.Rows {
			high = c
		}
	}
	for _, c := range s.Classes {
		each = append(each, fmt.Sprintf("%s %s", c.Word, share(float64(c.Rows)/float64(total))))
	}
	switch {
	case low.Rows == high.Rows:
		each = []string{format.Count(low.Rows) + " rows each"}
	case len(each) > 6:
		each = []string{fmt.Sprintf("from %s rows (%s) to %s (%s)", format.Count(low.Rows), low.Word,
			format.Count(high.Rows), high.Word)}
	}
	text := print.CountOf(len(s.Classes), "class", "classes") + ": " + strings.Join(each, ", ")
	if high.Rows >= 3*low.Rows {
		text += "; --set class-weights=balanced gives all classes the same weight"
	}
	return text
}

// Of a set with more columns than manyColumns, more than fewLike in a row that are alike are three lines.
const (
	manyColumns = 60
	fewLike     = 3
	maxName     = 24 // columns of the terminal for a name
)

// columnTable lists the columns.
func columnTable(s *survey.Survey, width int, all bool) string {
	table := print.Table{Headers: []string{"COLUMN", "TYPE", ">MISSING", ">DISTINCT", ">INPUTS", ">ALONE", "VALUES"}}
	for i := 0; i < len(s.Columns); {
		c := &s.Columns[i]
		n := 1
		for i+n < len(s.Columns) && alike(c, &s.Columns[i+n]) {
			n++
		}
		if all || len(s.Columns) <= manyColumns || n <= fewLike {
			n = 1
			table.Rows = append(table.Rows, columnRow(c))
		} else {
			table.Rows = append(table.Rows, columnRow(c), alikeRow(s.Columns[i+1:i+n-1]), columnRow(&s.Columns[i+n-1]))
		}
		i += n
	}
	var whole, cut strings.Builder
	table.Print(&whole)
	for line := range strings.Lines(whole.String()) {
		cut.WriteString(ansi.Truncate(strings.TrimSuffix(line, "\n"), width, "…") + "\n")
	}
	return cut.String()
}

// alike reports whether nothing of two columns must be distinguished: they are numbers, none of them is missing, and
// they are used or, as the margins of images, have one value.
func alike(a, b *survey.Column) bool {
	plain := func(c *survey.Column) bool {
		return !c.Target && !c.Leak && c.Missing == 0 && c.Frequent == nil && (c.LeftOut == "" || c.Distinct == 1)
	}
	return plain(a) && plain(b) && (a.Type == b.Type || a.Distinct == 1 || b.Distinct == 1)
}

// alikeRow stands for columns that are alike.
func alikeRow(columns []survey.Column) []string {
	low, high, inputs := math.Inf(1), math.Inf(-1), 0
	for i := range columns {
		if c := &columns[i]; c.Min != nil {
			low, high = min(low, *c.Min), max(high, *c.Max)
		}
		inputs += len(columns[i].Inputs)
	}
	row := []string{fmt.Sprintf("… %s alike", format.Count(len(columns))), "", "", "", format.Count(inputs), "", ""}
	if low < high {
		row[6] = values(nil, number(low)+" … "+number(high))
	}
	return row
}

func columnRow(c *survey.Column) []string {
	row := []string{ansi.Truncate(print.Printable(c.Name), maxName, "…"), c.Type, "", "", strconv.Itoa(len(c.Inputs)),
		"", ""}
	switch {
	case c.Target:
		row[4] = "target"
	case c.LeftOut != "":
		row[4] = "none"
	}
	if c.Missing > 0 {
		row[2] = format.Count(c.Missing)
	}
	if c.Distinct > 0 {
		row[3] = format.Count(c.Distinct)
		if c.AtLeast {
			row[3] = "≥ " + row[3]
		}
	}
	if c.Alone != nil {
		row[5] = fmt.Sprintf("%d %%", int(100**c.Alone))
		if c.Leak {
			row[5] = "! " + row[5]
		}
	}
	switch {
	case c.LeftOut != "":
		row[6] = "left out: " + c.LeftOut
	case c.Min != nil && *c.Min == *c.Max:
		row[6] = values(c.Histogram, number(*c.Min))
	case c.Min != nil:
		row[6] = values(c.Histogram, fmt.Sprintf("%s … %s … %s", number(*c.Min), number(*c.Median), number(*c.Max)))
	default:
		var words []string
		for _, w := range c.Frequent[:min(len(c.Frequent), 3)] {
			words = append(words, ansi.Truncate(print.Printable(w.Word), 14, "…"))
		}
		if len(c.Frequent) > 3 {
			words = append(words, "…")
		}
		row[6] = values(c.Histogram, strings.Join(words, ", "))
	}
	return row
}

// values puts a histogram before a text, which begins in the same place on all lines.
func values(histogram []int, text string) string {
	line := sparkline(histogram)
	return line + strings.Repeat(" ", max(survey.Bars-len(histogram), 0)+2) + text
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', 4, 64) }

// sparkline draws counts as bars of up to eight eighths; what is there at all has one.
func sparkline(counts []int) string {
	if len(counts) == 0 {
		return ""
	}
	top := max(slices.Max(counts), 1)
	var b strings.Builder
	for _, n := range counts {
		level := 0
		if n > 0 {
			level = max(1, (8*n+top/2)/top)
		}
		b.WriteRune([]rune(" ▁▂▃▄▅▆▇█")[level])
	}
	return b.String()
}
