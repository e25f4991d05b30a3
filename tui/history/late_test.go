package history

import (
	"fmt"
	"strings"
	"testing"

	"newtop/trainer/event"
	"newtop/trainer/feed"
	"newtop/tui/chart"
)

// What another program tells later of the newest step goes to it: it is no second step, and takes nothing from it.
func TestMoreOfAStep(t *testing.T) {
	train := func(n int, loss event.Float) event.EpochEvent {
		e := event.UnknownEpoch(n)
		e.Loss, e.Rate, e.Elapsed, e.Seconds = loss, 0.1, event.Float(n), 1
		e.Metrics = []event.Metric{{Key: "fps", Value: 100}}
		return e
	}
	validated := func(n int, loss event.Float) event.EpochEvent {
		e := event.UnknownEpoch(n)
		e.TestLoss, e.Elapsed, e.Seconds = loss, event.Float(n)+0.9, 0.9
		e.Metrics = []event.Metric{{Key: "bleu", Value: 7}}
		return e
	}
	all := []event.EpochEvent{train(1, 2), train(2, 1.5), validated(2, 1.7), train(3, 1), validated(3, 1.2)}
	for name, deltas := range map[string][][]event.EpochEvent{
		"at once": {all}, "one by one": {all[:1], all[1:2], all[2:3], all[3:4], all[4:]},
	} {
		h := &History{}
		h.Apply(&feed.Delta{Run: &event.RunEvent{Data: event.DataInfo{Name: "x"}, Unit: "step"}})
		for _, d := range deltas {
			h.Apply(&feed.Delta{Epochs: d})
		}
		if h.Epochs != 3 || h.Before.Epoch != 2 {
			t.Errorf("%s: %d epochs, %d before the newest", name, h.Epochs, h.Before.Epoch)
		}
		if e := &h.Latest; e.Loss != 1 || e.TestLoss != 1.2 || e.Rate != 0.1 || e.Seconds != 1 || e.Elapsed != 3.9 || len(e.Metrics) != 2 {
			t.Errorf("%s: the newest is %+v", name, e)
		}
		c := &h.Curves
		if c.Loss.Points != 3 || c.TestLoss.Points != 2 || c.Rate.Points != 3 || c.Seconds.Points != 3 || len(c.Loss.Old) > 0 {
			t.Errorf("%s: points %d %d %d %d, left %d", name, c.Loss.Points, c.TestLoss.Points, c.Rate.Points, c.Seconds.Points, len(c.Loss.Old))
		}
		if len(c.Metrics) != 2 || c.Metrics[0].Series.Points != 3 || c.Metrics[1].Series.Points != 2 {
			t.Errorf("%s: figures %+v", name, c.Metrics)
		}
		lines := 0
		for _, e := range h.Log.Entries {
			if e.Text == "" {
				lines++
			}
		}
		if last := h.Log.Entries[len(h.Log.Entries)-1].Stats; lines != 3 || last.Loss != 1 || last.TestLoss != 1.2 {
			t.Errorf("%s: %d lines, the last %+v", name, lines, last)
		}
		if !h.Best.Known || h.Best.Value != 1.2 || h.Best.Epoch != 3 {
			t.Errorf("%s: best %+v", name, h.Best)
		}
		if e := h.Earlier.Epochs[3]; e.Loss != 1 {
			t.Errorf("%s: remembered %+v", name, e)
		}
	}
}

// Where a run goes back in the same Delta, what came late for a step before that stays with it.
func TestMoreOfAStepBeforeARewind(t *testing.T) {
	epoch := func(n int, loss, test event.Float) event.EpochEvent {
		e := event.UnknownEpoch(n)
		e.Loss, e.TestLoss = loss, test
		return e
	}
	none := event.Absent
	h := &History{}
	h.Apply(&feed.Delta{
		Run:     &event.RunEvent{Data: event.DataInfo{Name: "x"}, Unit: "step"},
		Epochs:  []event.EpochEvent{epoch(1, 5, none), epoch(2, 4, none), epoch(2, none, 4.5), epoch(3, 3, none), epoch(2, 3.5, none)},
		Rewinds: []event.RewindEvent{{Epoch: 3, To: 1}},
	})
	if h.Latest.Epoch != 2 || h.Latest.Loss != 3.5 || h.Curves.Loss.Points != 2 || len(h.Curves.Loss.Old) == 0 {
		t.Errorf("%+v, %d points, %d left", h.Latest, h.Curves.Loss.Points, len(h.Curves.Loss.Old))
	}
	if n := len(h.Log.Entries); h.Log.Entries[n-2].Text != "back to step 1" {
		t.Errorf("the log has %q before the end", h.Log.Entries[n-2].Text)
	}
}

// What is told of earlier epochs stands there, and what was cut is gone, whether a viewer got the events one by one or
// at once.
func TestValuesOfEarlierEpochs(t *testing.T) {
	events := []event.Event{
		event.RunEvent{Version: 1, ID: "a"}, lossOf(1, 4), lossOf(5, 3),
		lossOf(9, 2, event.LateMetric("a", 2, 7), event.LateMetric("test_loss", 3, 6), event.LateMetric("a", 4, 8)),
		event.CutEvent{Metric: "a", From: 4},
		lossOf(9, event.Absent, event.LateMetric("a", 4, 5), event.LateMetric("test_loss", 6, 1)),
	}
	for _, atOnce := range []bool{false, true} {
		h, r := &History{}, feed.NewRelay(nil)
		f := r.Feed()
		next := func() {
			d, err := f.Wait(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			h.Apply(&d)
		}
		for _, e := range events {
			if r.Add(e); !atOnce {
				next()
			}
		}
		if atOnce {
			next()
		}
		for name, c := range map[string]struct {
			of   *chart.Series
			want string
		}{"loss": {&h.Curves.Loss, "1:4 5:3 9:2"}, "test loss": {&h.Curves.TestLoss, "3:6 6:1"}, "a": {&h.Curves.Metrics[0].Series, "2:7 4:5"}} {
			got := ""
			for _, b := range c.of.Buckets {
				got += fmt.Sprintf("%g:%g ", b.X1[chart.Epochs], b.Last)
			}
			if strings.TrimSpace(got) != c.want {
				t.Errorf("at once %v: %s is %s, expected %s", atOnce, name, got, c.want)
			}
		}
		if h.Latest.TestLoss != 1 || h.Latest.Loss != 2 {
			t.Errorf("the newest are %v and %v", h.Latest.TestLoss, h.Latest.Loss)
		}
	}
}

func lossOf(epoch int, loss event.Float, metrics ...event.Metric) event.EpochEvent {
	e := event.UnknownEpoch(epoch)
	e.Loss, e.Metrics = loss, metrics
	return e
}
