package methods

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"newtop/trainer/optim"
)

// TestStepsBelowTheRoundingOfTheLoss: one that fails is the end, at once and by that name.
func TestStepsBelowTheRoundingOfTheLoss(t *testing.T) {
	for _, name := range []string{"lm", "dogleg", "scg", "tr-newton"} {
		start := []float64{1, 1}
		o := &degenerate{a: [][]float64{{1, 0}, {0, 1}}, t: []float64{1 - 1e-9, 1}}
		o.spoil = func(w []float64, _ float64) float64 {
			if slices.Equal(w, start) {
				return 1
			}
			return 1 + optim.Eps
		}
		m, settings := method(t, name)
		s := &optim.State{Objective: o, W: slices.Clone(start), Settings: settings, Rand: rand.New(rand.NewPCG(1, 2))}
		_, err := m.Step(context.Background(), s)
		if err == nil || err != optim.ErrHidden || !slices.Equal(s.W, start) {
			t.Errorf("%s: %v at %v", name, err, s.W)
		}
	}
}

// TestScaledConjugateGradientsOnAnotherLoss: where E has changed so that p leads uphill, as the gates of a mixture
// do, the step goes back along it.
func TestScaledConjugateGradientsOnAnotherLoss(t *testing.T) {
	o := &degenerate{a: [][]float64{{1, 0}, {0, 3}}, t: []float64{1, 2}}
	m, settings := method(t, "scg")
	s := &optim.State{Objective: o, W: []float64{5, 5}, Settings: settings, Rand: rand.New(rand.NewPCG(1, 2))}
	if r, err := m.Step(context.Background(), s); err != nil || !r.Accepted {
		t.Fatalf("%+v, %v", r, err)
	}
	o.t, s.Evaluated = []float64{50, 50}, false
	before, first := slices.Clone(s.W), o.Loss(s.W)
	r, err := m.Step(context.Background(), s)
	if err != nil || !r.Accepted || o.Loss(s.W) >= first || math.Abs(r.StepNorm-math.Hypot(s.W[0]-before[0], s.W[1]-before[1])) > 1e-9 {
		t.Errorf("%+v, %v: from %g to %g", r, err, first, o.Loss(s.W))
	}
}
