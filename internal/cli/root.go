// Package cli is the command line: one file per command, flags to a trainer.Config, errors to exit
// codes. Results go to standard output, messages to standard error.
package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"charm.land/fang/v2"
	"github.com/spf13/cobra"
)

const description = `Train a feed-forward network with exact curvature and watch every inner solve.

Without a command newtop opens its screen and trains. With no flags it trains the
built-in letters data, which needs no download. Press ? on the screen for its keys.`

const examples = `newtop
newtop --data letter --data-dir ../data --net 70-50 --opt tr-newton
newtop --data table.csv --target price --opt adam --set rate=0.003
newtop train --opt tr-gn --epochs 40 --format jsonl > run.jsonl`

// Main runs newtop with the given arguments and returns the exit code of DESIGN's contract.
func Main(args []string, in io.Reader, out, errs io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	root := newRoot()
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(errs)
	err := fang.Execute(ctx, root,
		fang.WithVersion(Version()),
		fang.WithErrorHandler(func(_ io.Writer, _ fang.Styles, err error) { report(errs, err) }),
	)
	return exitCode(ctx, err)
}

func newRoot() *cobra.Command {
	var flags runFlags
	root := &cobra.Command{
		Use:     "newtop [flags]",
		Short:   "A terminal lab for second-order training of feed-forward networks",
		Long:    description,
		Example: examples,
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			config, err := flags.config(cmd)
			if err != nil {
				return err
			}
			return open(cmd, config)
		},
	}
	flags.add(root)
	root.SuggestionsMinimumDistance = 2
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return &usageError{err.Error()} })
	root.AddCommand(newTrain(), newData(), newOptimizers(), newVersion())
	return root
}

// noArguments refuses arguments of commands that take none. At the root it is a command that does not
// exist, perhaps a misspelt one.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if !cmd.HasAvailableSubCommands() {
		return usagef("%s %s: expected no argument", cmd.CommandPath(), args[0])
	}
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() && c.Name() != "help" && c.Name() != "completion" {
			names = append(names, c.Name())
		}
	}
	message := fmt.Sprintf("unknown command %q: expected one of %s", args[0], strings.Join(names, ", "))
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		message += "; did you mean " + near[0] + "?"
	}
	return &usageError{message}
}

// oneArgument asks for exactly one argument and says what it is.
func oneArgument(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != 1 {
			return usagef("%s: expected one argument: %s", cmd.CommandPath(), what)
		}
		return nil
	}
}
