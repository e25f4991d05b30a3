// Package bench has the commands that measure: the core, processes, peers, and the papers' tables.
package bench

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"newtop/internal/bench"
	"newtop/internal/cli/flags"
	"newtop/internal/cli/print"
)

// New returns newtop bench.
func New() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure the core, processes or peers, or the papers' tables",
		Args:  flags.NoArguments,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newBenchCore(), newBenchPeers(), newBenchTables(), newBenchRace(), newBenchScale())
	cmd.AddCommand(newBenchPapers()...)
	return cmd
}

// benchFlags are the flags of all measurements.
type benchFlags struct {
	format  string
	threads int
	quick   bool
}

func (f *benchFlags) add(cmd *cobra.Command, formats ...string) {
	set := cmd.Flags()
	set.SortFlags = false
	set.StringVar(&f.format, "format", "text", "text, or json: one JSON object")
	flags.Choices(cmd, "format", formats...)
	set.IntVar(&f.threads, "threads", 0, "threads of newtop's; 0: all cores")
	set.BoolVar(&f.quick, "quick", false, "fewer repetitions of smaller problems")
}

func (f *benchFlags) check(formats ...string) error {
	if err := flags.OneOf("--format", f.format, formats...); err != nil {
		return err
	}
	if f.threads < 0 || f.threads > bench.MostThreads {
		return flags.Wrong("--threads", f.threads, fmt.Sprintf("a whole number from 1 to %d, or 0 for all cores", bench.MostThreads))
	}
	return nil
}

// writeReport writes a report in one of the formats json, md and text.
func writeReport(out io.Writer, format string, figures any, d print.Document) (err error) {
	switch format {
	case "json":
		return writeJSON(out, figures)
	case "md":
		_, err = io.WriteString(out, d.Markdown())
	default:
		_, err = io.WriteString(out, d.Text(max(print.Width(out), print.TextWidth)))
	}
	return err
}

func writeJSON(out io.Writer, figures any) error {
	e := json.NewEncoder(out)
	e.SetIndent("", "  ")
	return e.Encode(figures)
}

// passNames are the passes of a network as tables name them.
var passNames = map[string]string{
	"gauss-newton": "Gauss–Newton product", "hessian": "Hv", "gradient+hessian": "gradient + Hv",
	"gradient-alone": "gradient alone", "diagonal": "Gauss–Newton diagonal",
}

func passName(pass string) string {
	if name := passNames[pass]; name != "" {
		return name
	}
	return pass
}

// short writes three digits, and all before the point.
func short(v float64) string {
	digits := 0
	for bound := 99.95; v < bound && digits < 3; bound /= 10 {
		digits++
	}
	return strconv.FormatFloat(v, 'f', digits, 64)
}

// bound writes a goal, and whether it holds.
func bound(g *bench.Goal) string {
	if g == nil {
		return ""
	}
	text, is := "≥ "+strconv.FormatFloat(g.AtLeast, 'g', 3, 64), "missed"
	if g.AtMost > 0 {
		text = "≤ " + strconv.FormatFloat(g.AtMost, 'g', 3, 64)
	}
	if g.Holds {
		is = "holds"
	}
	return text + " " + is
}
