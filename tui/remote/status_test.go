package remote

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"newtop/internal/format/formattest"
	"newtop/trainer/event"
	"newtop/trainer/feed"
)

func TestStatus(t *testing.T) {
	n := &news{}
	if got := n.line(); got != "newtop: epoch 0, preparing, nobody is watching" {
		t.Errorf("before a run: %q", got)
	}
	run := &event.RunEvent{ID: "r1", Data: event.DataInfo{Name: "letters", Classes: 26, TestRows: 10}, Optimizer: "tr-newton"}
	epoch := func(k int, test float64) event.EpochEvent {
		return event.EpochEvent{Epoch: k, Loss: 0.5, TestError: event.Float(test), ValidationError: event.Absent, Error: 0.01, RMSE: event.Float(math.NaN())}
	}
	ann := event.Viewer{Name: "ann", Key: "A", Control: true}
	n.apply(&feed.Delta{
		Run: run, Epochs: []event.EpochEvent{epoch(1, 0.09), epoch(2, 0.049), epoch(3, 0.051)},
		Status: event.Status{
			Phase: event.Running, Epoch: 3, EpochLimit: 40, Optimizer: "adam", Elapsed: 1.5, Equivalents: 12,
			Audience:  &event.Audience{Viewers: []event.Viewer{ann, {Name: "bob", Key: "B"}, ann}},
			Recording: event.Recording{Run: "nightly", Path: "/secret/runs.db"},
		},
	})
	if got, want := n.line(), "letters: adam, epoch 3 of 40, running, test error 5.10 %, best 4.90 % in epoch 2, 3 viewers, ann controls"; got != want {
		t.Errorf("\n%q, expected\n%q", got, want)
	}
	var report map[string]any
	if err := json.Unmarshal([]byte(n.json()), &report); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]any{
		"id": "r1", "name": "letters", "optimizer": "adam", "phase": "running", "epoch": 3.0, "epochs": 40.0, "loss": 0.5, "test_error": 0.051,
		"rmse": nil, "measure": "test error", "best": 0.049, "best_epoch": 2.0, "elapsed": 1.5, "gradient_equivalents": 12.0, "viewers": 3.0,
	} {
		if report[key] != want {
			t.Errorf("%s is %v, expected %v", key, report[key], want)
		}
	}
	if strings.Contains(n.json(), "secret") || strings.ContainsAny(n.json(), "\n") {
		t.Error(n.json())
	}

	// After a rewind the best is of what was kept.
	n.apply(&feed.Delta{Epochs: []event.EpochEvent{epoch(2, 0.08)}, Status: event.Status{Phase: event.Paused, Epoch: 2}})
	if got := n.line(); !strings.Contains(got, "tr-newton, epoch 2, paused, test error 8.00 %, best 8.00 % in epoch 2, nobody is watching") {
		t.Errorf("after a rewind: %q", got)
	}
	n.apply(&feed.Delta{Done: &event.DoneEvent{Reason: event.ReasonTarget}, Status: event.Status{Phase: event.Ended, Epoch: 2}})
	if got := n.line(); !strings.Contains(got, "ended (target)") {
		t.Errorf("at the end: %q", got)
	}
	n.apply(&feed.Delta{Diverged: &event.DivergedEvent{Reason: "the loss is\nNaN"}, Done: &event.DoneEvent{Reason: event.ReasonDiverged}})
	if got := n.line(); !strings.Contains(got, "diverged: the loss is NaN") {
		t.Errorf("diverged: %q", got)
	}
}

func TestStatusOfRegression(t *testing.T) {
	n := &news{}
	n.apply(&feed.Delta{
		Run:    &event.RunEvent{Data: event.DataInfo{Name: "sine\x1b[2J"}, Model: event.ModelInfo{Layers: []int{1, 1}}, Optimizer: "lm"},
		Epochs: []event.EpochEvent{{Epoch: 1, RMSE: 0.125, Error: event.Float(math.NaN()), TestRMSE: event.Float(math.NaN())}},
		Status: event.Status{Phase: event.Running, Epoch: 1, Audience: &event.Audience{Viewers: []event.Viewer{{Name: "bob"}}}},
	})
	if got, want := n.line(), "sine[2J: lm, epoch 1, running, training RMSE 0.125, best 0.125 in epoch 1, 1 viewer"; got != want {
		t.Errorf("\n%q, expected\n%q", got, want)
	}
	n.apply(&feed.Delta{Epochs: []event.EpochEvent{{Epoch: 2, RMSE: event.Float(math.NaN())}}, Status: event.Status{Phase: event.Running, Epoch: 2}})
	if got, want := n.line(), "sine[2J: lm, epoch 2, running, training RMSE 0.125, best 0.125 in epoch 1, nobody is watching"; got != want {
		t.Errorf("not told:\n%q, expected\n%q", got, want)
	}
	n.apply(&feed.Delta{Epochs: []event.EpochEvent{{Epoch: 3, RMSE: event.NotFinite}}, Status: event.Status{Phase: event.Running, Epoch: 3}})
	if got, want := n.line(), "sine[2J: lm, epoch 3, running, training RMSE 0.125 ×, best 0.125 in epoch 1, nobody is watching"; got != want {
		t.Errorf("not finite:\n%q, expected\n%q", got, want)
	}
}

// No text of a run that is served acts on the terminal of who asks for its status.
func TestStatusOfHostileTexts(t *testing.T) {
	for _, text := range formattest.Hostile() {
		n := &news{run: &event.RunEvent{}, done: &event.DoneEvent{}, diverged: &event.DivergedEvent{}}
		formattest.Fill(n.run, text)
		formattest.Fill(n.done, text)
		formattest.Fill(n.diverged, text)
		formattest.Fill(&n.status, text)
		for range 2 {
			for _, line := range []string{n.line(), n.json()} {
				if at := formattest.Acts(line, false); at != "" || strings.Contains(line, "\n") {
					t.Errorf("%q: the status acts at %q", text, at)
				}
			}
			n.done = nil // then the phase is the status's
		}
	}
}
