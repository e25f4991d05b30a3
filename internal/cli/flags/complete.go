package flags

import (
	"cmp"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"newtop/datasets"
	"newtop/datasets/convert"
	"newtop/trainer"
	"newtop/trainer/optim"
	"newtop/trainer/optim/methods"
)

// Choices offers a shell the values of a flag that takes one of several names, and tells the help of them.
func Choices(cmd *cobra.Command, name string, choices ...string) {
	const room = 10
	value := "NAME"
	if all := strings.Join(choices, "|"); len(all) <= room {
		value = all
	}
	annotate(cmd.Flag(name), valueKey, value)
	Complete(cmd, name, cobra.FixedCompletions(choices, cobra.ShellCompDirectiveNoFileComp))
}

// First offers a shell what a function does for the first argument, and nothing for further ones.
func First(offer cobra.CompletionFunc) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return offer(cmd, args, begun)
	}
}

// Files offers a shell the files with some endings as values of a flag.
func Files(cmd *cobra.Command, name string, endings ...string) {
	Complete(cmd, name, filesWith(endings...))
}

// Complete has a function offer a shell the values of a flag.
func Complete(cmd *cobra.Command, name string, offer cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(name, offer); err != nil {
		panic("flags: " + err.Error())
	}
}

func filesWith(endings ...string) cobra.CompletionFunc {
	return cobra.FixedCompletions(endings, cobra.ShellCompDirectiveFilterFileExt)
}

// Directories offers a shell directories.
func Directories(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

// DataSets offers a shell the data sets by name, with the tables that begin like what is typed, or else any file.
func DataSets(_ *cobra.Command, _ []string, begun string) (out []cobra.Completion, _ cobra.ShellCompDirective) {
	for _, d := range datasets.List() {
		if strings.HasPrefix(d.Name, begun) {
			out = append(out, cobra.CompletionWithDesc(d.Name, d.Title))
		}
	}
	for _, ending := range convert.Endings {
		files, _ := filepath.Glob(literally(begun) + "*" + ending)
		packed, _ := filepath.Glob(literally(begun) + "*" + ending + ".gz")
		out = append(append(out, files...), packed...)
	}
	return out, cobra.ShellCompDirectiveDefault
}

// literally returns the pattern that matches a path alone.
func literally(path string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}

// Methods offers a shell the optimizers.
func Methods(*cobra.Command, []string, string) (out []cobra.Completion, _ cobra.ShellCompDirective) {
	for _, m := range methods.All() {
		out = append(out, cobra.CompletionWithDesc(m.Name, m.Title))
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

// offerSettings offers a shell the hyperparameters of the method that --opt chooses and the keys of --set, and behind
// the = what one can be.
func offerSettings(cmd *cobra.Command, _ []string, begun string) (out []cobra.Completion, _ cobra.ShellCompDirective) {
	out, directive := offerKeys(cmd, "set", begun)
	opt := cmd.Flag("opt")
	if opt == nil { // of a run that has its method
		return out, directive
	}
	info, err := methods.Lookup(cmp.Or(opt.Value.String(), trainer.DefaultOptimizer))
	if err != nil {
		return out, directive
	}
	key, _, chosen := strings.Cut(begun, "=")
	for i := range info.Parameters {
		h := &info.Parameters[i]
		switch {
		case !chosen:
			out = append(out, cobra.CompletionWithDesc(h.Key+"=", h.Meaning+" (default "+h.Text(h.Default)+")"))
		case h.Key == key:
			return valuesOf(h), cobra.ShellCompDirectiveNoFileComp
		}
	}
	return out, directive
}

// offerColumns offers a shell the keys of --table.
func offerColumns(cmd *cobra.Command, _ []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return offerKeys(cmd, "table", begun)
}

// offerKeys offers a shell the keys of a flag, and behind the = of one what it can be.
func offerKeys(cmd *cobra.Command, flag, begun string) (out []cobra.Completion, _ cobra.ShellCompDirective) {
	name, _, chosen := strings.Cut(begun, "=")
	for _, key := range Keys(cmd) {
		switch {
		case key.Flag != flag:
		case !chosen:
			out = append(out, cobra.CompletionWithDesc(key.Name+"=", key.Usage))
		case key.Name == name:
			in := asKey
			if flag == "table" {
				in = asTable
			}
			for _, choice := range rowOf(nameOf(in, name)).choices {
				out = append(out, name+"="+choice)
			}
			return out, cobra.ShellCompDirectiveNoFileComp
		}
	}
	return out, cobra.ShellCompDirectiveNoSpace | cobra.ShellCompDirectiveNoFileComp
}

// valuesOf returns the settings of a hyperparameter to choose from: of a number the default.
func valuesOf(h *optim.Hyperparameter) (out []cobra.Completion) {
	for _, choice := range h.Choices {
		out = append(out, h.Key+"="+choice)
	}
	if h.Choices == nil {
		out = append(out, cobra.CompletionWithDesc(h.Key+"="+h.Text(h.Default), "the default; "+h.Range()))
	}
	return out
}
