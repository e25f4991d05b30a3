package models

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// TestBatch: the gradient over chosen rows is that of a Linearization of a copy of them, at every size
// around where the matrix products change their ways.
func TestBatch(t *testing.T) {
	checkBatch(t, mixedProblem(t, 90))
	checkBatch(t, mixtureProblem(t, 90))
}

func checkBatch(t *testing.T, p problem) {
	rng := rand.New(rand.NewPCG(2, 3))
	const most = 200
	b := p.n.NewBatch(p.x, p.t, most)
	got, want := make([]float64, p.n.Dim()), make([]float64, p.n.Dim())
	for _, size := range []int{1, 2, 3, 8, 23, 24, 25, blockRows - 1, blockRows, blockRows + 1, 129, most} {
		rows := make([]int, size)
		x, targets := mat.NewDense(size, p.n.Columns(), nil), mat.NewDense(size, p.n.Outputs(), nil)
		for j := range rows {
			rows[j] = rng.IntN(90)
			x.SetRow(j, p.x.RawRowView(rows[j]))
			targets.SetRow(j, p.t.RawRowView(rows[j]))
		}
		l := p.n.Linearize(p.w, x, targets)
		l.GradientTo(want)
		for i := range got {
			got[i] = math.NaN() // to be overwritten
		}
		loss := b.GradientTo(got, p.w, rows)
		wantNear(t, "loss", []float64{loss}, []float64{l.Loss()}, 1e-14)
		wantNear(t, "gradient", got, want, 1e-14)
		if count := testing.AllocsPerRun(5, func() { b.GradientTo(got, p.w, rows) }); count != 0 {
			t.Errorf("%d rows: %g allocations", size, count)
		}
	}
}
