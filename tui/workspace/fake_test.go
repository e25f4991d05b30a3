package workspace

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	tea "charm.land/bubbletea/v2"

	"newtop/trainer/event"
	"newtop/trainer/feed"
	"newtop/tui/internal/screentest"
	"newtop/tui/screen"
)

// silent is a feed that brings nothing.
type silent struct{}

func (silent) Wait(ctx context.Context) (feed.Delta, error) {
	<-ctx.Done()
	return feed.Delta{}, ctx.Err()
}
func (silent) Do(context.Context, event.Command) error { return feed.ErrReadOnly }
func (silent) Close()                                  {}

// fakeEvents are a made-up run of another program, the i-th of a grid of settings: that of number 5 diverges.
func fakeEvents(i, epochs, layers int) (out []event.Event) {
	r := rand.New(rand.NewPCG(uint64(i), 1))
	lr := []float64{0.1, 0.03, 0.01, 0.003}[i%4]
	speed := []float64{9, 14, 30, 70}[i%4] * float64(epochs) / 200
	out = append(out, event.RunEvent{ID: fmt.Sprint(i), Data: event.DataInfo{Name: "cifar10"}, Epochs: 2 * epochs, Seed: uint64(i),
		Settings: map[string]any{"lr": lr, "opt": []string{"adam", "sgd", "lion"}[i/4%3], "model": map[string]any{"depth": 18 + i%3*16}}})
	for e := 1; e <= epochs-i; e++ {
		x := float64(e)
		ev := event.UnknownEpoch(e)
		ev.Loss = event.Float(2.3*math.Exp(-x/speed) + 0.05 + 0.02*math.Abs(r.NormFloat64()))
		ev.TestLoss = event.Float(2.3*math.Exp(-x/speed) + 0.15 + 0.01*math.Abs(r.NormFloat64()))
		ev.Elapsed = event.Float(x * (0.5 + 0.1*float64(i%5)))
		f := func(k string, v float64) {
			ev.Metrics = append(ev.Metrics, event.Metric{Key: k, Value: event.Float(v)})
		}
		f("train/acc", 1-0.9*math.Exp(-x/speed))
		f("val/acc", 0.95-0.85*math.Exp(-x/speed))
		f("lr", lr*0.5*(1+math.Cos(math.Pi*x/float64(epochs))))
		for k := range layers {
			f(fmt.Sprintf("layers.%d.grad_norm", k), math.Exp(0.3*r.NormFloat64()-x/speed/3))
		}
		out = append(out, ev)
	}
	switch {
	case i == 5:
		out = append(out, event.DivergedEvent{Epoch: epochs - i, Reason: "the loss is not finite"}, event.DoneEvent{Reason: event.ReasonDiverged, Epochs: epochs - i})
	case i%4 == 1:
		out = append(out, event.DoneEvent{Reason: event.ReasonEpochs, Epochs: epochs - i})
	}
	return out
}

// deltaOf is a fake run as a feed brings it first.
func deltaOf(i, epochs, layers int) feed.Delta {
	key := [3]int{i, epochs, layers}
	if d, ok := made[key]; ok {
		return d
	}
	r := feed.NewRelay(nil)
	f := r.Feed()
	defer f.Close()
	r.Show(fakeEvents(i, epochs, layers), func(s *event.Status) {
		s.Replay = &event.Replay{Source: "x", Live: true, Speed: 1, Last: s.Epoch, Epoch: s.Epoch}
	})
	d, err := f.Wait(context.Background())
	if err != nil {
		panic(err)
	}
	made[key] = d
	return d
}

// made are those that were made before.
var made = map[[3]int]feed.Delta{}

func fakeWatched(i int) Watched {
	return Watched{Name: fmt.Sprintf("%s-lr%v-%d", []string{"adam", "sgd", "lion"}[i/4%3], []float64{0.1, 0.03, 0.01, 0.003}[i%4], i),
		Source: fmt.Sprintf("runs/exp%03d/metrics.csv", i), Feed: silent{}}
}

// newTest is the screen of n runs, of which all news have come.
func newTest(n int, o screen.Options, w, h int) *model {
	var runs []Watched
	for i := range n {
		runs = append(runs, fakeWatched(i))
	}
	m := newModel(runs, nil, o)
	m.Cancel()
	m.Update(tea.WindowSizeMsg{Width: w, Height: h})
	for i, r := range m.runs {
		m.Update(newsMsg{came: []came{{run: r, delta: deltaOf(i, 60, 4)}}})
	}
	return m
}

func press(m *model, keys ...string) {
	for _, k := range keys {
		m.Update(screentest.Typed(k))
		m.View()
	}
}

// text is the screen, whose rows all have its width.
func text(t *testing.T, m *model) string {
	t.Helper()
	return screentest.Plain(t, m.screen(), m.Width, m.Height, m.Glyphs.ASCII)
}
