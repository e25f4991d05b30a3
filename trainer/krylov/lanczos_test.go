package krylov

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

// distance is how far the nearest of values is from x.
func distance(x float64, values []float64) float64 {
	near := math.Inf(1)
	for _, v := range values {
		near = min(near, math.Abs(v-x))
	}
	return near
}

func repeat(n int, v float64) []float64 { return slices.Repeat([]float64{v}, n) }

// TestLanczosAgainstDense: every pair is an eigenvalue of the matrix and has a true certificate, also of a bounded basis that
// restarts.
func TestLanczosAgainstDense(t *testing.T) {
	for _, test := range []struct {
		name   string
		values []float64
		k      int
		o      LanczosOptions
	}{
		{"spread", spread(60, 1e-3, 10), 4, LanczosOptions{Tolerance: 1e-9, Steps: 60}},
		{"indefinite", append(spread(40, 1e-2, 10), -3, -2, -0.1), 3, LanczosOptions{Tolerance: 1e-9, Steps: 43}},
		{"dominant negative", append(spread(40, 1e-2, 1), -50), 2, LanczosOptions{Tolerance: 1e-9, Steps: 41}},
		{"clustered", append(spread(40, 1e-2, 1), 5, 5+1e-7, 5-1e-7), 3, LanczosOptions{Tolerance: 1e-12, Steps: 43}},
		{"repeated", append(repeat(3, 7), append(repeat(2, -4), 1, 2, 3, 0.5, 0.25, -1)...), 3, LanczosOptions{Tolerance: 1e-10, Steps: 11}},
		{"repeated, room to stop early", append(repeat(4, 7), append(repeat(30, 1), -4, -4)...), 3, LanczosOptions{Tolerance: 1e-10}},
		{"identity", repeat(20, 3), 2, LanczosOptions{}},
		{"zero", repeat(20, 0), 2, LanczosOptions{}},
		{"rank one", append(repeat(30, 0), 5), 2, LanczosOptions{}},
		{"one unknown", []float64{-2}, 3, LanczosOptions{}},
		{"two unknowns", []float64{-2, 5}, 3, LanczosOptions{}},
		{"all of them", spread(12, 0.1, 10), 6, LanczosOptions{Steps: 12}},
		{"more than there are", spread(5, 0.1, 10), 9, LanczosOptions{}},
		{"tiny", spread(30, 1e-203, 1e-200), 2, LanczosOptions{Tolerance: 1e-9, Steps: 30}},
		{"huge", spread(30, 1e147, 1e150), 2, LanczosOptions{Tolerance: 1e-9, Steps: 30}},
		{"restarted: spread", spread(60, 0.1, 10), 4, LanczosOptions{Basis: 20}},
		{"restarted: steep", steep(150), 3, LanczosOptions{Basis: 20}},
		{"restarted: one at each end", steep(150), 1, LanczosOptions{Basis: 1}},
		{"restarted: indefinite", append(spread(80, 1e-2, 10), -3, -2, -0.1), 3, LanczosOptions{Basis: 14}},
		{"restarted: negative definite", negated(spread(80, 0.1, 10)), 2, LanczosOptions{Basis: 16}},
		{"restarted: dominant negative", append(spread(80, 1e-2, 1), -50), 2, LanczosOptions{Basis: 12}},
		{"restarted: clustered", append(spread(80, 1e-2, 1), 5, 5+1e-4, 5-1e-4), 3, LanczosOptions{Basis: 16}},
		{"restarted: repeated", slices.Repeat([]float64{-4, -1, 0.5, 1, 2, 3, 5, 7}, 5), 2, LanczosOptions{Basis: 9}},
		{"restarted: repeated, half as many as rows", slices.Repeat([]float64{-4, -1, 1, 3, 7}, 6), 3, LanczosOptions{Basis: 10}},
		{"restarted: repeated inside", append(repeat(60, 1), steep(40)...), 3, LanczosOptions{Basis: 14}},
		{"restarted: identity", repeat(30, 3), 2, LanczosOptions{Basis: 8}},
		{"restarted: zero", repeat(30, 0), 2, LanczosOptions{Basis: 8}},
		{"restarted: rank one", append(repeat(40, 0), 5), 2, LanczosOptions{Basis: 8}},
		{"restarted: tiny", spread(50, 1e-203, 1e-200), 2, LanczosOptions{Basis: 14}},
		{"restarted: huge", spread(50, 1e147, 1e150), 2, LanczosOptions{Basis: 14}},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := diagonal(test.values...)
			if n, first := len(test.values), math.Abs(test.values[0]); n > 1 && math.Abs(test.values[n-1]) < 1e100 && (first > 1e-100 || first == 0) {
				h = withEigenvalues(21, test.values...)
			}
			test.o.Vectors = true
			estimate, restarts := 1e-10, test.o.Basis > 0
			if restarts {
				test.o.Tolerance, test.o.Steps, estimate = 1e-9, 4000, 2e-9
			}
			got, err := Lanczos(h, test.k, test.o)
			if err != nil || got.Stop != Residual || got.Products != h.products || restarts && got.Products != got.Steps+2*test.k {
				t.Fatalf("%v, %v, %d steps, %d products of %d", err, got.Stop, got.Steps, got.Products, h.products)
			}
			want := slices.Sorted(slices.Values(test.values))
			n := len(want)
			top, bottom := min(test.k, (n+1)/2), min(test.k, n/2)
			if len(got.Top) != top || len(got.Bottom) != bottom {
				t.Fatalf("%d and %d pairs, want %d and %d", len(got.Top), len(got.Bottom), top, bottom)
			}
			scale := max(math.Abs(want[0]), math.Abs(want[n-1]))
			for i, p := range got.Top {
				checkPair(t, h, fmt.Sprintf("top %d", i), p, want[n-1-i], scale, estimate)
			}
			for i, p := range got.Bottom {
				checkPair(t, h, fmt.Sprintf("bottom %d", i), p, want[i], scale, estimate)
			}
		})
	}
}

// checkPair holds a pair to its eigenvalue and its certificate to the definition; a process that restarts may take a
// residual below its tolerance for nothing, so that its estimates are less close.
func checkPair(t *testing.T, h *dense, what string, p Eigenpair, want, scale, estimate float64) {
	t.Helper()
	near(t, what, p.Value, want, 1e-8*scale)
	r := make([]float64, len(p.Vector))
	(&dense{a: h.a}).MulVecTo(r, p.Vector)
	for i := range r {
		r[i] = (r[i] - p.Value*p.Vector[i]) / max(scale, math.SmallestNonzeroFloat64)
	}
	near(t, what+" ‖v‖", normM(nil, p.Vector), 1, 1e-12)
	near(t, what+" residual", p.Residual, normM(nil, r)*scale, 1e-12*scale)
	near(t, what+" estimate", p.Estimate, p.Residual, estimate*scale)
	if math.Abs(p.Value-want) > p.Bound || !(p.Bound > p.Residual) && scale > 0 {
		t.Errorf("%s: %g ± %g, residual %g, eigenvalue %g", what, p.Value, p.Bound, p.Residual, want)
	}
}

// TestLanczosCertificates: at a loose tolerance each value has an eigenvalue within its residual, and
// the residuals keep to the tolerance of their end.
func TestLanczosCertificates(t *testing.T) {
	values := append(spread(300, 1e-6, 1), 4, 6, 9, -0.3, -0.5)
	h := scaling(values)
	for _, test := range []struct {
		tolerance float64
		steps     int
	}{{1e-1, 120}, {1e-2, 120}, {0, 120}, {1e-5, 170}} {
		tolerance := test.tolerance
		got, err := Lanczos(h, 3, LanczosOptions{Tolerance: tolerance, Steps: 305})
		if err != nil || got.Stop != Residual || got.Steps > test.steps || got.Products != got.Steps+6 {
			t.Fatalf("%v, %v after %d steps, %d products", err, got.Stop, got.Steps, got.Products)
		}
		for _, p := range slices.Concat(got.Top, got.Bottom) {
			if p.Vector != nil {
				t.Error("a vector that nobody asked for")
			}
			if d := distance(p.Value, values); d > p.Residual*(1+1e-9) {
				t.Errorf("%g ± %g is %g from the nearest eigenvalue", p.Value, p.Residual, d)
			}
		}
		for _, end := range []struct {
			pairs []Eigenpair
			size  float64
		}{{got.Top, 9}, {got.Bottom, 0.5}} {
			for _, p := range end.pairs {
				if allowed := end.size * max(tolerance, 1e-3); p.Residual > allowed && tolerance != 1e-5 {
					t.Errorf("%g ± %g, allowed %g", p.Value, p.Residual, allowed)
				}
			}
		}
	}
}

// single is a matrix whose products are computed in float32.
type single struct{ *dense }

func (s single) MulVecTo(dst, v []float64) {
	for i := range dst {
		sum := float32(0)
		for j, x := range v {
			sum += float32(s.a.At(i, j)) * float32(x)
		}
		dst[i] = float64(sum)
	}
}

// TestBoundsHoldRounding: an eigenvalue lies within each bound where residuals are smaller than what rounding left of the
// products, in both precisions and by both methods. Residuals alone would be wrong.
func TestBoundsHoldRounding(t *testing.T) {
	wrong := 0
	for seed := range uint64(12) {
		n := 20 + 15*int(seed)
		values := append(spread(n-5, 1e-4, 1), 3, 5, 9, -0.5, -1)
		h := withEigenvalues(seed, values...)
		for _, test := range []struct {
			h        Operator
			roundoff float64
		}{{h, 0}, {single{h}, 0x1p-24}} {
			inexact := Inexact{Roundoff: test.roundoff}
			ends, _ := Lanczos(test.h, 2, LanczosOptions{Tolerance: 1e-15, Floor: 1e-16, Steps: n, Seed: seed, Inexact: inexact})
			most, _ := Power(test.h, 2, PowerOptions{Tolerance: 1e-15, Steps: 300, Seed: seed, Inexact: inexact})
			for _, p := range slices.Concat(ends.Top, ends.Bottom, most.Pairs) {
				off := distance(p.Value, values)
				if off > p.Bound {
					t.Errorf("n = %d, roundoff %g: %.17g ± %g is off by %g", n, test.roundoff, p.Value, p.Bound, off)
				}
				if off > p.Residual {
					wrong++
				}
			}
		}
	}
	if wrong == 0 {
		t.Error("all residuals hold the truth, nothing is tested")
	}
}

// TestErrorsOfProducts: what the operator's products are off by stands in the bounds.
func TestErrorsOfProducts(t *testing.T) {
	h := scaling(append(spread(50, 1e-3, 1), 3, 4))
	off := Inexact{ErrorOf: func(v []float64) float64 {
		near(t, "length", normM(nil, v), 1, 1e-12)
		return 0.25
	}}
	got, _ := Lanczos(h, 1, LanczosOptions{TopOnly: true, Inexact: off})
	power, _ := Power(h, 1, PowerOptions{Tolerance: 1e-6, Inexact: off})
	for _, p := range append(got.Top, power.Pairs...) {
		near(t, "bound", p.Bound, 0.25+p.Residual, 1e-12)
	}
}

// TestTopOnly: the largest alone take no more products than they need, with any basis, and are the same.
func TestTopOnly(t *testing.T) {
	h := scaling(steep(2000))
	both, _ := Lanczos(h, 4, LanczosOptions{Tolerance: 1e-6})
	for _, basis := range []int{0, 8, 12, 20} {
		got, err := Lanczos(h, 4, LanczosOptions{Tolerance: 1e-6, TopOnly: true, Basis: basis})
		if err != nil || got.Stop != Residual || len(got.Top) != 4 || got.Bottom != nil || got.TopOpen || got.BottomOpen {
			t.Fatalf("basis %d: %v, %+v", basis, err, got)
		}
		for i, p := range got.Top {
			near(t, "eigenvalue", p.Value, both.Top[i].Value, 1e-9)
		}
		t.Logf("basis %d: %d products, both ends %d", basis, got.Products, both.Products)
		if most := map[int]int{0: 20, 8: 22, 12: 20, 20: 20}[basis]; got.Products > most || 2*got.Products > both.Products {
			t.Errorf("basis %d: %d products, both ends %d", basis, got.Products, both.Products)
		}
	}
	if got, _ := Lanczos(withEigenvalues(3, 2, 2, 1, 1, -1), 3, LanczosOptions{TopOnly: true}); len(got.Top) != 3 {
		t.Errorf("%+v", got)
	}
}

func TestLanczosLimit(t *testing.T) {
	h := scaling(spread(500, 1e-3, 1))
	got, err := Lanczos(h, 4, LanczosOptions{Steps: 9, Tolerance: 1e-8})
	if err != nil || got.Stop != Limit || got.Steps != 9 || len(got.Top) != 4 || len(got.Bottom) != 4 || got.Products != 17 {
		t.Errorf("%v, %+v", err, got)
	}
	if !got.TopOpen || !got.BottomOpen {
		t.Errorf("open at the top %v, at the bottom %v: expected both", got.TopOpen, got.BottomOpen)
	}
	for _, p := range slices.Concat(got.Top, got.Bottom) {
		if d := distance(p.Value, h); d > p.Residual {
			t.Errorf("%g ± %g is %g from the nearest eigenvalue", p.Value, p.Residual, d)
		}
	}
}

// TestLanczosToleranceOfEachEnd: the small end of a matrix as trained nets have it comes to a tolerance of its own, or is told to be open;
// with one tolerance for both ends the third smallest is another eigenvalue.
func TestLanczosToleranceOfEachEnd(t *testing.T) {
	values := append(spread(200, 1e-6, 1e-4), 20, 10, 5, -3e-5, -2.8e-5, -2.5e-5)
	h := scaling(values)
	third := func(o LanczosOptions) (got Spectrum, off bool) {
		got, err := Lanczos(h, 3, o)
		if err != nil {
			t.Fatal(err)
		}
		return got, math.Abs(got.Bottom[2].Value+2.5e-5) > got.Bottom[2].Residual
	}
	for _, basis := range []int{0, 20} {
		if got, off := third(LanczosOptions{Basis: basis}); off || got.Stop != Residual || got.TopOpen || got.BottomOpen || got.Bottom[2].Residual > 3e-8 {
			t.Errorf("basis %d: %v, %+v", basis, got.Stop, got.Bottom)
		}
	}
	if got, off := third(LanczosOptions{Floor: 1e-3}); !off || got.Stop != Residual {
		t.Errorf("one tolerance: %v, %+v", got.Stop, got.Bottom)
	}
	if got, _ := third(LanczosOptions{Steps: 12}); got.Stop != Limit || got.TopOpen || !got.BottomOpen {
		t.Errorf("%v, open at the top %v, at the bottom %v: expected the bottom alone", got.Stop, got.TopOpen, got.BottomOpen)
	}
}

// TestLanczosWarmStart: the eigenvectors of a matrix save products on its neighbour.
func TestLanczosWarmStart(t *testing.T) {
	values := spread(200, 1e-4, 1)
	before, err := Lanczos(scaling(values), 3, LanczosOptions{Vectors: true, Steps: 200})
	if err != nil {
		t.Fatal(err)
	}
	start := before.Start()
	for i := range values {
		values[i] *= 1 + 1e-3*math.Sin(float64(i))
	}
	kept := slices.Clone(start)
	cold, _ := Lanczos(scaling(values), 3, LanczosOptions{Seed: 8, Steps: 200})
	warm, _ := Lanczos(scaling(values), 3, LanczosOptions{Seed: 8, Steps: 200, Start: start})
	if warm.Steps >= cold.Steps {
		t.Errorf("%d steps warm, %d cold", warm.Steps, cold.Steps)
	}
	if !slices.Equal(start, kept) {
		t.Error("the start vector changed")
	}
	near(t, "top", warm.Top[0].Value, slices.Max(values), warm.Top[0].Residual)
	if got := (&Spectrum{}).Start(); got != nil {
		t.Error("a start from nothing")
	}
	if got := cold.Start(); got != nil {
		t.Error("a start without vectors")
	}
}
