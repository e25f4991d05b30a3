package history

import (
	"fmt"
	"testing"

	"newtop/trainer/event"
	"newtop/trainer/feed"
	"newtop/tui/internal/tuitest"
)

// TestRanking: what is missing or not finite never leads, and a lap 0 begins a racer anew.
func TestRanking(t *testing.T) {
	h := &History{Measure: event.Measure{Quantity: event.Error}}
	(&sequence{History: h}).raced(&event.RaceEvent{State: "begun", Racers: make([]event.Racer, 3)})
	h.Apply(&feed.Delta{Laps: []event.LapEvent{
		{Racer: 0, Lap: event.EpochEvent{Loss: tuitest.NaN, Error: tuitest.NaN, TestError: tuitest.NaN}},
		{Racer: 2, Lap: event.EpochEvent{Loss: 1, Error: 0.5, TestError: tuitest.NaN}},
		{Racer: 7}, {Racer: -1},
	}})
	if got := fmt.Sprint(h.Race.Ranking(false), h.Race.Ranking(true)); got != "[2 0 1] [2 0 1]" {
		t.Error(got)
	}
	h.Race.lap(&event.LapEvent{Racer: 2, Lap: event.EpochEvent{Loss: 9, Error: 0.9, TestError: tuitest.NaN}}, h.Measure)
	if b := h.Race.Racers[2].BestLoss; b != 9 {
		t.Errorf("best loss %g is from the race before", b)
	}
}

// TestRaceMemory: a race of many laps keeps bounded curves.
func TestRaceMemory(t *testing.T) {
	h := &History{}
	(&sequence{History: h}).raced(&event.RaceEvent{State: "begun", Racers: make([]event.Racer, 1)})
	for i := range 50_000 {
		h.Race.lap(&event.LapEvent{Lap: event.EpochEvent{Epoch: i + 1, Loss: 1}}, h.Measure)
		h.Earlier.apply(h, &event.EpochEvent{Epoch: i})
	}
	if n := len(h.Earlier.Epochs); n > 2*maxEarlier {
		t.Errorf("%d epochs remembered", n)
	}
}
