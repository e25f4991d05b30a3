package tuitest

import (
	"context"
	"math"
	"sync"
	"time"

	"github.com/charmbracelet/colorprofile"

	"newtop/trainer/event"
	"newtop/trainer/feed"
	"newtop/trainer/optim"
	"newtop/tui/style"
)

// Feed replays a made-up run: a Delta at a time, at a pace or as fast as it is asked.
type Feed struct {
	Mu       sync.Mutex
	Deltas   []feed.Delta
	At       int
	Pace     time.Duration
	paused   bool
	Commands []event.Command
}

// Wait returns the next Delta, the later ones at the pace.
func (f *Feed) Wait(ctx context.Context) (feed.Delta, error) {
	for {
		f.Mu.Lock()
		if f.At < len(f.Deltas) && !f.paused {
			d := f.Deltas[f.At]
			f.At++
			slow := f.Pace > 0 && f.At > 40
			f.Mu.Unlock()
			if slow {
				select {
				case <-time.After(f.Pace):
				case <-ctx.Done():
				}
			}
			return d, ctx.Err()
		}
		f.Mu.Unlock()
		select {
		case <-ctx.Done():
			return feed.Delta{}, ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// Do notes the command, and does what a pause or a stop means.
func (f *Feed) Do(_ context.Context, c event.Command) error {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	f.Commands = append(f.Commands, c)
	switch c := c.(type) {
	case event.Pause:
		f.pause(c.On)
	case event.Scale:
		return &event.CommandError{Reason: "radius = -1: expected a number > 0"}
	case event.Stop:
		var s event.Status
		if f.At > 0 {
			s = f.Deltas[f.At-1].Status
		}
		f.Deltas = append(f.Deltas[:f.At:f.At], Ended(s, event.ReasonStopped))
		f.paused = false
	}
	return nil
}

// pause slips a Delta with the new phase in before what comes next.
func (f *Feed) pause(on bool) {
	f.paused = on
	if f.At > 0 && on {
		s := f.Deltas[f.At-1].Status
		s.Phase = event.Paused
		f.At--
		f.Deltas[f.At] = feed.Delta{Status: s}
		f.paused = false
		go func() {
			time.Sleep(100 * time.Millisecond)
			f.Mu.Lock()
			f.paused = f.At > 0 && f.Deltas[f.At-1].Status.Phase == event.Paused
			f.Mu.Unlock()
		}()
	}
}

// Close does nothing.
func (f *Feed) Close() {}

// Ended is the last Delta of a run.
func Ended(s event.Status, r event.Reason) feed.Delta {
	s.Phase = event.Ended
	return feed.Delta{Status: s, Done: &event.DoneEvent{
		Reason: r, Epochs: s.Epoch, Loss: 0.0123, Error: 0.006, TestError: 0.0471, BestTestError: 0.0462, BestEpoch: 31,
		Elapsed: event.Float(s.Elapsed),
	}}
}

// Methods stand in for the registry, so that pictures do not depend on it.
func Methods() []*optim.Info {
	radius := optim.Hyperparameter{Key: "radius", Meaning: "R₀, the first trust-region radius", Default: 1,
		Max: math.Inf(1), Open: true}
	rate := optim.Hyperparameter{Key: "rate", Meaning: "η, the learning rate", Default: 0.01, Max: math.Inf(1),
		Open: true}
	mk := func(name, title, paper, summary, cost, primary string, p ...optim.Hyperparameter) *optim.Info {
		return &optim.Info{Name: name, Title: title, Paper: paper, Equations: "Algorithm 1", Summary: summary,
			Cost: cost, Primary: primary, Parameters: p}
	}
	xi := optim.Hyperparameter{Key: "xi", Meaning: "ξ, the relative residual that ends a solve", Default: 0.1, Max: 1}
	return []*optim.Info{
		mk("tr-newton", "trust region, exact Hessian", "Mizutani & Demmel 2003",
			"Truncated CG on the exact Hessian in a trust region; leaves saddles along negative curvature.",
			"1 + 2 per inner iteration", "radius", radius, xi),
		mk("tr-gn", "trust region, Gauss–Newton", "Mizutani & Demmel 2003",
			"The same with the Gauss–Newton matrix, which is never indefinite.", "1 + 1.5 per inner iteration",
			"radius", radius, xi),
		mk("tr-gn-jacobi", "the same, Jacobi preconditioned", "Mizutani & Demmel 2003",
			"Scales the directions by the diagonal.", "2 + 1.5 per inner iteration", "radius", radius, xi),
		mk("sgd", "stochastic gradient descent", "Robbins & Monro 1951", "One small step a batch.", "1", "rate", rate),
		mk("momentum", "gradient descent with momentum", "Polyak 1964", "Keeps a velocity.", "1", "rate", rate),
		mk("adam", "adaptive moments", "Kingma & Ba 2015", "Steps scaled by running moments of the gradient.", "1",
			"rate", rate),
	}
}

// DeltaOf is a Delta of events, with a status.
func DeltaOf(s event.Status, events ...event.Event) *feed.Delta {
	d := feed.Delta{Status: s}
	for _, e := range events {
		switch e := e.(type) {
		case event.EpochEvent:
			d.Epochs = append(d.Epochs, e)
		case event.InnerEvent:
			d.Inner = append(d.Inner, e)
		case event.SpectrumEvent:
			d.Spectra = append(d.Spectra, e)
		case event.WeightsEvent:
			d.Weights = append(d.Weights, e)
		case event.ErrorsEvent:
			d.Errors = append(d.Errors, e)
		case event.RaceEvent:
			d.Races = append(d.Races, e)
		}
	}
	return &d
}

// EventsOf lists what Deltas have in the order of a run.
func EventsOf(deltas []feed.Delta) (out []event.Event) {
	for _, d := range deltas {
		if d.Run != nil {
			out = append(out, *d.Run)
		}
		for _, e := range d.Inner {
			out = append(out, e)
		}
		for _, e := range d.Epochs {
			out = append(out, e)
		}
		for _, e := range d.Console {
			out = append(out, e)
		}
		for _, e := range d.Spectra {
			out = append(out, e)
		}
		for _, e := range d.Switches {
			out = append(out, e)
		}
		if d.Done != nil {
			out = append(out, *d.Done)
		}
	}
	return out
}

// Pen draws in braille and without colours.
func Pen() style.Pen {
	return style.Pen{Palette: style.ThemeAuto.Palette(true, colorprofile.ASCII, true),
		Glyphs: style.GlyphsBraille.Set(nil)}
}
