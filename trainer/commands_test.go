package trainer

import (
	"context"
	"errors"
	"testing"
	"time"

	"newtop/trainer/config"
	"newtop/trainer/event"
	"newtop/trainer/feed"
)

// TestStatusWithinAnEpoch: a viewer sees how far the batches are, and commands take effect between two of them.
func TestStatusWithinAnEpoch(t *testing.T) {
	d := steer(t, config.Config{Data: "spirals", Hidden: []int{200, 100}, Optimizer: "sgd", Batch: 1})
	do(t, d.s, event.Pause{On: false})
	if seen := d.until(func(s *event.Status) bool { return s.Phase == event.Running && s.Unit > 0 }); seen.Units != 1600 || seen.Unit > 1600 {
		t.Errorf("unit %d of %d", seen.Unit, seen.Units)
	}
	paused := d.do(event.Pause{On: true})
	if next := d.do(event.StepInner{}); next.Epoch == paused.Epoch && next.Unit != paused.Unit+1 {
		t.Errorf("unit %d after %d", next.Unit, paused.Unit)
	}
}

// TestAskersAreCounted as long as they wait, and no longer.
func TestAskersAreCounted(t *testing.T) {
	s := mustNew(t, config.Config{Data: "sine"})
	ctx, cancel := context.WithCancel(context.Background())
	answer := asked(ctx, s, event.Stop{})
	cancel()
	if err := <-answer; !errors.Is(err, context.Canceled) || s.waiting.Load() != 0 {
		t.Errorf("%v, %d asking", err, s.waiting.Load())
	}
}

// TestCountedCommandIsWaitedFor: a command whose caller was counted before the run began, and sends it when it has, takes effect
// at the first safepoint.
func TestCountedCommandIsWaitedFor(t *testing.T) {
	s := mustNew(t, config.Config{Data: "sine"})
	box := s.Subscribe()
	defer box.Close()
	s.waiting.Add(1)
	background(t, s)
	time.Sleep(20 * time.Millisecond) // a run that did not wait would have trained
	q := request{command: event.Pause{On: true}, answer: make(chan error, 1)}
	s.requests <- q
	s.waiting.Add(-1)
	if err := <-q.answer; err != nil {
		t.Fatal(err)
	}
	at := follow(t, box, func(d *feed.Delta) bool { return d.Status.Phase == event.Paused })
	if at.Status.Epoch != 0 {
		t.Errorf("paused after epoch %d", at.Status.Epoch)
	}
}
