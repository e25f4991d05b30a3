package feed

import (
	"context"
	"errors"
	"io"
	"math"
	"sync"
	"testing"
	"time"

	"newtop/trainer/event"
	"newtop/trainer/optim/methods"
)

func waitFor(t testing.TB, f interface {
	Wait(context.Context) (Delta, error)
}) Delta {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	d, err := f.Wait(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestRelayShowsEventsAndStatusAtOnce(t *testing.T) {
	r := NewRelay(nil)
	f := r.Feed()
	defer f.Close()
	r.Show([]event.Event{event.RunEvent{ID: "a", Optimizer: "adam", Epochs: 9}, event.EpochEvent{Epoch: 1, Elapsed: 2, GradientEquivalents: 3}}, func(s *event.Status) { s.Replay = &event.Replay{Epoch: 1} })
	d := waitFor(t, f)
	if d.Run == nil || len(d.Epochs) != 1 || d.Restart || d.Status.Replay == nil || d.Status.Epoch != 1 || d.Status.EpochLimit != 9 || d.Status.Elapsed != 2 || d.Status.Equivalents != 3 {
		t.Errorf("got %+v", d)
	}
	r.Add(event.DoneEvent{Epochs: 1})
	if d := waitFor(t, f); d.Done == nil || d.Status.Phase != event.Ended || d.Run != nil {
		t.Errorf("got %+v", d)
	}
	if err := f.Do(t.Context(), event.Stop{}); !errors.Is(err, ErrReadOnly) {
		t.Errorf("a command gave %v", err)
	}
}

func TestRelayRestarts(t *testing.T) {
	r := NewRelay(nil)
	quick, slow := r.Feed(), r.Feed()
	defer quick.Close()
	defer slow.Close()
	for i := range 5 {
		r.Add(event.EpochEvent{Epoch: i})
	}
	r.Add(event.DoneEvent{})
	if d := waitFor(t, quick); len(d.Epochs) != 5 {
		t.Fatalf("got %+v", d)
	}
	r.Restart([]event.Event{event.RunEvent{ID: "b"}, event.EpochEvent{Epoch: 7}}, func(s *event.Status) { s.Phase = event.Paused })
	r.Add(event.EpochEvent{Epoch: 8})
	late := r.Feed()
	defer late.Close()
	for name, f := range map[string]Feed{"one that had seen all": quick, "one that was behind": slow, "one that came later": late} {
		d := waitFor(t, f)
		if d.Restart != (name != "one that came later") || d.Done != nil || len(d.Epochs) != 2 || d.Epochs[0].Epoch != 7 || d.Run.ID != "b" || d.Status.Phase != event.Paused {
			t.Errorf("%s got %+v", name, d)
		}
		d.Epochs[0].Epoch = 99 // which belongs to the viewer
	}
	again := r.Feed()
	defer again.Close()
	if d := waitFor(t, again); d.Epochs[0].Epoch != 7 {
		t.Error("viewers share their events")
	}
}

// Viewers come and go, and steer, while events are shown; each sees the epochs of one history in order.
func TestRelayOfManyViewers(t *testing.T) {
	const viewers, rounds = 8, 400
	asked := make(chan event.Command, viewers)
	r := NewRelay(func(_ context.Context, c event.Command) error { asked <- c; return nil })
	var wg sync.WaitGroup
	for v := range viewers {
		f := r.Feed()
		wg.Go(func() {
			defer f.Close()
			if err := f.Do(t.Context(), event.Seek{Epoch: v}); err != nil {
				t.Error(err)
			}
			for last := -1; ; {
				d, err := f.Wait(t.Context())
				if err != nil {
					t.Error(err)
					return
				}
				if d.Restart {
					last = -1
				}
				for _, e := range d.Epochs {
					if e.Epoch <= last {
						t.Errorf("epoch %d after %d", e.Epoch, last)
					}
					last = e.Epoch
				}
				if d.Done != nil || v == 3 && last > rounds/2 {
					return
				}
			}
		})
	}
	for i := range rounds {
		switch {
		case i%50 == 49:
			events := make([]event.Event, i+1)
			for k := range events {
				events[k] = event.EpochEvent{Epoch: k}
			}
			r.Restart(events, nil)
		case i%7 == 0:
			r.Update(func(s *event.Status) { s.Replay = &event.Replay{Last: i} })
			fallthrough
		default:
			r.Add(event.EpochEvent{Epoch: i})
		}
	}
	r.Add(event.DoneEvent{})
	wg.Wait()
	if len(asked) != viewers {
		t.Errorf("%d commands came: expected %d", len(asked), viewers)
	}
	if r.viewers.Watched() {
		t.Error("viewers that left are still served")
	}
}

func TestRelayOfAnEndedViewer(t *testing.T) {
	r := NewRelay(nil)
	f := r.Feed()
	f.Close()
	r.Add(event.EpochEvent{})
	if _, err := f.Wait(t.Context()); err != io.EOF {
		t.Errorf("a closed feed gave %v", err)
	}
}

func TestStatusFollowsEvents(t *testing.T) {
	info, err := methods.Lookup("tr-gn")
	if err != nil {
		t.Fatal(err)
	}
	settings := map[string]any{}
	for _, h := range info.Parameters {
		settings[h.Key] = h.Default
		if h.Choices != nil {
			settings[h.Key] = h.Choices[0]
		}
	}
	r := NewRelay(nil)
	f := r.Feed()
	defer f.Close()
	r.Add(event.RunEvent{Optimizer: "tr-gn", Settings: settings})
	before := waitFor(t, f).Status
	if before.Phase != event.Running || len(before.Settings) != len(info.Parameters) {
		t.Fatalf("%d settings of %d: %+v", len(before.Settings), len(info.Parameters), before)
	}
	text := func(s event.Status, key string) string {
		for _, set := range s.Settings {
			if set.Key == key {
				return set.Text
			}
		}
		return ""
	}
	r.Add(event.SettingEvent{Epoch: 1, Key: "radius", Value: 0.125})
	if after := waitFor(t, f).Status; text(after, "radius") != "0.125" || text(before, "radius") == "0.125" {
		t.Errorf("the radius was %q and became %q", text(before, "radius"), text(after, "radius"))
	}
	for _, e := range []event.Event{event.SettingEvent{Key: "none", Value: 1.0}, event.SettingEvent{Key: "radius", Value: []int{1}}} {
		r.Add(e)
		if s := waitFor(t, f).Status; text(s, "radius") != "0.125" {
			t.Errorf("after %+v the radius is %q", e, text(s, "radius"))
		}
	}
	r.Show([]event.Event{event.InnerEvent{Iteration: 4}}, nil)
	if s := waitFor(t, f).Status; s.Unit != 4 {
		t.Errorf("inner unit %d", s.Unit)
	}
	nan := event.Float(math.NaN())
	r.Show([]event.Event{event.EpochEvent{Epoch: 3, Elapsed: 5, GradientEquivalents: 6}, event.EpochEvent{Epoch: 4, Elapsed: nan, GradientEquivalents: nan, Optimizer: "adam"}}, nil)
	if s := waitFor(t, f).Status; s.Epoch != 4 || s.Elapsed != 5 || s.Equivalents != 6 || s.Optimizer != "adam" || s.Unit != 0 {
		t.Errorf("after epochs %+v", s)
	}
	r.Show([]event.Event{event.RewindEvent{Epoch: 4, To: 1}, event.SwitchEvent{To: "sgd"}, event.RaceEvent{State: "begun"}}, nil)
	if s := waitFor(t, f).Status; s.Epoch != 1 || s.Optimizer != "sgd" || !s.Racing || s.Settings != nil {
		t.Errorf("after a rewind, a switch and a race %+v", s)
	}
	r.Show([]event.Event{event.RaceEvent{State: "picked"}, event.DoneEvent{Epochs: 2}, event.ResumeEvent{Epoch: 2}}, nil)
	if s := waitFor(t, f).Status; s.Epoch != 2 || s.Racing || s.Phase != event.Running {
		t.Errorf("after a resume %+v", s)
	}
}

// BenchmarkRelayRestart seeks in a run of 65,536 epochs before a hundred viewers.
func BenchmarkRelayRestart(b *testing.B) {
	events := make([]event.Event, 1<<16)
	for i := range events {
		e := event.UnknownEpoch(i)
		e.Loss = 1 / event.Float(i+1)
		events[i] = e
	}
	r := NewRelay(nil)
	for range 100 {
		f := r.Feed()
		defer f.Close()
	}
	for b.Loop() {
		r.Restart(events, nil)
	}
}
