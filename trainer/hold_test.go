package trainer

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"newtop/internal/nightly"
	"newtop/trainer/config"
	"newtop/trainer/event"
	"newtop/trainer/feed"
	"newtop/trainer/optim"
	"newtop/trainer/optim/methods"
	"newtop/trainer/trajectory"
)

// stay is a session that stays, and what comes of it.
type stay struct {
	*Session
	box  *feed.Mailbox
	kept *archive
	end  chan error
	stop context.CancelFunc
}

func staying(t *testing.T, c config.Config) *stay {
	t.Helper()
	a := &archive{}
	s := mustNew(t, c, a)
	s.WaitAtEnd()
	ctx, cancel := context.WithCancel(t.Context())
	h := &stay{Session: s, box: s.Subscribe(), kept: a, end: make(chan error, 1), stop: cancel}
	go func() { h.end <- s.Run(ctx) }()
	t.Cleanup(func() { cancel(); h.box.Close() })
	return h
}

// until follows the run until it is held after an epoch.
func (h *stay) until(t *testing.T, epoch int) feed.Delta {
	t.Helper()
	return follow(t, h.box, func(d *feed.Delta) bool {
		return d.Status.Held && d.Done != nil && d.Done.Epochs == epoch && d.Status.Computing == ""
	})
}

// over ends the session and returns its error.
func (h *stay) over() error {
	h.stop()
	return <-h.end
}

// TestSpectrumOfTheSecondEnd: a run that goes back and comes to its end again has a spectrum of what it ends with now.
func TestSpectrumOfTheSecondEnd(t *testing.T) {
	h := staying(t, config.Config{Data: "spirals", Hidden: []int{10}, Epochs: 3, SpectrumEvery: 2, Spectrum: 2})
	ends := func(d *feed.Delta) (n int) {
		for _, e := range d.Spectra {
			if e.Epoch == 3 {
				n++
			}
		}
		return n
	}
	follow(t, h.box, func(d *feed.Delta) bool { return ends(d) == 1 && d.Status.Held && d.Status.Computing == "" })
	do(t, h.Session, event.Rewind{Epoch: 2})
	do(t, h.Session, event.Pause{})
	follow(t, h.box, func(d *feed.Delta) bool { return ends(d) >= 1 && d.Status.Held && d.Status.Epoch == 3 })
}

// TestGoOnAfterTheEnd: a run that goes on after its end, wherever that was, has the state of one that never ended.
func TestGoOnAfterTheEnd(t *testing.T) {
	kinds := everyKind()
	for i, name := range slices.Sorted(maps.Keys(kinds)) {
		c := kinds[name]
		t.Run(name, func(t *testing.T) {
			c.Epochs = 4
			if info, _ := methods.Lookup(c.Optimizer); optim.NewSettings(info.Parameters).Has("schedule") {
				c.Schedule = "constant" // one that falls until the end knows where that was
			}
			whole := keepAll(t, c)
			diverged := len(of[event.DivergedEvent](&whole.memory)) > 0
			for k, first := range []func(*config.Config){
				func(c *config.Config) { c.Epochs = 2 },
				func(c *config.Config) { c.TimeLimit = 1 }, // in the middle of the first epoch
			} {
				if i%8 != 4*k && !nightly.On() { // by day a quarter of the runs go on, each after one of the two
					continue
				}
				c := c
				first(&c)
				h := staying(t, c)
				end := follow(t, h.box, func(d *feed.Delta) bool { return d.Status.Held && d.Done != nil })
				if end.Done.Reason == event.ReasonDiverged || end.Done.Reason == event.ReasonStalled {
					h.over()
					continue
				}
				if c.TimeLimit > 0 {
					do(t, h.Session, event.Set{Key: "time-limit", Value: "0"})
				} else {
					do(t, h.Session, event.Set{Key: "epochs", Value: "4"})
				}
				do(t, h.Session, event.Pause{})
				follow(t, h.box, func(d *feed.Delta) bool { return d.Done != nil && d.Status.Held })
				if err := h.over(); err != nil && !diverged {
					t.Fatal(err)
				}
				if d := differences(h.kept.last(t), whole.last(t)); d != nil {
					t.Errorf("after the end by %s the last checkpoint differs in %q", end.Done.Reason, d)
				}
			}
		})
	}
}

func TestTheEndIsAPause(t *testing.T) {
	h := staying(t, config.Config{Data: "spirals", Hidden: []int{20, 10}, Epochs: 3, SpectrumEvery: 2, Spectrum: 2})
	box := h.Subscribe()
	defer box.Close()
	shown := map[string]bool{}
	for len(shown) < 3 { // by themselves
		d := nextDelta(t, box)
		shown["errors"] = shown["errors"] || len(d.Errors) > 0
		shown["slice"] = shown["slice"] || len(d.Slices) > 0
		for _, e := range d.Spectra {
			shown["spectrum"] = shown["spectrum"] || e.Epoch == 3
		}
		for k, seen := range shown {
			if !seen {
				delete(shown, k)
			}
		}
	}
	h.until(t, 3)
	do(t, h.Session, event.StepEpoch{})
	d := follow(t, h.box, func(d *feed.Delta) bool { return d.Status.Phase == event.Paused && d.Status.Epoch == 4 })
	if d.Status.EpochLimit != 6 {
		t.Errorf("the limit is %d: expected 6", d.Status.EpochLimit)
	}
	do(t, h.Session, event.Pause{})
	h.until(t, 6)
	do(t, h.Session, event.Race{Racers: []event.Racer{{Optimizer: "adam"}, {Optimizer: "tr-newton"}}, Equivalents: 20})
	follow(t, h.box, func(d *feed.Delta) bool { return d.Status.Racing })
	do(t, h.Session, event.Pick{Racer: -1})
	do(t, h.Session, event.Rewind{Epoch: 2})
	follow(t, h.box, func(d *feed.Delta) bool { return d.Status.Epoch == 2 && d.Status.Phase == event.Paused })
	do(t, h.Session, event.Pause{})
	h.until(t, 6)
	do(t, h.Session, event.Switch{Optimizer: "adam"})
	do(t, h.Session, event.Set{Key: "epochs", Value: "8"})
	do(t, h.Session, event.Pause{})
	h.until(t, 8)
	if err := h.over(); err != nil {
		t.Error(err)
	}
	var text []string
	for _, e := range h.kept.events {
		switch e.(type) {
		case event.DoneEvent, event.ResumeEvent:
			text = append(text, e.EventType())
		}
	}
	if got := strings.Join(text, " "); got != "done resume done resume done resume done" {
		t.Errorf("%s", got)
	}
}

func TestDivergedAndHeld(t *testing.T) {
	h := staying(t, config.Config{Data: "sine", Optimizer: "sgd", Set: []string{"rate=1e9"}, Act: "identity", Epochs: 50})
	follow(t, h.box, func(d *feed.Delta) bool { return d.Status.Held })
	for _, c := range []event.Command{event.Pause{}, event.StepEpoch{}, event.Set{Key: "rate", Value: "1e-3"}, event.Switch{Optimizer: "adam"}} {
		if err := h.Do(t.Context(), c); err == nil || !strings.Contains(err.Error(), "earlier epoch") {
			t.Errorf("%T: %v", c, err)
		}
	}
	do(t, h.Session, event.Rewind{Epoch: 0})
	do(t, h.Session, event.Set{Key: "rate", Value: "1e-3"})
	do(t, h.Session, event.Set{Key: "epochs", Value: "3"})
	do(t, h.Session, event.Pause{})
	h.until(t, 3)
	if err := h.over(); err != nil {
		t.Error(err)
	}
	h = staying(t, config.Config{Data: "sine", Optimizer: "sgd", Set: []string{"rate=1e9"}, Act: "identity", Epochs: 50})
	follow(t, h.box, func(d *feed.Delta) bool { return d.Status.Held })
	var diverged *trajectory.DivergedError
	if err := h.over(); !errors.As(err, &diverged) {
		t.Errorf("%v: expected the error of the end", err)
	}
}

func TestLimitsChangeWhileItRuns(t *testing.T) {
	h := staying(t, config.Config{Data: "spirals", Optimizer: "adam", Epochs: 1e6})
	follow(t, h.box, func(d *feed.Delta) bool { return d.Status.Epoch > 3 })
	for key, value := range map[string]string{"epochs": "2", "time-limit": "1ns", "target-error": "1", "spectrum-every": "-1"} {
		if err := h.Do(t.Context(), event.Set{Key: key, Value: value}); err == nil {
			t.Errorf("%s = %s was taken", key, value)
		}
	}
	do(t, h.Session, event.Set{Key: "time-limit", Value: "2h"})
	do(t, h.Session, event.Set{Key: "target-error", Value: "0.4"})
	d := follow(t, h.box, func(d *feed.Delta) bool { return d.Done != nil })
	if d.Done.Reason != event.ReasonTarget {
		t.Errorf("ended by %s", d.Done.Reason)
	}
	if err := h.over(); err != nil {
		t.Error(err)
	}
	c := config.Config{Epochs: 5}
	ChangeLimits(&c, h.kept.events)
	if c.TimeLimit != 2*time.Hour || c.TargetError != 0.4 || c.Epochs != 5 {
		t.Errorf("the events change it to %+v", c)
	}
}

// slowly is a recorder that says what waits.
type slowly struct {
	memory
	waiting atomic.Int32
}

func (s *slowly) Recording() event.Recording { return event.Recording{Backlog: int(s.waiting.Load())} }

func TestPausedRunTellsWhatIsRecorded(t *testing.T) {
	r := &slowly{}
	r.waiting.Store(7)
	s := mustNew(t, config.Config{Data: "spirals"}, r)
	box := s.Subscribe()
	defer box.Close()
	background(t, s)
	do(t, s, event.Pause{On: true})
	follow(t, box, func(d *feed.Delta) bool {
		return d.Run != nil && d.Status.Phase == event.Paused && d.Status.Recording.Backlog == 7
	})
	r.waiting.Store(0)
	follow(t, box, func(d *feed.Delta) bool { return d.Status.Recording.Backlog == 0 })
}

func TestStopWhileHeld(t *testing.T) {
	h := staying(t, config.Config{Data: "spirals", Epochs: 2})
	h.until(t, 2)
	do(t, h.Session, event.Stop{})
	select {
	case err := <-h.end:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Fatal("it goes on waiting")
	}
	if n := len(of[event.DoneEvent](&h.kept.memory)); n != 1 {
		t.Errorf("%d ends were told", n)
	}
}

// A run whose time is over within an outer iteration has as much time again, whatever it goes on with.
func TestGoOnAfterTheTime(t *testing.T) {
	h := staying(t, config.Config{Data: "spirals", Optimizer: "adam", TimeLimit: 50 * time.Millisecond})
	epoch, further := -1, 0
	for laps := 0; further < 4; laps++ { // a busy machine may come to no epoch within a lap
		d := follow(t, h.box, func(d *feed.Delta) bool { return d.Status.Held && d.Done != nil && d.Status.Computing == "" })
		if d.Done.Reason != event.ReasonTime || d.Done.Epochs < epoch || laps == 100 {
			t.Fatalf("ended by %s at epoch %d, after %d, %d times", d.Done.Reason, d.Done.Epochs, epoch, laps)
		}
		if d.Done.Epochs > epoch {
			further++
		}
		epoch = d.Done.Epochs
		do(t, h.Session, event.Pause{})
	}
	if err := h.over(); err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// A run that was revived and not let go on ends as one that was stopped.
func TestCancelledAfterSetting(t *testing.T) {
	h := staying(t, config.Config{Data: "spirals", Epochs: 2})
	h.until(t, 2)
	do(t, h.Session, event.Set{Key: "radius", Value: "2"})
	follow(t, h.box, func(d *feed.Delta) bool { return d.Status.Phase == event.Paused })
	if err := h.over(); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	ends := of[event.DoneEvent](&h.kept.memory)
	if last := ends[len(ends)-1]; len(ends) != 2 || last.Reason != event.ReasonStopped {
		t.Errorf("%+v", ends)
	}
}

func TestLostWeightsAreNotKept(t *testing.T) {
	h := staying(t, config.Config{Data: "spirals", Optimizer: "sgd", Set: []string{"rate=1e6"}, Epochs: 50})
	d := follow(t, h.box, func(d *feed.Delta) bool { return d.Status.Held && d.Done != nil })
	if err := h.Do(t.Context(), event.Rewind{Epoch: d.Done.Epochs}); err == nil {
		t.Errorf("the run went back to epoch %d, where it diverged", d.Done.Epochs)
	}
	h.over()
}
