// Command newtop-bench measures newtop: its core, processes, peers, and the tables of papers.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"newtop/datasets"
	"newtop/internal/bench"
	"newtop/internal/cli/flags"
	"newtop/internal/cli/launch"
	"newtop/internal/cli/print"
	"newtop/internal/format"
	"newtop/internal/kernel"
	"newtop/internal/version"
	"newtop/models/blas"
	"newtop/trainer"
	"newtop/trainer/optim/methods"
)

func main() {
	blas.Use() // as newtop does
	os.Exit(execute(os.Args[1:], os.Stdout, os.Stderr))
}

// execute runs a command and returns its exit code, one of newtop's.
func execute(args []string, stdout, stderr io.Writer) int {
	out, errs := print.NewOutput(stdout, "standard output"), print.NewOutput(stderr, "standard error")
	processes, root := launch.New(errs), newRoot()
	cmd, _, _ := root.Find(args)
	quiet := processes.Quiet(cmd)
	if quiet {
		out, errs = print.NewOutput(io.Discard, ""), print.NewOutput(io.Discard, "")
	}
	ctx, stop := processes.Context(quiet)
	defer stop()
	root.Annotations = map[string]string{flags.CommandLine: format.QuoteAll(append([]string{"newtop-bench"}, args...))}
	root.SetArgs(args)
	root.SetOut(out)
	root.SetErr(errs)
	err := kernel.Err()
	if err == nil {
		err = root.ExecuteContext(ctx)
	}
	if unwritten := out.Flush(); err == nil {
		err = unwritten
	}
	if err != nil {
		print.Report(errs, err)
	}
	errs.Flush()
	return exitCode(ctx, err)
}

func exitCode(ctx context.Context, err error) int {
	var exit *print.ExitError
	switch {
	case err == nil:
		return print.ExitDone
	case errors.As(err, &exit):
		return exit.Code
	case errors.Is(err, context.Canceled) && ctx.Err() != nil:
		return print.ExitInterrupted
	case kernel.Err() != nil, errors.As(err, new(*flags.UsageError)), errors.As(err, new(*trainer.ConfigError)),
		errors.As(err, new(*methods.UnknownError)), errors.As(err, new(*datasets.UnknownError)):
		return print.ExitUsage
	}
	return print.ExitFailed
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:               "newtop-bench",
		Short:             "Measure newtop's core, processes or peers, or the papers' tables",
		Version:           version.Program(),
		Args:              flags.NoArguments,
		RunE:              func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		SilenceErrors:     true,
		SilenceUsage:      true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
	}
	root.SetFlagErrorFunc(flags.Error)
	root.AddCommand(newBenchCore(), newBenchSide(), newBenchTables(), newBenchRace(), newBenchFair(), newBenchScale())
	root.AddCommand(newBenchPapers()...)
	return root
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
		return flags.Invalid("--threads", f.threads, fmt.Sprintf("a whole number from 1 to %d, or 0 for all cores", bench.MostThreads))
	}
	return nil
}

// writeReport writes a report in one of the formats json, md and text.
func writeReport(out io.Writer, format string, figures any, d Document) (err error) {
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
