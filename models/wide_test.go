package models

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"

	"newtop/models/reduce"
)

// wideNet returns a net of 784 inputs, two hidden layers and ten classes, on random rows.
func wideNet(tb testing.TB, hidden, rows int) (n *Network, w []float64, x, t *mat.Dense) {
	n = mustNetwork(tb, Chain(784, []int{hidden, hidden}, 10, Tanh, Softmax, CrossEntropy, SkipNone))
	rng := rand.New(rand.NewPCG(1, 2))
	w = make([]float64, n.Dim())
	n.InitTo(w, Init{}, rng)
	x, t = mat.NewDense(rows, 784, nil), mat.NewDense(rows, 10, nil)
	for p := range rows {
		for i := range 784 {
			x.Set(p, i, rng.NormFloat64())
		}
		t.Set(p, rng.IntN(10), 1)
	}
	return n, w, x, t
}

// TestWideNetsShareNodes: products, gradients and losses of wide nets have the same bits for any number of threads that share
// their nodes, kept passes or none, and allocate nothing; and batches are those of all rows.
func TestWideNetsShareNodes(t *testing.T) {
	const rows = reduce.BlockRows + 4
	for i, hidden := range []Activation{Tanh, Softplus, Softmax, Tanh} {
		loss, out := SquaredError, Sigmoid
		if hidden == Tanh {
			loss, out = CrossEntropy, Softmax
		}
		p := randomData(t, Chain(8, []int{512, 520}, 5, hidden, out, loss, SkipAll), rand.New(rand.NewPCG(1, uint64(hidden))), rows)
		for i := range p.w {
			p.w[i] /= 20
		}
		near := 1e-12
		if i == 3 {
			p.n, near = p.n.In(Single), 1e-4
		}
		alone := newWideResults(t, p, Options{}, rows)
		tapes := int64(8 * rows * p.n.net.TapeSize())
		for _, c := range []struct {
			threads int
			memory  int64
		}{{2, 0}, {3, 1}, {2, tapes}} {
			pool := reduce.NewPool(c.threads)
			got := newWideResults(t, p, Options{Pool: pool, Memory: c.memory}, rows)
			for name, want := range alone {
				if !slices.Equal(got[name], want) {
					t.Errorf("%v, %d threads, memory %d: other bits of %s", hidden, c.threads, c.memory, name)
				}
			}
			pool.Close()
		}
		wantNear(t, "batch", alone["batch"], alone["gradient"], near)
	}
}

func newWideResults(t *testing.T, p problem, o Options, rows int) map[string][]float64 {
	l := p.n.Bind(p.x, p.t, o)
	batch, all := p.n.NewBatch(p.x, p.t, rows), make([]int, rows)
	batch.Pool = o.Pool
	for i := range all {
		all[i] = i
	}
	results, spare := map[string][]float64{}, make([]float64, p.n.Dim())
	for _, of := range []struct {
		name string
		to   func(dst []float64)
	}{
		{"gradient", func(dst []float64) { l.Update(p.w); l.GradientTo(dst) }},
		{"loss", func(dst []float64) { dst[0], dst[1] = l.Loss(), l.EvaluateAt(p.d).Loss }},
		{"hessian", func(dst []float64) { l.HessianTo(dst, p.d) }},
		{"gauss-newton", func(dst []float64) { l.GaussNewtonTo(dst, p.d) }},
		{"loss of a batch", func(dst []float64) { dst[0] = batch.GradientTo(spare, p.w, all[:50]) }},
		{"batch", func(dst []float64) { batch.GradientTo(dst, p.w, all) }},
	} {
		dst := make([]float64, p.n.Dim())
		of.to(dst)
		if count := testing.AllocsPerRun(1, func() { of.to(dst) }); count != 0 {
			t.Errorf("%s: %g allocations", of.name, count)
		}
		results[of.name] = dst
	}
	return results
}

func BenchmarkWide(b *testing.B) { inEach(b, benchmarkWides) }

func benchmarkWides(b *testing.B, precision Precision) {
	for _, hidden := range []int{256, 512, 1024, 2048} {
		for threads := 1; threads <= runtime.NumCPU(); threads *= 2 {
			benchmarkWide(b, precision, hidden, threads)
		}
	}
}

func benchmarkWide(b *testing.B, precision Precision, hidden, threads int) {
	const rows = 1000
	pool := reduce.NewPool(threads)
	defer pool.Close()
	n, w, x, t := wideNet(b, hidden, rows)
	n = n.In(precision)
	cost, dst := n.Cost(), make([]float64, n.Dim())
	report := func(name string, multiplications float64, f func()) {
		b.Run(fmt.Sprintf("nodes=%d/%s/threads=%d", hidden, name, threads), func(b *testing.B) {
			b.ReportAllocs()
			best := math.Inf(1)
			for b.Loop() {
				start := time.Now()
				f()
				best = min(best, time.Since(start).Seconds())
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(1e3*best, "best-ms")
			b.ReportMetric(2e-9*multiplications/best, "GFLOP/s")
		})
	}
	l := n.Bind(x, t, Options{Pool: pool})
	l.Update(w)
	report("gradient", cost.Gradient*rows, func() { l.Update(w) })
	report("hessian", cost.Hessian*rows, func() { l.HessianTo(dst, w) })
	for _, size := range []int{64, 256} {
		batch, chosen := n.NewBatch(x, t, size), rand.New(rand.NewPCG(3, 4)).Perm(rows)[:size]
		batch.Pool = pool
		report(fmt.Sprintf("batch=%d", size), cost.Gradient*float64(size), func() { batch.GradientTo(dst, w, chosen) })
	}
}
