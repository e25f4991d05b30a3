package history

import (
	"math"
	"testing"
	"time"

	"newtop/trainer/event"
	"newtop/trainer/feed"
)

// epochsOf applies epochs with the seconds that they were over at, to a run of 100 epochs.
func epochsOf(seconds ...float64) *History {
	h := &History{}
	for i, at := range seconds {
		h.Apply(&feed.Delta{Status: event.Status{Phase: event.Running, Epoch: i + 1, EpochLimit: 100},
			Epochs: []event.EpochEvent{{Epoch: i + 1, Elapsed: event.Float(at), Loss: 1}}})
	}
	return h
}

func TestRemaining(t *testing.T) {
	nan := math.NaN()
	steady, slower, paused := make([]float64, 60), make([]float64, 60), make([]float64, 60)
	for i := range steady {
		x := float64(i + 1)
		steady[i], paused[i] = 2*x, 2*x
		if slower[i] = x; i >= 30 {
			slower[i] = 30 + 4*(x-30)
		}
		if i >= 50 {
			paused[i] += 8 * 3600
		}
	}
	for name, c := range map[string]struct {
		h    *History
		want float64
	}{
		"steady": {epochsOf(steady...), 80}, "slower of late": {epochsOf(slower...), 160}, "a pause": {epochsOf(paused...), 80},
		"two epochs": {epochsOf(2, 5), 98 * 3}, "one epoch": {epochsOf(2), nan}, "no times": {epochsOf(nan, nan, nan), nan},
	} {
		if got := c.h.Remaining(); math.Abs(got-c.want) > 1e-9 || got == got != (c.want == c.want) {
			t.Errorf("%s: %g s, expected %g", name, got, c.want)
		}
	}
	h := epochsOf(steady...)
	h.Apply(&feed.Delta{Status: event.Status{Epoch: 60, EpochLimit: 100, Replay: &event.Replay{Live: true, Stale: "its writer is gone"}}})
	if got := h.Remaining(); got == got {
		t.Errorf("a run that nobody goes on with: %g s", got)
	}
}

// TestRemainingByArrival has epochs without times come every 3 s, those of before at once.
func TestRemainingByArrival(t *testing.T) {
	h, now := &History{}, time.Unix(1e9, 0)
	for epoch := 40; epoch <= 50; epoch++ {
		h.Apply(&feed.Delta{Status: event.Status{Phase: event.Running, Epoch: epoch, EpochLimit: 100, Replay: &event.Replay{Live: true}}})
		h.Received(now)
		h.Received(now.Add(time.Second)) // nothing new
		if got := h.Remaining(); epoch == 40 && got == got || epoch > 40 && math.Abs(got-3*float64(100-epoch)) > 1e-3 {
			t.Errorf("at epoch %d: %g s", epoch, got)
		}
		now = now.Add(3 * time.Second)
	}
	h.Apply(&feed.Delta{Status: event.Status{Phase: event.Running, Epoch: 20, EpochLimit: 100}})
	h.Received(now)
	if got := h.Remaining(); got == got {
		t.Errorf("after a way back: %g s", got)
	}
}
