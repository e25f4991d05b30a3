package history

import (
	"slices"
	"strings"
	"testing"

	"newtop/trainer/event"
	"newtop/trainer/feed"
	"newtop/trainer/krylov"
)

// Going back takes the best epoch, the inner solves and their counts back as well, but not what the run has cost.
func TestGoingBack(t *testing.T) {
	h := &History{}
	epoch := func(n int, loss event.Float) event.EpochEvent {
		return event.EpochEvent{Epoch: n, GradientEquivalents: event.Float(10 * n), Loss: loss, TestError: loss, ValidationError: event.Absent, Accepted: true,
			Inner: []event.InnerSummary{{Iterations: n, Stop: krylov.Residual}}}
	}
	h.Apply(&feed.Delta{
		Run:    &event.RunEvent{Data: event.DataInfo{Classes: 2, TestRows: 4}, Model: event.ModelInfo{Layers: []int{2, 2}}},
		Epochs: []event.EpochEvent{epoch(1, .5), epoch(2, .3), epoch(3, .4), epoch(4, .1)},
	})
	if h.Best.Epoch != 4 || h.Solves.Iterations != 10 {
		t.Fatalf("best %+v, %d iterations", h.Best, h.Solves.Iterations)
	}
	h.Apply(&feed.Delta{Rewinds: []event.RewindEvent{{Epoch: 4, To: 3}}})
	if h.Best.Epoch != 2 || h.Best.Value != .3 {
		t.Errorf("best %+v: expected that of epoch 2", h.Best)
	}
	if h.Latest.Epoch != 3 || h.Latest.GradientEquivalents != 40 {
		t.Errorf("epoch %d has cost %v", h.Latest.Epoch, h.Latest.GradientEquivalents)
	}
	if h.Solves.Iterations != 6 || h.Solves.Count != 3 || len(h.Solves.Bars) != 3 || h.Solves.Stops[krylov.Residual] != 3 {
		t.Errorf("the inner solves are %+v", h.Solves)
	}
}

// A run that goes on after its end is told so before what is done to it.
func TestGoingOnIsTold(t *testing.T) {
	h := &History{}
	h.Apply(&feed.Delta{Run: &event.RunEvent{}, Epochs: []event.EpochEvent{{Epoch: 1}}, Done: &event.DoneEvent{Epochs: 1, Reason: event.ReasonEpochs}, Status: event.Status{Phase: event.Ended}})
	if h.Done == nil {
		t.Fatal("the end is not known")
	}
	h.Apply(&feed.Delta{Resumes: []event.ResumeEvent{{Epoch: 1}}, Settings: []event.SettingEvent{{Epoch: 1, Key: "epochs", Value: "2"}}, Status: event.Status{Phase: event.Running}})
	if h.Done != nil || h.Over() {
		t.Error("it is still over")
	}
	var said []string
	for _, e := range h.Log.Entries {
		said = append(said, e.Text)
	}
	if n := len(said); n < 2 || said[n-2] != "resumed after epoch 1" || said[n-1] != "epochs = 2" {
		t.Errorf("%q", said)
	}
}

// Overview has what a run was begun with, by what sort of thing it is, and its metrics as they were logged.
func TestOverview(t *testing.T) {
	h := &History{}
	e := event.UnknownEpoch(1)
	e.Loss, e.Metrics = 2, []event.Metric{{Key: "f1", Value: 0.5}}
	later := event.UnknownEpoch(2)
	later.Loss, later.Metrics = 1, []event.Metric{{Key: "f1", Value: 0.25}}
	h.Apply(&feed.Delta{Run: &event.RunEvent{ID: "x", Data: event.DataInfo{Name: "log.csv"}, Settings: map[string]any{"summary/best": 3, "environment/os": "Linux", "net": map[string]any{"depth": 2}}},
		Status: event.Status{Replay: &event.Replay{}}, Epochs: []event.EpochEvent{e, later}})
	var got []string
	for _, f := range Overview(h) {
		got = append(got, strings.Join(f[:], " "))
	}
	want := []string{"run id x", "setting data log.csv", "setting net.depth 2", "machine os Linux", "summary best 3", "metric loss 1.000  min 1.000  max 2.000",
		"metric f1 0.2500  min 0.2500  max 0.5000"}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if len(Overview(&History{})) != 0 {
		t.Error("of nothing something is known")
	}
}

// TestPauseCutsASpectrum: the log says why there is none.
func TestPauseCutsASpectrum(t *testing.T) {
	for spectra, want := range map[int]int{0: 1, 1: 0} {
		h := &History{}
		h.Apply(&feed.Delta{Run: &event.RunEvent{}, Status: event.Status{Phase: event.Running, Computing: "spectrum"}})
		h.Apply(&feed.Delta{Spectra: make([]event.SpectrumEvent, spectra), Status: event.Status{Phase: event.Paused}})
		said := 0
		for _, e := range h.Log.Entries {
			if e.Text == "no spectrum: the pause cut it" {
				said++
			}
		}
		if said != want {
			t.Errorf("after a pause with %d spectra it is said %d times", spectra, said)
		}
	}
}
