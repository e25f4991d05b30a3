package krylov

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"newtop/internal/alloctest"
	"newtop/internal/vector"
)

// regionProblem is a model with its region.
type regionProblem struct {
	name   string
	h      *dense
	g, m   []float64
	radius float64
}

// regionProblems are models of n unknowns, of every kind of spectrum and with and without M, in regions of all sizes.
func regionProblems(seed uint64, n int) []regionProblem {
	var out []regionProblem
	repeated := append(slices.Repeat([]float64{-2}, n/3), slices.Repeat([]float64{-0.5}, n/3)...)
	for len(repeated) < n {
		repeated = append(repeated, 3)
	}
	clustered := spread(n, 1, 1.0001)
	for i := range n / 2 {
		clustered[i] -= 2
	}
	for name, values := range map[string][]float64{
		"positive definite": spread(n, 0.05, 20),
		"indefinite":        append(spread(n-2, 0.05, 20), -1, -0.01),
		"negative definite": floats.ScaleTo(make([]float64, n), -1, spread(n, 0.1, 5)),
		"repeated":          repeated,
		"clustered":         clustered,
		"semidefinite":      append(spread(n-2, 0.1, 5), 0, 0),
	} {
		for _, radius := range []float64{1e-3, 0.3, 1, 30} {
			h := withEigenvalues(seed, values...)
			out = append(out,
				regionProblem{name, h, gradient(seed, n), nil, radius},
				regionProblem{name + ", scaled norm", h, gradient(seed+100, n), spread(n, 0.1, 10), radius})
		}
	}
	return out
}

// TestLanczosFindsTheMinimum: with room for all of it the space is the whole one, and the step the minimizer in the region.
func TestLanczosFindsTheMinimum(t *testing.T) {
	for seed := range uint64(6) {
		for _, n := range []int{4, 7, 14} {
			for _, p := range regionProblems(seed, n) {
				n := len(p.g)
				best, lambda := regionMinimum(t, p.h, p.g, p.m, p.radius)
				s, out := solve(t, p.h, p.g, TrustRegion{Radius: p.radius, Diagonal: p.m, Rule: Minimum, Tolerance: 1e-13, Limit: 1000, Lanczos: 8 * n})
				what := fmt.Sprintf("seed %d, n = %d, %s, R = %g, %v after %d + %d", seed, n, p.name, p.radius, out.Stop, out.Iterations-out.LanczosSteps, out.LanczosSteps)
				here := quadratic(p.h, p.g, s)
				near(t, what+": q", here, best, 1e-9*math.Abs(best))
				near(t, what+": predicted", out.Predicted, -here, 1e-11*math.Abs(here))
				if out.Stop == Residual {
					continue
				}
				near(t, what+": ‖s‖_M", normM(p.m, s), p.radius, 1e-13*p.radius)
				near(t, what+": λ", out.Multiplier, lambda, 1e-4*(1+lambda))
				if !(out.Steihaug <= out.Predicted*(1+1e-12)) {
					t.Errorf("%s: Steihaug's step promises %g, this one %g", what, out.Steihaug, out.Predicted)
				}
			}
		}
	}
}

// TestHardCase: g has no part, or next to none, along the leftmost eigenvectors. Where it has none the Krylov space is
// invariant before it has them, and goes on elsewhere.
func TestHardCase(t *testing.T) {
	for _, values := range [][]float64{
		{-1, 1, 2, 3, 4, 5},
		{-1, -1, 2, 3, 4, 5},
		{-3, -1, 0.5, 2, 2, 7},
		{-1e-3, 1, 2, 3, 4, 5},
	} {
		for _, part := range []float64{0, 1e-9, 1e-4} {
			for _, radius := range []float64{0.1, 1, 10, 1e4} {
				for _, m := range [][]float64{nil, {4, 0.5, 1, 2, 3, 0.1}} {
					g, v := []float64{part, part, 1, -2, 0.5, 1}, slices.Clone(values)
					for i := range m { // so that the values and g are those of M^-½HM^-½ and M^-½g
						v[i] *= m[i]
						g[i] *= math.Sqrt(m[i])
					}
					h := diagonal(v...)
					best, _ := regionMinimum(t, h, g, m, radius)
					s, out := solve(t, h, g, TrustRegion{Radius: radius, Diagonal: m, Rule: Minimum, Tolerance: 1e-13, Limit: 100, Lanczos: 24})
					what := fmt.Sprintf("%v, %g, R = %g, %v after %d + %d", values, part, radius, out.Stop, out.Iterations-out.LanczosSteps, out.LanczosSteps)
					if out.Stop == Residual { // CG saw no other curvature than positive one, and a region that holds its solution
						continue
					}
					here := quadratic(h, g, s)
					near(t, what+": q", here, best, 1e-9*math.Abs(best))
					near(t, what+": predicted", out.Predicted, -here, 1e-9*math.Abs(here))
					near(t, what+": ‖s‖_M", normM(m, s), radius, 1e-13*radius)
				}
			}
		}
	}
}

// TestMinimumByHand: for a chosen λ the solution is −(H + λI)⁻¹g, and the radius its norm.
func TestMinimumByHand(t *testing.T) {
	for _, test := range []struct {
		name      string
		h         *dense
		g, s      []float64
		lambda    float64
		stop      Stop
		steps     int // of Lanczos
		predicted float64
	}{
		{ // d = (3, 4) has dᵀHd = −1; with λ = 2, s = (3/1, 4/2.5)
			name: "negative curvature at once", h: diagonal(-1, 0.5), g: []float64{-3, -4}, s: []float64{3, 1.6}, lambda: 2,
			stop: NegativeCurvature, steps: 1, predicted: 9 + 6.4 + 4.5 - 0.64,
		},
		{ // with λ = 1, s = (4/2, 10/4)
			name: "boundary", h: diagonal(1, 3), g: []float64{-4, -10}, s: []float64{2, 2.5}, lambda: 1,
			stop: Boundary, steps: 1, predicted: 8 + 25 - 2 - 9.375,
		},
		{ // g is an eigenvector, so that the space of one step is invariant, and the other one is random: s = (±√3, 1)
			name: "hard case", h: diagonal(-2, 1), g: []float64{0, -3}, s: []float64{math.Sqrt(3), 1}, lambda: 2,
			stop: Boundary, steps: 1, predicted: 3 + 3 - 0.5,
		},
		{ // the same in a region whose solution does not reach the leftmost eigenvector: λ = 5
			name: "hard case, short step", h: diagonal(-2, 1), g: []float64{0, -3}, s: []float64{0, 0.5}, lambda: 5,
			stop: Boundary, steps: 1, predicted: 1.5 - 0.125,
		},
		{ // no curvature: straight down
			name: "flat", h: diagonal(0, 0), g: []float64{-3, -4}, s: []float64{0.6, 0.8}, lambda: 5,
			stop: NegativeCurvature, steps: 1, predicted: 5,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			radius := normM(nil, test.s)
			s, out := solve(t, test.h, test.g, TrustRegion{Radius: radius, Rule: Minimum, Lanczos: 5, Limit: 10})
			if out.Stop != test.stop || out.LanczosSteps != test.steps || out.Products != out.Iterations {
				t.Errorf("%v after %d iterations, %d of them of Lanczos, %d products", out.Stop, out.Iterations, out.LanczosSteps, out.Products)
			}
			for i := range s {
				near(t, fmt.Sprintf("|s[%d]|", i), math.Abs(s[i]), test.s[i], 1e-13)
			}
			near(t, "λ", out.Multiplier, test.lambda, 1e-13)
			near(t, "predicted", out.Predicted, test.predicted, 1e-13)
			near(t, "step norm", out.StepNorm, radius, 1e-15)
			near(t, "residual", out.Residual, 0, 1e-13)
		})
	}
}

// TestWithoutMinimum: Lanczos steps are the rule Minimum's alone, and what that keeps changes no bit of a solve that ends inside, has
// no region or no room.
func TestWithoutMinimum(t *testing.T) {
	h, g, m := withEigenvalues(21, append(spread(29, 0.1, 10), -0.5)...), gradient(21, 30), spread(30, 0.1, 10)
	convex := withEigenvalues(21, spread(30, 0.1, 10)...)
	for name, test := range map[string]struct {
		h          *dense
		plain, set TrustRegion
	}{
		"segment":   {h, TrustRegion{Radius: 1}, TrustRegion{Radius: 1, Lanczos: 9}},
		"scaling":   {convex, TrustRegion{Radius: 1, Rule: Scaling}, TrustRegion{Radius: 1, Rule: Scaling, Lanczos: 9}},
		"inside":    {convex, TrustRegion{Radius: 1e3, Diagonal: m}, TrustRegion{Radius: 1e3, Diagonal: m, Rule: Minimum, Lanczos: 9}},
		"no region": {h, TrustRegion{}, TrustRegion{Rule: Minimum, Lanczos: 9}},
		"no room":   {h, TrustRegion{Radius: 5}, TrustRegion{Radius: 5, Rule: Minimum, Lanczos: 9, Memory: 8*30*2 + 1}},
	} {
		s, want := solve(t, test.h, g, test.plain)
		x, out := solve(t, test.h, g, test.set)
		if !math.IsNaN(out.Multiplier) || !math.IsNaN(out.Steihaug) || out.LanczosSteps != 0 {
			t.Errorf("%s: %+v", name, out)
		}
		out.Flops = want.Flops
		if !slices.Equal(s, x) || fmt.Sprintf("%+v", out) != fmt.Sprintf("%+v", want) {
			t.Errorf("%s: %+v, want %+v", name, out, want)
		}
	}
}

// TestShorterTo: the step for a smaller radius is the minimizer of the model on the same space, made without a product.
func TestShorterTo(t *testing.T) {
	for seed := range uint64(5) {
		for _, m := range [][]float64{nil, spread(16, 0.1, 10)} {
			for _, values := range [][]float64{spread(16, 0.05, 20), append(spread(14, 0.05, 20), -1, -0.01)} {
				h, g := withEigenvalues(seed, values...), gradient(seed, 16)
				var c CG
				s := make([]float64, 16)
				out, err := c.SolveTo(s, h, g, TrustRegion{Radius: 2, Diagonal: m, Tolerance: 1e-10, Rule: Minimum, Lanczos: 2})
				if err != nil || out.Multiplier <= 0 || out.Iterations > 10 {
					t.Fatalf("%v, %+v", err, out)
				}
				small, b := krylovModel(h, g, m, out.Iterations)
				products := h.products
				for _, radius := range []float64{2, 1.5, 0.3, 1e-3, 1e-9} {
					promised, ok := c.ShorterTo(s, radius)
					best, _ := regionMinimum(t, small, b, nil, radius)
					here := quadratic(h, g, s)
					if !ok {
						t.Errorf("R = %g: no step", radius)
					}
					near(t, "promised", promised, -here, 1e-11*promised)
					near(t, "q", here, best, 1e-8*math.Abs(best))
					near(t, "‖s‖_M", normM(m, s), radius, 1e-14*radius)
				}
				if h.products != products {
					t.Errorf("%d products", h.products-products)
				}
				before := slices.Clone(s)
				if _, ok := c.ShorterTo(s, 1e-320); ok || !slices.Equal(s, before) {
					t.Errorf("a radius that γ/R overflows for: %v, %v", ok, s)
				}
				if _, err := c.SolveTo(s, h, g, TrustRegion{Radius: 2, Diagonal: m}); err != nil {
					t.Fatal(err)
				}
				if _, ok := c.ShorterTo(s, 1); ok {
					t.Error("the space of an earlier solve was used")
				}
			}
		}
	}
}

// TestMinimumPoisoned: a product that is not finite ends the Lanczos steps, and the step is that of the space before it.
func TestMinimumPoisoned(t *testing.T) {
	h, g := withEigenvalues(12, append(spread(38, 1e-3, 1), -0.2, -0.1)...), gradient(12, 40)
	o := TrustRegion{Radius: 20, Tolerance: 1e-14, Rule: Minimum, Lanczos: 12}
	_, whole := solve(t, h, g, o)
	first := whole.Iterations - whole.LanczosSteps + 1
	for at := first; at <= whole.Products; at++ {
		s, out := solve(t, &dense{a: h.a, poison: at}, g, o)
		o := o
		o.Lanczos = at - first
		want, before := solve(t, h, g, o)
		if out.Stop != whole.Stop || out.Products != at || out.LanczosSteps != at-first+1 {
			t.Errorf("poisoned at %d: %v, %d products, %d Lanczos steps", at, out.Stop, out.Products, out.LanczosSteps)
		}
		if !slices.Equal(s, want) || out.Predicted != before.Predicted || out.Multiplier != before.Multiplier {
			t.Errorf("poisoned at %d: promises %g with λ = %g, want %g with %g", at, out.Predicted, out.Multiplier, before.Predicted, before.Multiplier)
		}
	}
}

// TestMinimumOverflows: where the numbers of T's problem leave the range the step is Steihaug's.
func TestMinimumOverflows(t *testing.T) {
	for _, test := range []struct {
		scale, radius float64
	}{{1e-300, 1}, {1e150, 1}, {1e300, 1e-10}, {1, 1e-310}, {1, 1e300}, {1e-160, 1e160}} {
		h, g := diagonal(-test.scale, 2*test.scale, 3*test.scale), []float64{1, 1, 1}
		cut, plain := solve(t, h, g, TrustRegion{Radius: test.radius})
		s, out := solve(t, h, g, TrustRegion{Radius: test.radius, Rule: Minimum, Lanczos: 3})
		if !vector.Finite(normM(nil, s)) && vector.Finite(normM(nil, cut)) || !(out.Predicted >= plain.Predicted*(1-1e-12)) || out.Stop != plain.Stop {
			t.Errorf("%+v: %v promises %g, and Steihaug's %v %g", test, s, out.Predicted, cut, plain.Predicted)
		}
	}
}

// TestMinimumInterrupted: the monitor sees every Lanczos step, and an error of it leaves CG's step.
func TestMinimumInterrupted(t *testing.T) {
	h, g, m := withEigenvalues(22, append(spread(29, 0.1, 10), -0.5)...), gradient(22, 30), spread(30, 0.5, 2)
	o := TrustRegion{Radius: 3, Diagonal: m, Tolerance: 1e-12}
	cut, plain := solve(t, h, g, o)
	enough := errors.New("enough")
	var seen []Iteration
	for stopAt := plain.Iterations + 1; stopAt <= plain.Iterations+5; stopAt++ {
		seen = nil
		var c CG
		s := make([]float64, 30)
		o.Rule, o.Lanczos = Minimum, 5
		o.Monitor = func(it Iteration) error {
			seen = append(seen, it)
			if it.Number == stopAt {
				return enough
			}
			return nil
		}
		out, err := c.SolveTo(s, h, g, o)
		if err != enough || out.Stop != Interrupted || out.LanczosSteps != stopAt-plain.Iterations || !slices.Equal(s, cut) {
			t.Errorf("at %d: %v, %+v", stopAt, err, out)
		}
		if _, ok := c.ShorterTo(s, 1); ok {
			t.Error("there is a space after an interruption")
		}
	}
	o.Monitor = nil
	for i, it := range seen[plain.Iterations:] {
		o.Lanczos = i + 1
		s, out := solve(t, h, g, o)
		if it.Number != plain.Iterations+i+1 || it.Radius != 3 || it.Gradient != plain.GradientNorm || out.Steihaug != plain.Predicted ||
			out.Iterations != it.Number || out.Stop != plain.Stop || out.LanczosSteps != i+1 || out.Predicted < plain.Predicted {
			t.Errorf("%+v", it)
		}
		near(t, "‖s‖_M", it.StepNorm, 3, 1e-13)
		near(t, "q", it.Model, quadratic(h, g, s), 1e-9*out.Predicted)
		near(t, "residual", it.Residual, out.Residual, 1e-9*it.Gradient)
	}
}

// TestMinimumResiduals: what is told of a step is true of it, also where CG had gone long enough to drift, and there by a product of
// its own.
func TestMinimumResiduals(t *testing.T) {
	const n = 80
	for _, m := range [][]float64{nil, spread(n, 0.2, 5)} {
		h, g := withEigenvalues(13, spread(n, 1e-2, 1e2)...), gradient(13, n)
		for _, radius := range []float64{1, 20, 60, 300} {
			o := TrustRegion{Radius: radius, Diagonal: m, Tolerance: 1e-10, Limit: 1000, Rule: Minimum, Lanczos: 7, RefreshEvery: 40}
			s, out := solve(t, h, g, o)
			left := make([]float64, n)
			h.MulVecTo(left, s)
			for i := range left {
				scale := 1.0
				if m != nil {
					scale = m[i]
				}
				left[i] += g[i] + out.Multiplier*scale*s[i]
			}
			truth := normM(nil, left)
			what := fmt.Sprintf("R = %g after %d + %d", radius, out.Iterations-out.LanczosSteps, out.LanczosSteps)
			near(t, what+": residual", out.Residual, truth, 1e-7*out.GradientNorm)
			near(t, what+": predicted", out.Predicted, -quadratic(h, g, s), 1e-10*out.Predicted)
			if long := out.Iterations > 40; long {
				near(t, what+": true residual", out.TrueResidual, truth, 1e-9*out.GradientNorm)
			} else if !math.IsNaN(out.TrueResidual) || out.Products != out.Iterations {
				t.Errorf("%s: %+v", what, out)
			}
		}
	}
}

// TestMinimumWithinBounds: the limit holds for all iterations, and so does the room.
func TestMinimumWithinBounds(t *testing.T) {
	h, g := withEigenvalues(22, append(spread(29, 0.1, 10), -0.5)...), gradient(22, 30)
	_, plain := solve(t, h, g, TrustRegion{Radius: 3})
	for _, o := range []TrustRegion{{Limit: plain.Iterations + 3}, {Limit: 1000, Memory: 8 * 30 * (plain.Iterations + 3)}} {
		o.Radius, o.Tolerance, o.Rule, o.Lanczos = 3, 1e-14, Minimum, 50
		if _, out := solve(t, h, g, o); out.LanczosSteps != 3 || out.Iterations != plain.Iterations+3 {
			t.Errorf("%d Lanczos steps of %d iterations, %+v", out.LanczosSteps, out.Iterations, o)
		}
	}
	// The tolerance is that of CG.
	_, out := solve(t, h, g, TrustRegion{Radius: 3, Tolerance: 0.05, Rule: Minimum, Lanczos: 50})
	_, less := solve(t, h, g, TrustRegion{Radius: 3, Tolerance: 0.05, Rule: Minimum, Lanczos: out.LanczosSteps - 1})
	if !(out.Residual <= 0.05*out.GradientNorm && less.Residual > 0.05*out.GradientNorm) {
		t.Errorf("%d steps leave %g, one less %g, of %g", out.LanczosSteps, out.Residual, less.Residual, out.GradientNorm)
	}
}

// TestMinimumReuses: a workspace gives the same bits whatever it solved before, and allocates nothing after the first.
func TestMinimumReuses(t *testing.T) {
	o := TrustRegion{Radius: 3, Tolerance: 1e-10, Rule: Minimum, Lanczos: 4, Limit: 100}
	var c CG
	for seed := range uint64(6) {
		n := 12 + int(seed%3)
		h, g := withEigenvalues(seed, append(spread(n-1, 0.1, 10), -0.5)...), gradient(seed, n)
		if o.Diagonal = nil; seed%2 == 0 {
			o.Diagonal = spread(n, 0.5, 3)
		}
		want, _ := solve(t, h, g, o)
		s := make([]float64, n)
		if _, err := c.SolveTo(s, h, g, o); err != nil || !slices.Equal(s, want) {
			t.Errorf("seed %d: %v, %v, want %v", seed, err, s, want)
		}
		if n := alloctest.PerRun(3, func() { c.SolveTo(s, h, g, o); c.ShorterTo(s, 1) }); n != 0 {
			t.Errorf("%v allocations", n)
		}
	}
}

// FuzzMinimum: whatever the numbers are, the step is finite, within the region, and promises what CG's own does or more.
func FuzzMinimum(f *testing.F) {
	f.Add(-1.0, 2.0, 3.0, 1.0, 1.0, 1.0, 2.0, uint8(3))
	f.Add(1e300, -1e-300, 0.0, 1e-150, 1e150, 0.0, 1e-9, uint8(1))
	f.Add(-1e-200, 1e-200, 1e200, 1e-200, 3.0, 1e-9, 1e200, uint8(0))
	f.Add(2.0, 2.0, -2.0, 0.0, 1.0, 1e-16, 1e9, uint8(9))
	f.Fuzz(func(t *testing.T, a, b, c, u, v, w, radius float64, steps uint8) {
		if !(radius > 0) || math.IsInf(radius, 1) {
			t.Skip()
		}
		h, g := diagonal(a, b, c), []float64{u, v, w}
		h.a.SetSym(0, 1, a/2)
		_, plain := solve(t, h, g, TrustRegion{Radius: radius, Limit: 12})
		s, out := solve(t, h, g, TrustRegion{Radius: radius, Rule: Minimum, Lanczos: int(steps % 8), Limit: 12})
		norm := vector.Norm(s)
		if !vector.Finite(norm) || norm > radius*(1+1e-9) && plain.StepNorm <= radius*(1+1e-9) {
			t.Errorf("s = %v in a region of %g", s, radius)
		}
		if out.Stop != NotFinite && plain.Stop == out.Stop && !(out.Predicted >= plain.Predicted-1e-9*math.Abs(plain.Predicted)) && vector.Finite(plain.Predicted) {
			t.Errorf("promises %g, CG's own step %g", out.Predicted, plain.Predicted)
		}
	})
}
