// Package runs has the commands about recorded runs.
package runs

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"newtop/internal/cli/flags"
	"newtop/internal/cli/job"
	"newtop/internal/cli/print"
	"newtop/trainer/event"
	"newtop/trainer/store"
	"newtop/trainer/store/search"
)

// New returns newtop runs.
func New() *cobra.Command {
	var a job.StoreFlags
	var l lister
	var screen flags.Screen
	list := pflag.NewFlagSet("list", pflag.ContinueOnError)
	cmd := &cobra.Command{
		Use:   "runs",
		Short: "Browse, show, compare, plot, export and merge recorded runs",
		Long: `Browse recorded runs on the screen in a terminal; list them as text, latest
first, with newtop runs list, with any flag of the list, or in a pipe.

Commands accept a run's ID, a unique beginning or end of it, its name, or last,
last~1, last~2, …: the latest runs that are not trials of a search.`,
		Example: "newtop runs --data letters --since 24h\nnewtop runs show last\nnewtop runs compare last last~1 " +
			"last~2\nnewtop runs plot last last~1 -o figure.svg",
		Args: flags.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if browses(cmd, list) {
				return browse(cmd, &a, &screen)
			}
			return l.list(cmd, &a)
		},
	}
	a.Add(cmd)
	l.add(list)
	cmd.Flags().SortFlags = false
	cmd.Flags().AddFlagSet(list)
	l.complete(cmd)
	screen.Add(cmd)
	again := &cobra.Command{
		Use: "list", Short: "List recorded runs, latest first", Args: flags.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return l.list(cmd, &a) },
	}
	l.add(again.Flags())
	l.complete(again)
	cmd.AddCommand(again, newRunsShow(&a), newRunsCompare(&a), newRunsPlot(&a), newRunsExport(&a), newRunsRename(&a),
		newRunsRemove(&a),
		newRunsMerge(&a), newRunsCheck(&a), newRunsSalvage(&a))
	return cmd
}

// lister lists runs.
type lister struct {
	filter store.Filter
	since  string
	format string
	trials bool
}

func (l *lister) add(set *pflag.FlagSet) {
	set.SortFlags = false
	set.StringVar(&l.filter.Data, "data", "", "only runs on this data")
	set.StringVar(&l.filter.Optimizer, "opt", "", "only runs that started with this optimizer")
	set.StringVar(
		&l.filter.State, "state", "",
		"only runs in this state: running, interrupted, damaged, or why they ended: epochs, target, time, stopped, "+
			"stalled, diverged, failed")
	set.StringVar(&l.since, "since", "", "only runs started since `WHEN`: 90m, 24h, 7d ago, or a date as in 2026-11-01")
	set.StringVar(&l.filter.Text, "text", "", "only runs with this text in ID, name, data, optimizer or command")
	set.BoolVar(&l.trials, "trials", false,
		"also the trials of searches, otherwise left out unless --text matches them")
	set.IntVar(&l.filter.Limit, "limit", 0, "at most `N` rows; 0: all")
	set.StringVar(&l.format, "format", "text", "text, json or csv")
}

// complete has a shell offered the values of a command that has the flags.
func (l *lister) complete(cmd *cobra.Command) {
	flags.Complete(cmd, "data", flags.DataSets)
	flags.Complete(cmd, "opt", flags.Methods)
	flags.Choices(cmd, "state", states()...)
	flags.Choices(cmd, "format", "text", "json", "csv")
}

func (l *lister) list(cmd *cobra.Command, a *job.StoreFlags) error {
	if err := flags.OneOf("--format", l.format, "text", "json", "csv"); err != nil {
		return err
	}
	write := map[string]func(*cobra.Command, []store.Run) error{"text": listText, "json": listJSON,
		"csv": listCSV}[l.format]
	f, err := l.chosen(time.Now())
	if err != nil {
		return err
	}
	var runs []store.Run
	var searches []search.Search
	err = a.With(store.Options{ReadOnly: true}, func(s *store.Store) (err error) {
		if runs, err = s.Runs(cmd.Context(), f); err == nil && f.Alone {
			var failed error
			if searches, failed = search.All(cmd.Context(), s); failed != nil { // which is no reason not to list runs
				print.Warn(cmd.ErrOrStderr(), print.OneLine(failed))
			}
		}
		return err
	})
	if empty, ok := errors.AsType[*job.EmptyError](err); ok {
		fmt.Fprintln(cmd.ErrOrStderr(), "newtop:", empty)
	} else if err != nil {
		return err
	} else if len(runs) == 0 {
		fmt.Fprintln(cmd.ErrOrStderr(), "newtop: no such run")
	}
	if len(searches) > 0 {
		fmt.Fprintln(cmd.ErrOrStderr(), "newtop: without the trials of searches: newtop tune list, or --trials")
	}
	return write(cmd, runs)
}

// chosen checks the filter's flags.
func (l *lister) chosen(now time.Time) (f store.Filter, err error) {
	f = l.filter
	f.Alone = !l.trials && f.Text == ""
	if f.Limit < 0 {
		return f, flags.Invalid("--limit", f.Limit, "a whole number ≥ 0")
	}
	if f.State != "" {
		if err := checkState(f.State); err != nil {
			return f, err
		}
	}
	if l.since != "" {
		if f.Since, err = moment(l.since, now); err != nil {
			return f, flags.Invalid("--since", l.since, err.Error())
		}
	}
	return f, nil
}

// checkState refuses what no run can be in.
func checkState(name string) error {
	return flags.OneOf("--state", name, states()...)
}

// states returns the states that a run can be in.
func states() []string {
	list := []string{string(store.Running), string(store.Interrupted), string(store.Damaged)}
	for _, r := range []event.Reason{event.ReasonEpochs, event.ReasonTarget, event.ReasonTime, event.ReasonStopped,
		event.ReasonStalled, event.ReasonDiverged, event.ReasonFailed} {
		list = append(list, string(r))
	}
	return list
}

// moment reads a time: so long before now, or a date.
func moment(text string, now time.Time) (time.Time, error) {
	if d, err := span(text); err == nil {
		return now.Add(-d), nil
	}
	for _, layout := range []string{time.DateOnly, "2006-01-02 15:04", "2006-01-02T15:04", time.DateTime,
		time.RFC3339} {
		if t, err := time.ParseInLocation(layout, text, time.Local); err == nil {
			return t, nil
		}
	}
	return time.Time{}, errors.New("90m, 24h, 7d, or a date as in 2026-11-01 or 2026-11-01T15:04")
}

// span reads a duration ≥ 0, in which d is a day of 24 hours and w a week.
func span(text string) (time.Duration, error) {
	for unit, hours := range map[string]float64{"d": 24, "w": 7 * 24} {
		if rest, ok := strings.CutSuffix(text, unit); ok {
			n, err := strconv.ParseFloat(rest, 64)
			if err != nil || !(n >= 0 && n < 1e5) {
				return 0, errors.New("a duration as in 90m, 24h, 30d")
			}
			return time.Duration(n * hours * float64(time.Hour)), nil
		}
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return 0, errors.New("a duration as in 90m, 24h, 30d")
	}
	return d, nil
}
