package trust

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize/functions"

	"newtop/internal/vector"
	"newtop/trainer/krylov"
	"newtop/trainer/optim"
	"newtop/trainer/optim/internal/optimtest"
)

// minimize steps until the method stalls, checking every promise that an outer iteration makes.
func minimize(t *testing.T, o optim.Objective, x0 []float64, steps int, name string, set ...string) (*optim.State, int) {
	t.Helper()
	m, settings := method(t, name, set...)
	s := &optim.State{Objective: o, W: slices.Clone(x0), Settings: settings}
	before := o.Loss(x0)
	for k := range steps {
		w, radius := slices.Clone(s.W), settings.Get("radius")
		r, err := m.Step(context.Background(), s)
		if errors.Is(err, optim.ErrStalled) {
			return s, k
		}
		if err != nil {
			t.Fatalf("step %d: %v", k, err)
		}
		after := o.Loss(s.W)
		switch {
		case !(after <= before):
			t.Fatalf("step %d: uphill from %.17g to %.17g", k, before, after)
		case r.Accepted == slices.Equal(w, s.W), r.Accepted == s.Evaluated:
			t.Fatalf("step %d: accepted %v, moved %v, evaluated %v", k, r.Accepted, !slices.Equal(w, s.W), s.Evaluated)
		case r.Radius != radius || len(r.Inner) != 1 || r.Inner[0].StepNorm > radius*(1+1e-9):
			t.Fatalf("step %d: %+v with radius %g", k, r, radius)
		case !r.Accepted && settings.Get("radius") >= radius:
			t.Fatalf("step %d: rejected, and the radius went from %g to %g", k, radius, settings.Get("radius"))
		case r.Accepted && r.Loss != after:
			t.Fatalf("step %d: loss %g reported, %g found", k, r.Loss, after)
		}
		before = after
	}
	return s, steps
}

func TestNewtonOnMoreGarbowHillstrom(t *testing.T) {
	penalty := optimtest.Minimization{Name: "PenaltyII", F: functions.PenaltyII{}, X: []float64{0.5, 0.5, 0.5, 0.5}, Min: 9.376293007355449e-06}
	for _, test := range append(optimtest.MoreGarbowHillstrom(), penalty) {
		for _, offset := range []float64{0, 1e8} {
			o := &optimtest.Smooth{N: len(test.X), F: test.F.Func, Df: test.F.Grad, Offset: offset}
			h, ok := test.F.(interface {
				Hess(dst *mat.SymDense, x []float64)
			})
			if ok && test.Name != "Beale" { // gonum 0.17's Hessian of Beale is not its gradient's derivative
				o.Hess = h.Hess
			}
			for _, set := range [][]string{
				{}, byTheBook, {"boundary", "scaling"}, {"forcing", "sqrt"}, {"preconditioner", "jacobi"},
				{"boundary", "minimum"}, {"boundary", "minimum", "lanczos", "3", "preconditioner", "jacobi"},
			} {
				s, steps := minimize(t, o, test.X, 600, "tr-newton", set...)
				// E + 1e8 is known to 1.5e-8, and ρ to ten times that.
				tolerance := 1e-9*(1+test.Min) + 30*optim.Eps*offset
				if got := test.F.Func(s.W); got > test.Min+tolerance {
					t.Errorf("%s + %g %v: %.12g after %d steps, want %.12g", test.Name, offset, set, got, steps, test.Min)
				}
			}
		}
	}
}

func TestGaussNewtonOnResiduals(t *testing.T) {
	for _, test := range asResiduals {
		for _, name := range []string{"tr-gn", "tr-gn-jacobi"} {
			set := []string{"xi", "1e-6", "blocks", "1"}
			if name == "tr-gn-jacobi" {
				set = append(set, "floor", "1e-12")
			}
			for _, offset := range []float64{0, 1e8} {
				s, steps := minimize(t, lifted{test.o, offset}, test.x, test.steps, name, set...)
				// E + 1e8 is known to 1.5e-8, and ρ to ten times that.
				if got := test.o.Loss(s.W); got > 1e-8+30*optim.Eps*offset {
					t.Errorf("%s, %s + %g: %g after %d steps", name, test.name, offset, got, steps)
				}
			}
		}
	}
}

// bowl is ½Σ k_i (w_i − 1)².
func bowl(k ...float64) *optimtest.Smooth { return well(slices.Repeat([]float64{1}, len(k)), k...) }

// TestQuadratic: where the model is the loss, ρ is 1 to the last step, and R doubles while it binds.
func TestQuadratic(t *testing.T) {
	m, settings := method(t, "tr-newton", "radius", "0.5", "radius-max", "1.75", "xi", "1e-12")
	s := &optim.State{Objective: bowl(1, 2, 5), W: []float64{10, -10, 4}, Settings: settings}
	var radii []float64
	for {
		r, err := m.Step(context.Background(), s)
		if err != nil {
			if !errors.Is(err, optim.ErrStalled) {
				t.Fatal(err)
			}
			break
		}
		if math.Abs(r.Rho-1) > 1e-9 || !r.Accepted {
			t.Errorf("ρ = %.15g, accepted %v", r.Rho, r.Accepted)
		}
		radii = append(radii, r.Radius)
	}
	if !slices.Equal(radii[:4], []float64{0.5, 1, 1.75, 1.75}) {
		t.Errorf("radii %v", radii)
	}
	for _, w := range s.W {
		if math.Abs(w-1) > 1e-9 {
			t.Errorf("ended at %v", s.W)
		}
	}
}

// TestRejection: under the textbook's rule a rejected step moves nothing, costs no gradient, shrinks R to a quarter of the step
// and the next solve is shorter.
func TestRejection(t *testing.T) {
	for what, beyond := range map[string]float64{"uphill": 1e3, "NaN": math.NaN(), "infinite": math.Inf(1), "minus infinity": math.Inf(-1)} {
		o := bowl(1, 1)
		inner := o.F
		o.F = func(x []float64) float64 {
			if x[0] > -8 { // a wall behind which the model knows nothing
				return beyond
			}
			return inner(x)
		}
		m, settings := method(t, "tr-newton", append(byTheBook, "radius", "8")...)
		s := &optim.State{Objective: o, W: []float64{-9, 1}, Settings: settings}
		for i, want := range []float64{8, 2, 0.5} {
			r, err := m.Step(context.Background(), s)
			if err != nil {
				t.Fatal(err)
			}
			if math.Abs(r.Radius-want) > 1e-14 || r.Accepted != (i == 2) || r.Loss != o.F(s.W) || o.Gradients != 1 {
				t.Errorf("%s: step %d: radius %g, accepted %v, loss %g, %d gradients", what, i, r.Radius, r.Accepted, r.Loss, o.Gradients)
			}
			if i < 2 && (!slices.Equal(s.W, []float64{-9, 1}) || !s.Evaluated) {
				t.Errorf("%s: the weights went to %v", what, s.W)
			}
			if math.IsNaN(r.Rho) != (i < 2 && !vector.Finite(beyond)) {
				t.Errorf("%s: step %d: ρ = %g", what, i, r.Rho)
			}
		}
	}
}

func TestInterruptedStepLeavesWeights(t *testing.T) {
	for at := 1; at <= 3; at++ {
		for _, cancelled := range []bool{false, true} {
			ctx, cancel := context.WithCancel(context.Background())
			m, settings := method(t, "tr-newton", "xi", "1e-12", "radius", "100")
			w := []float64{3, 0.1, -2}
			s := &optim.State{Objective: bowl(1, 2, 5), W: slices.Clone(w), Settings: settings}
			seen := 0
			s.Monitor = func(in optim.Inner) error {
				if seen++; in.Iteration.Number != seen || !math.IsNaN(in.Loss) || in.Total != 0 {
					t.Errorf("inner unit %d: %+v", seen, in)
				}
				if cancelled && seen == at-1 {
					cancel()
				} else if seen == at && !cancelled {
					return optim.ErrInterrupted
				}
				return nil
			}
			if cancelled && at == 1 {
				cancel()
			}
			want := optim.ErrInterrupted
			if cancelled {
				want = context.Canceled
			}
			if _, err := m.Step(ctx, s); !errors.Is(err, want) {
				t.Errorf("interrupted at %d: %v", at, err)
			}
			if !slices.Equal(s.W, w) || settings.Get("radius") != 100 {
				t.Errorf("interrupted at %d: weights %v, radius %g", at, s.W, settings.Get("radius"))
			}
			cancel()
		}
	}
}

// TestRadiusByHand: a radius set while the step is being solved for is the next step's.
func TestRadiusByHand(t *testing.T) {
	m, settings := method(t, "tr-newton", "radius", "0.1")
	s := &optim.State{Objective: bowl(1, 2), W: []float64{30, 40}, Settings: settings}
	s.Monitor = func(optim.Inner) error { return settings.Set("radius", 7) }
	if r, err := m.Step(context.Background(), s); err != nil || r.Radius != 0.1 || settings.Get("radius") != 7 {
		t.Errorf("%v, step with %g, next %g", err, r.Radius, settings.Get("radius"))
	}
	s.Monitor = nil
	settings.Set("radius-max", 1)
	if r, _ := m.Step(context.Background(), s); r.Radius != 7 || settings.Get("radius") != 7 {
		t.Errorf("step with %g, next %g, though set by hand", r.Radius, settings.Get("radius"))
	}
}

func TestNotFinite(t *testing.T) {
	nan := math.NaN()
	constant := func(v float64) func([]float64) float64 { return func([]float64) float64 { return v } }
	gradient := func(v float64) func(dst, x []float64) { return func(dst, _ []float64) { dst[0] = v } }
	curvature := func(v float64) func(dst *mat.SymDense, x []float64) {
		return func(dst *mat.SymDense, _ []float64) { dst.SetSym(0, 0, v) }
	}
	for _, test := range []struct {
		what string
		o    *optimtest.Smooth
		w    float64
	}{
		{"loss", &optimtest.Smooth{F: constant(nan), Df: gradient(1), Hess: curvature(1)}, 1},
		{"loss", &optimtest.Smooth{F: constant(math.Inf(1)), Df: gradient(1), Hess: curvature(1)}, 1},
		{"gradient", &optimtest.Smooth{F: constant(1), Df: gradient(nan), Hess: curvature(1)}, 1},
		{"gradient", &optimtest.Smooth{F: constant(1), Df: gradient(math.Inf(-1)), Hess: curvature(1)}, 1},
		{"curvature", &optimtest.Smooth{F: constant(1), Df: gradient(1), Hess: curvature(nan)}, 1},
		{"weights", &optimtest.Smooth{F: constant(1), Df: gradient(1), Hess: curvature(1)}, nan},
	} {
		test.o.N = 1
		m, settings := method(t, "tr-newton")
		s := &optim.State{Objective: test.o, W: []float64{test.w}, Settings: settings}
		_, err := m.Step(context.Background(), s)
		var broken *optim.NotFiniteError
		if !errors.As(err, &broken) || broken.What != test.what {
			t.Errorf("%s: %v", test.what, err)
		}
		if s.W[0] != test.w && test.what != "weights" {
			t.Errorf("%s: the weights moved", test.what)
		}
	}
}

// TestProductFailsOnTheWay: an inner solve that breaks after a few good iterations is a rejection, and
// a shorter radius keeps out of the trouble.
func TestProductFailsOnTheWay(t *testing.T) {
	o := bowl(1, 10, 100)
	broken := &failing{Smooth: o, from: 2}
	m, settings := method(t, "tr-newton", "radius", "50", "xi", "1e-9")
	s := &optim.State{Objective: broken, W: []float64{5, 5, 5}, Settings: settings}
	r, err := m.Step(context.Background(), s)
	if err != nil || r.Accepted || r.Inner[0].Stop != krylov.NotFinite || settings.Get("radius") >= 50 || !vector.Finite(vector.Norm(s.W)) {
		t.Errorf("%v, %+v", err, r)
	}
	if r, err = m.Step(context.Background(), s); err != nil || !r.Accepted || r.Inner[0].Stop != krylov.Boundary {
		t.Errorf("%v, %+v", err, r)
	}
}

type failing struct {
	*optimtest.Smooth
	from int
}

func (f *failing) Hessian(w []float64) krylov.Operator {
	inner, k := f.Smooth.Hessian(w), 0
	return optimtest.Product{N: f.N, Mul: func(dst, v []float64) {
		inner.MulVecTo(dst, v)
		if k++; k >= f.from {
			dst[0] = math.NaN()
		}
	}}
}
