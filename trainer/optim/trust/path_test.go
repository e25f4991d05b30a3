package trust

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"newtop/internal/vector"
	"newtop/trainer/krylov"
	"newtop/trainer/optim"
	"newtop/trainer/optim/internal/optimtest"
)

// TestPathIsWhatShorterRadiiGive: every point that a path keeps is the step of a solve of its own with that
// radius, and promises what the model is there.
func TestPathIsWhatShorterRadiiGive(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for trial := range 40 {
		const n = 12
		h, g, diagonal := mat.NewSymDense(n, nil), make([]float64, n), make([]float64, n)
		for i := range n {
			g[i], diagonal[i] = random.NormFloat64(), math.Exp(random.NormFloat64())
			for j := i; j < n; j++ {
				h.SetSym(i, j, random.NormFloat64())
			}
			if trial%2 == 0 { // most of them definite
				h.SetSym(i, i, h.At(i, i)+6)
			}
		}
		if trial%4 >= 2 {
			diagonal = nil
		}
		operator := optimtest.Product{N: n, Mul: func(dst, v []float64) { mat.NewVecDense(n, dst).MulVec(h, mat.NewVecDense(n, v)) }}
		var p path
		s := make([]float64, n)
		radius := math.Exp2(float64(trial%7 - 2))
		cg := new(krylov.CG)
		p.reset(cg, n, 9, radius, 0.6, diagonal)
		_, err := cg.SolveTo(s, operator, g, krylov.TrustRegion{
			Radius: radius, Diagonal: diagonal, Tolerance: 1e-10,
			Monitor: func(it krylov.Iteration) error { p.add(s, it); return nil },
		})
		if err != nil || p.crossed < 2 {
			t.Fatalf("trial %d: %v, %d points", trial, err, p.crossed)
		}
		for i := len(p.radii) - p.crossed; i < len(p.radii); i++ {
			want := make([]float64, n)
			solve, _ := new(krylov.CG).SolveTo(want, operator, g, krylov.TrustRegion{
				Radius: p.radii[i], Diagonal: diagonal, Tolerance: 1e-10,
			})
			if d := floats.Distance(p.steps[i], want, 2); d > 1e-9*vector.Norm(want) {
				t.Errorf("trial %d: the step of radius %g is off by %g", trial, p.radii[i], d)
			}
			v := mat.NewVecDense(n, want)
			q := floats.Dot(g, want) + mat.Inner(v, h, v)/2
			if math.Abs(p.promised[i]+q) > 1e-9*math.Abs(q) || math.Abs(solve.Predicted+q) > 1e-9*math.Abs(q) {
				t.Errorf("trial %d: radius %g promises %g, solved for %g, want %g", trial, p.radii[i], p.promised[i], solve.Predicted, -q)
			}
		}
	}
}

// TestRetry: a step that fails is shortened along the path until E falls, which costs losses and nothing else,
// and R becomes the length that held.
func TestRetry(t *testing.T) {
	for what, beyond := range map[string]float64{"uphill": 1e3, "NaN": math.NaN(), "minus infinity": math.Inf(-1)} {
		o := bowl(1, 1)
		inner := o.F
		o.F = func(x []float64) float64 {
			if x[0] > -8 {
				return beyond
			}
			return inner(x)
		}
		m, settings := method(t, "tr-newton", "radius", "6", "shrink-by", "0.5")
		s := &optim.State{Objective: o, W: []float64{-9, 1}, Settings: settings}
		r, err := m.Step(context.Background(), s)
		if err != nil || !r.Accepted || r.Radius != 6 || math.Abs(r.StepNorm-0.75) > 1e-14 || settings.Get("radius") != 0.75 {
			t.Errorf("%s: %v, %+v, next radius %g", what, err, r, settings.Get("radius"))
		}
		if math.Abs(s.W[0]+8.25) > 1e-14 || s.W[1] != 1 || math.Abs(r.Rho-1) > 1e-12 {
			t.Errorf("%s: at %v, ρ = %g", what, s.W, r.Rho)
		}
		if o.Gradients != 1 || o.Products != r.Inner[0].Products || o.Losses != 4 {
			t.Errorf("%s: %d gradients, %d products, %d losses", what, o.Gradients, o.Products, o.Losses)
		}
	}
}

// TestRetryInTheKrylovSpace: with boundary=minimum the steps that are tried, the first and the shorter ones, are minimizers of the
// model in their regions, by the conditions of Moré & Sorensen 1983: (H + λM)s = −g with H + λM positive semidefinite.
func TestRetryInTheKrylovSpace(t *testing.T) {
	const n = 5
	k := []float64{-1, 0.5, 2, 3, 7}
	o := bowl(k...)
	inner := o.F
	var tried [][]float64
	start := []float64{2, -3, 0, 4, -1}
	o.F = func(x []float64) float64 {
		if slices.Equal(x, start) {
			return inner(x)
		}
		tried = append(tried, slices.Clone(x))
		return 1e6
	}
	for _, preconditioner := range []string{"none", "jacobi"} {
		tried = nil
		m, settings := method(t, "tr-newton", "radius", "3", "shrink-by", "0.5", "retries", "4", "boundary", "minimum", "lanczos", "9",
			"xi", "1e-12", "preconditioner", preconditioner, "floor", "0.1")
		s := &optim.State{Objective: o, W: slices.Clone(start), Settings: settings}
		o.Products = 0
		r, err := m.Step(context.Background(), s)
		if err != nil || r.Accepted || len(tried) != 5 || o.Products != r.Inner[0].Products || r.Inner[0].Multiplier <= 1 {
			t.Fatalf("%v, %+v, %d losses, %d products", err, r, len(tried), o.Products)
		}
		diagonal := slices.Repeat([]float64{1}, n)
		if preconditioner == "jacobi" {
			copy(diagonal, (&jacobi{}).of(o, part{0, 1}, start, 0.1))
		}
		radius := 3.0
		for _, x := range tried {
			step, left, ms := floats.SubTo(make([]float64, n), x, start), make([]float64, n), make([]float64, n)
			for i, v := range step {
				left[i], ms[i] = k[i]*(start[i]-1)+k[i]*v, diagonal[i]*v
			}
			lambda := -floats.Dot(step, left) / floats.Dot(step, ms)
			floats.AddScaled(left, lambda, ms)
			if d := vector.Norm(left); d > 1e-9 || lambda*diagonal[0] < 1 || math.Abs(math.Sqrt(floats.Dot(step, ms))-radius) > 1e-12 {
				t.Errorf("%s, R = %g: ‖s‖ = %g, λ = %g leaves %g", preconditioner, radius, math.Sqrt(floats.Dot(step, ms)), lambda, d)
			}
			radius /= 2
		}
	}
}

// TestRetriesEnd: when all that were allowed have failed nothing moves, and R is beyond the last of them.
func TestRetriesEnd(t *testing.T) {
	for _, test := range []struct {
		set    []string
		losses int
		next   float64
	}{
		{[]string{"retries", "2"}, 3, 0.0625},
		{[]string{"retries", "0"}, 1, 1},
		{[]string{"retries", "3", "shrink-by", "0.1"}, 4, 4e-4},
		{[]string{"retries", "5", "boundary", "scaling"}, 1, 1},
	} {
		o := bowl(1, 1)
		o.F = func([]float64) float64 { return 82 } // everywhere but where it was 81
		m, settings := method(t, "tr-newton", append(test.set, "radius", "4")...)
		s := &optim.State{Objective: o, W: []float64{-9, 1}, Gradient: []float64{-10, 0}, Loss: 81, Evaluated: true, Settings: settings}
		r, err := m.Step(context.Background(), s)
		if err != nil || r.Accepted || !slices.Equal(s.W, []float64{-9, 1}) || o.Losses != test.losses {
			t.Errorf("%v: %v, %+v, %d losses", test.set, err, r, o.Losses)
		}
		if got := settings.Get("radius"); math.Abs(got-test.next) > 1e-12 {
			t.Errorf("%v: next radius %g, want %g", test.set, got, test.next)
		}
	}
}

// TestGaussNewtonRule holds the radius rule for JᵀJ to its table.
func TestGaussNewtonRule(t *testing.T) {
	_, settings := method(t, "tr-gn", "radius-max", "6")
	rule := ruleOf(settings)
	for _, test := range []struct {
		a    attempt
		want float64 // from R = 4
	}{
		{attempt{length: 4, rho: 0.5, onBoundary: true, accepted: true}, 6},
		{attempt{length: 4, rho: 0.3, onBoundary: true, accepted: true}, 4},
		{attempt{length: 4, rho: 0.01, onBoundary: true, accepted: true}, 4},
		{attempt{length: 3, rho: 0.9, accepted: true}, 4},
		{attempt{length: 2, rho: 0.9, onBoundary: true, shortened: true, accepted: true}, 2},
		{attempt{length: 1, rho: -1, shortened: true}, 0.5},
		{attempt{length: 3, rho: math.NaN()}, 1.5},
	} {
		if got := rule.next(4, &test.a); got != test.want {
			t.Errorf("%+v: R goes to %g, want %g", test.a, got, test.want)
		}
	}
}

// TestOutwardRoot against the plain formula where that is safe, and where it is not against what must come out.
func TestOutwardRoot(t *testing.T) {
	for _, c := range []struct{ norm, sp, pp, radius, want float64 }{
		{1, 0, 4, 1, 0},
		{1, 0, 4, math.Sqrt(5), 1},
		{1, 1, 4, 2, (-1 + math.Sqrt(13)) / 4},
		{1, 0, 4, math.Sqrt(2), 0.5},
		{2, 1, 1, 1, 0},              // s beyond R by rounding
		{1, 1e8, 1, 1 + 1e-9, 1e-17}, // the plain formula gives 0
		{1e200, 0, 1e300, 2e200, 1},  // its squares overflow
		{0, 0, 1e300, 5e149, 0.5},
		{0, 0, 1e-300, 5e-151, 0.5}, // and underflow
	} {
		if got := outwardRoot(c.norm, c.sp, c.pp, c.radius); !(math.Abs(got-c.want) <= 1e-7*c.want) {
			t.Errorf("%+v: %g", c, got)
		}
	}
}
