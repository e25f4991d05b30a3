package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"newtop/trainer/event"
	"newtop/trainer/store"
)

// StoreFlags is the run store of commands that look at runs.
type StoreFlags struct{ File string }

// Add declares --record, for cmd and the commands below it.
func (a *StoreFlags) Add(cmd *cobra.Command) {
	cmd.PersistentFlags().StringVar(&a.File, "record", "", "database with the runs; empty: runs.db in the state directory")
	Wrap(cmd.PersistentFlags().Lookup("record"))
}

// EmptyError says that there is no run store in the default place yet.
type EmptyError struct{ file string }

func (e *EmptyError) Error() string {
	return e.file + ": no run is recorded yet: newtop and newtop train record every one"
}

// With opens the store, and closes it after what is done with it.
func (a *StoreFlags) With(o store.Options, do func(*store.Store) error) (err error) {
	s, err := a.Open(o)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, s.Close()) }()
	return do(s)
}

func (a *StoreFlags) Open(o store.Options) (*store.Store, error) {
	s, err := OpenStore(a.File, o)
	if errors.Is(err, fs.ErrNotExist) && a.File == "" {
		if file, pathErr := store.DefaultPath(); pathErr == nil {
			return nil, &EmptyError{file}
		}
	}
	return s, err
}

// FindRuns returns the runs of the names, in their order.
func FindRuns(cmd *cobra.Command, s *store.Store, names []string) ([]*store.Run, error) {
	runs := make([]*store.Run, len(names))
	for i, name := range names {
		r, err := s.Find(cmd.Context(), name)
		if err != nil {
			return nil, err
		}
		runs[i] = r
	}
	return runs, nil
}

// SomeArguments asks for arguments from so many on, and says what they are.
func SomeArguments(least int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < least {
			return Usagef("%s: expected %s", cmd.CommandPath(), what)
		}
		return nil
	}
}

// completed is how many runs a shell is offered.
const completed = 50

// Complete offers the names of runs to a shell, for as many arguments as most; 0 is any number. Beside them it offers
// what the directive says, such as files. Trials of searches are offered once something is typed.
func (a *StoreFlags) Complete(most int, beside cobra.ShellCompDirective) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, begun string) (out []cobra.Completion, _ cobra.ShellCompDirective) {
		if most > 0 && len(args) >= most {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		err := a.With(store.Options{ReadOnly: true}, func(s *store.Store) error {
			runs, err := s.Runs(cmd.Context(), store.Filter{Text: begun, Limit: completed, Alone: begun == ""})
			for i := range runs {
				r := &runs[i]
				about := fmt.Sprintf("%s %s, %s, %d epochs, %s", DataOf(r), OptimizerOf(r), When(r.Begun, time.Now()), EpochOf(r), r.State)
				for _, name := range []string{r.Name, r.ID} {
					if name != "" {
						out = append(out, cobra.CompletionWithDesc(Printable(name), Printable(about)))
					}
				}
			}
			return err
		})
		if err != nil {
			return nil, beside
		}
		return out, beside
	}
}

// DataOf names the data of a run, of one that did not begin as it was asked for.
func DataOf(r *store.Run) string {
	if r.Opening != nil {
		return r.Opening.Data.Name
	}
	return r.Config.Data
}

// OptimizerOf names the optimizer that a run began with.
func OptimizerOf(r *store.Run) string {
	if r.Opening != nil {
		return r.Opening.Optimizer
	}
	return r.Config.Optimizer
}

// EpochOf returns a run's newest epoch.
func EpochOf(r *store.Run) int {
	if r.Last == nil {
		return 0
	}
	return r.Last.Epoch
}

// MeasureOf returns what a run is judged by.
func MeasureOf(r *store.Run) event.Measure {
	var some []event.EpochEvent
	for _, e := range []*event.EpochEvent{r.First, r.Last, r.Best} {
		if e != nil {
			some = append(some, *e)
		}
	}
	return event.MeasureOf(r.Opening, some)
}

// MeasureIn writes what a run is judged by in an epoch; a missing figure is a dot.
func MeasureIn(m event.Measure, e *event.EpochEvent) string {
	if e == nil {
		return "."
	}
	return Measure(m, m.Value(e))
}

// Measure writes an error as a percentage, and an RMSE or a loss as it is.
func Measure(m event.Measure, v float64) string {
	switch {
	case math.IsNaN(v):
		return "."
	case m.Info().Share:
		return Percent(event.Float(v))
	}
	return Number(event.Float(v), 4)
}

// Work writes gradient equivalents, short; a missing number is a dot.
func Work(v event.Float) string {
	if v >= 1000 {
		return fmt.Sprintf("%.0f", float64(v))
	}
	return Number(v, 3)
}

// Elapsed writes training seconds for people, short; a missing number is a dot.
func Elapsed(s event.Float) string {
	if math.IsNaN(float64(s)) || math.Abs(float64(s)) > math.MaxInt64/1e9 {
		return "."
	}
	d := time.Duration(float64(s) * float64(time.Second))
	switch {
	case d == 0:
		return "0 s"
	case d < time.Second:
		return fmt.Sprintf("%.3g ms", d.Seconds()*1e3)
	case d < time.Minute:
		return fmt.Sprintf("%.3g s", d.Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%d:%02d", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%d:%02d:%02d", int(d.Hours()), int(d.Minutes())%60, int(d.Seconds())%60)
}

// When writes a time as short as it is clear on the day of now.
func When(t, now time.Time) string {
	t, now = t.Local(), now.Local()
	switch {
	case t.IsZero():
		return "."
	case t.YearDay() == now.YearDay() && t.Year() == now.Year():
		return t.Format("15:04:05")
	case t.Year() == now.Year():
		return t.Format("Jan 2 15:04")
	}
	return t.Format("2006-01-02")
}

// Printable returns a text of a file's with nothing in it that a terminal would act on.
func Printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return '·'
	}, text)
}
