package trust

import (
	"context"
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"newtop/trainer/krylov"
	"newtop/trainer/optim"
	"newtop/trainer/optim/internal/optimtest"
)

func TestNothingToDo(t *testing.T) {
	for name, s := range map[string]*optim.State{
		"zero gradient":        {Objective: bowl(1, 2), W: []float64{1, 1}},
		"radius too small":     {Objective: bowl(1, 2), W: []float64{2, 2}},
		"flat to rounding":     {Objective: &optimtest.Smooth{N: 1, F: bowl(1).F, Df: bowl(1).Df, Hess: bowl(1).Hess, Offset: 1e20}, W: []float64{1.5}},
		"noise for a gradient": {Objective: noisy(), W: []float64{1e-3}},
		"lying derivatives":    {Objective: &optimtest.Smooth{N: 1, F: func(x []float64) float64 { return -x[0] }, Df: func(dst, x []float64) { dst[0] = 1 }, Hess: bowl(1).Hess}, W: []float64{1}},
	} {
		t.Run(name, func(t *testing.T) {
			m, settings := method(t, "tr-newton")
			if name == "radius too small" {
				settings.Set("radius", 1e-17)
			}
			s.Settings = settings
			before := s.Objective.Loss(s.W)
			for range 100 {
				if _, err := m.Step(context.Background(), s); errors.Is(err, optim.ErrStalled) {
					if s.Objective.Loss(s.W) > before {
						t.Error("uphill")
					}
					return
				} else if err != nil {
					t.Fatal(err)
				}
			}
			t.Error("still not stalled after 100 steps")
		})
	}
}

// noisy is 1 + ½x² with a gradient that is off by ±1e-18, in turns.
func noisy() *optimtest.Smooth {
	o := bowl(1)
	noise := 1e-18
	o.F = func(x []float64) float64 { return 1 + x[0]*x[0]/2 }
	o.Df = func(dst, x []float64) { dst[0], noise = x[0]+noise, -noise }
	return o
}

// TestHiddenProgress: steps too short for E to show are taken as long as the gradient falls, by half in
// ten steps, and a step that ends the run is not taken.
func TestHiddenProgress(t *testing.T) {
	for _, test := range []struct {
		curvature float64 // the model's, of ½x²: a step keeps 1 − 1/curvature of x
		steps     int     // that are taken
	}{{4, 50}, {12, 50}, {20, 10}} {
		o := &optimtest.Smooth{
			N: 1, F: func([]float64) float64 { return 1 }, Df: func(dst, x []float64) { dst[0] = x[0] },
			Hess: func(dst *mat.SymDense, _ []float64) { dst.SetSym(0, 0, test.curvature) },
		}
		m, settings := method(t, "tr-newton")
		s := &optim.State{Objective: o, W: []float64{1e-9}, Settings: settings}
		want := 1e-9
		for k := range 50 {
			r, err := m.Step(context.Background(), s)
			if (err != nil) != (k >= test.steps) || err != nil && !errors.Is(err, optim.ErrStalled) || r.Accepted != (err == nil) {
				t.Fatalf("curvature %g, step %d: %v, accepted %v", test.curvature, k, err, r.Accepted)
			}
			if r.Accepted {
				want *= 1 - 1/test.curvature
			}
			if math.Abs(s.W[0]-want) > 1e-12*want {
				t.Fatalf("curvature %g, step %d: at %g, want %g", test.curvature, k, s.W[0], want)
			}
			if err != nil {
				break
			}
		}
	}
}

// TestOptionsReachTheSolve: what the settings say is what the inner solve is told.
func TestOptionsReachTheSolve(t *testing.T) {
	for _, test := range []struct {
		set       []string
		gradient  float64
		tolerance float64
		rule      krylov.BoundaryRule
		limit     int
	}{
		{nil, 1e-4, 0.01, krylov.Minimum, 100},
		{[]string{"boundary", "segment"}, 1e-4, 0.01, krylov.Segment, 100},
		{[]string{"xi", "0.2", "limit", "7", "boundary", "scaling"}, 1e-4, 0.2, krylov.Scaling, 7},
		{[]string{"forcing", "sqrt"}, 1e-6, 1e-3, krylov.Minimum, 100},
		{[]string{"forcing", "sqrt"}, 4, 0.5, krylov.Minimum, 100},
	} {
		m, settings := method(t, "tr-newton", test.set...)
		s := &optim.State{Objective: bowl(1), W: []float64{1}, Settings: settings}
		o := m.(*trust).options(context.Background(), s, s.Objective, part{0, 1}, s.W, 3, test.gradient)
		if o.Radius != 3 || math.Abs(o.Tolerance-test.tolerance) > 1e-15 || o.Rule != test.rule || o.Limit != test.limit || o.Diagonal != nil {
			t.Errorf("%v: %+v", test.set, o)
		}
	}
}

// byTheBook asks for the rule of Nocedal & Wright's algorithm 4.1.
var byTheBook = []string{"rule", "textbook"}

// TestAdapt holds the textbook's radius rule to its table.
func TestAdapt(t *testing.T) {
	_, settings := method(t, "tr-newton", append(byTheBook, "radius-max", "6")...)
	o := bowl(1)
	inf, nan := math.Inf(1), math.NaN()
	for _, test := range []struct {
		stop     krylov.Stop
		length   float64
		rho      float64
		accepted bool
		want     float64 // from R = 4
	}{
		{krylov.Boundary, 4, 0.9, true, 6},
		{krylov.NegativeCurvature, 4, 0.9, true, 6},
		{krylov.Residual, 2, 0.9, true, 4},
		{krylov.Limit, 3.9, 1.1, true, 4},
		{krylov.Boundary, 4, 0.5, true, 4},
		{krylov.Boundary, 4, 0.2, true, 1},
		{krylov.NegativeCurvature, 4, 0.2, true, 1},
		{krylov.Residual, 2, 0.2, true, 0.5},
		{krylov.Residual, 2, -3, false, 0.5},
		{krylov.Residual, 2, nan, false, 0.5},
		{krylov.NotFinite, inf, nan, false, 1},
	} {
		tr := &trust{s: []float64{0}, trial: []float64{0}}
		a := tr.shortenUntilAccepted(o, settings, []float64{0}, 0, &krylov.Solve{Stop: test.stop, Radius: 4, StepNorm: test.length})
		a.rho, a.accepted = test.rho, test.accepted
		rule := ruleOf(settings)
		if got := rule.next(4, &a); got != test.want {
			t.Errorf("%+v: R goes to %g", test, got)
		}
	}
	rule := ruleOf(settings)
	if got := rule.next(50, &attempt{length: 50, rho: 1, accepted: true, onBoundary: true}); got != 50 {
		t.Errorf("a radius set by hand goes to %g", got)
	}
}

// TestTinyRadiusRecovers: a radius far too small grows until E shows the steps.
func TestTinyRadiusRecovers(t *testing.T) {
	o := &optimtest.Smooth{N: 1, F: func(x []float64) float64 { return 1 + 1e-6*x[0]*x[0]/2 }, Df: func(dst, x []float64) { dst[0] = 1e-6 * x[0] },
		Hess: func(dst *mat.SymDense, _ []float64) { dst.SetSym(0, 0, 1e-6) }}
	s, steps := minimize(t, o, []float64{1e-3}, 200, "tr-newton", "radius", "1e-17")
	if math.Abs(s.W[0]) > 1e-9 {
		t.Errorf("at %g after %d steps", s.W[0], steps)
	}
}

// TestOverflowShrinks: a step whose numbers overflow is a rejection like others: R shrinks.
func TestOverflowShrinks(t *testing.T) {
	m, settings := method(t, "tr-newton", "radius", "1.7e308")
	s := &optim.State{Objective: bowl(-1e10), W: []float64{2}, Settings: settings}
	r, err := m.Step(context.Background(), s)
	if err != nil || r.Accepted || r.Inner[0].Stop != krylov.NotFinite || settings.Get("radius") > 1.7e308/4 {
		t.Errorf("%v, %+v, next radius %g", err, r, settings.Get("radius"))
	}
}

// TestInner: what ends an inner solve, as far as the settings tell.
func TestInner(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		texts map[string]string
		limit int
		ratio float64
	}{
		{map[string]string{"limit": "40", "xi": "0.02", "blocks": "1", "forcing": "fixed", "block-xi": "0.1"}, 40, 0.02},
		{map[string]string{"limit": "0", "xi": "0.02", "blocks": "3", "forcing": "fixed", "block-xi": "0.1"}, 0, 0.1},
		{map[string]string{"limit": "40", "xi": "0.02", "blocks": "1", "forcing": "sqrt"}, 40, nan},
		{map[string]string{"xi": "0.02"}, 0, 0.02},
		{map[string]string{"xi": "wide", "limit": "many"}, 0, nan},
		{nil, 0, nan},
	} {
		for _, i := range []*optim.Info{&Newton, &GaussNewton, &GaussNewtonJacobi, &GaussNewtonRows} {
			limit, ratio := i.Inner(optim.ReadSettings(i.Parameters, c.texts))
			if limit != c.limit || ratio != c.ratio && !(math.IsNaN(ratio) && math.IsNaN(c.ratio)) {
				t.Errorf("%s %v: %d, %g", i.Name, c.texts, limit, ratio)
			}
		}
	}
}
