package krylov

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// TestSecular holds solutions against a dense one, on matrices of every kind: with zeros beside the diagonal, which part it into
// blocks, with next to zeros, definite or not, in regions of any size.
func TestSecular(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	var s secular
	for trial := range 4000 {
		k := 1 + rng.IntN(12)
		alpha, beta := normals(rng, k), make([]float64, k-1)
		a := mat.NewSymDense(k, nil)
		for i := range alpha {
			alpha[i] += float64(trial % 4)
			a.SetSym(i, i, alpha[i])
		}
		for i := range beta {
			beta[i] = math.Abs(rng.NormFloat64())
			switch rng.IntN(12) {
			case 0:
				beta[i] = 0
			case 1:
				beta[i] *= 1e-9
			}
			a.SetSym(i, i+1, beta[i])
		}
		gamma, radius := math.Exp(2*rng.NormFloat64()), math.Exp(3*rng.NormFloat64())
		g := make([]float64, k)
		g[0] = -gamma
		best, lambda := regionMinimum(t, &dense{a: a}, g, nil, radius)
		what := fmt.Sprintf("trial %d: α %v, β %v, γ %g, R %g", trial, alpha, beta, gamma, radius)
		if !s.solve(alpha, beta, gamma, radius) {
			t.Fatalf("%s: no solution", what)
		}
		size := gamma*radius + radius*radius*mat.Norm(a, 2)
		near(t, what+": q", quadratic(&dense{a: a}, g, s.h), best, 1e-12*size)
		near(t, what+": λ", s.lambda, max(0, lambda), 1e-9*(1+lambda))
		if n := normM(nil, s.h); n > radius*(1+1e-14) || s.lambda > 1e-12 && n < radius*(1-1e-14) {
			t.Errorf("%s: ‖h‖ = %g with λ = %g", what, n, s.lambda)
		}
	}
}

// TestSecularOfAnySize: scaling T and γ scales λ, scaling R and γ scales h.
func TestSecularOfAnySize(t *testing.T) {
	alpha, beta := []float64{2, -1, 0.5}, []float64{1, 0.3}
	var want, s secular
	want.solve(alpha, beta, 1.5, 2)
	for _, scale := range []float64{0x1p-400, 0x1p-60, 0x1p60, 0x1p400} {
		for _, long := range []float64{0x1p-400, 0x1p-60, 1, 0x1p60, 0x1p400} {
			a, b := make([]float64, 3), make([]float64, 2)
			for i, v := range alpha {
				a[i] = v * scale
			}
			for i, v := range beta {
				b[i] = v * scale
			}
			ok := s.solve(a, b, 1.5*scale*long, 2*long)
			if !ok {
				t.Errorf("T × %g, R × %g: no solution", scale, long)
				continue
			}
			near(t, "λ", s.lambda/scale, want.lambda, 1e-12)
			for i := range s.h {
				near(t, "h", s.h[i]/long, want.h[i], 1e-12)
			}
		}
	}
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if s.solve([]float64{1, bad}, []float64{1}, 1, 1) || s.solve([]float64{1, 1}, []float64{bad}, 1, 1) || s.solve([]float64{1, 1}, []float64{1}, bad, 1) {
			t.Errorf("a solution with %g", bad)
		}
	}
}
