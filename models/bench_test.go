package models

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"gonum.org/v1/gonum/mat"

	"newtop/models/reduce"
)

// BenchmarkNets has what training asks of nets: passes and products over all rows, and gradients, squares and factors of
// batches, in both precisions, for one thread and more. What a weight costs must not depend on how many others there could
// be in a sparse net, and what gates cost shows beside a single net of about as many weights as the experts have.
func BenchmarkNets(b *testing.B) {
	sparse := Chain(512, []int{512, 256}, 10, Tanh, Softmax, CrossEntropy, SkipNone)
	for i, c := range sparse.Connections {
		sparse.Connections[i].Sources = RandomSources(sparse.nodes(c.To), sparse.nodes(c.From), 5, rand.New(rand.NewPCG(1, uint64(i))))
	}
	for _, net := range []struct {
		name string
		a    Architecture
		rows int
	}{
		{"16-70-50-26", Chain(16, []int{70, 50}, 26, Tanh, Tanh, SquaredError, SkipNone), 16000},
		{"784-100-10", Chain(784, []int{100}, 10, Tanh, Softmax, CrossEntropy, SkipNone), 1024},
		{"784-512-512-10", Chain(784, []int{512, 512}, 10, Tanh, Softmax, CrossEntropy, SkipNone), 1024},
		{"784-2048-2048-10", Chain(784, []int{2048, 2048}, 10, Tanh, Softmax, CrossEntropy, SkipNone), 1024},
		{"512-512-256-10 by five sources", sparse, 2048},
		{"5x16-16-10", Experts(16, []int{16}, 10, 5, Tanh, Identity, SquaredError,
			Mixture{Feature: 16, Period: 360, Gates: DefaultGates(nil, 5, 360)}), 1024},
		{"16-82-10", Chain(16, []int{82}, 10, Tanh, Identity, SquaredError, SkipNone), 1024},
		{"16-70-60-1", Chain(16, []int{70, 60}, 1, Tanh, Tanh, SquaredError, SkipNone), 1600},
	} {
		p := randomData(b, net.a, rand.New(rand.NewPCG(1, 2)), net.rows)
		p.n.InitTo(p.w, Init{}, rand.New(rand.NewPCG(3, 4)))
		for _, precision := range []Precision{Double, Single} {
			for threads := 1; threads <= runtime.NumCPU(); threads *= 2 {
				b.Run(fmt.Sprintf("%s/%v/threads=%d", net.name, precision, threads), func(b *testing.B) {
					pool := reduce.NewPool(threads)
					defer pool.Close()
					benchmarkNet(b, p.n.In(precision), p, pool)
				})
			}
		}
	}
}

func benchmarkNet(b *testing.B, n *Network, p problem, pool *reduce.Pool) {
	rows, _ := p.x.Dims()
	l, cost, dst, squares := n.Bind(p.x, p.t, Options{Pool: pool}), n.Cost(), make([]float64, n.Dim()), make([]float64, n.Dim())
	l.Update(p.w)
	measure := func(name string, rows int, multiplications float64, run func()) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				run()
			}
			ns := float64(b.Elapsed().Nanoseconds()) / float64(b.N) / float64(rows)
			b.ReportMetric(2*multiplications/ns, "GFLOP/s")
			b.ReportMetric(ns, "ns/row")
		})
	}
	measure("gradient", rows, cost.Gradient, func() { l.Update(p.w) })
	measure("loss", rows, cost.Loss, func() { l.EvaluateAt(p.w) })
	measure("hessian", rows, cost.Hessian, func() { l.HessianTo(dst, p.d) })
	measure("gauss-newton", rows, cost.GaussNewton, func() { l.GaussNewtonTo(dst, p.d) })
	measure("diagonal", rows, cost.Diagonal, func() { l.GaussNewtonDiagTo(dst) })
	measure("rows", rows, cost.Rows, func() { l.GaussNewtonRowsTo(dst, p.d) })
	if n.Dim() <= MaxMatrixDim && cost.Matrix*float64(rows) < 1e11 {
		m := mat.NewSymDense(n.Dim(), nil)
		measure("matrix", rows, cost.Matrix, func() { assembleTo(b, l, m) })
	}
	all, drawn := rand.New(rand.NewPCG(1, 2)).Perm(rows), rand.New(rand.NewPCG(1, 1))
	for size := 1; size <= 1024; size *= 4 {
		batch, name := n.NewBatch(p.x, p.t, size), fmt.Sprintf("batch=%d/", size)
		batch.Pool = pool
		measure(name+"gradient", size, cost.Gradient, func() { batch.GradientTo(dst, p.w, all[:size]) })
		measure(name+"squares", size, cost.Squares, func() { batch.GradientSquaresTo(dst, squares, p.w, all[:size]) })
		for what, side := range map[string]int{"factors": math.MaxInt, "factors of short sides": 512} {
			factors := n.NewFactors(side)
			measure(name+what, size, batch.FactorCost(factors), func() { batch.FactorsTo(factors, p.w, all[:size], drawn) })
		}
	}
}
