package tune

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"newtop/internal/cli/flags"
	"newtop/internal/cli/job"
	"newtop/internal/cli/print"
	"newtop/trainer/event"
	"newtop/trainer/store"
	"newtop/trainer/store/search"
	"newtop/trainer/tune"
)

func newTuneList() *cobra.Command {
	var a job.StoreFlags
	var format string
	cmd := &cobra.Command{
		Use: "list", Short: "List recorded searches, latest first", Args: flags.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := flags.OneOf("--format", format, "text", "json"); err != nil {
				return err
			}
			var list []tune.Sweep
			err := a.With(store.Options{ReadOnly: true}, func(s *store.Store) (err error) {
				list, err = tune.Sweeps(cmd.Context(), s)
				return err
			})
			if _, empty := errors.AsType[*job.EmptyError](err); err != nil && !empty {
				return err
			}
			if format == "json" {
				return print.JSON(cmd.OutOrStdout(), searchRows(list))
			}
			if len(list) == 0 {
				fmt.Fprintln(cmd.ErrOrStderr(), "newtop: no search is recorded yet: newtop tune records every one")
				return nil
			}
			return searchGrid(list, time.Now()).Fit(cmd.OutOrStdout(), print.Width(cmd.OutOrStdout()))
		},
	}
	a.Add(cmd)
	cmd.Flags().StringVar(&format, "format", "text", "text or json")
	flags.Choices(cmd, "format", "text", "json")
	return cmd
}

// searchRow is a search as tune list --format json prints it. Of shards together the times, the host and the ID are
// those of the latest one, but the seconds those of the longest.
type searchRow struct {
	Name        string    `json:"name"`
	ID          string    `json:"id"`
	Shards      []int     `json:"shards,omitempty"` // those that there are, from 1
	Of          int       `json:"of,omitempty"`     // shards that there should be
	State       string    `json:"state"`
	Started     time.Time `json:"begun"`
	Changed     time.Time `json:"changed"`
	Data        string    `json:"data"`
	Trials      int       `json:"trials"`
	Seconds     float64   `json:"seconds"`
	Equivalents float64   `json:"gradient_equivalents"`
	Host        string    `json:"host"`
	Process     int       `json:"process"`
	Version     string    `json:"version"`
}

func searchRows(list []tune.Sweep) []searchRow {
	rows := []searchRow{}
	for i := range list {
		w := &list[i]
		q := w.Joined()
		row := searchRow{Name: w.Name, ID: q.ID, State: w.State(), Started: q.Started, Changed: q.Changed, Data: q.Data,
			Trials: q.Trials, Seconds: q.Seconds, Equivalents: q.Spent, Host: q.Host, Process: q.Process,
			Version: q.Version}
		for k := range w.Parts {
			if h := w.Parts[k].Shard; h.Of > 0 {
				row.Shards, row.Of = append(row.Shards, h.Index), h.Of
			}
		}
		rows = append(rows, row)
	}
	return rows
}

func searchGrid(list []tune.Sweep, now time.Time) *print.Table {
	g := &print.Table{Headers: []string{"NAME", "BEGUN", "DATA", ">TRIALS", ">TIME", ">GRADIENTS", "STATE"},
		Ranks: []int{0, 2, 0, 0, 1, 3, 0}}
	sharded := slices.ContainsFunc(list, func(w tune.Sweep) bool { return w.Shards() != "" })
	if sharded {
		g.Headers, g.Ranks = append(g.Headers, "SHARDS"), append(g.Ranks, 0)
	}
	for i := range list {
		w := &list[i]
		q := w.Joined()
		cells := []string{w.Name, print.When(q.Started, now), q.Data, strconv.Itoa(q.Trials),
			print.Elapsed(event.Float(q.Seconds)), print.Work(event.Float(q.Spent)), w.State()}
		if sharded {
			cells = append(cells, w.Shards())
		}
		g.Add(cells...)
	}
	return g
}

func newTuneShow() *cobra.Command {
	var a job.StoreFlags
	var format string
	var top int
	cmd := &cobra.Command{
		Use: "show NAME…", Short: "Show the results of a search, or of several together",
		Args: flags.Arguments(1, 0, "searches by name"),
		Example: "newtop tune show digits-search\nnewtop tune show digits-search --top 1 | sh\n" +
			"newtop tune show adam-search kfac-search",
		ValidArgsFunction: completeSearches(&a),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := flags.OneOf("--format", format, "text", "json"); err != nil {
				return err
			}
			if top < 1 {
				return flags.Invalid("--top", top, "a whole number ≥ 1")
			}
			return a.With(store.Options{ReadOnly: true}, func(s *store.Store) error {
				b, err := tune.Load(cmd.Context(), s, flags.Command, args...)
				if err != nil {
					return err
				}
				if format == "json" {
					return print.JSON(cmd.OutOrStdout(), boardOf(b, top))
				}
				if top == 1 && b.Warning != "" { // which the command line alone would not say
					print.Warn(cmd.ErrOrStderr(), b.Warning)
				}
				return printBoard(cmd.OutOrStdout(), b, top)
			})
		},
	}
	a.Add(cmd)
	set := cmd.Flags()
	set.IntVar(&top, "top", 10, "settings in the list; 1: only the command line that trains the best")
	set.StringVar(&format, "format", "text", "text or json")
	flags.Choices(cmd, "format", "text", "json")
	return cmd
}

func newTuneRemove() *cobra.Command {
	var a job.StoreFlags
	var sure bool
	cmd := &cobra.Command{
		Use: "rm NAME…", Short: "Remove searches, with the runs of their trials",
		Args:              flags.Arguments(1, 0, "searches by name or ID"),
		Long:              "Remove searches, with the runs of their trials. A running search stays.",
		Example:           "newtop tune rm digits-search",
		ValidArgsFunction: completeSearches(&a),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.With(store.Options{Existing: true}, func(s *store.Store) error {
				return removeSearches(cmd, s, args, sure)
			})
		},
	}
	a.Add(cmd)
	cmd.Flags().BoolVarP(&sure, "yes", "y", false, "do not ask")
	return cmd
}

func removeSearches(cmd *cobra.Command, s *store.Store, names []string, sure bool) error {
	var ids, lines []string
	for _, name := range names {
		w, err := tune.Find(cmd.Context(), s, name)
		if err != nil {
			return err
		}
		for i := range w.Parts {
			q := &w.Parts[i].Search
			ids = append(ids, q.ID)
			lines = append(lines, fmt.Sprintf("%s %s, %s, %s", q.Name, q.Data, print.Count(q.Trials, "trial"),
				tune.StateOf(q)))
		}
	}
	what := print.CountOf(len(ids), "search with its runs", "searches with their runs")
	if !sure {
		if err := print.Confirm(cmd, lines, what); err != nil {
			return err
		}
	}
	if err := search.Remove(cmd.Context(), s, ids...); err != nil {
		return err
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "%s removed\n", what)
	return nil
}

// completeSearches offers the names of searches to a shell.
func completeSearches(a *job.StoreFlags) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, _ string) (out []cobra.Completion, _ cobra.ShellCompDirective) {
		_ = a.With(store.Options{ReadOnly: true}, func(s *store.Store) error {
			list, err := tune.Sweeps(cmd.Context(), s)
			for i := range list {
				w := &list[i]
				q := w.Joined()
				about := fmt.Sprintf("%s, %s, %s, %s", q.Data, print.When(q.Started, time.Now()),
					print.Count(q.Trials, "trial"), w.State())
				out = append(out, cobra.CompletionWithDesc(print.Printable(w.Name), print.Printable(about)))
			}
			return err
		})
		return out, cobra.ShellCompDirectiveNoFileComp
	}
}
