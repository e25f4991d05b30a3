package trainer

import (
	"sync"
	"testing"
)

// TestAudience: viewers are told who looks before the run begins, while it runs, when they join late, and after its end.
func TestAudience(t *testing.T) {
	s := mustNew(t, Config{Data: "sine", Epochs: 3})
	early := s.Subscribe()
	defer early.Close()
	first := &Audience{Viewers: []Viewer{{Name: "ann"}}}
	s.Attend(first)
	if d := take(t, early); d.Status.Audience != first {
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
	if d := follow(t, early, func(all *Delta) bool { return all.Done != nil }); d.Status.Audience != first {
		t.Errorf("at the end: %+v", d.Status.Audience)
	}
	late := s.Subscribe()
	defer late.Close()
	if d := take(t, late); d.Status.Audience != first || d.Status.Phase != Ended || len(d.Epochs) != 4 {
		t.Errorf("one who joins late: %+v, %d epochs", d.Status.Audience, len(d.Epochs))
	}
	second := &Audience{Viewers: []Viewer{{Name: "ann"}, {Name: "lou"}}}
	s.Attend(second)
	for _, m := range []*Mailbox{early, late} {
		if d := follow(t, m, func(all *Delta) bool { return all.Status.Audience == second }); d.Status.Phase != Ended {
			t.Errorf("after the end the run is %s", d.Status.Phase)
		}
	}
}

// TestWords: every command has words of its own.
func TestWords(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range []struct {
		Command
		want   string
		steers bool
	}{
		{Pause{On: true}, "pause", true}, {Pause{}, "go on", true}, {StepEpoch{}, "run one epoch", true}, {StepInner{}, "run one inner iteration", true},
		{Switch{"adam"}, "switch to adam", true}, {Set{"radius", "2"}, "set radius 2", true}, {Scale{0.5}, "scale radius, rate or damping by 0.5", true},
		{Spectrum{}, "compute the spectrum", true}, {Slice{}, "compute the loss along the last step", false},
		{ShowWeights{To: 2, From: 1}, "show the weights from layer 1 to 2", false}, {ShowErrors{}, "show the errors of the test rows", false},
		{ShowErrors{Train: true}, "show the errors of the training rows", false}, {Rewind{3}, "go back to epoch 3", true},
		{Race{Racers: []Racer{{Optimizer: "adam"}, {Optimizer: "tr-gn"}}}, "race adam, tr-gn", true}, {Pick{1}, "go on with racer B", true},
		{Pick{-1}, "abandon the race", true}, {Save{"a.onnx"}, "save a.onnx", true}, {Seek{4}, "show epoch 4", true},
		{Speed{2}, "replay at 2 times the speed", true}, {Stop{}, "stop the run", true},
	} {
		if got := Words(c.Command); got != c.want || seen[got] || Steers(c.Command) != c.steers {
			t.Errorf("%#v: %q, steers %v", c.Command, got, Steers(c.Command))
		}
		seen[c.want] = true
	}
}
