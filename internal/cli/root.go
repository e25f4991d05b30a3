// Package cli is the command line: one file per command, flags to a trainer.Config, errors to exit
// codes. Results go to standard output, messages to standard error.
package cli

import (
	"io"

	"github.com/spf13/cobra"

	"newtop/internal/cli/flags"
	"newtop/internal/cli/launch"
	"newtop/internal/cli/predict"
	"newtop/internal/cli/print"
	"newtop/internal/cli/runs"
	"newtop/internal/cli/train"
	"newtop/internal/cli/tune"
	"newtop/internal/cli/watch"
	"newtop/internal/format"
	"newtop/internal/kernel"
	program "newtop/internal/version"
)

const description = `Train a feed-forward network with exact curvature and watch every inner solve.

Without a command newtop opens its screen and trains. With no flags it
trains the built-in letters data, which needs no download. Press ? on the
screen for its keys. Every run is recorded: newtop runs lists them, newtop
resume continues one after a stop or a kill.`

const examples = `newtop
newtop --data letter --data-dir ../data --net 70-50 --opt tr-newton
newtop --data table.csv --target price --opt adam --set rate=0.003
newtop train --opt tr-gn --epochs 40 --format jsonl > run.jsonl
newtop watch last
newtop runs compare last last~1`

// Main runs newtop with the given arguments and returns the exit code of DESIGN's contract.
func Main(args []string, in io.Reader, out, errs io.Writer) int {
	results, messages := print.NewOutput(out, "standard output"), print.NewOutput(errs, "standard error")
	code := execute(args, in, results, messages)
	messages.Flush() // of which nobody could be told that it failed
	return code
}

// execute runs newtop, all of whose output goes through two writers.
func execute(args []string, in io.Reader, out, errs *print.Output) int {
	if err := kernel.Err(); err != nil {
		print.Report(errs, err)
		return print.ExitUsage
	}
	processes := launch.New(errs)
	root := newRoot(processes)
	quiet := false
	if cmd, _, _ := root.Find(args); processes.Quiet(cmd) {
		quiet, out, errs = true, print.NewOutput(io.Discard, ""), print.NewOutput(io.Discard, "")
	}
	ctx, stop := processes.Context(quiet)
	defer stop()
	root.Annotations[flags.CommandLine] = format.Masked(format.QuoteAll(append([]string{"newtop"}, args...)))
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(out)
	addHelp(root, out)
	root.SetErr(errs)
	err := root.ExecuteContext(ctx)
	if flushed := out.Flush(); err == nil {
		err = flushed
	}
	if err != nil {
		print.Report(errs, err)
	}
	code := exitCode(ctx, err)
	processes.Leave(code, err)
	if quiet && code != print.ExitDone {
		processes.Linger()
	}
	return code
}

func newRoot(processes *launch.Group) *cobra.Command {
	var run flags.Run
	var screen flags.Screen
	root := &cobra.Command{
		Use:     "newtop [flags]",
		Short:   "A terminal lab for second-order training of feed-forward networks",
		Long:    description,
		Example: examples,
		Version: program.Program(),
		Args:    flags.NoArguments,
		// An error is printed by execute, in one line.
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return train.Open(cmd, &run, &screen, runs.Over)
		},
	}
	root.SetFlagErrorFunc(flags.Error)
	run.Add(root)
	screen.Add(root)
	screen.AddTour(root)
	processes.SingleOnly(root, "newtop train, as the screen needs a terminal; --serve shows the run over SSH")
	for _, g := range groups(processes) {
		root.AddGroup(&cobra.Group{ID: g.title, Title: g.title})
		for _, c := range g.commands {
			c.GroupID = g.title
			root.AddCommand(c)
		}
	}
	root.AddCommand(newMan())
	root.AddGroup(&cobra.Group{ID: others, Title: others})
	version := newVersion()
	version.GroupID = others
	root.AddCommand(version)
	root.SetCompletionCommandGroupID(others)
	flags.Finish(root)
	return root
}

// others is the group of what every program has.
const others = "others"

// group is a part of the help.
type group struct {
	title    string
	commands []*cobra.Command
}

// groups returns the commands in the order of the help.
func groups(processes *launch.Group) []group {
	search := processes.SingleOnly(
		tune.New(), "one process, or with --shard I/N one for each shard in a job array, as each would do the same "+
			"search")
	return []group{
		{"train", []*cobra.Command{train.NewTrain(processes), train.NewServe(processes),
			train.NewResume(processes, runs.Over), search}},
		{"recorded runs", []*cobra.Command{watch.New(runs.Over), runs.New(), newRecord()}},
		{"saved models", []*cobra.Command{predict.New(), predict.NewExplain(), newSpectrum()}},
		{"what there is", []*cobra.Command{newData(), newOptimizers(), newPython(), newVerify()}},
	}
}
