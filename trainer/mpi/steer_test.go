package mpi

import (
	"context"
	"sync"
	"testing"
	"time"

	"newtop/trainer"
	"newtop/trainer/event"
	"newtop/trainer/feed"
)

// wheel steers a run that a test has paused before its first epoch.
type wheel struct {
	t       *testing.T
	session *trainer.Session
	feed    feed.Feed
	phase   event.Phase
	begun   bool // whether there are weights
	looks   int  // seen
}

// steered returns the events of a run that is given commands, each when it stands still after the one before.
func steered(t *testing.T, w *Comm, c trainer.Config, commands []event.Command) []string {
	t.Helper()
	s, out := sessionOf(t, w, c)
	d := &wheel{t: t, session: s, feed: s.Feed()}
	defer d.feed.Close()
	ended := make(chan error, 1)
	run := sync.OnceFunc(func() { go func() { ended <- s.Run(t.Context()) }() })
	if err := s.Do(counted{t.Context(), run}, event.Pause{On: true}); err != nil {
		t.Fatal(err)
	}
	for !d.begun || d.phase != event.Paused {
		d.until(func() bool { return true })
	}
	for _, command := range commands {
		before := d.looks
		d.do(command)
		switch command.(type) {
		case event.Slice, event.ShowErrors, event.Spectrum:
			for d.looks == before {
				d.until(func() bool { return true })
			}
		}
	}
	if err := s.Do(t.Context(), event.Stop{}); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	return untimed(t, out)
}

// counted is the context of a command. It calls then once the session has counted who gives the command, and waits for it.
type counted struct {
	context.Context
	then func()
}

func (c counted) Done() <-chan struct{} {
	c.then()
	return c.Context.Done()
}

// do gives a command and waits until the run stands still.
func (d *wheel) do(c event.Command) {
	d.t.Helper()
	if err := d.session.Do(d.t.Context(), c); err != nil {
		d.t.Fatalf("%T: %v", c, err)
	}
	d.until(func() bool { return d.phase == event.Paused })
}

// until reads news until something is so, at least once.
func (d *wheel) until(so func() bool) {
	d.t.Helper()
	ctx, cancel := context.WithTimeout(d.t.Context(), time.Minute)
	defer cancel()
	for {
		news, err := d.feed.Wait(ctx)
		if err != nil {
			d.t.Fatal(err)
		}
		d.phase = news.Status.Phase
		d.begun = news.Status.RewindEpochs != nil
		d.looks += len(news.Slices) + len(news.Errors) + len(news.Spectra)
		if so() {
			return
		}
	}
}

// TestSteering: whatever is asked of a run, in the middle of an assembly too, where the others wait for their turn, all
// processes do it.
func TestSteering(t *testing.T) {
	type commands = []event.Command
	racers := []event.Racer{{Optimizer: "lm"}, {Optimizer: "tr-gn"}}
	trust := small("tr-newton")
	trust.SpectrumRows = 100
	assembly := small("lm")
	assembly.SpectrumRows = -1
	trust.Epochs, assembly.Epochs = 0, 0
	for name, c := range map[string]struct {
		config   trainer.Config
		commands commands
	}{
		"trust region": {trust, commands{
			event.StepEpoch{}, event.StepInner{}, event.Slice{}, event.Spectrum{}, event.Set{Key: "blocks", Value: "3"},
			event.StepEpoch{}, event.ShowErrors{Worst: 5}, event.ShowErrors{Train: true, Worst: 3},
			event.Race{Racers: racers, Equivalents: 50}, event.Pick{Racer: 1}, event.StepEpoch{},
			event.Rewind{Epoch: 1}, event.StepEpoch{}, event.Switch{Optimizer: "lbfgs"}, event.StepEpoch{},
		}},
		"assembly": {assembly, commands{
			event.StepEpoch{}, event.StepInner{}, event.Slice{}, event.Spectrum{}, event.Set{Key: "mu", Value: "0.01"},
			event.StepEpoch{}, event.StepInner{}, event.Race{Racers: racers, Equivalents: 50}, event.Pick{Racer: 0},
			event.StepEpoch{}, event.StepInner{}, event.Switch{Optimizer: "dogleg"}, event.StepEpoch{},
			event.StepInner{}, event.Rewind{Epoch: 1}, event.StepEpoch{},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			var want []string
			inComms(t, Options{}, func(t *testing.T, w *Comm) {
				if want == nil {
					want = steered(t, nil, c.config, c.commands)
				}
				compare(t, steered(t, w, c.config, c.commands), want)
			})
		})
	}
}
