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
	s.SetAudience(first)
	if d := nextDelta(t, early); d.Status.Audience != first {
		t.Errorf("before the run: %+v", d.Status.Audience)
	}
	var all sync.WaitGroup
	all.Go(func() {
		for range 1000 {
			s.SetAudience(first)
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
	s.SetAudience(second)
	for _, m := range []*feed.Mailbox{early, late} {
		if d := follow(t, m, func(all *feed.Delta) bool { return all.Status.Audience == second }); d.Status.Phase != event.Ended {
			t.Errorf("after the end the run is %s", d.Status.Phase)
		}
	}
}
