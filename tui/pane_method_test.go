package tui

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"newtop/trainer"
)

// dampedRun is a run of a method that has neither a radius nor a rate but figures of its own.
func dampedRun(epochs int) []trainer.Delta {
	r := rand.New(rand.NewPCG(4, 2))
	st := trainer.Status{Phase: trainer.Running, Optimizer: "lm", Settings: []trainer.Setting{{Key: "mu", Text: "0.001", Primary: true}}}
	deltas := []trainer.Delta{{Run: &trainer.RunEvent{Optimizer: "lm", Data: trainer.DataInfo{Name: "letters", Classes: 26}, Model: trainer.ModelInfo{Layers: []int{16, 4, 26}}}, Status: st}}
	for e := range epochs {
		ev := fakeEpoch(e, 1, r)
		ev.Optimizer, ev.Inner, ev.Radius, ev.Rho, ev.Rate = "lm", nil, nan, nan, nan
		if e > 0 {
			ev.Figures = []trainer.Figure{
				{Key: "mu", Symbol: "μ", Meaning: "damping", Value: trainer.Float(1e-3 / float64(e))},
				{Key: "gain", Symbol: "gain", Meaning: "actual over predicted reduction", Value: 0.9},
				{Key: "tries", Symbol: "tries", Meaning: "factorizations", Value: 2},
			}
		}
		deltas = append(deltas, trainer.Delta{Status: st, Epochs: []trainer.EpochEvent{ev}})
	}
	return deltas
}

func applied(deltas []trainer.Delta) *view {
	v := testView()
	for i := range deltas {
		v.h.apply(&deltas[i])
	}
	return v
}

// TestMethodWithFiguresOfItsOwn looks at the pane that else shows a radius or a rate.
func TestMethodWithFiguresOfItsOwn(t *testing.T) {
	v := applied(dampedRun(9))
	for _, w := range []int{20, 40, 80, 120} {
		p := &regionPane{log: true}
		text := ""
		for _, row := range frame(p, v, rect{w: w, h: 20}, drawnKey{}) {
			if got := ansi.StringWidth(row); got != w {
				t.Errorf("a row of %d columns in %d", got, w)
			}
			text += ansi.Strip(row) + "\n"
		}
		for _, want := range []string{"method", "μ 1.25e-4"} {
			if w >= 40 && !strings.Contains(text, want) {
				t.Errorf("%d columns lack %q:\n%s", w, want, text)
			}
		}
		for _, want := range []string{"damping", "tries 2"} {
			if w >= 80 && !strings.Contains(text, want) {
				t.Errorf("%d columns lack %q:\n%s", w, want, text)
			}
		}
	}
	if text := ansi.Strip(strings.Join(new(innerPane).body(v, 60, 3, false), "\n")); !strings.Contains(text, "no inner solves") {
		t.Errorf("the inner pane says %q", text)
	}
}

// TestFiguresOfAnotherMethodBeginAnew switches between two methods with figures, and to one without.
func TestFiguresOfAnotherMethodBeginAnew(t *testing.T) {
	deltas := dampedRun(4)
	e := deltas[4].Epochs[0]
	v := applied(deltas)
	e.Epoch, e.Optimizer, e.Figures = 4, "scg", []trainer.Figure{{Key: "lambda", Value: 1}}
	v.h.epoch(&e)
	if got := fmt.Sprint(len(v.h.figures), " ", v.h.figures[0].Symbol, " ", v.h.figures[0].series.points); got != "1 lambda 1" {
		t.Error(got)
	}
	e.Epoch, e.Optimizer, e.Figures = 5, "adam", nil
	v.h.epoch(&e)
	if len(v.h.figures) != 0 {
		t.Errorf("%d figures left", len(v.h.figures))
	}
}

// TestCommitteeShowsItsMembers looks for the range of the members' errors.
func TestCommitteeShowsItsMembers(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 2))
	v := testView()
	for epoch := range 5 {
		e := fakeEpoch(epoch, 1, r)
		e.Members = []trainer.MemberFigures{{TestError: 0.07}, {TestError: 0.064}, {TestError: 0.071}}
		v.h.epoch(&e)
	}
	l := v.th.line(100)
	new(accuracyPane).head(v, l)
	if text := ansi.Strip(l.full()); !strings.Contains(text, "members 6.40% to 7.10%") {
		t.Error(text)
	}
}

// TestMixtureShowsOneExpertAndTheGates draws a mixture of three equal nets.
func TestMixtureShowsOneExpertAndTheGates(t *testing.T) {
	v := testView()
	v.h.run = &trainer.RunEvent{Model: trainer.ModelInfo{
		Layers: []int{16, 12, 10, 12, 10, 12, 10, 10}, Experts: 3, Loss: "mse", Parameters: 975,
		Activations: []string{"tanh", "identity", "tanh", "identity", "tanh", "identity", "identity"},
	}}
	for i := range 3 {
		v.h.run.Model.Connections = append(v.h.run.Model.Connections,
			trainer.ConnectionInfo{To: 2*i + 1, From: 0, Weights: 192}, trainer.ConnectionInfo{To: 2*i + 2, From: 2*i + 1, Weights: 120})
	}
	e := fakeEpoch(1, 1, rand.New(rand.NewPCG(1, 2)))
	e.Gates = []trainer.GateFigures{{Width: 36, Slope: 2, Center: 72, Share: 0.2}, {Width: 40, Slope: 2.5, Center: 144, Share: 0.5}, {Width: 36, Slope: 2, Center: 300, Share: 0.3}}
	v.h.epoch(&e)
	for _, w := range []int{20, 40, 80, 120} {
		text := ""
		for _, row := range frame(&topologyPane{}, v, rect{w: w, h: 24}, drawnKey{}) {
			if got := ansi.StringWidth(row); got != w {
				t.Errorf("a row of %d columns in %d", got, w)
			}
			text += ansi.Strip(row) + "\n"
		}
		for _, want := range []string{"3 × 16-12-10", "144", "50.0%", "gates"} {
			if w >= 80 && !strings.Contains(text, want) {
				t.Errorf("%d columns lack %q:\n%s", w, want, text)
			}
		}
	}
}
