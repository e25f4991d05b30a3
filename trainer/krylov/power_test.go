package krylov

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// eigenvalues are LAPACK's of a dense matrix, downwards in size.
func eigenvalues(t *testing.T, h *dense) []float64 {
	t.Helper()
	var e mat.EigenSym
	if !e.Factorize(h.a, false) {
		t.Fatal("no eigenvalues")
	}
	v := e.Values(nil)
	slices.SortStableFunc(v, func(a, b float64) int { return cmp.Compare(math.Abs(b), math.Abs(a)) })
	return v
}

func TestPowerAgainstDense(t *testing.T) {
	for _, test := range []struct {
		name    string
		values  []float64
		k       int
		steps   int
		shifted bool
	}{
		{"spread", spread(30, 1e-3, 10), 4, 0, false},
		{"dominant negative, k finds a positive one", append(spread(20, 1e-2, 10), -50), 3, 0, false},
		{"dominant negative, k does not", append(spread(20, 1e-2, 10), -50, -30), 2, 0, true},
		{"negative definite", []float64{-9, -7, -4, -1, -0.5}, 2, 0, true},
		{"negative definite, all", []float64{-9, -7, -4}, 3, 0, false},
		{"negative semidefinite", []float64{-9, 0, 0, 0}, 1, 2000, true},
		{"repeated", append(repeat(3, 7), append(repeat(2, -4), 1, 2, 3, 0.5)...), 6, 0, false},
		{"clustered", append(spread(20, 1e-2, 1), 5, 5+1e-7, 5-1e-7), 4, 0, false},
		{"clustered, seen apart", append(spread(20, 1e-2, 1), 5, 5.05, 5.1), 3, 3000, false},
		{"rank one", append(repeat(10, 0), 5), 3, 0, false},
		{"identity", repeat(10, 3), 2, 0, false},
		{"zero", repeat(8, 0), 3, 0, false},
		{"one unknown", []float64{-2}, 3, 0, false},
		{"all of them", []float64{8, -6, 4, 2, -1, 0.3}, 6, 0, false},
		{"more than there are", []float64{8, -6, 4}, 9, 0, false},
		{"tiny", spread(10, 1e-203, 1e-200), 2, 0, false},
		{"huge", spread(10, 1e147, 1e150), 2, 0, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := diagonal(test.values...)
			if n := len(test.values); n > 1 && math.Abs(test.values[n-1]) < 1e100 && math.Abs(test.values[0]) > 1e-100 {
				h = withEigenvalues(21, test.values...)
			}
			const tolerance = 1e-7
			got, err := Power(h, test.k, PowerOptions{Tolerance: tolerance, Steps: max(test.steps, 1000), Vectors: true})
			if err != nil || got.Stop != Residual || got.Products != h.products || got.Shifted != test.shifted {
				t.Fatalf("%v, %v, shifted %v, %d products of %d", err, got.Stop, got.Shifted, got.Products, h.products)
			}
			want := eigenvalues(t, h)
			k := min(test.k, len(want))
			want, rest := want[:k:k], want[k:]
			if test.shifted {
				want = append(want, slices.Max(rest))
			}
			if len(got.Pairs) != len(want) {
				t.Fatalf("%d pairs, want %d", len(got.Pairs), len(want))
			}
			scale := math.Abs(want[0])
			for i, p := range got.Pairs {
				checkPair(t, h, fmt.Sprintf("pair %d", i), p, want[i], scale, 1e-10)
				if p.Residual > 2*tolerance*math.Abs(want[i])+1e-13*scale {
					t.Errorf("pair %d: %g ± %g", i, p.Value, p.Residual)
				}
				for j, q := range got.Pairs[:i] {
					near(t, fmt.Sprintf("x%dᵀx%d", j, i), dot(p.Vector, q.Vector), 0, 1e-12)
				}
			}
		})
	}
}

// TestPowerCertificates: at a loose tolerance each value has an eigenvalue within its residual, and only as
// many products were spent as it takes.
func TestPowerCertificates(t *testing.T) {
	values := append(spread(300, 1e-6, 1), 4, 6, 9, -5)
	for _, tolerance := range []float64{1e-1, 1e-2, 0, 1e-5} {
		got, err := Power(scaling(values), 4, PowerOptions{Tolerance: tolerance})
		if err != nil || got.Stop != Residual || got.Products > 400 {
			t.Fatalf("%v, %v after %d products", err, got.Stop, got.Products)
		}
		for _, p := range got.Pairs {
			if p.Vector != nil {
				t.Error("a vector that nobody asked for")
			}
			if d := distance(p.Value, values); d > p.Residual*(1+1e-9)+1e-14 {
				t.Errorf("%g ± %g is %g from the nearest eigenvalue", p.Value, p.Residual, d)
			}
			if allowed := 1.1 * math.Abs(p.Value) * max(tolerance, 1e-3); p.Residual > allowed && tolerance != 1e-5 {
				t.Errorf("%g ± %g, allowed %g", p.Value, p.Residual, allowed)
			}
		}
	}
}

// TestPowerOppositeSigns: between λ and −λ the method never settles, and says so; unless the iterate leans to
// the negative side, so that the shifted operator is asked for the other half of the pair.
func TestPowerOppositeSigns(t *testing.T) {
	values := scaling{5, -5, 1, 0.5, 0.1}
	limits := 0
	for seed := range uint64(10) {
		got, err := Power(values, 1, PowerOptions{Steps: 80, Seed: seed})
		if err != nil || got.Products < 80 || got.Stop == Residual && !got.Shifted {
			t.Fatalf("%v, %v after %d products, shifted %v", err, got.Stop, got.Products, got.Shifted)
		}
		for _, p := range got.Pairs {
			if d := distance(p.Value, values); d > p.Residual+1e-14 {
				t.Errorf("%g ± %g is %g from the nearest eigenvalue", p.Value, p.Residual, d)
			}
			if got.Stop == Residual {
				near(t, "|λ|", math.Abs(p.Value), 5, 1e-4)
			}
		}
		if got.Stop == Limit {
			limits++
		}
	}
	if limits == 0 || limits == 10 {
		t.Errorf("%d of 10 ended at the limit: this shows one side only", limits)
	}
}

// TestPowerLimit: two neighbours that were left early are told apart all the same once both are there.
func TestPowerLimit(t *testing.T) {
	values := append(spread(20, 1e-2, 1), 5, 5.01)
	got, err := Power(scaling(values), 1, PowerOptions{Steps: 30, Tolerance: 1e-6})
	if err != nil || got.Stop != Limit || got.Products != 30 || got.Pairs[0].Residual > 0.01 || got.Pairs[0].Residual < 5e-6 {
		t.Errorf("%v, %+v", err, got)
	}
	got, err = Power(scaling(values), 2, PowerOptions{Steps: 30, Tolerance: 1e-6})
	if err != nil || got.Stop != Residual {
		t.Errorf("%v, %+v", err, got)
	}
	near(t, "the first", got.Pairs[0].Value, 5.01, 1e-9)
	near(t, "the second", got.Pairs[1].Value, 5, 1e-9)
}

// TestPowerWarmStart: the eigenvectors of a matrix save products on its neighbour.
func TestPowerWarmStart(t *testing.T) {
	values := append(spread(200, 1e-4, 1), 1.3, 1.8, 2.5)
	before, err := Power(scaling(values), 3, PowerOptions{Vectors: true})
	if err != nil {
		t.Fatal(err)
	}
	start := before.Start()
	kept := fmt.Sprint(start)
	for i := range values {
		values[i] *= 1 + 1e-3*math.Sin(float64(i))
	}
	cold, _ := Power(scaling(values), 3, PowerOptions{Seed: 8})
	warm, _ := Power(scaling(values), 3, PowerOptions{Seed: 8, Start: start})
	if warm.Products >= cold.Products || warm.Stop != Residual {
		t.Errorf("%d products warm, %d cold", warm.Products, cold.Products)
	}
	if fmt.Sprint(start) != kept {
		t.Error("the start vectors changed")
	}
	for i, p := range warm.Pairs {
		near(t, "pair", p.Value, values[len(values)-1-i], p.Residual)
	}
	if got := cold.Start(); got != nil {
		t.Error("a start without vectors")
	}
	// A start that is missing, zero or not finite is as good as none.
	for _, guess := range [][]float64{nil, make([]float64, len(values)), repeat(len(values), math.NaN())} {
		if got, _ := Power(scaling(values), 1, PowerOptions{Start: [][]float64{guess}}); got.Stop != Residual {
			t.Errorf("from %v: %v", guess, got.Stop)
		}
	}
}
