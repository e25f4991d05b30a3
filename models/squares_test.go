package models

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"

	"newtop/internal/alloctest"
	"newtop/models/reduce"
)

// rowGradient returns the gradient of the loss of one row.
func rowGradient(p problem, row int) []float64 { return hyperAll(p.one(row)).gradient }

// TestGradientSquares holds gradients and the means of the squares of rows' gradients against rows taken one by one: of random
// graphs and mixtures, small batches and such as have several blocks, rows that are given twice, and weighted ones.
func TestGradientSquares(t *testing.T) {
	const tolerance = 1e-11
	for seed := range uint64(70) {
		p := randomProblem(t, seed, 9, true)
		if seed >= 50 {
			p = randomMixture(t, seed, 5, false)
		}
		all, _ := p.x.Dims()
		for _, size := range []int{1, 2, 7, 2*reduce.BlockRows + 3} {
			t.Run(fmt.Sprintf("%d %s, %d rows", seed, describe(p.n), size), func(t *testing.T) {
				rows, rng := make([]int, size), rand.New(rand.NewPCG(seed, uint64(size)))
				want, wanted, counts := make([]float64, p.n.Dim()), make([]float64, p.n.Dim()), make([]float64, all)
				for j := range rows {
					rows[j] = rng.IntN(all)
					counts[rows[j]] += 1 / float64(size)
				}
				for row, share := range counts {
					g := rowGradient(p, row)
					floats.AddScaled(want, share, g)
					floats.Mul(g, g)
					floats.AddScaled(wanted, share, g)
				}
				dst, squares := filled(p.n.Dim(), math.NaN()), filled(p.n.Dim(), math.NaN()) // to be overwritten
				p.n.NewBatch(p.x, p.t, size).GradientSquaresTo(dst, squares, p.w, rows)
				wantNear(t, "gradient", dst, want, tolerance)
				wantNear(t, "squares", squares, wanted, tolerance)
			})
		}
	}
}

func filled(n int, x float64) []float64 {
	s := make([]float64, n)
	for i := range s {
		s[i] = x
	}
	return s
}

// squaresProblems are nets whose batches are divided into parts of the rows, and such that threads share the work on nodes.
func squaresProblems(t *testing.T) []problem {
	n, w, x, targets := letterProblem(t, 600)
	wide := randomData(t, Chain(8, []int{512, 520}, 5, Tanh, Softmax, CrossEntropy, SkipAll), rand.New(rand.NewPCG(3, 4)), 300)
	floats.Scale(0.05, wide.w)
	return []problem{{n: n, w: w, x: x, t: targets}, mixedProblem(t, 700), mixtureProblem(t, 700), wide}
}

// TestGradientSquaresSameBits: the gradient has the bits of GradientTo's, the squares have the same with any number of threads, and
// nothing is allocated after the first call.
func TestGradientSquaresSameBits(t *testing.T) {
	for i, p := range squaresProblems(t) {
		for _, precision := range []Precision{Double, Single} {
			n := p.n.In(precision)
			all, _ := p.x.Dims()
			rows := rand.New(rand.NewPCG(1, 1)).Perm(all)
			alone := n.NewBatch(p.x, p.t, all)
			for _, size := range []int{all, 1, 2, 70} {
				gradient, got, squares, want := make([]float64, n.Dim()), make([]float64, n.Dim()), make([]float64, n.Dim()), make([]float64, n.Dim())
				loss := alone.GradientTo(gradient, p.w, rows[:size])
				alone.GradientSquaresTo(got, want, p.w, rows[:size])
				for threads := 2; threads < 4; threads++ {
					what := fmt.Sprintf("problem %d, %v, %d rows, %d threads: ", i, precision, size, threads)
					pool := reduce.NewPool(threads)
					b := n.NewBatch(p.x, p.t, all)
					b.Pool = pool
					if other := b.GradientSquaresTo(got, squares, p.w, rows[:size]); other != loss {
						t.Errorf("%sloss %v, expected %v", what, other, loss)
					}
					wantSameBits(t, what+"gradient", got, gradient)
					wantSameBits(t, what+"squares", squares, want)
					if count := alloctest.PerRun(2, func() { b.GradientSquaresTo(got, squares, p.w, rows[:size]) }); count != 0 {
						t.Errorf("%s%g allocations", what, count)
					}
					pool.Close()
				}
			}
		}
	}
}

func TestGradientSquaresInSingle(t *testing.T) {
	for i, p := range precisionProblems(t) {
		all, _ := p.x.Dims()
		rows := rand.New(rand.NewPCG(1, 1)).Perm(all)
		dst, got, want := make([]float64, p.n.Dim()), make([]float64, p.n.Dim()), make([]float64, p.n.Dim())
		p.n.NewBatch(p.x, p.t, all).GradientSquaresTo(dst, want, p.w, rows)
		p.n.In(Single).NewBatch(p.x, p.t, all).GradientSquaresTo(dst, got, p.w, rows)
		if d := floats.Distance(got, want, 2); !(d <= 2e-5*max(1e-2, floats.Norm(want, 2))) {
			t.Errorf("problem %d: squares differ by %.2g of %.2g", i, d, floats.Norm(want, 2))
		}
	}
}

// TestBatchCost counts the multiplications of what batches compute.
func TestBatchCost(t *testing.T) {
	const size = 50
	for seed := range uint64(50) {
		p := randomProblem(t, seed, size, true)
		if seed >= 40 {
			p = randomMixture(t, seed, size, false)
		}
		b, cost, rows := p.n.NewBatch(p.x, p.t, size), p.n.Cost(), rand.Perm(size)
		dst, squares := make([]float64, p.n.Dim()), make([]float64, p.n.Dim())
		factors, short := p.n.NewFactors(math.MaxInt), p.n.NewFactors(3)
		drawn := rand.New(rand.NewPCG(1, 1))
		for _, c := range []struct {
			what string
			run  func()
			want float64
		}{
			{"gradient", func() { b.GradientTo(dst, p.w, rows) }, cost.Gradient},
			{"squares", func() { b.GradientSquaresTo(dst, squares, p.w, rows) }, cost.Squares},
			{"factors", func() { b.FactorsTo(factors, p.w, rows, drawn) }, b.FactorCost(factors)},
			{"factors of short sides", func() { b.FactorsTo(short, p.w, rows, drawn) }, b.FactorCost(short)},
		} {
			s := b.batchComputation.(*batchPasses[float64]).workers[0]
			s.Multiplications = 0
			c.run()
			if got := float64(s.Multiplications) / size; got != c.want {
				t.Errorf("%s: %s takes %g multiplications a row, Cost says %g", describe(p.n), c.what, got, c.want)
			}
		}
	}
}
