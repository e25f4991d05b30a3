package alert

import (
	"math"
	"slices"
	"strings"
	"testing"

	"newtop/trainer/event"
)

// resolve knows some names, as the table of tags does.
func resolve(name string) (q event.Quantity, invert, ok bool) {
	switch name {
	case "val_loss":
		return event.TestLoss, false, true
	case "acc":
		return event.Error, true, true
	}
	return 0, false, false
}

func TestUntil(t *testing.T) {
	epoch := func(n int, f func(e *event.EpochEvent)) event.Event {
		e := event.UnknownEpoch(n)
		f(&e)
		return e
	}
	valLoss := func(v float64) event.Event {
		return epoch(1, func(e *event.EpochEvent) { e.TestLoss = event.Told(v) })
	}
	wrong := func(v float64) event.Event {
		return epoch(1, func(e *event.EpochEvent) { e.Error = event.Float(v) })
	}
	figure := func(v float64) event.Event {
		return epoch(5, func(e *event.EpochEvent) {
			e.Figures = []event.Figure{{Key: "metrics/mAP50(B)", Value: event.Told(v)}, {Key: "acc", Value: 95}}
		})
	}
	for _, c := range []struct {
		text   string
		events []event.Event
		met    []bool
	}{
		{"val_loss<0.1", []event.Event{valLoss(0.2), valLoss(0.1), valLoss(0.09)}, []bool{false, false, true}},
		{"val_loss <= 1e-1", []event.Event{valLoss(0.1), valLoss(math.NaN())}, []bool{true, false}},
		{"test_loss > .1", []event.Event{valLoss(0.1), valLoss(0.11), valLoss(math.Inf(1))}, []bool{false, true, false}},
		{"loss/test>=0.1", []event.Event{valLoss(0.1)}, []bool{true}},
		{"test loss>=0.1", []event.Event{valLoss(0.1)}, []bool{true}},
		{"acc>=0.93", []event.Event{wrong(0.08), wrong(0.07), wrong(1 - 0.93)}, []bool{false, true, true}},
		{"acc>0.93", []event.Event{wrong(0.07), wrong(1 - 0.93), wrong(0.069)}, []bool{false, false, true}},
		{"acc >= 93 %", []event.Event{wrong(0.07)}, []bool{true}},
		{"acc>=93", []event.Event{wrong(0.07), figure(0), wrong(0.08)}, []bool{true, true, false}},
		{"acc<93", []event.Event{wrong(0.07), figure(0), wrong(0.08)}, []bool{false, false, true}},
		{"metrics/mAP50(B)>0.5, epoch >= 5", []event.Event{wrong(1), figure(0.4), figure(0.6)}, []bool{false, false, true}},
		{"val_loss<1 AND error<0.5", []event.Event{valLoss(0.5), wrong(0.1), event.DoneEvent{}, valLoss(2)}, []bool{false, true, true, false}},
		{"band>1", []event.Event{valLoss(2)}, []bool{false}},
	} {
		u, err := ParseUntil(c.text, resolve)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		again, err := ParseUntil(u.String(), resolve)
		if err != nil || again.String() != u.String() {
			t.Errorf("%s is written as %s: %v", c.text, u, err)
		}
		for i, e := range c.events {
			if met := u.See(e); met != c.met[i] {
				t.Errorf("%s: %v after event %d", c.text, met, i)
			}
		}
	}
	u, err := ParseUntil("val_los<1, error<1", nil)
	if err != nil {
		t.Fatal(err)
	}
	u.See(wrong(0.5))
	if got := u.Missing(); !slices.Equal(got, []string{"val_los"}) {
		t.Errorf("missing are %q", got)
	}
}

func TestUntilErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                  `"": expected a metric, <, <=, > or >=, and a number`,
		"val_loss":          `"val_loss": expected a metric, <, <=, > or >=, and a number`,
		"val_loss=0.1":      `"val_loss=0.1": expected a metric, <, <=, > or >=`,
		"val_loss<":         `"val_loss<": expected a number after val_loss<, as val_loss<0.1`,
		"val_loss<=x":       `"val_loss<=x": expected a number after val_loss<=, as val_loss<0.1`,
		"loss<nan":          `"loss<nan": expected a number`,
		"<1":                `"<1": expected the name of a metric before <`,
		"loss<1 and":        `"loss<1 and": expected a number after loss<`,
		"loss<1,":           `"": expected a metric`,
		"0.1<loss":          `"0.1<loss": expected a number after 0.1<`,
		"loss<1 or error<1": `"loss<1 or error<1": expected a number`,
	} {
		_, err := ParseUntil(text, resolve)
		if err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v, want %s…", text, err, want)
		}
	}
}

func FuzzParseUntil(f *testing.F) {
	f.Add("val_loss<0.1 and acc>=90%,step > 3")
	f.Add("a<<1")
	f.Fuzz(func(t *testing.T, text string) {
		u, err := ParseUntil(text, resolve)
		if err != nil {
			return
		}
		again, err := ParseUntil(u.String(), resolve)
		if err != nil || again.String() != u.String() {
			t.Errorf("%q is written as %q: %v", text, u, err)
		}
	})
}
