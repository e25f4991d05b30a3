package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"charm.land/bubbles/v2/progress"
	"github.com/spf13/cobra"

	"newtop/datasets"
	"newtop/internal/cli/flags"
	"newtop/internal/cli/print"
)

func newData() *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "data",
		Short: "List, describe, download and verify data sets",
		Args:  flags.NoArguments,
		RunE:  func(cmd *cobra.Command, _ []string) error { return listData(cmd.OutOrStdout(), dir) },
	}
	cmd.PersistentFlags().StringVar(&dir, "data-dir", "", "`DIR` where real data sets are; empty: the cache directory")
	flags.Complete(cmd, "data-dir", flags.Directories)
	cmd.AddCommand(
		&cobra.Command{
			Use: "list", Short: "List the data sets", Args: flags.NoArguments,
			RunE: func(cmd *cobra.Command, _ []string) error { return listData(cmd.OutOrStdout(), dir) },
		},
		newDataShow(&dir),
		&cobra.Command{
			Use: "fetch NAME", Short: "Download a real data set and verify it",
			Args: flags.OneArgument("a data set's name"), ValidArgsFunction: completeReal,
			RunE: func(cmd *cobra.Command, args []string) error { return fetchData(cmd, args[0], dir) },
		},
		&cobra.Command{
			Use: "verify NAME", Short: "Compare the files of a real data set with their checksums",
			Args: flags.OneArgument("a data set's name"), ValidArgsFunction: completeReal,
			RunE: func(cmd *cobra.Command, args []string) error { return verifyData(cmd.OutOrStdout(), args[0], dir) },
		},
	)
	return cmd
}

func listData(out io.Writer, dir string) error {
	table := print.Table{Headers: []string{"NAME", "ROWS", "INPUTS", "OUTPUTS", "TASK", "FILES", "WHAT"}}
	for _, i := range datasets.List() {
		table.Rows = append(table.Rows, []string{i.Name, strconv.Itoa(i.Rows), strconv.Itoa(i.Inputs),
			strconv.Itoa(i.Outputs),
			fmt.Sprint(i.Task), presence(&i, dir), i.Title})
	}
	table.Rows = append(table.Rows, []string{"FILE", "", "", "", "any", "yours",
		"any table by its path (CSV, Parquet, NPY, " +
			"NPZ), packed by gzip or not, several, or - for standard input, with --target COLUMN"})
	return table.Print(out)
}

// presence says in a word whether a set can be used now.
func presence(i *datasets.Info, dir string) string {
	if i.Kind == datasets.Generated {
		return "none needed"
	}
	states, err := datasets.Verify(i.Name, dir)
	if err != nil {
		return "unknown"
	}
	whole := 0
	for _, s := range states {
		if usable(s.State) {
			whole++
		}
	}
	switch whole {
	case len(states):
		return "here"
	case 0:
		return "to fetch"
	}
	return fmt.Sprintf("%d of %d here", whole, len(states))
}

// completeReal offers a shell the data sets that have files.
func completeReal(_ *cobra.Command, args []string, _ string) (out []cobra.Completion, _ cobra.ShellCompDirective) {
	for _, i := range datasets.List() {
		if i.Kind != datasets.Generated && len(args) == 0 {
			out = append(out, cobra.CompletionWithDesc(i.Name, i.Title))
		}
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

func fetchData(cmd *cobra.Command, name, dir string) error {
	show := func(datasets.Progress) {}
	if f, ok := print.Drawable(cmd.ErrOrStderr()); ok {
		show = progressBar(f)
	}
	err := datasets.Fetch(cmd.Context(), name, datasets.FetchOptions{Dir: dir, Progress: show})
	if errors.Is(err, datasets.ErrGenerated) {
		return flags.Usagef("%s: %v", name, datasets.ErrGenerated)
	}
	if err != nil {
		return err
	}
	return verifyData(cmd.OutOrStdout(), name, dir)
}

// progressBar draws one line a file and ends it when the file is complete.
func progressBar(f *os.File) func(datasets.Progress) {
	bar := progress.New(progress.WithWidth(30))
	return func(p datasets.Progress) {
		line := fmt.Sprintf("\r\x1b[K%d/%d %s  %.1f MB", p.Index+1, p.Files, p.File, float64(p.Bytes)/1e6)
		if p.Total > 0 {
			line += fmt.Sprintf(" of %.1f MB  %s", float64(p.Total)/1e6, bar.ViewAs(float64(p.Bytes)/float64(p.Total)))
		}
		if p.Bytes == p.Total {
			line += "\n"
		}
		fmt.Fprint(f, line)
	}
}

// usable reports whether a file can be trained on: unpacked by hand it has no checksum to compare with.
func usable(s datasets.FileState) bool {
	return s == datasets.FileGood || s == datasets.FileUnpacked
}

func verifyData(out io.Writer, name, dir string) error {
	states, err := datasets.Verify(name, dir)
	if errors.Is(err, datasets.ErrGenerated) {
		return flags.Usagef("%s: %v", name, datasets.ErrGenerated)
	}
	if err != nil {
		return err
	}
	table := print.Table{Headers: []string{"", ""}}
	var wrong []string
	for _, s := range states {
		table.Rows = append(table.Rows, []string{fmt.Sprint(s.State), s.Path})
		if !usable(s.State) {
			wrong = append(wrong, fmt.Sprintf("%s is %s", s.File, s.State))
		}
	}
	if err := table.Print(out); err != nil {
		return err
	}
	if wrong != nil {
		return fmt.Errorf("%s: %s; get it with: newtop data fetch %s", name, strings.Join(wrong, ", "), name)
	}
	return nil
}
