package cli

import (
	"fmt"
	"io"

	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"

	"newtop/internal/cli/flags"
	"newtop/internal/cli/print"
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
			if len(args) == 0 {
				return listOptimizers(cmd.OutOrStdout())
			}
			info, err := methods.Lookup(args[0])
			if err != nil {
				return err
			}
			return showOptimizer(cmd.OutOrStdout(), info)
		},
	}
}

func listOptimizers(w io.Writer) error {
	table := print.Table{Headers: []string{"NAME", "WHAT", "PAPER", "COST OF AN EPOCH"}}
	for _, i := range methods.All() {
		table.Rows = append(table.Rows, []string{i.Name, i.Title, i.Paper, i.Cost})
	}
	return table.Print(w)
}

func showOptimizer(w io.Writer, i *optim.Info) error {
	fmt.Fprintf(w, "%s: %s\n\n%s\n\n", i.Name, i.Title, ansi.Wordwrap(i.Summary, 80, ""))
	about := print.Table{Headers: []string{"", ""}, Rows: [][]string{
		{"paper", i.Paper}, {"implements", i.Equations}, {"cost of an epoch", i.Cost}}}
	keys := print.Table{Headers: []string{"--set KEY", "DEFAULT", "RANGE", "MEANING"}}
	for k := range i.Parameters {
		h := &i.Parameters[k]
		keys.Rows = append(keys.Rows, []string{h.Key, h.Text(h.Default), h.Range(), h.Meaning})
	}
	if err := about.Print(w); err != nil {
		return err
	}
	fmt.Fprintln(w)
	return keys.Print(w)
}
