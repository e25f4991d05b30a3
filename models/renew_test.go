package models

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"newtop/internal/alloctest"
	"newtop/models/reduce"
)

// TestRenew: a Linearization whose rows become others has the numbers of a new one on these, whatever is kept, and allocates
// nothing for it.
func TestRenew(t *testing.T) {
	wide := randomData(t, Chain(8, []int{400, 400}, 5, Tanh, Softmax, CrossEntropy, SkipAll), rand.New(rand.NewPCG(3, 4)), 120)
	for _, p := range []problem{mixedProblem(t, 200), mixtureProblem(t, 200), wide} {
		for _, precision := range []Precision{Double, Single} {
			n, rows := p.n.In(precision), p.t.RawMatrix().Rows
			pool := reduce.NewPool(2)
			defer pool.Close()
			for _, memory := range []int64{0, 1, int64(8 * reduce.BlockRows * n.net.TapeSize())} {
				x, targets := copyIn(precision, p.x), copyIn(precision, p.t)
				l := n.Bind(x, targets, Options{Pool: pool, Memory: memory})
				everything(l, p)
				l.Update(p.w)
				l.Update(p.d) // nobody has asked for products in between
				for i := range rows {
					turnRow(x, i, p.x, (i+7)%rows)
					turnRow(targets, i, p.t, (i+7)%rows)
				}
				l.Renew()
				what := fmt.Sprintf("%s, %v, memory %d", describe(n), precision, memory)
				wantSameBits(t, what, everything(l, p), everything(n.Bind(x, targets, Options{Memory: memory}), p))
				if count := alloctest.PerRun(2, func() { l.Renew(); l.Update(p.w) }); count != 0 {
					t.Errorf("%s: %g allocations", what, count)
				}
				l.Renew()
				if panicOf(func() { l.Loss() }) == "" {
					t.Errorf("%s: a loss before Update", what)
				}
			}
		}
	}
}

// copyIn returns a copy of a matrix in a precision.
func copyIn(p Precision, m *mat.Dense) Matrix {
	if p == Single {
		return ToSingle(m)
	}
	return mat.DenseCopyOf(m)
}

// turnRow makes row i of a matrix row j of another.
func turnRow(to Matrix, i int, from *mat.Dense, j int) {
	if s, ok := to.(*SingleMatrix); ok {
		copy(s.Row(i), ToSingle(from).Row(j))
		return
	}
	to.(*mat.Dense).SetRow(i, from.RawRowView(j))
}
