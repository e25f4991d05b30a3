package runs

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"newtop/trainer"
	"newtop/trainer/event"
	"newtop/trainer/store"
)

func TestRunsListFits(t *testing.T) {
	runs := []store.Run{{ID: "20261122-010203-a1b2c3", State: store.Running}}
	for k, name := range []string{"newton", "", "a run with a long name"} {
		runs = append(runs, store.Run{
			ID: fmt.Sprintf("20261122-01020%d-0a1b2c", k), Name: name, State: "epochs", Started: time.Unix(1e9, 0),
			Config: trainer.Config{Seed: 7}, Last: &event.EpochEvent{Epoch: 400, Elapsed: 7.25}, Best: &event.EpochEvent{Epoch: 3, TestError: 0.125},
			Opening: &event.RunEvent{Optimizer: "tr-newton", Data: event.DataInfo{Name: "spirals", Classes: 2, TestRows: 9}, Model: event.ModelInfo{Layers: []int{2, 70, 50, 2}}},
		})
	}
	g := listed(runs, true, time.Now())
	for width := 40; width < 160; width++ {
		var b strings.Builder
		if err := g.Fit(&b, width); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(b.String()) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > width {
				t.Errorf("%d columns: %q", width, line)
			}
		}
		if width >= 80 && !strings.Contains(b.String(), "STATE") || !strings.Contains(b.String(), "OPTIMIZER") {
			t.Errorf("%d columns:\n%s", width, b.String())
		}
	}
}

func TestSpans(t *testing.T) {
	for text, want := range map[string]time.Duration{"0s": 0, "90m": 90 * time.Minute, "24h": 24 * time.Hour, "7d": 7 * 24 * time.Hour, "2w": 14 * 24 * time.Hour, "0.5d": 12 * time.Hour} {
		if got, err := span(text); err != nil || got != want {
			t.Errorf("%s is %v (%v): expected %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "d", "-1d", "1e9d", "soon", "-1h", "NaNd"} {
		if got, err := span(text); err == nil {
			t.Errorf("%q was read as %v", text, got)
		}
	}
}

func TestProcessesOfARun(t *testing.T) {
	for _, c := range []struct {
		opening event.RunEvent
		want    string
	}{
		{event.RunEvent{}, ""},
		{event.RunEvent{Ranks: 4, Hosts: 2}, "4 on 2 machines, the digits of one"},
		{event.RunEvent{Ranks: 2, Hosts: 1, Reduce: "fast"}, "2 on 1 machine, sums in MPI's order"},
	} {
		if got := processesText(&c.opening); got != c.want {
			t.Errorf("%q, expected %q", got, c.want)
		}
	}
}

// TestOldRuns: the clock alone does not make a run old.
func TestOldRuns(t *testing.T) {
	now := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	days := func(n ...int) (runs []store.Run) { // how long ago each came, the last first
		for _, n := range n {
			runs = append(runs, store.Run{ID: fmt.Sprint(n), Changed: now.AddDate(0, 0, -n)})
		}
		return runs
	}
	ids := func(runs []*store.Run) (out string) {
		for _, r := range runs {
			out += r.ID + " "
		}
		return out
	}
	for _, c := range []struct {
		runs          []store.Run
		old, doubtful string
	}{
		{days(1, 2, 40, 50), "40 50 ", ""},
		{days(400, 399, 5, 50), "50 ", "400 399 "}, // the clock was put back a year
		{days(2, 40, -365, 50), "40 50 ", ""},      // it was a year ahead for a while
		{[]store.Run{{ID: "damaged"}}, "", ""},
	} {
		old, doubtful := oldRuns(c.runs, now.AddDate(0, 0, -30), now)
		if ids(old) != c.old || ids(doubtful) != c.doubtful {
			t.Errorf("old %q, doubtful %q: expected %q and %q", ids(old), ids(doubtful), c.old, c.doubtful)
		}
	}
}

// TestWhatARunIsOf tells networks of newtop's and models that another program has.
func TestWhatARunIsOf(t *testing.T) {
	own := event.RunEvent{Data: event.DataInfo{Name: "letters", TrainRows: 9, TestRows: 3, Inputs: 16, Outputs: 26},
		Model: event.ModelInfo{Layers: []int{16, 4, 26}, Activations: []string{"tanh", "softmax"}, Loss: "xent", Parameters: 198}}
	peer := event.RunEvent{Data: event.DataInfo{Name: "model.py"}, Model: event.ModelInfo{Program: "PyTorch", Parameters: 10, Blocks: []event.BlockInfo{{Name: "bias", Shape: []int{10}}}}}
	told := peer
	told.Data.TrainRows, told.Data.TestRows, told.Model.Loss = 500, 100, "xent"
	for _, c := range []struct {
		run       event.RunEvent
		data, net string
	}{
		{own, "letters: 9 + 3 rows, 16 inputs, 26 outputs", "16-4-26, tanh softmax xent, 198 weights"},
		{peer, "model.py", "1 tensor, 10 weights"},
		{told, "model.py: 500 + 100 rows", "1 tensor, xent, 10 weights"},
	} {
		if data, net := dataText(&c.run), netText(&c.run.Model); data != c.data || net != c.net {
			t.Errorf("%q, %q, expected %q, %q", data, net, c.data, c.net)
		}
	}
}
