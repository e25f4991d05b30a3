package trust

import (
	"context"
	"math"
	"slices"
	"testing"

	"newtop/trainer/optim"
)

// TestPreconditionerIsKept: one diagonal for each place, however many steps are rejected there.
func TestPreconditionerIsKept(t *testing.T) {
	o := bowl(1, 1)
	o.F = func([]float64) float64 { return math.NaN() }
	m, settings := method(t, "tr-gn-jacobi")
	s := &optim.State{Objective: o, W: []float64{3, 3}, Gradient: []float64{2, 2}, Loss: 4, Evaluated: true, Settings: settings}
	for range 3 {
		if _, err := m.Step(context.Background(), s); err != nil {
			t.Fatal(err)
		}
	}
	if o.Diagonals != 1 {
		t.Errorf("%d diagonals for one place", o.Diagonals)
	}
	s.W[0], s.Gradient[0] = 4, 3
	if m.Step(context.Background(), s); o.Diagonals != 2 {
		t.Errorf("%d diagonals for two places", o.Diagonals)
	}
	settings.Set("floor", 0.5)
	if m.Step(context.Background(), s); o.Diagonals != 3 {
		t.Errorf("%d diagonals after the floor was changed", o.Diagonals)
	}
}

func TestPreconditionerFloor(t *testing.T) {
	nan := math.NaN()
	for _, test := range []struct{ diagonal, want []float64 }{
		{[]float64{4, 0, 1e-9, 2}, []float64{4, 0.04, 0.04, 2}},
		{[]float64{0, 0}, []float64{1, 1}},
		{[]float64{4, nan, math.Inf(1), -1}, []float64{4, 0.04, 0.04, 0.04}},
		{[]float64{nan, nan}, []float64{1, 1}},
	} {
		w := make([]float64, len(test.want))
		got := new(jacobi).of(given{diagonal: test.diagonal}, part{0, 1}, w, 0.01)
		if !slices.Equal(got, test.want) {
			t.Errorf("%v: %v, want %v", test.diagonal, got, test.want)
		}
	}
}

type given struct {
	optim.GaussNewtonObjective
	diagonal []float64
}

func (g given) GaussNewtonDiagTo(dst, _ []float64) { copy(dst, g.diagonal) }
