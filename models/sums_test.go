package models

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"newtop/models/internal/pass"
	"newtop/models/reduce"
)

// TestSumsAreTheTrees: whatever nodes the workers take, a sum over rows is that of the leaves' sums by the picture of Tree.
func TestSumsAreTheTrees(t *testing.T) {
	small := Chain(2, []int{3}, 2, Tanh, Softmax, CrossEntropy, SkipAll)
	long := randomData(t, small, rand.New(rand.NewPCG(4, 2)), 521*reduce.BlockRows+5)
	for _, p := range []problem{mixedProblem(t, 11*reduce.BlockRows+1), mixtureProblem(t, 33*reduce.BlockRows), long} {
		n := p.n.Dim()
		rows, _ := p.x.Dims()
		for _, threads := range []int{1, 3} {
			pool := reduce.NewPool(threads)
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
			got = append(got, e.Loss*float64(rows), e.SquaredError, float64(e.Misclassified))
			want[n] = want[n] / float64(rows) * float64(rows)
			wantSameBits(t, fmt.Sprintf("%d rows, %d threads: gradient", rows, threads), got, want)

			l.HessianTo(got[:n], p.d)
			l.setArg(p.d)
			want = naiveLeaves(l, l.computation.product(hessianProduct))
			for i := range want[:n] {
				want[i] *= share
			}
			wantSameBits(t, fmt.Sprintf("%d rows, %d threads: Hd", rows, threads), got[:n], want[:n])
		}
	}
}

// naiveLeaves has every leaf's sum computed by itself and adds them up by naiveSum.
func naiveLeaves(l *Linearization, leafSum func(worker int, sum []float64, first, last int)) []float64 {
	tree := reduce.NewTree(l.all)
	columns := make([][]float64, l.net.Dim+pass.TallySize)
	for leaf := range tree.Leaves() {
		first, last := tree.Rows(leaf, tree.Leaves())
		sum := make([]float64, len(columns))
		leafSum(0, sum, first/reduce.BlockRows, (last+reduce.BlockRows-1)/reduce.BlockRows)
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

// naiveSum adds up numbers, one a leaf, as the picture of Tree says: the node of that level and index.
func naiveSum(leaves []float64, level, index int) (sum float64, exists bool) {
	if index<<level >= len(leaves) {
		return 0, false
	}
	if level == 0 {
		return leaves[index], true
	}
	left, ok := naiveSum(leaves, level-1, 2*index)
	right, both := naiveSum(leaves, level-1, 2*index+1)
	if !both {
		return left, ok
	}
	return left + right, true
}
