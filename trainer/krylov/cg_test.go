package krylov

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"newtop/internal/alloctest"
	"newtop/internal/vector"
)

func solve(t *testing.T, h Operator, g []float64, o TrustRegion) ([]float64, Solve) {
	t.Helper()
	var c CG
	s := make([]float64, len(g))
	out, err := c.SolveTo(s, h, g, o)
	if err != nil {
		t.Fatal(err)
	}
	return s, out
}

func TestExactOnPositiveDefinite(t *testing.T) {
	for _, n := range []int{1, 2, 5, 8, 20} {
		h, g := diagonal(4), gradient(3, n)
		switch {
		case n > 8: // rounding would cost steps on a wider spectrum
			h = withEigenvalues(uint64(n), spread(n, 1, 4)...)
		case n > 1:
			h = withEigenvalues(uint64(n), spread(n, 1, 30)...)
		}
		s, out := solve(t, h, g, TrustRegion{Tolerance: 1e-9})
		if out.Stop != Residual || out.Iterations > n {
			t.Errorf("n = %d: %v after %d iterations", n, out.Stop, out.Iterations)
		}
		var want mat.VecDense
		if err := want.SolveVec(h.a, mat.NewVecDense(n, slices.Clone(g))); err != nil {
			t.Fatal(err)
		}
		for i := range s {
			near(t, fmt.Sprintf("n = %d, s[%d]", n, i), s[i], -want.AtVec(i), 1e-8)
		}
	}
}

func TestDistinctEigenvaluesBoundIterations(t *testing.T) {
	values := [][]float64{
		{2, 2, 2, 2, 2, 2, 2, 2},
		{1, 5, 5, 1, 5, 1, 1, 5},
		{1, 5, 9, 9, 5, 1, 1, 5},
		{0.1, 5, 9, 2, 5, 0.1, 2, 5},
	}
	for i, v := range values {
		_, out := solve(t, withEigenvalues(7, v...), gradient(4, len(v)), TrustRegion{Tolerance: 1e-9})
		if out.Iterations != i+1 || out.Stop != Residual {
			t.Errorf("%d distinct eigenvalues: %v after %d iterations", i+1, out.Stop, out.Iterations)
		}
	}
}

// TestStops forces every reason with a 2×2 matrix whose step can be had by hand.
func TestStops(t *testing.T) {
	stop := errors.New("enough")
	tests := []struct {
		name       string
		h          *dense
		g          []float64
		o          TrustRegion
		stop       Stop
		s          []float64
		iterations int
		predicted  float64
		residual   float64
	}{
		{ // d = (3, 4) has dᵀHd = −9 + 16·½ = −1: to the boundary along d.
			name: "negative curvature at once", h: diagonal(-1, 0.5), g: []float64{-3, -4}, o: TrustRegion{Radius: 10},
			stop: NegativeCurvature, s: []float64{6, 8}, iterations: 1, predicted: 50 + 2, residual: math.Hypot(9, 0),
		},
		{ // zero curvature counts as negative
			name: "flat", h: diagonal(0, 0), g: []float64{-3, -4}, o: TrustRegion{Radius: 1},
			stop: NegativeCurvature, s: []float64{0.6, 0.8}, iterations: 1, predicted: 5, residual: 5,
		},
		{ // no region: nowhere to go
			name: "flat, no region", h: diagonal(0, 0), g: []float64{-3, -4},
			stop: NegativeCurvature, s: []float64{0, 0}, iterations: 1, predicted: 0, residual: 5,
		},
		{ // the Newton step is (3, 4), the region half of it
			name: "boundary", h: diagonal(1, 1), g: []float64{-3, -4}, o: TrustRegion{Radius: 2.5},
			stop: Boundary, s: []float64{1.5, 2}, iterations: 1, predicted: 12.5 - 3.125, residual: 2.5,
		},
		{ // touching the boundary exactly is reaching it
			name: "boundary touched", h: diagonal(1, 1), g: []float64{-3, -4}, o: TrustRegion{Radius: 5},
			stop: Boundary, s: []float64{3, 4}, iterations: 1, predicted: 12.5, residual: 0,
		},
		{
			name: "residual", h: diagonal(2, 2), g: []float64{-3, -4}, o: TrustRegion{Radius: 100},
			stop: Residual, s: []float64{1.5, 2}, iterations: 1, predicted: 6.25, residual: 0,
		},
		{ // d = (1, 1), γ = 3, τ = 2: s = ⅔(1, 1), r = (1, 1) − ⅔(1, 2)
			name: "limit", h: diagonal(1, 2), g: []float64{-1, -1}, o: TrustRegion{Radius: 100, Limit: 1},
			stop: Limit, s: []float64{2. / 3, 2. / 3}, iterations: 1, predicted: 2. / 3, residual: math.Sqrt2 / 3,
		},
		{
			name: "product not finite at once", h: &dense{a: diagonal(1, 2).a, poison: 1}, g: []float64{-1, -1},
			o: TrustRegion{Radius: 100}, stop: NotFinite, s: []float64{0, 0}, iterations: 1, residual: math.Sqrt2,
		},
		{
			name: "second product not finite", h: &dense{a: diagonal(1, 2).a, poison: 2}, g: []float64{-1, -1},
			o: TrustRegion{Radius: 100}, stop: NotFinite, s: []float64{2. / 3, 2. / 3}, iterations: 2,
			predicted: 2. / 3, residual: math.Sqrt2 / 3,
		},
		{
			name: "interrupted", h: diagonal(1, 2), g: []float64{-1, -1},
			o:    TrustRegion{Radius: 100, Monitor: func(Iteration) error { return stop }},
			stop: Interrupted, s: []float64{2. / 3, 2. / 3}, iterations: 1, predicted: 2. / 3, residual: math.Sqrt2 / 3,
		},
		{name: "zero gradient", h: diagonal(1, 2), g: []float64{0, 0}, stop: Residual, s: []float64{0, 0}},
		{name: "gradient underflows", h: diagonal(1, 2), g: []float64{1e-200, 0}, stop: Residual, s: []float64{0, 0}, residual: 1e-200},
		{name: "gradient not finite", h: diagonal(1, 2), g: []float64{math.Inf(1), 0}, stop: NotFinite, s: []float64{0, 0}, residual: math.Inf(1)},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var c CG
			s := []float64{math.NaN(), 7} // whatever was there
			out, err := c.SolveTo(s, test.h, test.g, test.o)
			if (err != nil) != (test.stop == Interrupted) {
				t.Errorf("error %v", err)
			}
			if out.Stop != test.stop || out.Iterations != test.iterations || out.Products != test.iterations {
				t.Errorf("%v after %d iterations and %d products, want %v after %d",
					out.Stop, out.Iterations, out.Products, test.stop, test.iterations)
			}
			for i := range s {
				near(t, fmt.Sprintf("s[%d]", i), s[i], test.s[i], 1e-14)
			}
			near(t, "step norm", out.StepNorm, math.Hypot(test.s[0], test.s[1]), 1e-14)
			near(t, "predicted", out.Predicted, test.predicted, 1e-13)
			if out.Residual != test.residual {
				near(t, "residual", out.Residual, test.residual, 1e-14)
			}
		})
	}
}

// TestMonotone holds an indefinite and a definite solve to what Steihaug 1983, theorem 2.1 promises, with
// every figure computed afresh from its definition.
func TestMonotone(t *testing.T) {
	m := spread(30, 0.1, 10)
	for _, test := range []struct {
		name string
		h    *dense
		o    TrustRegion
	}{
		{"definite", withEigenvalues(5, spread(30, 0.01, 10)...), TrustRegion{Radius: 50, Tolerance: 1e-8}},
		{"definite, scaled norm", withEigenvalues(5, spread(30, 0.01, 10)...), TrustRegion{Radius: 50, Diagonal: m, Tolerance: 1e-8}},
		{"indefinite", withEigenvalues(6, append(spread(29, 0.1, 10), -0.5)...), TrustRegion{Radius: 1e3}},
		{"indefinite, scaled norm", withEigenvalues(6, append(spread(29, 0.1, 10), -0.5)...), TrustRegion{Radius: 1e3, Diagonal: m}},
	} {
		t.Run(test.name, func(t *testing.T) {
			g := gradient(5, 30)
			s := make([]float64, 30)
			var seen int
			var length, model float64
			test.o.Monitor = func(it Iteration) error {
				seen++
				q, norm := quadratic(test.h, g, s), normM(test.o.Diagonal, s)
				near(t, "‖s‖_M", it.StepNorm, norm, 1e-10*norm)
				near(t, "q", it.Model, q, 1e-9*math.Abs(q))
				if it.Number != seen || norm <= length || q >= model {
					t.Errorf("iteration %d (seen %d): ‖s‖ %g after %g, q %g after %g", it.Number, seen, norm, length, q, model)
				}
				length, model = norm, q
				return nil
			}
			var c CG
			out, err := c.SolveTo(s, test.h, g, test.o)
			if err != nil || seen != out.Iterations {
				t.Errorf("%v, %d of %d iterations seen", err, seen, out.Iterations)
			}
			near(t, "predicted", out.Predicted, -quadratic(test.h, g, s), 1e-9*out.Predicted)
			if c := cauchy(test.h, g, test.o.Diagonal, test.o.Radius); -out.Predicted > c {
				t.Errorf("q(s) = %g is above the Cauchy point's %g", -out.Predicted, c)
			}
		})
	}
}

// TestAgainstGlobalMinimum compares with the global solution. On convex models truncated CG reaches at
// least half of its decrease (Yuan 2000).
func TestAgainstGlobalMinimum(t *testing.T) {
	for seed := range uint64(8) {
		for _, radius := range []float64{1e-4, 0.1, 1, 10, 1e3} {
			convex := withEigenvalues(seed, spread(12, 0.05, 20)...)
			saddle := withEigenvalues(seed, append(spread(10, 0.05, 20), -1, -0.01)...)
			for _, h := range []*dense{convex, saddle} {
				g := gradient(seed, 12)
				s, out := solve(t, h, g, TrustRegion{Radius: radius, Tolerance: 1e-9, Limit: 100})
				best, _ := regionMinimum(t, h, g, nil, radius)
				here := quadratic(h, g, s)
				slack := 1e-9 * math.Abs(best)
				switch {
				case here < best-slack:
					t.Errorf("R = %g: q = %g below the minimum %g", radius, here, best)
				case h == convex && here > best/2:
					t.Errorf("R = %g: q = %g, less than half of %g", radius, here, best)
				case out.Stop == Residual && here > best+slack:
					t.Errorf("R = %g: interior q = %g, minimum %g", radius, here, best)
				case radius == 1e-4 && here > best*(1-1e-2):
					t.Errorf("a short step: q = %g, minimum %g", here, best)
				}
				if n := normM(nil, s); n > radius*(1+1e-12) || out.Stop != Residual && n < radius*(1-1e-12) {
					t.Errorf("R = %g, %v: ‖s‖ = %g", radius, out.Stop, n)
				}
				if c := cauchy(h, g, nil, radius); here > c+slack {
					t.Errorf("R = %g: q = %g above the Cauchy point's %g", radius, here, c)
				}
			}
		}
	}
}

// TestJacobiIsRescaling: PCG on H with M = D² takes the steps of CG on D⁻¹HD⁻¹.
func TestJacobiIsRescaling(t *testing.T) {
	const n = 15
	for _, radius := range []float64{0.3, 5, 1e4} {
		h, g := withEigenvalues(9, append(spread(n-1, 0.1, 50), -0.2)...), gradient(9, n)
		m := spread(n, 0.01, 100)
		scaled, gs := rescaled(h, g, m)
		// The residual is measured in another norm, so only the limit may end both.
		s, a := solve(t, h, g, TrustRegion{Radius: radius, Diagonal: m, Limit: 6, Tolerance: 1e-12})
		x, b := solve(t, scaled, gs, TrustRegion{Radius: radius, Limit: 6, Tolerance: 1e-12})
		if a.Stop != b.Stop || a.Iterations != b.Iterations || !a.Preconditioned || b.Preconditioned {
			t.Errorf("R = %g: %v after %d against %v after %d", radius, a.Stop, a.Iterations, b.Stop, b.Iterations)
		}
		near(t, "‖s‖_M", a.StepNorm, b.StepNorm, 1e-9*b.StepNorm)
		near(t, "predicted", a.Predicted, b.Predicted, 1e-9*b.Predicted)
		for i := range s {
			near(t, fmt.Sprintf("s[%d]", i), s[i], x[i]/math.Sqrt(m[i]), 1e-8*b.StepNorm/math.Sqrt(m[i]))
		}
		for i := range a.Ritz {
			near(t, "Ritz value", a.Ritz[i], b.Ritz[i], 1e-7)
		}
	}
}

func TestBoundaryRules(t *testing.T) {
	h, g := withEigenvalues(11, spread(10, 0.1, 10)...), gradient(11, 10)
	m := spread(10, 0.5, 2)
	_, first := solve(t, h, g, TrustRegion{Limit: 1, Diagonal: m})
	for _, share := range []float64{0.1, 0.999, 1.5, 3} {
		o := TrustRegion{Radius: share * first.StepNorm, Diagonal: m}
		a, along := solve(t, h, g, o)
		o.Rule = Scaling
		var seen Iteration
		o.Monitor = func(it Iteration) error { seen = it; return nil }
		b, scaled := solve(t, h, g, o)
		near(t, "the monitor's q", seen.Model, -scaled.Predicted, 1e-12)
		if along.Stop != Boundary || scaled.Stop != Boundary {
			t.Fatalf("R = %g: %v and %v", o.Radius, along.Stop, scaled.Stop)
		}
		for what, s := range map[string][]float64{"segment": a, "scaling": b} {
			near(t, what+" ‖s‖_M", normM(m, s), o.Radius, 1e-12*o.Radius)
		}
		for what, out := range map[string]Solve{"segment": along, "scaling": scaled} {
			s := map[string][]float64{"segment": a, "scaling": b}[what]
			near(t, what+" predicted", out.Predicted, -quadratic(h, g, s), 1e-12)
			hs := make([]float64, 10)
			h.MulVecTo(hs, s)
			for i := range hs {
				hs[i] += g[i]
			}
			near(t, what+" residual", out.Residual, normM(nil, hs), 1e-12)
		}
		far := 0.0
		for i := range a {
			far = max(far, math.Abs(a[i]-b[i]))
		}
		if same := far <= 1e-12; same != (share < 1) {
			t.Errorf("R = %g Cauchy lengths: steps differ by %g", share, far)
		}
	}
}

func TestBoundaryRoot(t *testing.T) {
	for _, test := range []struct{ ss, sd, dd, radius, want float64 }{
		{0, 0, 4, 6, 3},
		{9, 0, 16, 5, 1},
		{9, -12, 16, 5, 2},                // against d
		{1, 1e10, 1e20, 1 + 1e-10, 1e-20}, // the textbook root gives 0
		{0, 0, 1e-300, 1e-150, 1},
		{0, 0, 1e300, 1e200, 1e50},
		{25, 3, 2, 5, 0},
		{25.1, 3, 2, 5, 0},
	} {
		got := BoundaryRoot(math.Sqrt(test.ss), test.sd, test.dd, test.radius)
		near(t, fmt.Sprintf("boundaryRoot(%g, %g, %g, %g)", test.ss, test.sd, test.dd, test.radius),
			got, test.want, 1e-6*test.want)
	}
}

func TestPoisonedProducts(t *testing.T) {
	h, g := withEigenvalues(12, spread(40, 1e-6, 1)...), gradient(12, 40)
	for at := 1; at <= 12; at++ {
		poisoned := &dense{a: h.a, poison: at}
		s, out := solve(t, poisoned, g, TrustRegion{Radius: 1e9, Tolerance: 1e-14, RefreshEvery: 4})
		if out.Stop != NotFinite || poisoned.products != at {
			t.Errorf("poisoned at %d: %v after %d products", at, out.Stop, poisoned.products)
		}
		if !vector.Finite(normM(nil, s)) || !vector.Finite(out.Predicted) || math.Abs(out.Predicted+quadratic(h, g, s)) > 1e-9 {
			t.Errorf("poisoned at %d: s of length %g, predicted %g, q %g", at, normM(nil, s), out.Predicted, quadratic(h, g, s))
		}
	}
}

func TestNoAllocation(t *testing.T) {
	h, g := withEigenvalues(15, spread(30, 0.01, 10)...), gradient(15, 30)
	var c CG
	s := make([]float64, 30)
	o := TrustRegion{Radius: 1e5, Diagonal: spread(30, 1, 2), Tolerance: 1e-10, RefreshEvery: 5, Monitor: func(Iteration) error { return nil }}
	if n := alloctest.PerRun(5, func() { c.SolveTo(s, h, g, o) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestMisusePanics(t *testing.T) {
	solve := func(step, gradient int, o TrustRegion) func() {
		return func() { new(CG).SolveTo(make([]float64, step), diagonal(1, 2), make([]float64, gradient), o) }
	}
	lanczos := func(h Operator, k int, start []float64) func() {
		return func() { Lanczos(h, k, LanczosOptions{Start: start}) }
	}
	power := func(h Operator, k int, start [][]float64) func() {
		return func() { Power(h, k, PowerOptions{Start: start}) }
	}
	width := func(w float64) func() {
		return func() { SpectralDensity(scaling{1}, DensityOptions{Width: w}) }
	}
	for name, f := range map[string]func(){
		"short step":         solve(1, 2, TrustRegion{}),
		"long gradient":      solve(2, 3, TrustRegion{}),
		"negative radius":    solve(2, 2, TrustRegion{Radius: -1}),
		"radius NaN":         solve(2, 2, TrustRegion{Radius: math.NaN()}),
		"tolerance 1":        solve(2, 2, TrustRegion{Tolerance: 1}),
		"negative limit":     solve(2, 2, TrustRegion{Limit: -1}),
		"negative Lanczos":   solve(2, 2, TrustRegion{Lanczos: -1}),
		"negative memory":    solve(2, 2, TrustRegion{Memory: -1}),
		"short diagonal":     solve(2, 2, TrustRegion{Diagonal: []float64{1}}),
		"zero in diagonal":   solve(2, 2, TrustRegion{Diagonal: []float64{1, 0}}),
		"NaN in diagonal":    solve(2, 2, TrustRegion{Diagonal: []float64{math.NaN(), 1}}),
		"no eigenvalues":     lanczos(diagonal(1, 2), 0, nil),
		"short start vector": lanczos(diagonal(1, 2), 1, []float64{1}),
		"no unknowns":        lanczos(scaling{}, 1, nil),
		"power: none":        power(scaling{1}, 0, nil),
		"power: no unknowns": power(scaling{}, 1, nil),
		"power: long start":  power(scaling{1}, 1, [][]float64{{1, 2}}),
		"width -1":           width(-1),
		"width 1e-4":         width(1e-4),
		"width 2":            width(2),
		"width NaN":          width(math.NaN()),
	} {
		func() {
			defer func() {
				if text := fmt.Sprint(recover()); !strings.HasPrefix(text, "krylov: ") {
					t.Errorf("%s: panic %q", name, text)
				}
			}()
			f()
		}()
	}
}
