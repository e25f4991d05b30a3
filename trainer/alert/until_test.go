package alert

import (
	"math"
	"slices"
	"strings"
	"testing"

	"newtop/trainer/event"
)

func TestUntil(t *testing.T) {
	epoch := func(n int, f func(e *event.EpochEvent)) event.Event {
		e := event.UnknownEpoch(n)
		f(&e)
		return e
	}
	valLoss := func(v float64) event.Event {
		return epoch(1, func(e *event.EpochEvent) { e.ValidationLoss = event.ValueOf(v) })
	}
	wrong := func(v float64) event.Event {
		return epoch(1, func(e *event.EpochEvent) { e.Error = event.Float(v) })
	}
	figure := func(v float64) event.Event {
		return epoch(5, func(e *event.EpochEvent) {
			e.Metrics = []event.Metric{{Key: "metrics/mAP50(B)", Value: event.ValueOf(v)}, {Key: "acc", Value: 95}}
		})
	}
	for _, c := range []struct {
		text   string
		events []event.Event
		met    []bool
	}{
		{"val_loss<0.1", []event.Event{valLoss(0.2), valLoss(0.1), valLoss(0.09)}, []bool{false, false, true}},
		{"val_loss <= 1e-1", []event.Event{valLoss(0.1), valLoss(math.NaN())}, []bool{true, false}},
		{"val_loss > .1", []event.Event{valLoss(0.1), valLoss(0.11), valLoss(math.Inf(1))}, []bool{false, true, false}},
		{"loss/validation>=0.1", []event.Event{valLoss(0.1)}, []bool{true}},
		{"validation loss>=0.1", []event.Event{valLoss(0.1)}, []bool{true}},
		{"acc>=0.93", []event.Event{wrong(0.08), wrong(0.07), wrong(1 - 0.93)}, []bool{false, true, true}},
		{"acc>0.93", []event.Event{wrong(0.07), wrong(1 - 0.93), wrong(0.069)}, []bool{false, false, true}},
		{"acc >= 93 %", []event.Event{wrong(0.07)}, []bool{true}},
		{"acc>=93", []event.Event{wrong(0.07), figure(0), wrong(0.08)}, []bool{true, true, false}},
		{"acc<93", []event.Event{wrong(0.07), figure(0), wrong(0.08)}, []bool{false, false, true}},
		{"metrics/mAP50(B)>0.5, epoch >= 5", []event.Event{wrong(1), figure(0.4), figure(0.6)}, []bool{false, false, true}},
		{"val_loss<1 AND error<0.5", []event.Event{valLoss(0.5), wrong(0.1), event.DoneEvent{}, valLoss(2)}, []bool{false, true, true, false}},
		{"val_loss<0.1 or error<0.3 and epoch>=1", []event.Event{valLoss(0.2), wrong(0.2), valLoss(0.05)}, []bool{false, true, true}},
		{"3 epochs or 90s", []event.Event{epoch(2, func(e *event.EpochEvent) { e.Elapsed = 80 }), epoch(2, func(e *event.EpochEvent) { e.Elapsed = 90 })}, []bool{false, true}},
		{"3 epochs OR 1 m 30 s", []event.Event{valLoss(1), epoch(3, func(*event.EpochEvent) {})}, []bool{false, true}},
		{"band>1", []event.Event{valLoss(2)}, []bool{false}},
	} {
		u, err := ParseUntil(c.text)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		again, err := ParseUntil(u.String())
		if err != nil || again.String() != u.String() {
			t.Errorf("%s is written as %s: %v", c.text, u, err)
		}
		for i, e := range c.events {
			if met := u.See(e); met != c.met[i] {
				t.Errorf("%s: %v after event %d", c.text, met, i)
			}
		}
	}
	u, err := ParseUntil("val_los<1, error<1")
	if err != nil {
		t.Fatal(err)
	}
	u.See(wrong(0.5))
	if got := u.Missing(); !slices.Equal(got, []string{"val_los"}) {
		t.Errorf("missing are %q", got)
	}
}

// In a run of newtop's a loss, an error and an RMSE are of the rows that it is judged by.
func TestUntilOfAnOwnRun(t *testing.T) {
	own := event.RunEvent{Model: event.ModelInfo{Program: "peer.py"}}
	for _, c := range []struct {
		text  string
		epoch event.EpochEvent
		term  string
	}{
		{"error<5%", event.EpochEvent{Error: 0.01, TestError: 0.02, ValidationError: 0.06}, ""},
		{"error<5%", event.EpochEvent{Error: 0.1, TestError: 0.1, ValidationError: 0.04}, "error < 0.05"},
		{"acc>95%", event.EpochEvent{Error: 0.1, TestError: 0.1, ValidationError: 0.04}, "acc > 0.95"},
		{"error<5%", event.EpochEvent{Error: 0.1, TestError: 0.04, ValidationError: event.Absent}, "error < 0.05"},
		{"loss<5 or error<0.5", event.EpochEvent{Loss: 1, TestLoss: 6, ValidationLoss: event.Absent, Error: event.Absent, RMSE: 1, TestRMSE: 0.4, ValidationRMSE: event.Absent}, "error < 0.5"},
		{"loss<5", event.EpochEvent{Loss: 1, TestLoss: event.Absent, ValidationLoss: event.Absent}, "loss < 5"},
		{"train_loss<5", event.EpochEvent{Loss: 1, TestLoss: 9}, "train_loss < 5"},
		{"test_loss<5", event.EpochEvent{Loss: 1, TestLoss: 4, ValidationLoss: 6}, "test_loss < 5"},
	} {
		u, err := ParseUntil(c.text)
		if err != nil {
			t.Fatal(err)
		}
		u.See(own)
		if term := u.Met(&c.epoch); term != c.term {
			t.Errorf("%s of %+v: %q, expected %q", c.text, c.epoch, term, c.term)
		}
	}
	u, _ := ParseUntil("error<1 or eror<1")
	if name := u.Unknown(); name != "eror" {
		t.Errorf("%q is unknown", name)
	}
}

func TestUntilErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":             `"": expected a metric, <, <=, > or >=, and a number`,
		"val_loss":     `"val_loss": expected a metric, <, <=, > or >=, and a number`,
		"val_loss=0.1": `"val_loss=0.1": expected a metric, <, <=, > or >=`,
		"val_loss<":    `"val_loss<": expected a number after val_loss<, as val_loss<0.1`,
		"val_loss<=x":  `"val_loss<=x": expected a number after val_loss<=, as val_loss<0.1`,
		"loss<nan":     `"loss<nan": expected a number`,
		"<1":           `"<1": expected the name of a metric before <`,
		"loss<1 and":   `"loss<1 and": expected a number after loss<`,
		"loss<1,":      `"": expected a metric`,
		"0.1<loss":     `"0.1<loss": expected a number after 0.1<`,
		"loss<1 or":    `"loss<1 or": expected a number`,
		"-90s":         `"-90s": expected a metric`,
	} {
		_, err := ParseUntil(text)
		if err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v, want %s…", text, err, want)
		}
	}
}

func FuzzParseUntil(f *testing.F) {
	f.Add("val_loss<0.1 and acc>=90%,step > 3")
	f.Add("a<<1")
	f.Add("loss and>1")
	f.Fuzz(func(t *testing.T, text string) {
		u, err := ParseUntil(text)
		if err != nil {
			return
		}
		again, err := ParseUntil(u.String())
		if err != nil || again.String() != u.String() {
			t.Errorf("%q is written as %q: %v", text, u, err)
		}
	})
}
