package runs

import (
	"cmp"
	"context"
	"errors"
	"io"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"newtop/internal/cli/print"
	"newtop/trainer/event"
	"newtop/trainer/store"
	"newtop/trainer/stream"
)

// summary is what a recorded run's events tell.
type summary struct {
	run      *store.Run
	epochs   []event.EpochEvent // where they were asked for
	switches []event.SwitchEvent
	settings []event.SettingEvent
	spectra  int
	spectrum *event.SpectrumEvent // the latest
	rewinds  []event.RewindEvent
	races    []event.RaceEvent
	resumes  []event.ResumeEvent
	saved    []event.SavedEvent
	diverged *event.DivergedEvent
	solves   int
	stops    map[string]int // inner solves by the letter of the reason why they stopped
	text     map[string]string
	lost     string // what could not be read; empty: nothing
	now      print.Collector
}

func newSummary(r *store.Run) *summary {
	return &summary{run: r, stops: map[string]int{}, text: map[string]string{}}
}

// summarizeRun reads what happened in a run, and keeps no epochs.
func summarizeRun(ctx context.Context, s *store.Store, r *store.Run) (*summary, error) {
	if r.Inner == 0 { // no solves to count, so that not every epoch has to be read
		return watched(ctx, s, r, false)
	}
	t := newSummary(r)
	lost, err := readable(ctx, s, r, func(e event.Event) error {
		t.add(e, false)
		return nil
	})
	if lost != nil {
		t.lost = lost.Error()
	}
	return t, err
}

// watched reads a run as watchers see it: the past of a long one is thinned, its extremes kept.
func watched(ctx context.Context, s *store.Store, r *store.Run, epochs bool) (*summary, error) {
	source, err := s.Source(ctx, r.ID)
	if err != nil {
		return nil, err
	}
	defer source.Close()
	t := newSummary(r)
	for {
		e, err := source.Next(ctx)
		switch {
		case err == nil:
			t.add(e, epochs)
		case errors.Is(err, stream.ErrRestart):
			t = newSummary(r)
		case errors.Is(err, stream.ErrNone), errors.Is(err, io.EOF):
			t.lost = stream.Warning(source)
			return t, nil
		default:
			return nil, err
		}
	}
}

func (t *summary) add(e event.Event, epochs bool) {
	t.now.See(e)
	switch e := e.(type) {
	case event.EpochEvent:
		for i := range e.Inner {
			stop := e.Inner[i].Stop
			t.solves++
			t.stops[stop.String()]++
			t.text[stop.String()] = stop.Text()
		}
		if epochs {
			t.epochs = event.Settle(t.epochs, &e)
		}
	case event.SwitchEvent:
		t.switches = append(t.switches, e)
	case event.SettingEvent:
		t.settings = append(t.settings, e)
	case event.SpectrumEvent:
		t.spectra++
		t.spectrum = &e
	case event.RewindEvent:
		t.rewinds = append(t.rewinds, e)
	case event.RaceEvent:
		t.races = append(t.races, e)
	case event.ResumeEvent:
		t.resumes = append(t.resumes, e)
	case event.SavedEvent:
		t.saved = append(t.saved, e)
	case event.DivergedEvent:
		t.diverged = &e
	}
}

// warn says what could not be read.
func (t *summary) warn(cmd *cobra.Command) {
	if t.lost != "" {
		print.Warn(cmd.ErrOrStderr(), t.lost)
	}
}

// reasons returns the names of the reasons why solves stopped, the most frequent first.
func (t *summary) reasons() []string {
	return slices.SortedFunc(maps.Keys(t.stops), func(a, b string) int {
		return cmp.Or(t.stops[b]-t.stops[a], cmp.Compare(a, b))
	})
}
