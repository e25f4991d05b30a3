package peertest

import (
	"testing"

	"gonum.org/v1/gonum/mat"

	"newtop/trainer/objective"
)

// Eigenvalues returns those of the Hessian, upwards, from all of its columns: for small nets.
func Eigenvalues(tb testing.TB, l objective.Linearization) []float64 {
	tb.Helper()
	n := l.Dim()
	h, unit, column := mat.NewSymDense(n, nil), make([]float64, n), make([]float64, n)
	for j := range n {
		unit[j] = 1
		l.HessianTo(column, unit)
		unit[j] = 0
		for i := range j + 1 {
			h.SetSym(i, j, column[i])
		}
	}
	var e mat.EigenSym
	if !e.Factorize(h, false) {
		tb.Fatal("no eigenvalues")
	}
	return e.Values(nil)
}
