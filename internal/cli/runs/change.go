package runs

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"newtop/internal/cli/flags"
	"newtop/internal/cli/job"
	"newtop/internal/cli/print"
	"newtop/trainer/store"
)

func newRunsRename(a *job.StoreFlags) *cobra.Command {
	return &cobra.Command{
		Use: "rename RUN NAME", Short: "Give a recorded run a name",
		ValidArgsFunction: a.Complete(1, cobra.ShellCompDirectiveNoFileComp),
		Args:              flags.Arguments(2, 2, "a run and its new name"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.With(store.Options{Existing: true}, func(s *store.Store) error {
				run, err := s.FindAny(cmd.Context(), args[0])
				if err != nil {
					return err
				}
				return s.Rename(cmd.Context(), run.ID, args[1])
			})
		},
	}
}

// remover removes runs.
type remover struct {
	older, state string
	sure         bool
}

func newRunsRemove(a *job.StoreFlags) *cobra.Command {
	var r remover
	cmd := &cobra.Command{
		Use:               "rm [RUN…]",
		Short:             "Remove recorded runs",
		Long:              "Remove recorded runs: those given, or all that match the flags. Running ones stay.",
		Example:           "newtop runs rm last\nnewtop runs rm --older-than 30d --state interrupted",
		ValidArgsFunction: a.Complete(0, cobra.ShellCompDirectiveNoFileComp),
		RunE: func(cmd *cobra.Command, args []string) error {
			if (len(args) > 0) == (r.older != "" || r.state != "") {
				return flags.Usagef("%s: expected runs by ID or name, or --older-than and --state to choose them",
					cmd.CommandPath())
			}
			return a.With(store.Options{Existing: true}, func(s *store.Store) error { return r.remove(cmd, s, args) })
		},
	}
	set := cmd.Flags()
	set.SortFlags = false
	set.StringVar(&r.older, "older-than", "", "all without a new event for a `TIME`, as in 12h or 30d")
	set.StringVar(&r.state, "state", "", "all in this state, as in newtop runs --state")
	flags.Choices(cmd, "state", states()...)
	set.BoolVarP(&r.sure, "yes", "y", false, "do not ask")
	return cmd
}

func (r *remover) remove(cmd *cobra.Command, s *store.Store, names []string) error {
	runs, err := findAny(cmd, s, names)
	if err == nil && len(names) == 0 {
		runs, err = r.chosen(cmd, s)
	}
	if err != nil {
		return err
	}
	var ids []string
	for _, run := range runs {
		ids = append(ids, run.ID)
	}
	if len(ids) == 0 {
		fmt.Fprintln(cmd.ErrOrStderr(), "newtop: no such run")
		return nil
	}
	if !r.sure {
		if err := confirm(cmd, runs); err != nil {
			return err
		}
	}
	if err := s.Remove(cmd.Context(), ids...); err != nil {
		return err
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "%s removed\n", print.Count(len(ids), "run"))
	return nil
}

// findAny returns the runs of the names, damaged ones too.
func findAny(cmd *cobra.Command, s *store.Store, names []string) (runs []*store.Run, err error) {
	for _, name := range names {
		r, err := s.FindAny(cmd.Context(), name)
		if err != nil {
			return nil, err
		}
		runs = append(runs, r)
	}
	return runs, nil
}

// chosen returns the runs that the flags choose, without those that are being trained.
func (r *remover) chosen(cmd *cobra.Command, s *store.Store) (out []*store.Run, err error) {
	d, err := span(cmp.Or(r.older, "0s"))
	if err != nil {
		return nil, flags.Invalid("--older-than", r.older, err.Error())
	}
	if r.state != "" {
		if err := checkState(r.state); err != nil {
			return nil, err
		}
	}
	runs, err := s.Runs(cmd.Context(), store.Filter{})
	if err != nil {
		return nil, err
	}
	var chosen []*store.Run
	for i := range runs {
		chosen = append(chosen, &runs[i])
	}
	if r.older != "" {
		var doubtful []*store.Run
		chosen, doubtful = oldRuns(runs, time.Now().Add(-d), time.Now())
		warnOfClock(cmd, doubtful)
	}
	for _, run := range chosen {
		if run.State != store.Running && (r.state == "" || string(run.State) == r.state ||
			r.state == string(store.Damaged) && run.Damage != nil) {
			out = append(out, run)
		}
	}
	return out, nil
}

// warnOfClock says which runs are kept though they look old.
func warnOfClock(cmd *cobra.Command, doubtful []*store.Run) {
	if len(doubtful) > 0 {
		print.Warn(cmd.ErrOrStderr(),
			fmt.Sprintf("%s kept, the last of them %s: by the clock they are old, but they come after newer "+
				"runs", print.Count(len(doubtful), "run"), print.ShortID(doubtful[0].ID)))
	}
}

// oldRuns returns the runs, the last that came into the store first, of which nothing was recorded since a time.
// Doubtful are those of them that came after one that is not old: the clock was another then. What is from the future,
// or has no time that can be read, reports nothing.
func oldRuns(runs []store.Run, before, now time.Time) (old, doubtful []*store.Run) {
	after := false // one that is not old
	for i := len(runs) - 1; i >= 0; i-- {
		run := &runs[i]
		switch {
		case run.Changed.IsZero(), run.Changed.After(now):
		case !run.Changed.Before(before):
			after = true
		case after:
			doubtful = append(doubtful, run)
		default:
			old = append(old, run)
		}
	}
	slices.Reverse(old)
	slices.Reverse(doubtful)
	return old, doubtful
}

// confirm asks on the terminal whether to remove runs.
func confirm(cmd *cobra.Command, runs []*store.Run) error {
	var lines []string
	for _, r := range runs {
		lines = append(lines, fmt.Sprintf("%s %s %s %s, %d epochs, %s", print.ShortID(r.ID), r.Name, r.DataName(),
			r.Method(), r.Epoch(), r.State))
	}
	return print.Confirm(cmd, lines, print.Count(len(runs), "run"))
}
