package cli

import (
	"context"
	"errors"
	"io"
	"maps"
	"math"
	"slices"

	"newtop/trainer/event"
	"newtop/trainer/store"
	"newtop/trainer/stream"
)

// missing is an epoch of which nothing is known.
var missing = func() event.EpochEvent {
	nan := event.Float(math.NaN())
	return event.EpochEvent{Loss: nan, TestLoss: nan, Error: nan, TestError: nan, RMSE: nan, TestRMSE: nan, GradientNorm: nan,
		StepNorm: nan, Radius: nan, Rho: nan, Rate: nan, Gradients: nan, Products: nan, Losses: nan, GradientEquivalents: nan,
		Seconds: nan, Elapsed: nan}
}()

// story is what a recorded run's events tell.
type story struct {
	run      *store.Run
	epochs   []event.EpochEvent // where they were asked for
	switches []event.SwitchEvent
	settings []event.SettingEvent
	spectra  int
	spectrum *event.SpectrumEvent // the newest
	rewinds  []event.RewindEvent
	races    []event.RaceEvent
	resumes  []event.ResumeEvent
	saved    []event.SavedEvent
	diverged *event.DivergedEvent
	solves   int
	stops    map[string]int // inner solves by the letter of the reason why they stopped
	words    map[string]string
}

func newStory(r *store.Run) *story {
	return &story{run: r, stops: map[string]int{}, words: map[string]string{}}
}

// tell reads what happened in a run, and keeps no epochs.
func tell(ctx context.Context, s *store.Store, r *store.Run) (*story, error) {
	if r.Inner == 0 { // no solves to count, so that not every epoch has to be read
		return skim(ctx, s, r, false)
	}
	t := newStory(r)
	_, err := s.Events(ctx, r.ID, 0, func(e event.Event) bool {
		t.add(e, false)
		return true
	})
	return t, err
}

// skim reads a run as watchers see it: the past of a long one is thinned, its extremes kept.
func skim(ctx context.Context, s *store.Store, r *store.Run, epochs bool) (*story, error) {
	source, err := s.Source(ctx, r.ID)
	if err != nil {
		return nil, err
	}
	defer source.Close()
	t := newStory(r)
	for {
		e, err := source.Next(ctx)
		switch {
		case err == nil:
			t.add(e, epochs)
		case errors.Is(err, stream.ErrRestart):
			t = newStory(r)
		case errors.Is(err, stream.ErrNone), errors.Is(err, io.EOF):
			return t, nil
		default:
			return nil, err
		}
	}
}

func (t *story) add(e event.Event, epochs bool) {
	switch e := e.(type) {
	case event.EpochEvent:
		for i := range e.Inner {
			stop := e.Inner[i].Stop
			t.solves++
			t.stops[stop.String()]++
			t.words[stop.String()] = stop.Words()
		}
		if epochs {
			t.epochs = append(t.epochs, e)
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

// reasons returns the names of the reasons why solves stopped, the most frequent first.
func (t *story) reasons() []string {
	return slices.SortedFunc(maps.Keys(t.stops), func(a, b string) int {
		if t.stops[a] != t.stops[b] {
			return t.stops[b] - t.stops[a]
		}
		if a < b {
			return -1
		}
		return 1
	})
}
