package krylov

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// TestTrueResidual solves a system on which the recurrence goes far below what was reached.
func TestTrueResidual(t *testing.T) {
	const n = 60
	h, g := withEigenvalues(13, spread(n, 1e-3, 1e3)...), gradient(13, n)
	truth := func(s []float64) float64 {
		r := make([]float64, n)
		h.MulVecTo(r, s)
		for i := range r {
			r[i] += g[i]
		}
		return normM(nil, r)
	}
	s, blind := solve(t, h, g, TrustRegion{Tolerance: 1e-13, Limit: 4000, RefreshEvery: -1})
	if blind.Stop != Residual || !math.IsNaN(blind.TrueResidual) || !math.IsNaN(blind.Gap) || blind.Products != blind.Iterations {
		t.Errorf("without true residuals: %+v", blind)
	}
	if truth(s) < 2*blind.Residual {
		t.Errorf("the recurrence is right, nothing is tested: %g and %g", truth(s), blind.Residual)
	}
	s, out := solve(t, h, g, TrustRegion{Tolerance: 1e-13, Limit: 4000})
	near(t, "true residual", out.TrueResidual, truth(s), 1e-3*truth(s))
	if claimed := out.Stop == Residual; claimed != (truth(s) <= 1e-13*out.GradientNorm) {
		t.Errorf("%v at ‖g + Hs‖ = %g, ‖g‖ = %g", out.Stop, truth(s), out.GradientNorm)
	}
	if !(out.Gap > 0) || out.Products <= out.Iterations {
		t.Errorf("gap %g, %d products for %d iterations", out.Gap, out.Products, out.Iterations)
	}

	_, short := solve(t, h, g, TrustRegion{Tolerance: 0.1, Limit: 49})
	if !math.IsNaN(short.TrueResidual) || short.Products != short.Iterations {
		t.Errorf("a short solve: %+v", short)
	}
	s, cut := solve(t, h, g, TrustRegion{Tolerance: 1e-13, Limit: 70})
	if cut.Stop != Limit || cut.Products != 72 {
		t.Errorf("a solve of 70: %v with %d products", cut.Stop, cut.Products)
	}
	near(t, "true residual", cut.TrueResidual, truth(s), 1e-6*truth(s))
}

// TestClaimIsTrue: a solve longer than RefreshEvery ends as converged only where the true residual is, also
// where the recurrence gets there between two refreshes and the truth does not.
func TestClaimIsTrue(t *testing.T) {
	early := 0 // claims of the recurrence alone that are false
	for seed := range uint64(20) {
		for _, n := range []int{4, 6} {
			h, g := withEigenvalues(seed, spread(n, 1e-4, 1e4)...), gradient(seed, n)
			check := func(tolerance float64, every int) bool {
				s, out := solve(t, h, g, TrustRegion{Tolerance: tolerance, Limit: 50 * n, RefreshEvery: every})
				r := make([]float64, n)
				h.MulVecTo(r, s)
				for i := range r {
					r[i] += g[i]
				}
				return out.Stop != Residual || out.Iterations <= every || normM(nil, r) <= tolerance*out.GradientNorm*(1+1e-6)
			}
			for _, tolerance := range []float64{1e-9, 1e-12} {
				if !check(tolerance, -1) {
					early++
				}
				for _, every := range []int{3, 7} {
					if !check(tolerance, every) {
						t.Errorf("seed %d, n = %d, refreshed every %d: claims %g and is not there", seed, n, every, tolerance)
					}
				}
			}
		}
	}
	if early == 0 {
		t.Error("the recurrence is right, nothing is tested")
	}
}

// TestGapIsTheLargest: the gap grows with every refresh that shows a larger one and never shrinks.
func TestGapIsTheLargest(t *testing.T) {
	h, g := withEigenvalues(13, spread(60, 1e-3, 1e3)...), gradient(13, 60)
	largest := 0.0
	for limit := 51; limit <= 551; limit += 50 {
		_, out := solve(t, h, g, TrustRegion{Tolerance: 1e-15, Limit: limit})
		if out.Gap < largest*(1-1e-12) {
			t.Errorf("after %d iterations the gap is %g, before it was %g", limit, out.Gap, largest)
		}
		largest = max(largest, out.Gap)
	}
}

// TestOverflowGivesNoRitzValues: a tridiagonal with a coefficient out of range has none.
func TestOverflowGivesNoRitzValues(t *testing.T) {
	var m tridiagonal
	m.reset()
	m.add(1e300, 0)
	m.add(1e300, 1e100)
	if got := m.values(); got != nil {
		t.Errorf("Ritz values %v", got)
	}
}

// TestRitzOfAnySize: the values are those of the same matrix at another scale.
func TestRitzOfAnySize(t *testing.T) {
	g := gradient(3, 4)
	_, want := solve(t, scaling{1, 2, 3, 7}, g, TrustRegion{Limit: 3, Tolerance: 1e-12})
	for _, scale := range []float64{0x1p-500, 0x1p-200, 0x1p200, 0x1p600, 0x1p1000} {
		h := make(scaling, 4)
		for i, v := range []float64{1, 2, 3, 7} {
			h[i] = v * scale
		}
		_, out := solve(t, h, g, TrustRegion{Limit: 3, Tolerance: 1e-12})
		for i, v := range out.Ritz {
			near(t, fmt.Sprintf("Ritz value × %g", scale), v/scale, want.Ritz[i], 1e-12)
		}
		if len(out.Ritz) != 3 {
			t.Errorf("× %g: %v", scale, out.Ritz)
		}
	}
}

// TestRitz compares CG's Ritz values with those of an orthonormal basis of the same Krylov space.
func TestRitz(t *testing.T) {
	const n, k = 25, 7
	for _, m := range [][]float64{nil, spread(n, 0.2, 3)} {
		h, g := withEigenvalues(14, spread(n, 0.1, 10)...), gradient(14, n)
		_, out := solve(t, h, g, TrustRegion{Limit: k, Tolerance: 1e-12, Diagonal: m})
		want := ritz(t, h, g, m, k)
		if len(out.Ritz) != k {
			t.Fatalf("%d Ritz values", len(out.Ritz))
		}
		for i := range want {
			near(t, "Ritz value", out.Ritz[i], want[i], 1e-9)
		}
		_, out = solve(t, h, g, TrustRegion{Limit: 3 * n, Tolerance: 1e-13, Diagonal: m})
		all := ritz(t, h, g, m, n)
		near(t, "largest", out.Ritz[len(out.Ritz)-1], all[n-1], 1e-9)
		near(t, "smallest", out.Ritz[0], all[0], 1e-9)
	}
}

// ritz returns the eigenvalues of M^-½HM^-½ on the Krylov space of M^-½g.
func ritz(t *testing.T, h *dense, g, m []float64, k int) []float64 {
	t.Helper()
	small, _ := krylovModel(h, g, m, k)
	var e mat.EigenSym
	if !e.Factorize(small.a, false) {
		t.Fatal("no eigenvalues")
	}
	return e.Values(nil)
}

// TestRitzWithoutCopies: a long solve finds the outermost eigenvalues again and again, and lists each once.
func TestRitzWithoutCopies(t *testing.T) {
	exact := append(spread(200, 1e-4, 1), 3, 4, 9)
	for _, limit := range []int{20, 40, 80, 160, 299, 1000} {
		h := scaling(exact)
		g := gradient(2, len(exact))
		for _, o := range []TrustRegion{{Limit: limit, Tolerance: 1e-300, RefreshEvery: -1}, {Limit: limit, Tolerance: 1e-300, Radius: 3e4, Rule: Minimum, Memory: 1 << 30}} {
			_, out := solve(t, h, g, o)
			found := out.Ritz
			for i, v := range found {
				if i > 0 && v-found[i-1] < 1e-7 {
					t.Errorf("%v after %d: %.12g and %.12g", o.Rule, out.Iterations, found[i-1], v)
				}
			}
			if n := len(found); n > min(out.Iterations, len(exact)) || out.Iterations >= 40 && !slices.EqualFunc(found[n-3:], []float64{3, 4, 9}, func(a, b float64) bool { return math.Abs(a-b) < 1e-9 }) {
				t.Errorf("%v after %d: %v", o.Rule, out.Iterations, found[max(0, n-6):])
			}
		}
	}
}

// TestRitzShowsNegativeCurvature: whatever ended a solve at negative curvature is among its Ritz values,
// also where the tridiagonal was cut before.
func TestRitzShowsNegativeCurvature(t *testing.T) {
	for seed := range uint64(20) {
		h := withEigenvalues(seed, append(spread(14, 0.1, 10), -0.3)...)
		_, out := solve(t, h, gradient(seed, 15), TrustRegion{Radius: 1e6, Tolerance: 1e-12})
		if out.Stop != NegativeCurvature || len(out.Ritz) != out.Iterations || out.Ritz[0] >= 0 || out.Ritz[0] < -0.3-1e-9 {
			t.Errorf("seed %d: %v, %v", seed, out.Stop, out.Ritz)
		}
	}
	// A gradient that barely sees the negative eigenvalue meets it late.
	h, g := spread(500, 1e-3, 1), gradient(1, 500)
	h[0], g[0] = -1e-3, 1e-15
	_, out := solve(t, scaling(h), g, TrustRegion{Radius: 1e12, Tolerance: 1e-15, RefreshEvery: -1, Limit: 5000})
	if out.Stop != NegativeCurvature || out.Iterations <= ritzLimit || len(out.Ritz) > ritzLimit+1 || out.Ritz[0] >= 0 {
		t.Errorf("%v after %d: %d Ritz values from %g", out.Stop, out.Iterations, len(out.Ritz), out.Ritz[0])
	}
	if !slices.IsSorted(out.Ritz) {
		t.Error("not ascending")
	}
}
