package cli

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"

	"newtop/internal/cli/flags"
	"newtop/trainer/optim"
	"newtop/trainer/optim/methods"
)

func newOptimizers() *cobra.Command {
	return &cobra.Command{
		Use:               "optimizers [NAME]",
		Short:             "List the optimizers, or one's hyperparameters",
		Args:              flags.Arguments(0, 1, "one name at most"),
		ValidArgsFunction: flags.First(flags.Methods),
		RunE: func(cmd *cobra.Command, args []string) error {
			w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			if len(args) == 0 {
				listOptimizers(w)
				return w.Flush()
			}
			info, err := methods.Lookup(args[0])
			if err != nil {
				return err
			}
			showOptimizer(w, info)
			return w.Flush()
		},
	}
}

func listOptimizers(w io.Writer) {
	fmt.Fprintln(w, "NAME\tWHAT\tPAPER\tCOST OF AN EPOCH")
	for _, i := range methods.All() {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", i.Name, i.Title, i.Paper, i.Cost)
	}
}

func showOptimizer(w io.Writer, i *optim.Info) {
	fmt.Fprintf(w, "%s: %s\n\n%s\n\n", i.Name, i.Title, ansi.Wordwrap(i.Summary, 80, ""))
	fmt.Fprintf(w, "paper\t%s\nimplements\t%s\ncost of an epoch\t%s\n\n", i.Paper, i.Equations, i.Cost)
	fmt.Fprintln(w, "--set KEY\tDEFAULT\tRANGE\tMEANING")
	for k := range i.Parameters {
		h := &i.Parameters[k]
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", h.Key, h.Text(h.Default), h.Range(), h.Meaning)
	}
}
