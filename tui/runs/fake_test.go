package runs

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"newtop/trainer"
	"newtop/trainer/event"
	"newtop/trainer/store"
	"newtop/trainer/store/search"
	"newtop/trainer/tune"
	"newtop/tui/internal/screentest"
	"newtop/tui/screen"
)

func init() { time.Local = time.UTC }

var today = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

// fakeRun is a made-up run, the n-th from the newest.
func fakeRun(n int) store.Run {
	methods := []string{"tr-gn", "adam", "scg", "tr-newton", "lbfgs"}
	states := []store.State{store.Running, "epochs", "diverged", store.Interrupted, "target", "failed", "stopped"}
	id := fmt.Sprintf("20261121-1200%02d-%06x", n%60, 0xabc000+n)
	epoch := func(k int) *event.EpochEvent {
		e := event.UnknownEpoch(k)
		e.TestError, e.Elapsed = event.Float(0.9/float64(k+1+n)), event.Float(float64(k)*0.4)
		e.Loss, e.TestLoss, e.GradientEquivalents = e.TestError*2, e.TestError*3, event.Float(10*k)
		return &e
	}
	r := store.Run{ID: id, State: states[n%len(states)], Started: today.Add(-time.Duration(n*n) * 7 * time.Minute), Changed: today,
		Config: trainer.Config{Seed: uint64(n), Data: "letters", Optimizer: methods[n%len(methods)]}, Epochs: 20 + n, Checkpoint: 10, Host: "lab", Command: "newtop train --opt " + methods[n%len(methods)],
		First: epoch(0), Last: epoch(20 + n), Best: epoch(18 + n),
		Opening: &event.RunEvent{ID: id, Data: event.DataInfo{Name: "letters", TrainRows: 10, TestRows: 5, Classes: 26},
			Model: event.ModelInfo{Layers: []int{16, 70, 26}, Parameters: 6066}, Optimizer: methods[n%len(methods)], Settings: map[string]any{"radius": 1.5}}}
	r.Opening.Time = r.Started
	switch n {
	case 1:
		r.Name, r.Tags, r.Note = "baseline", []string{"paper", "wide"}, "the one to beat"
	case 3:
		r.Opening, r.First, r.Last, r.Best = nil, nil, nil, nil
	case 4:
		r.Damage = errors.New("its checksum is another")
	}
	return r
}

// fakeFound is what a store of n runs and a search has.
func fakeFound(n int) found {
	f := found{read: true, trials: map[string][]store.Run{}}
	for i := range n {
		f.runs = append(f.runs, fakeRun(i))
	}
	q := search.Search{ID: "20261122-120000-aaaaaa", Name: "night", Started: today.Add(-time.Hour), Phase: "done", Data: "letters", Trials: 3, Seconds: 61, Spent: 12345}
	f.sweeps = []tune.Sweep{{Name: "night", Parts: []tune.Part{{Search: q}}}}
	for i := range 3 {
		r := fakeRun(100 + i)
		r.Name, r.State = fmt.Sprintf("night.%d", i+1), "stopped"
		f.trials["search "+q.ID] = append(f.trials["search "+q.ID], r)
	}
	return f
}

// newTest is the list of n made-up runs with their curves, without a store.
func newTest(n int, o screen.Options, w, h int) *Model {
	o.Environ = append(o.Environ, "LANG=C.UTF-8")
	m := New(nil, Host{MaxCompared: 8, Unresumable: func(*store.Run) string { return "" }}, o)
	m.Cancel() // notes then stay until the next one
	m.now = func() time.Time { return today }
	m.Update(tea.WindowSizeMsg{Width: w, Height: h})
	f := fakeFound(n)
	m.Update(foundMsg{f, nil})
	curves := map[string]curve{}
	for _, r := range f.runs {
		var c curve
		for k := range 40 {
			e := event.UnknownEpoch(k)
			e.TestError = event.Float(0.9 / math.Sqrt(float64(k+1)))
			e.Loss, e.TestLoss = e.TestError, e.TestError*1.5
			c.epochs = append(c.epochs, e)
		}
		curves[r.ID] = c
	}
	m.Update(curvesMsg{curves: curves})
	return m
}

// press types keys one after the other; the screen is drawn before each.
func press(m *Model, keys ...string) (last tea.Cmd) {
	for _, k := range keys {
		m.View()
		_, last = m.Update(screentest.Typed(k))
	}
	return last
}

// text is the screen without escape sequences, its size checked.
func text(t *testing.T, m *Model) string {
	t.Helper()
	return screentest.Plain(t, strings.Split(m.View().Content, "\n"), m.Width, m.Height, m.Glyphs.ASCII)
}
