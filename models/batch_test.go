package models

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"newtop/internal/alloctest"
	"newtop/models/reduce"
)

// TestBatch: the gradient over chosen rows is that of a Linearization of a copy of them, at every size
// around where the matrix products change their ways.
func TestBatch(t *testing.T) {
	sizes := []int{1, 2, 3, 8, 23, 24, 25, reduce.BlockRows - 1, reduce.BlockRows, reduce.BlockRows + 1, 129, 200, 1, 2}
	checkBatch(t, mixedProblem(t, 90), sizes)
	checkBatch(t, mixtureProblem(t, 90), sizes)
}

// TestBatchOfRandomNets is TestBatch for a few rows of nets whose layers are as wide as a single row's loops and
// calls have them, or sparse.
func TestBatchOfRandomNets(t *testing.T) {
	for seed := range uint64(20) {
		checkBatch(t, randomProblem(t, seed, 90, true), []int{1, 2})
		checkBatch(t, randomMixture(t, seed, 90, true), []int{1, 2})
	}
	for _, width := range []int{1, 6, 7, 8, 9, 10, 30} {
		a := Chain(width, []int{width + 1, width}, 3, Tanh, Sigmoid, CrossEntropy, SkipAll)
		checkBatch(t, randomData(t, a, rand.New(rand.NewPCG(1, uint64(width))), 90), []int{1, 2})
	}
}

func checkBatch(t *testing.T, p problem, sizes []int) {
	rng := rand.New(rand.NewPCG(2, 3))
	x, targets := apart(p.x), apart(p.t)
	b := p.n.NewBatch(x, targets, slices.Max(sizes))
	got, want := make([]float64, p.n.Dim()), make([]float64, p.n.Dim())
	for _, size := range sizes {
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
		if count := alloctest.PerRun(5, func() { b.GradientTo(got, p.w, rows) }); count != 0 {
			t.Errorf("%d rows: %g allocations", size, count)
		}
	}
	if !mat.Equal(x, p.x) || !mat.Equal(targets, p.t) {
		t.Error("the data are others afterwards")
	}
}

// TestLargeBatches have parts that threads share, with the same bits for any number of them.
func TestLargeBatches(t *testing.T) {
	const most = 8 * partWork / 10000 // rows of 16,640 multiplications each
	double, w, x, targets := letterProblem(t, most)
	for _, precision := range []Precision{Double, Single} {
		n, near := double.In(precision), map[Precision]float64{Double: 1e-14, Single: 1e-6}[precision]
		rows := rand.New(rand.NewPCG(4, 5)).Perm(most)
		alone, want := n.NewBatch(x, targets, most), make([]float64, n.Dim())
		for _, threads := range []int{1, 2, 3} {
			pool := reduce.NewPool(threads)
			b, got := n.NewBatch(x, targets, most), make([]float64, n.Dim())
			b.Pool = pool
			for _, size := range []int{most, 60, most - 50} {
				loss := alone.GradientTo(want, w, rows[:size])
				if other := b.GradientTo(got, w, rows[:size]); other != loss || !slices.Equal(got, want) {
					t.Errorf("%d rows: other bits with %d threads", size, threads)
				}
				if count := alloctest.PerRun(5, func() { b.GradientTo(got, w, rows[:size]) }); count != 0 {
					t.Errorf("%d rows, %d threads: %g allocations", size, threads, count)
				}
				if parts := b.divide(size, b.cost.Gradient, b.wide); (parts > 1) != (size*16640 >= 2*partWork) {
					t.Errorf("%d rows have %d parts", size, parts)
				}
			}
			pool.Close()
		}
		l := n.Linearize(w, x, targets)
		loss := alone.GradientTo(want, w, rows)
		got := make([]float64, n.Dim())
		l.GradientTo(got)
		wantNear(t, "loss", []float64{loss}, []float64{l.Loss()}, near)
		wantNear(t, "gradient", want, got, near)
	}
}

// apart returns a copy whose rows do not lie side by side.
func apart(m *mat.Dense) *mat.Dense {
	rows, cols := m.Dims()
	view := mat.NewDense(rows, cols+3, nil).Slice(0, rows, 2, 2+cols).(*mat.Dense)
	view.Copy(m)
	return view
}
