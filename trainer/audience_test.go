package trainer

import (
	"sync"
	"testing"

	"newtop/trainer/config"
	"newtop/trainer/event"
	"newtop/trainer/feed"
)

// TestAudience: viewers are told who looks before the run begins, while it runs, when they join late, and after its end.
func TestAudience(t *testing.T) {
	s := mustNew(t, config.Config{Data: "sine", Epochs: 3})
	early := s.Subscribe()
	defer early.Close()
	first := &event.Audience{Viewers: []event.Viewer{{Name: "ann"}}}
	s.Attend(first)
	if d := nextDelta(t, early); d.Status.Audience != first {
		t.Errorf("before the run: %+v", d.Status.Audience)
	}
	var all sync.WaitGroup
	all.Go(func() {
		for range 1000 {
			s.Attend(first)
		}
	})
	if err := s.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	all.Wait()
	if d := follow(t, early, func(all *feed.Delta) bool { return all.Done != nil }); d.Status.Audience != first {
		t.Errorf("at the end: %+v", d.Status.Audience)
	}
	late := s.Subscribe()
	defer late.Close()
	if d := nextDelta(t, late); d.Status.Audience != first || d.Status.Phase != event.Ended || len(d.Epochs) != 4 {
		t.Errorf("one who joins late: %+v, %d epochs", d.Status.Audience, len(d.Epochs))
	}
	second := &event.Audience{Viewers: []event.Viewer{{Name: "ann"}, {Name: "lou"}}}
	s.Attend(second)
	for _, m := range []*feed.Mailbox{early, late} {
		if d := follow(t, m, func(all *feed.Delta) bool { return all.Status.Audience == second }); d.Status.Phase != event.Ended {
			t.Errorf("after the end the run is %s", d.Status.Phase)
		}
	}
}

// TestWords: every command has words of its own.
func TestWords(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range []struct {
		event.Command
		want   string
		steers bool
	}{
		{event.Pause{On: true}, "pause", true}, {event.Pause{}, "go on", true}, {event.StepEpoch{}, "run one epoch", true}, {event.StepInner{}, "run one inner iteration", true},
		{event.Switch{Optimizer: "adam"}, "switch to adam", true}, {event.Set{Key: "radius", Value: "2"}, "set radius 2", true}, {event.Scale{Factor: 0.5}, "scale radius, rate or damping by 0.5", true},
		{event.Spectrum{}, "compute the spectrum", true}, {event.Slice{}, "compute the loss along the last step", false},
		{event.ShowWeights{To: 2, From: 1}, "show the weights from layer 1 to 2", false}, {event.ShowErrors{}, "show the errors of the test rows", false},
		{event.ShowErrors{Train: true}, "show the errors of the training rows", false}, {event.Rewind{Epoch: 3}, "go back to epoch 3", true},
		{event.Race{Racers: []event.Racer{{Optimizer: "adam"}, {Optimizer: "tr-gn"}}}, "race adam, tr-gn", true}, {event.Pick{Racer: 1}, "go on with racer B", true},
		{event.Pick{Racer: -1}, "abandon the race", true}, {event.Save{File: "a.onnx"}, "save a.onnx", true}, {event.Seek{Epoch: 4}, "show epoch 4", true},
		{event.Speed{Factor: 2}, "replay at 2 times the speed", true}, {event.Stop{}, "stop the run", true},
	} {
		if got := event.Label(c.Command); got != c.want || seen[got] || event.Steers(c.Command) != c.steers {
			t.Errorf("%#v: %q, steers %v", c.Command, got, event.Steers(c.Command))
		}
		seen[c.want] = true
	}
}
