package trust

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"newtop/internal/vector"
	"newtop/trainer/optim"
	"newtop/trainer/optim/internal/optimtest"
)

// TestFirstLevenbergMarquardtSteps by hand: r = (2w₁ − 2, w₂ − 3) at 0 has g = (−4, −3) and G = diag(4, 1).
func TestFirstLevenbergMarquardtSteps(t *testing.T) {
	o := linear([][]float64{{2, 0}, {0, 1}}, 2, 3)
	for _, test := range []struct {
		scaling string
		mu      float64
		s       []float64
	}{
		{"none", 1, []float64{4. / 5, 3. / 2}},
		{"none", 1e-3, []float64{4 / 4.001, 3 / 1.001}},
		{"diagonal", 1, []float64{4. / 8, 3. / 2}},
		{"diagonal", 3, []float64{4. / 16, 3. / 4}},
	} {
		m, settings := method(t, "lm", "scaling", test.scaling)
		if err := settings.Set("mu", test.mu); err != nil {
			t.Fatal(err)
		}
		s := &optim.State{Objective: o, W: []float64{0, 0}, Settings: settings}
		r, err := m.Step(context.Background(), s)
		if err != nil || !r.Accepted || math.Abs(r.Rho-1) > 1e-12 || math.Abs(r.StepNorm-math.Hypot(test.s[0], test.s[1])) > 1e-12 {
			t.Fatalf("%v, %+v", err, r)
		}
		for i, want := range test.s {
			if math.Abs(s.W[i]-want) > 1e-12 {
				t.Errorf("scaling %s, μ = %g: at %v, expected %v", test.scaling, test.mu, s.W, test.s)
			}
		}
		if got := settings.Get("mu"); math.Abs(got-test.mu/10) > 1e-15 || optimtest.Diagnostic(t, r, "mu") != test.mu || optimtest.Diagnostic(t, r, "attempts") != 1 {
			t.Errorf("μ went from %g to %g, %+v", test.mu, got, r.Diagnostics)
		}
	}
}

// TestDampingRises: a step that fails is tried again with ten times the μ, within the same outer iteration and
// from the same matrix, each time before the eyes of the monitor.
func TestDampingRises(t *testing.T) {
	o := &watched{residuals: linear([][]float64{{1}}, 1)}
	o.loss = func(w []float64) float64 { // steps beyond 0.01 fail
		if w[0] > 0.01 {
			return math.NaN()
		}
		return (w[0] - 1) * (w[0] - 1) / 2
	}
	m, settings := method(t, "lm")
	s := &optim.State{Objective: o, W: []float64{0}, Settings: settings}
	var lengths []float64
	s.Monitor = func(in optim.Inner) error {
		if in.Total > 0 { // a part of the assembly
			return nil
		}
		lengths = append(lengths, in.Iteration.StepNorm)
		if in.Iteration.Number != len(lengths) {
			t.Errorf("attempt %d is number %d", len(lengths), in.Iteration.Number)
		}
		return nil
	}
	r, err := m.Step(context.Background(), s)
	var want []float64
	for _, mu := range []float64{1e-3, 1e-2, 1e-1, 1, 10, 100} {
		want = append(want, 1/(1+mu))
	}
	if err != nil || !r.Accepted || o.assembled != 1 || o.evaluated != len(want) || optimtest.Diagnostic(t, r, "attempts") != 6 ||
		math.Abs(optimtest.Diagnostic(t, r, "mu")-100) > 1e-9 || math.Abs(settings.Get("mu")-10) > 1e-9 {
		t.Errorf("%v, %+v, %d matrices, %d losses, next μ %g", err, r, o.assembled, o.evaluated, settings.Get("mu"))
	}
	if !slices.EqualFunc(lengths, want, func(a, b float64) bool { return math.Abs(a-b) < 1e-12 }) {
		t.Errorf("steps of length %v, expected %v", lengths, want)
	}
}

// TestDampingIsBounded: from below by mu-min, and from above by mu-max, where the run ends.
func TestDampingIsBounded(t *testing.T) {
	m, settings := method(t, "lm", "mu", "1e-6", "mu-min", "1e-7")
	s := &optim.State{Objective: rosenbrock, W: []float64{0.9, 0.8}, Settings: settings}
	for range 3 {
		if _, err := m.Step(context.Background(), s); err != nil {
			t.Fatal(err)
		}
	}
	if got := settings.Get("mu"); got != 1e-7 {
		t.Errorf("μ fell to %g", got)
	}
	o := &watched{residuals: rosenbrock, loss: func([]float64) float64 { return math.NaN() }}
	m, settings = method(t, "lm", "mu-max", "100")
	s = &optim.State{Objective: o, W: []float64{-1.2, 1}, Settings: settings}
	_, err := m.Step(context.Background(), s)
	if !errors.Is(err, optim.ErrStalled) || !strings.HasSuffix(err.Error(), "μ up to 100") || o.evaluated != 6 || settings.Get("mu") != 1e-3 {
		t.Errorf("%v after %d losses, μ = %g", err, o.evaluated, settings.Get("mu"))
	}
}

// TestDampingMakesDefinite: a μ that rounding swallows leaves the matrix indefinite; a larger one is tried.
func TestDampingMakesDefinite(t *testing.T) {
	m, settings := method(t, "lm", "mu", "1e-12")
	o := linear([][]float64{{1e4, 3e4}, {2e4, 6e4}, {0.1e4, 0.3e4}}, 1, 2, 3)
	s := &optim.State{Objective: o, W: []float64{1, 1}, Settings: settings}
	r, err := m.Step(context.Background(), s)
	if err != nil || !r.Accepted || !vector.Finite(optimtest.Diagnostic(t, r, "condition")) {
		t.Errorf("%v, %+v", err, r)
	}
}
