package models

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
)

func mustNetwork(t testing.TB, a Architecture) *Network {
	t.Helper()
	n, err := NewNetwork(a)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// assemble returns the matrix whose products mulTo computes, column by column.
func assemble(n int, mulTo func(dst, v []float64)) *mat.Dense {
	m := mat.NewDense(n, n, nil)
	e, column := make([]float64, n), make([]float64, n)
	for j := range n {
		e[j] = 1
		mulTo(column, e)
		e[j] = 0
		m.SetCol(j, column)
	}
	return m
}

// symmetric returns m as a symmetric matrix after checking that it is one to rounding.
func symmetric(t *testing.T, m *mat.Dense) *mat.SymDense {
	t.Helper()
	n, _ := m.Dims()
	s := mat.NewSymDense(n, nil)
	bound := 1e-13 * math.Max(1, mat.Max(m))
	for i := range n {
		for j := i; j < n; j++ {
			if d := math.Abs(m.At(i, j) - m.At(j, i)); !(d <= bound) {
				t.Errorf("entries (%d,%d) and (%d,%d) differ by %g", i, j, j, i, d)
			}
			s.SetSym(i, j, (m.At(i, j)+m.At(j, i))/2)
		}
	}
	return s
}

// wantNear checks that got is want up to tolerance relative to the largest number of want, or to 1 if
// that is less.
func wantNear(t *testing.T, what string, got, want []float64, tolerance float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d numbers, expected %d", what, len(got), len(want))
	}
	scale := 1.0
	for _, v := range want {
		scale = math.Max(scale, math.Abs(v))
	}
	for i := range got {
		if d := math.Abs(got[i] - want[i]); !(d <= tolerance*scale) {
			t.Errorf("%s[%d] = %.17g, expected %.17g", what, i, got[i], want[i])
			return
		}
	}
}
