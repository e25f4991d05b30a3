package models

import (
	"math/rand/v2"
	"slices"
	"testing"

	"newtop/internal/alloctest"
	"newtop/internal/nightly"
	"newtop/models/reduce"
)

// TestWideNetsShareNodes: products, gradients and losses of wide nets have the same bits for any number of threads that share
// their nodes, kept passes or none, and allocate nothing; and batches are those of all rows.
func TestWideNetsShareNodes(t *testing.T) {
	const rows = reduce.BlockRows + 4
	for i, hidden := range []Activation{Tanh, Softplus, Softmax, Tanh} {
		if i < 2 && !nightly.On() {
			continue
		}
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

// TestRowsAreDivided: a net that is not wide has the same bits where threads divide a few rows, whose shares are no blocks.
func TestRowsAreDivided(t *testing.T) {
	for _, loss := range []LossFunction{SquaredError, CrossEntropy} {
		const rows = 2*reduce.BlockRows + 59
		p := randomData(t, Chain(9, []int{70, 80}, 11, Softplus, Softmax, loss, SkipAll), rand.New(rand.NewPCG(2, 3)), rows)
		alone := newWideResults(t, p, Options{}, rows)
		for _, threads := range []int{2, 3, 5} {
			pool := reduce.NewPool(threads)
			o := Options{Pool: pool, Products: threads == 3}
			if divided := p.n.Bind(p.x, p.t, o).wide != nil; !divided {
				t.Errorf("%d threads: not divided", threads)
			}
			for name, got := range newWideResults(t, p, o, rows) {
				if !slices.Equal(got, alone[name]) {
					t.Errorf("%v, %d threads: other bits of %s", loss, threads, name)
				}
			}
			pool.Close()
		}
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
		{"gauss-newton", func(dst []float64) { l.Update(p.w); l.GaussNewtonTo(dst, p.d) }},
		{"gradient after it", func(dst []float64) { l.GaussNewtonTo(dst, p.d); l.GradientTo(dst) }},
		{"hessian after it", func(dst []float64) { l.Update(p.w); l.GaussNewtonTo(dst, p.d); l.HessianTo(dst, p.d) }},
		{"diagonal", func(dst []float64) { l.Update(p.w); l.GaussNewtonDiagTo(dst) }},
		{"loss of a batch", func(dst []float64) { dst[0] = batch.GradientTo(spare, p.w, all[:50]) }},
		{"batch", func(dst []float64) { batch.GradientTo(dst, p.w, all) }},
	} {
		dst := make([]float64, p.n.Dim())
		of.to(dst)
		if count := alloctest.PerRun(1, func() { of.to(dst) }); count != 0 {
			t.Errorf("%s: %g allocations", of.name, count)
		}
		results[of.name] = dst
	}
	return results
}
