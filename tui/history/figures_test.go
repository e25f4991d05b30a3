package history

import (
	"fmt"
	"testing"

	"newtop/trainer/event"
	"newtop/trainer/feed"
)

// manyMetrics is a run of another program that tells so many figures at each of its epochs.
func manyMetrics(metrics, epochs int) []feed.Delta {
	r := event.Replay{Source: "x.jsonl", Live: true}
	s := event.Status{Phase: event.Running, Replay: &r}
	out := []feed.Delta{{Run: &event.RunEvent{Data: event.DataInfo{Name: "x.jsonl"}}, Status: s}}
	keys := make([]string, metrics)
	for k := range keys {
		keys[k] = fmt.Sprintf("layer%d/norm", k)
	}
	const each = 1000
	for e := 0; e < epochs; e += each {
		d := feed.Delta{Status: s}
		for i := e; i < min(e+each, epochs); i++ {
			ev := event.UnknownEpoch(i + 1)
			ev.Loss = event.Float(1 / float64(i+1))
			for k := range keys {
				ev.Metrics = append(ev.Metrics, event.Metric{Key: keys[k], Value: event.Float(i*k%97) / 7})
			}
			d.Epochs = append(d.Epochs, ev)
		}
		d.Status.Epoch = e
		out = append(out, d)
	}
	return out
}

// Figures are found by their keys in whatever order they come, and a run can't make any number of curves.
func TestManyFigures(t *testing.T) {
	h := &History{}
	for _, d := range manyMetrics(maxMetrics+200, 3) {
		h.Apply(&d)
	}
	if n := len(h.Curves.Metrics); n != maxMetrics {
		t.Fatalf("%d curves, not %d", n, maxMetrics)
	}
	mixed := event.UnknownEpoch(4)
	mixed.Metrics = []event.Metric{{Key: "layer700/norm", Value: 7}, {Key: "layer3/norm", Value: 3}, {Key: "one more", Value: 1}}
	h.Apply(&feed.Delta{Epochs: []event.EpochEvent{mixed}})
	for at, want := range map[int]float64{700: 7, 3: 3} {
		if got := h.Curves.Metrics[at].Series.Last(); got != want || h.Curves.Metrics[at].Series.Points != 4 {
			t.Errorf("figure %d has %v after %d points", at, got, h.Curves.Metrics[at].Series.Points)
		}
	}
	if n := len(h.Curves.Metrics); n != maxMetrics {
		t.Errorf("%d curves after a new key", n)
	}
}
