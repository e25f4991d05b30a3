package runs

import (
	"fmt"

	"github.com/spf13/cobra"

	"newtop/internal/cli/flags"
	"newtop/internal/cli/job"
	"newtop/internal/cli/print"
	"newtop/internal/format"
	"newtop/trainer/store"
	"newtop/trainer/store/upkeep"
	"newtop/trainer/tune"
)

func newRunsMerge(a *job.StoreFlags) *cobra.Command {
	return &cobra.Command{
		Use:   "merge FILE…",
		Short: "Copy the runs and searches of other databases into this one",
		Long: `Copy the runs and searches of other databases into the one of --record. Each file
is copied as a whole or not at all, and does not change. Existing runs stay, or are
updated if the file has more of them; merging again changes nothing. Shards then
form one search: newtop tune show NAME.`,
		Example: "newtop runs merge sweep-*.db\nnewtop runs merge --record all.db node1.db node2.db",
		Args:    flags.Arguments(1, 0, "databases with recorded runs"),
		RunE: func(cmd *cobra.Command, files []string) error {
			if err := areStores(files); err != nil {
				return err
			}
			return a.With(store.Options{}, func(s *store.Store) error { return mergeInto(cmd, s, a.File, files) })
		},
	}
}

// areStores returns what is wrong with the first of the files that is no run store, before any is merged.
func areStores(files []string) error {
	for _, file := range files {
		source, err := store.Open(file, store.Options{ReadOnly: true})
		if err != nil {
			return err
		}
		if err := source.Close(); err != nil {
			return err
		}
	}
	return nil
}

// mergeInto merges files in turn.
func mergeInto(cmd *cobra.Command, s *store.Store, path string, files []string) error {
	for _, file := range files {
		m, err := upkeep.Merge(cmd.Context(), s, file)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintln(cmd.OutOrStdout(), print.Printable(file+": "+mergedText(&m))); err != nil {
			return err
		}
	}
	return reportSweeps(cmd, s, path)
}

// mergedText says what came of merging a file.
func mergedText(m *upkeep.Merged) string {
	text := print.Count(m.Runs.All(), "run")
	if n := len(m.Found); n > 0 {
		text += ", " + print.CountOf(n, "search", "searches")
		if h := tune.ShardOf(&m.Found[0]); n == 1 && h.Of > 0 {
			text += " (" + h.String() + ")"
		}
	}
	var parts []string
	all := upkeep.Tally{
		Added: m.Runs.Added + m.Searches.Added, Updated: m.Runs.Updated + m.Searches.Updated,
		Same: m.Runs.Same + m.Searches.Same, Older: m.Runs.Older + m.Searches.Older,
	}
	switch {
	case all.Added == 0 && all.Updated == 0:
		text += ": nothing new"
	case all.Added < all.All():
		text += fmt.Sprintf(": %d new", all.Added)
		parts = append(parts, tallied(all.Updated, "updated"), tallied(all.Same, "here already"))
	}
	parts = append(parts, tallied(all.Older, "further here"))
	for _, p := range parts {
		if p != "" {
			text += ", " + p
		}
	}
	for _, r := range m.Renamed {
		text += "; " + r
	}
	if m.More > 0 {
		text += fmt.Sprintf("; %d more have other names", m.More)
	}
	return text
}

func tallied(n int, what string) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%d %s", n, what)
}

// reportSweeps says how sweeps are looked at.
func reportSweeps(cmd *cobra.Command, s *store.Store, path string) error {
	all, err := tune.Sweeps(cmd.Context(), s)
	for i := range all {
		if w := &all[i]; w.Of > 0 {
			fmt.Fprintf(cmd.ErrOrStderr(), "%s: %s: newtop tune show %s%s\n", print.Printable(w.Name), w.Shards(),
				format.Quote(w.Name), flags.AtStore(path))
		}
	}
	return err
}
