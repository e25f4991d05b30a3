package stream

import (
	"math"
	"slices"
	"testing"

	"newtop/trainer/event"
)

// A long run is kept thinned: its extremes, its first and its newest epoch stay, and memory is bounded.
func TestHistoryOfALongRun(t *testing.T) {
	var h history
	const n, spike = 300_000, 123_456
	h.add(event.RunEvent{ID: "r"})
	for i := 1; i <= n; i++ {
		h.add(event.InnerEvent{Epoch: i})
		e := event.UnknownEpoch(i)
		e.Loss = 1 + event.Float(i%7)
		if i == spike {
			e.Loss = 50
		}
		h.add(e)
		if i%100 == 0 {
			h.add(event.SettingEvent{Epoch: i})
		}
		if h.full() {
			h.downsample(len(h.events))
		}
	}
	for k := range kinds {
		if h.exceeds(k) {
			t.Errorf("%d events of kind %d", h.count[k], k)
		}
	}
	if h.count[anEpoch] < limits[anEpoch].events/8 {
		t.Errorf("only %d epochs are left", h.count[anEpoch])
	}
	numbers := epochs(h.events)
	found := map[int]bool{}
	for i, e := range numbers {
		found[e] = true
		if i > 0 && e <= numbers[i-1] {
			t.Fatalf("epoch %d after %d", e, numbers[i-1])
		}
	}
	if !found[1] || !found[spike] || !found[n] || h.lastEpoch != n {
		t.Errorf("first %v, spike %v, newest %v", found[1], found[spike], found[n])
	}
	if h.dropped+h.count[anEpoch] != n {
		t.Errorf("%d epochs and %d left out are not %d", h.count[anEpoch], h.dropped, n)
	}
	spread := make([]int, 100) // of the run's hundredths
	for _, e := range numbers {
		spread[(e-1)*len(spread)/n]++
	}
	if least, most := slices.Min(spread), slices.Max(spread); least < 20 {
		t.Errorf("hundredths of the run keep from %d to %d epochs", least, most)
	}
	at := h.end(spike)
	if e, ok := h.events[at-1].(event.EpochEvent); !ok || e.Epoch != spike {
		t.Errorf("a seek ends at %+v", h.events[at-1])
	}
	if _, ok := h.events[0].(event.RunEvent); !ok {
		t.Error("the beginning is gone")
	}
	if _, at := h.position(len(h.events)); math.Abs(at-h.length) > 1e-6 {
		t.Errorf("a length of %v s, but %v s at the end", h.length, at)
	}
}

// Whatever a stream repeats without end, memory is bounded.
func TestHistoryIsBounded(t *testing.T) {
	for _, e := range []event.Event{
		event.RunEvent{ID: "r"}, event.DoneEvent{}, event.DivergedEvent{}, event.SpectrumEvent{Density: &event.Density{Grid: make([]event.Float, 1000)}},
		event.WeightsEvent{Values: make([]event.Float, 1<<18)}, event.ErrorsEvent{Residuals: [][]event.Float{make([]event.Float, 2048)}}, event.LapEvent{},
		event.EpochEvent{Inner: []event.InnerSummary{{Ritz: make([]event.Float, 1<<16)}}},
	} {
		var h history
		h.add(event.RunEvent{ID: "r"})
		thinned := 0
		for range 40_000 {
			h.add(e)
			if h.full() {
				h.downsample(0)
				thinned++
			}
		}
		if h.full() || thinned == 0 || thinned > 5000 {
			t.Errorf("%T: %v events of %v bytes, thinned %d times", e, h.count, h.bytes, thinned)
		}
		if first, ok := h.events[0].(event.RunEvent); !ok || first.ID != "r" {
			t.Errorf("%T: begins with %+v", e, h.events[0])
		}
	}
}

func TestSeekInARunThatWentBack(t *testing.T) {
	var h history
	for _, e := range []event.Event{
		event.RunEvent{}, event.EpochEvent{Epoch: 1}, event.EpochEvent{Epoch: 2}, event.EpochEvent{Epoch: 3},
		event.RewindEvent{Epoch: 3, To: 1}, event.EpochEvent{Epoch: 2}, event.InnerEvent{},
	} {
		h.add(e)
	}
	for epoch, want := range map[int]int{0: 1, 1: 2, 2: 7, 3: 7} {
		if got := h.end(epoch); got != want {
			t.Errorf("epoch %d ends at %d: expected %d", epoch, got, want)
		}
	}
}
