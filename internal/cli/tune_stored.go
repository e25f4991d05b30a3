package cli

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"newtop/trainer"
	"newtop/trainer/store"
	"newtop/trainer/tune"

	"github.com/spf13/cobra"
)

func newTuneList() *cobra.Command {
	var a archive
	var format string
	cmd := &cobra.Command{
		Use: "list", Short: "List recorded searches, newest first", Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if format != "text" && format != "json" {
				return &trainer.ConfigError{Flag: "--format", Value: format, Expected: "text or json"}
			}
			var list []store.Search
			err := a.with(store.Options{ReadOnly: true}, func(s *store.Store) (err error) {
				list, err = s.Searches(cmd.Context())
				return err
			})
			var empty *emptyError
			if err != nil && !errors.As(err, &empty) {
				return err
			}
			slices.SortStableFunc(list, func(a, b store.Search) int { return b.Begun.Compare(a.Begun) })
			if format == "json" {
				return printJSON(cmd.OutOrStdout(), searchRows(list))
			}
			if len(list) == 0 {
				fmt.Fprintln(cmd.ErrOrStderr(), "newtop: no search is recorded yet: newtop tune records every one")
				return nil
			}
			return searchGrid(list, time.Now()).fit(cmd.OutOrStdout(), room(cmd.OutOrStdout()))
		},
	}
	a.add(cmd)
	cmd.Flags().StringVar(&format, "format", "text", "text or json")
	return cmd
}

// searchRow is a search as tune list --format json prints it.
type searchRow struct {
	Name        string    `json:"name"`
	ID          string    `json:"id"`
	State       string    `json:"state"`
	Begun       time.Time `json:"begun"`
	Changed     time.Time `json:"changed"`
	Data        string    `json:"data"`
	Trials      int       `json:"trials"`
	Seconds     float64   `json:"seconds"`
	Equivalents float64   `json:"gradient_equivalents"`
	Host        string    `json:"host"`
	Process     int       `json:"process"`
	Version     string    `json:"version"`
}

func searchRows(list []store.Search) []searchRow {
	rows := []searchRow{}
	for i := range list {
		q := &list[i]
		rows = append(rows, searchRow{Name: q.Name, ID: q.ID, State: searchState(q), Begun: q.Begun, Changed: q.Changed, Data: q.Data,
			Trials: q.Trials, Seconds: q.Seconds, Equivalents: q.Spent, Host: q.Host, Process: q.Process, Version: q.Version})
	}
	return rows
}

// searchState says what has become of a search: its phase where it ended in order or goes on.
func searchState(q *store.Search) string {
	if !q.Running && (q.Phase == "searching" || q.Phase == "finals") {
		return "interrupted"
	}
	return q.Phase
}

func searchGrid(list []store.Search, now time.Time) *grid {
	g := &grid{heads: []string{"NAME", "BEGUN", "DATA", ">TRIALS", ">TIME", ">GRADIENTS", "STATE"}, ranks: []int{0, 2, 0, 0, 1, 3, 0}}
	for i := range list {
		q := &list[i]
		g.add(q.Name, when(q.Begun, now), q.Data, strconv.Itoa(q.Trials), elapsed(trainer.Float(q.Seconds)), work(trainer.Float(q.Spent)), searchState(q))
	}
	return g
}

func newTuneShow() *cobra.Command {
	var a archive
	var format string
	var top int
	cmd := &cobra.Command{
		Use: "show NAME", Short: "Show what came of a search", Args: oneArgument("a search's name"),
		Example:           "newtop tune show digits-search\nnewtop tune show digits-search --top 1 | sh",
		ValidArgsFunction: a.completeSearches,
		RunE: func(cmd *cobra.Command, args []string) error {
			if format != "text" && format != "json" {
				return &trainer.ConfigError{Flag: "--format", Value: format, Expected: "text or json"}
			}
			if top < 1 {
				return &trainer.ConfigError{Flag: "--top", Value: strconv.Itoa(top), Expected: "a whole number ≥ 1"}
			}
			return a.with(store.Options{ReadOnly: true}, func(s *store.Store) error {
				b, err := tune.Load(cmd.Context(), s, args[0], commandOf)
				if err != nil {
					return err
				}
				if format == "json" {
					return printJSON(cmd.OutOrStdout(), boardOf(b, top))
				}
				return summarize(cmd.OutOrStdout(), b, top)
			})
		},
	}
	a.add(cmd)
	set := cmd.Flags()
	set.IntVar(&top, "top", 10, "settings in the list; 1: only the command line that trains the best")
	set.StringVar(&format, "format", "text", "text or json")
	set.VisitAll(wrap)
	return cmd
}

func newTuneRemove() *cobra.Command {
	var a archive
	var sure bool
	cmd := &cobra.Command{
		Use: "rm NAME…", Short: "Remove searches, with the runs of their trials", Args: someArguments(1, "searches by name or ID"),
		Long:              "Remove searches, with the runs of their trials. A search that is still going on stays.",
		Example:           "newtop tune rm digits-search",
		ValidArgsFunction: a.completeSearches,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.with(store.Options{Existing: true}, func(s *store.Store) error { return removeSearches(cmd, s, args, sure) })
		},
	}
	a.add(cmd)
	cmd.Flags().BoolVarP(&sure, "yes", "y", false, "do not ask")
	wrap(cmd.Flags().Lookup("yes"))
	return cmd
}

func removeSearches(cmd *cobra.Command, s *store.Store, names []string, sure bool) error {
	var ids, lines []string
	for _, name := range names {
		q, _, err := s.Search(cmd.Context(), name)
		if err != nil {
			return err
		}
		ids = append(ids, q.ID)
		lines = append(lines, fmt.Sprintf("%s %s, %s, %s", q.Name, q.Data, count(q.Trials, "trial"), searchState(q)))
	}
	what := fmt.Sprintf("%d searches with their runs", len(ids))
	if len(ids) == 1 {
		what = "1 search with its runs"
	}
	if !sure {
		if err := confirmRemoval(cmd, lines, what); err != nil {
			return err
		}
	}
	if err := s.RemoveSearches(cmd.Context(), ids...); err != nil {
		return err
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "%s removed\n", what)
	return nil
}

// completeSearches offers the names of searches to a shell.
func (a *archive) completeSearches(cmd *cobra.Command, args []string, _ string) (out []cobra.Completion, _ cobra.ShellCompDirective) {
	if len(args) > 0 && cmd.Name() != "rm" {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	_ = a.with(store.Options{ReadOnly: true}, func(s *store.Store) error {
		list, err := s.Searches(cmd.Context())
		for i := range list {
			q := &list[i]
			about := fmt.Sprintf("%s, %s, %s, %s", q.Data, when(q.Begun, time.Now()), count(q.Trials, "trial"), searchState(q))
			out = append(out, cobra.CompletionWithDesc(printable(q.Name), printable(about)))
		}
		return err
	})
	return out, cobra.ShellCompDirectiveNoFileComp
}
