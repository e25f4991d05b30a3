package models

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// TestSumsAreTheTrees: whatever nodes the workers take, a sum over rows is that of the leaves' sums by the picture of Tree.
func TestSumsAreTheTrees(t *testing.T) {
	small := Chain(2, []int{3}, 2, Tanh, Softmax, CrossEntropy, SkipAll)
	long := randomData(t, small, rand.New(rand.NewPCG(4, 2)), 521*BlockRows+5)
	for _, p := range []problem{mixedProblem(t, 11*BlockRows+1), mixtureProblem(t, 33*BlockRows), long} {
		n := p.n.Dim()
		rows, _ := p.x.Dims()
		for _, threads := range []int{1, 3} {
			pool := NewPool(threads)
			defer pool.Close()
			l := p.n.Bind(p.x, p.t, Options{Pool: pool})
			l.Update(p.w)
			got, share := make([]float64, n), 1/float64(rows)
			l.GradientTo(got)
			want := naiveLeaves(l, l.update)
			for i := range got {
				got[i] /= share
				want[i] = want[i] * share / share
			}
			e := l.Evaluation()
			got = append(got, e.Loss*float64(rows), e.SquaredError, float64(e.Wrong))
			want[n] = want[n] / float64(rows) * float64(rows)
			wantSameBits(t, fmt.Sprintf("%d rows, %d threads: gradient", rows, threads), got, want)

			l.HessianTo(got[:n], p.d)
			l.arg = p.d
			want = naiveLeaves(l, l.hessian)
			for i := range want[:n] {
				want[i] *= share
			}
			wantSameBits(t, fmt.Sprintf("%d rows, %d threads: Hd", rows, threads), got[:n], want[:n])
		}
	}
}

// naiveLeaves has every leaf's sum computed by itself and adds them up by naiveSum.
func naiveLeaves(l *Linearization, r *rowSum) []float64 {
	tree := l.adding.tree
	columns := make([][]float64, l.net.dim+tallySize)
	for leaf := range tree.Leaves() {
		first, last := tree.Rows(leaf, tree.Leaves())
		sum := make([]float64, len(columns))
		r.leaf(l.spaces[0], sum, first/BlockRows, (last+BlockRows-1)/BlockRows)
		for i, x := range sum {
			columns[i] = append(columns[i], x)
		}
	}
	all := make([]float64, len(columns))
	for i, leaves := range columns {
		all[i], _ = naiveSum(leaves, 16, 0)
	}
	return all
}

// TestTasks: there are enough of them for many threads where rows and memory allow, and they have the leaves of the
// process in order.
func TestTasks(t *testing.T) {
	for _, c := range []struct{ rows, dim, threads, rank, size, tasks, level int }{
		{1, 10, 2, 0, 1, 1, 0},
		{5 * BlockRows, 10, 2, 0, 1, 5, 0},
		{16000, 6066, 2, 0, 1, 32, 0},
		{100000, 6066, 2, 0, 1, 32, 3},
		{1 << 20, 6066, 2, 0, 1, 32, 6},
		{1 << 20, 6066, 2, 1, 3, 26, 5}, // from leaves 682, 684, 688, 704, …, 1344, 1360, 1364 on
		{1 << 20, 6066, 2, 1, 2048, 1, 0},
		{16000, sumMemory / 20, 2, 0, 1, 16, 1},
		{16000, sumMemory, 2, 0, 1, 4, 3},
		{1 << 20, sumMemory, 2, 0, 1, 4, 9},
		{1 << 20, sumMemory, 2, 1, 3, 10, 8}, // no fewer than Nodes: from 682, 684, 688, 704, 768, 1024, 1280, 1344, 1360, 1364 on
		{1000, 10, 2, 0, 20, 0, 0},
		{1 << 20, 6066, 1, 0, 1, 1, 11},
		{1 << 20, 6066, 1, 1, 3, 10, 8},
	} {
		tree := NewTree(c.rows)
		first, last := tree.Share(c.rank, c.size)
		tasks, level := tree.chooseTasks(first, last, c.dim, c.threads), 0
		for _, n := range tasks {
			from, to := tree.span(n)
			if from != first {
				t.Errorf("%+v: %v where leaf %d comes next", c, n, first)
			}
			first, level = to, max(level, n.Level)
		}
		if first != last || len(tasks) != c.tasks || level != c.level {
			t.Errorf("%+v: %d tasks up to level %d, to leaf %d of %d", c, len(tasks), level, first, last)
		}
	}
}
