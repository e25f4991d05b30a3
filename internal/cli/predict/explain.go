package predict

import (
	"cmp"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"runtime"
	"sort"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/mat"

	"newtop/internal/cli/flags"
	"newtop/internal/cli/launch"
	"newtop/internal/cli/print"
	"newtop/internal/score"
	"newtop/models/modelfile"
)

// explainFlags are those of newtop explain.
type explainFlags struct {
	rowFlags
	format  string
	repeats int
	seed    uint64
}

// NewExplain returns newtop explain.
func NewExplain() *cobra.Command {
	var f explainFlags
	cmd := &cobra.Command{
		Use:   "explain MODEL [DATA]",
		Short: "Show what each column contributes to a saved model",
		Long: `Show what each column contributes to a saved model or a recorded run, by its
permutation importance: how much the error on rows with known targets rises when
the values of the column are permuted among the rows. MODEL and DATA are as in
newtop predict. The measure is the log loss of classes, or the RMSE in the units
of the data. Columns with the same information all appear unimportant.`,
		Example: `newtop explain last
newtop explain price.safetensors houses.csv --repeats 20 --format csv`,
		Args: flags.Arguments(
			1, 2, "a saved model or a recorded run, and a CSV file, - or a data set's name"),
		ValidArgsFunction: complete,
		RunE:              func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	set := cmd.Flags()
	set.SortFlags = false
	set.StringVar(&f.format, "format", "text", "text, csv or json")
	flags.Choices(cmd, "format", "text", "csv", "json")
	set.IntVar(&f.repeats, "repeats", 5, "how often each column is permuted, `N` times")
	set.Uint64Var(&f.seed, "seed", 1, "seed `N` of the permutations")
	f.add(cmd, "target `COLUMN`; empty: the model's")
	return cmd
}

func (f *explainFlags) run(cmd *cobra.Command, args []string) error {
	if err := flags.OneOf("--format", f.format, "text", "csv", "json"); err != nil {
		return err
	}
	if f.repeats < 1 {
		return flags.Invalid("--repeats", strconv.Itoa(f.repeats), "a number of permutations ≥ 1")
	}
	m, source, err := f.openBoth(cmd, args)
	if err != nil {
		return err
	}
	defer source.Close()
	if !source.truthful() {
		return fmt.Errorf("%s: found no column with the target, expected one to compare with", args[len(args)-1])
	}
	x, err := launch.Until(cmd.Context(), func() (*explanation, error) { return f.explain(cmd.Context(), m, source) })
	if err != nil {
		return err
	}
	printNotes(cmd, source)
	switch f.format {
	case "json":
		return print.JSON(cmd.OutOrStdout(), x)
	case "csv":
		return x.csv(cmd.OutOrStdout())
	}
	return x.text(cmd.OutOrStdout())
}

// explanation is what newtop explain --format json prints.
type explanation struct {
	Rows    int      `json:"rows"`
	Measure string   `json:"measure"` // "log loss", "error" or "RMSE"
	Value   float64  `json:"value"`
	Error   *float64 `json:"error,omitempty"` // of classes, as a fraction
	Repeats int      `json:"repeats"`
	Seed    uint64   `json:"seed"`
	Columns []worth  `json:"columns"` // the greatest importance first
}

// worth is what a column is worth.
type worth struct {
	Name    string   `json:"name"`
	Rise    float64  `json:"importance"` // mean rise of the measure
	Spread  float64  `json:"sd"`         // over the permutations
	Error   *float64 `json:"error_rise,omitempty"`
	ErrorSD *float64 `json:"error_sd,omitempty"`
}

// explain reads the rows and permutes them.
func (f *explainFlags) explain(ctx context.Context, m *modelfile.Model, source rowSource) (*explanation, error) {
	inputs, targets, err := readAll(m, source)
	if err != nil {
		return nil, err
	}
	rows := len(targets) / len(m.Outputs)
	if rows < 2 {
		return nil, fmt.Errorf("found %s with a target, expected at least 2 to permute", print.Count(rows, "row"))
	}
	p := score.Permutation{
		Kind: kindOf(m), X: mat.NewDense(rows, len(m.Inputs), inputs), T: mat.NewDense(rows, len(m.Outputs), targets),
		Groups: groups(m), Repeats: f.repeats, Seed: f.seed, Threads: runtime.GOMAXPROCS(0),
		OutputsTo: m.OutputsTo,
	}
	m.ScaleTo(p.X, p.X)
	list, value, wrong, err := p.Importances(ctx.Err)
	if err != nil {
		return nil, err
	}
	x := &explanation{Rows: rows, Measure: p.Measure(), Value: value, Repeats: f.repeats, Seed: f.seed}
	if m.Classes != nil {
		x.Error = &wrong
	}
	for i := range list {
		w := worth{Name: list[i].Name, Rise: list[i].Rise, Spread: list[i].Spread}
		if m.Classes != nil {
			w.Error, w.ErrorSD = &list[i].Error, &list[i].ErrorSD
		}
		x.Columns = append(x.Columns, w)
	}
	sort.SliceStable(x.Columns, func(i, j int) bool { return cmp.Less(x.Columns[j].Rise, x.Columns[i].Rise) })
	return x, nil
}

// readAll returns the raw inputs of all rows whose targets are known, and what the network is trained to put out for
// them, row by row.
func readAll(m *modelfile.Model, source rowSource) (inputs, targets []float64, err error) {
	raw, target := make([]float64, len(m.Inputs)), make([]float64, len(m.Outputs))
	for {
		t, err := source.read(raw)
		switch {
		case err == io.EOF:
			return inputs, targets, nil
		case err != nil:
			return nil, nil, err
		case t.known:
			t.targetTo(target, m)
			inputs, targets = append(inputs, raw...), append(targets, target...)
		}
	}
}

// groups returns the columns of the table that the model was trained on, each with the inputs that it becomes, or each
// input where there was none.
func groups(m *modelfile.Model) (list []score.Group) {
	at := 0
	for i := range m.Table {
		n := m.Table[i].Inputs()
		if n == 0 {
			continue // it was left out
		}
		list = append(list, score.Group{Name: m.Table[i].Name, First: at, Last: at + n})
		at += n
	}
	for ; at < len(m.Inputs); at++ {
		list = append(list, score.Group{Name: m.Inputs[at].Name, First: at, Last: at + 1})
	}
	return list
}

func (x *explanation) csv(out io.Writer) error {
	w := csv.NewWriter(out)
	head := []string{"column", "importance", "sd"}
	if x.Error != nil {
		head = append(head, "error_rise", "error_sd")
	}
	w.Write(head) // Error returns what fails
	for _, c := range x.Columns {
		row := []string{c.Name}
		for _, v := range []*float64{&c.Rise, &c.Spread, c.Error, c.ErrorSD} {
			if v != nil {
				row = append(row, strconv.FormatFloat(*v, 'g', 6, 64))
			}
		}
		w.Write(row)
	}
	w.Flush()
	return w.Error()
}

const (
	maxBars    = 100 // columns that are shown
	maxBarName = 24  // columns of the terminal for a name
	minBar     = 8
	maxBar     = 40
)

// text draws a bar for each column, the longest first.
func (x *explanation) text(out io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %s %.4g", print.Count(x.Rows, "row"), x.Measure, x.Value)
	if x.Error != nil && x.Measure != "error" {
		fmt.Fprintf(&b, ", error %.2f %%", 100**x.Error)
	}
	fmt.Fprintf(&b, "; rise of the %s when a column is permuted", x.Measure)
	if x.Repeats > 1 {
		fmt.Fprintf(&b, ", mean ± standard deviation of %d", x.Repeats)
	}
	width := cmp.Or(print.Width(out), print.TextWidth)
	text := strings.Join(print.Wrapped(b.String(), width), "\n") + "\n"
	shown := x.Columns[:min(len(x.Columns), maxBars)]
	name, figures := 0, 0
	var names, beside []string
	for i := range shown {
		names = append(names, ansi.Truncate(print.Printable(shown[i].Name), maxBarName, "…"))
		beside = append(beside, x.metrics(&shown[i]))
		name, figures = max(name, ansi.StringWidth(names[i])), max(figures, ansi.StringWidth(beside[i]))
	}
	room := min(max(width-name-figures-4, minBar), maxBar)
	for i := range shown {
		part := 0.0
		if top := shown[0].Rise; top > 0 {
			part = max(shown[i].Rise/top, 0)
		}
		text += strings.TrimRight(pad(names[i], name)+"  "+pad(bar(part, room), room)+"  "+beside[i], " ") + "\n"
	}
	if more := len(x.Columns) - len(shown); more > 0 {
		text += fmt.Sprintf("these are the first %d of %d inputs by importance: --format csv has all\n", len(shown),
			len(x.Columns))
	}
	_, err := io.WriteString(out, text)
	return err
}

// metrics writes what a column is worth.
func (x *explanation) metrics(w *worth) string {
	text := fmt.Sprintf("%.3g", w.Rise)
	if x.Repeats > 1 {
		text += fmt.Sprintf(" ± %.1g", w.Spread)
	}
	if w.Error != nil && x.Measure != "error" {
		text = fmt.Sprintf("%-18s error %+.2f %%", text, math.Round(1e4**w.Error)/100+0) // −0 becomes 0
	}
	return text
}

// bar draws a part of that many columns, to an eighth of one.
func bar(part float64, columns int) string {
	eighths := int(part*float64(columns)*8 + 0.5)
	text := strings.Repeat("█", eighths/8)
	if rest := eighths % 8; rest > 0 {
		text += string([]rune(" ▏▎▍▌▋▊▉")[rest])
	}
	return text
}

func pad(text string, width int) string {
	return text + strings.Repeat(" ", max(width-ansi.StringWidth(text), 0))
}
