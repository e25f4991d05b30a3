package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"newtop/internal/bench/load"
	"newtop/trainer"
	"newtop/trainer/event"
)

// RaceOptions say who races how often.
type RaceOptions struct {
	DataDir   string   // where the files of real data sets are
	Only      []string // names of races; nil: all, or with a table that alone
	Table     string   // a file, empty for none
	Target    string   // its column to learn
	Methods   []string // the optimizers that take part; nil: all
	Seeds     int      // runs of each, from seed First on; 1 at least
	First     uint64
	Threads   int    // 0: GOMAXPROCS
	Precision string // of the passes; empty: float64
	Live      func(text string)
}

// Races are methods on the same problems, each with the settings that were best on validation rows.
type Races struct {
	Machine Machine       `json:"machine"`
	Races   []*RaceResult `json:"races"`
}

// RaceResult is what came of a race, the methods in the order in which they are listed.
type RaceResult struct {
	Name    string        `json:"name"`
	What    string        `json:"what"`
	Goal    float64       `json:"goal,omitempty"` // the error, or RMSE, of the test rows that ends a run; 0: the runs go to their end
	Regress bool          `json:"regression,omitempty"`
	Entries []*RaceRunner `json:"methods"`
}

// RaceRunner is a method with its settings, and what its runs came to. Where a run did not reach the goal its Seconds, Work and
// Epochs are absent.
type RaceRunner struct {
	Method  string        `json:"method"`
	Set     []string      `json:"set,omitempty"`
	Epochs  int           `json:"epochs"`  // at most
	Seconds []event.Float `json:"seconds"` // of the method itself, until the goal or the end; measuring errors takes none
	Work    []event.Float `json:"gradient_equivalents"`
	Taken   []event.Float `json:"epochs_taken"`
	Best    []event.Float `json:"best"`    // the least error of the test rows after an epoch
	Last    []event.Float `json:"last"`    // that after the last one
	Foreign event.Float   `json:"foreign"` // the share of the processors that other programs took meanwhile; absent: not known
}

// Reached returns how many runs reached the goal.
func (r *RaceRunner) Reached() int {
	return len(slices.DeleteFunc(slices.Clone(r.Seconds), event.Float.Absent))
}

// Median returns the median of numbers, of which absent ones are greater than all.
func Median(of []event.Float) event.Float {
	sorted := slices.SortedFunc(slices.Values(of), func(a, b event.Float) int {
		switch {
		case b.Absent() && !a.Absent(), a < b:
			return -1
		case a.Absent() && !b.Absent(), b < a:
			return 1
		}
		return 0
	})
	n := len(sorted)
	if n%2 == 1 {
		return sorted[n/2]
	}
	a, b := sorted[n/2-1], sorted[n/2]
	if a.Absent() || b.Absent() {
		return event.Absent
	}
	return (a + b) / 2
}

// MeasureRaces runs the races. It returns the context's error if that ends first.
func MeasureRaces(ctx context.Context, o RaceOptions) (*Races, error) {
	out := &Races{Machine: Here(o.Threads)}
	for _, name := range o.Only {
		if !slices.ContainsFunc(races, func(r race) bool { return r.name == name }) {
			return nil, fmt.Errorf("no race %q: expected some of %s", name, strings.Join(RaceNames(), ", "))
		}
	}
	taking := slices.DeleteFunc(slices.Clone(races), func(r race) bool {
		return !slices.Contains(o.Only, r.name) && (o.Only != nil || o.Table != "")
	})
	if o.Table != "" {
		taking = append(taking, tableRace(o.Table, o.Target))
	}
	for i := range taking {
		r := &taking[i]
		result := &RaceResult{Name: r.name, What: r.what, Goal: r.goal}
		for _, text := range r.methods {
			runner := r.runner(text)
			if o.Methods != nil && !slices.Contains(o.Methods, runner.Method) {
				continue
			}
			var err error
			if result.Regress, err = r.run(ctx, &o, runner); err != nil {
				return nil, fmt.Errorf("%s, %s: %w", r.name, text, err)
			}
			result.Entries = append(result.Entries, runner)
			o.Live(fmt.Sprintf("%s: %s, %d of %d, %.3g s, %.4g", r.name, text, runner.Reached(), o.Seeds, Median(runner.Seconds), Median(runner.Best)))
		}
		out.Races = append(out.Races, result)
	}
	return out, nil
}

// runner reads an entry: a method, epochs=N and settings.
func (r *race) runner(text string) *RaceRunner {
	words := strings.Fields(text)
	out := &RaceRunner{Method: words[0], Epochs: r.epochs}
	for _, w := range words[1:] {
		if _, err := fmt.Sscanf(w, "epochs=%d", &out.Epochs); err != nil {
			out.Set = append(out.Set, w)
		}
	}
	return out
}

// run has a method run from every seed, and returns whether that is regression.
func (r *race) run(ctx context.Context, o *RaceOptions, of *RaceRunner) (regression bool, err error) {
	before := load.Now(ctx)
	for seed := range uint64(o.Seeds) {
		c := r.config
		c.DataDir, c.Threads, c.Precision, c.Seed = o.DataDir, o.Threads, o.Precision, o.First+seed
		c.Optimizer, c.Set, c.Epochs, c.TargetError = of.Method, of.Set, of.Epochs, r.goal
		told := &finish{race: r, best: event.Absent, last: event.UnknownEpoch(0)}
		session, err := trainer.New(c, told)
		if err == nil {
			err = session.Run(ctx)
		}
		apart := (*trainer.DivergedError)(nil) // is a result like any other
		if err != nil && !errors.As(err, &apart) {
			return false, err
		}
		of.note(told)
		regression = told.last.TestError.Absent()
	}
	of.Foreign = event.Float(before.Foreign(load.Now(ctx), 0))
	return regression, nil
}

func (of *RaceRunner) note(f *finish) {
	seconds, work, epochs := f.last.Elapsed, f.last.GradientEquivalents, event.Float(f.last.Epoch)
	if last := f.error(&f.last); f.race.goal > 0 && !(float64(last) <= f.race.goal) {
		seconds, work, epochs = event.Absent, event.Absent, event.Absent
	}
	of.Seconds, of.Work, of.Taken = append(of.Seconds, seconds), append(of.Work, work), append(of.Taken, epochs)
	of.Best, of.Last = append(of.Best, f.best), append(of.Last, f.error(&f.last))
}

// finish records how a run ends.
type finish struct {
	race *race
	best event.Float
	last event.EpochEvent
}

func (f *finish) error(e *event.EpochEvent) event.Float {
	if e.TestError.Absent() {
		return e.TestRMSE
	}
	return e.TestError
}

func (f *finish) Record(e event.Event) error {
	if epoch, ok := e.(event.EpochEvent); ok {
		f.last = epoch
		if v := f.error(&epoch); f.best.Absent() || v < f.best {
			f.best = v
		}
	}
	return nil
}

func (f *finish) Flush() error { return nil }
