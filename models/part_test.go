package models

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"gonum.org/v1/gonum/mat"

	"newtop/internal/alloctest"
	"newtop/internal/nightly"
	"newtop/models/reduce"
)

// hub joins the parts of Linearizations that goroutines have, by means that have nothing to do with Combine: sums are
// those that the picture of Tree says, or if fast those over the ranks backwards.
type hub struct {
	size  int
	fast  bool
	parts []chan [][]float64 // of rank r, for process 0
	taken chan bool          // when process 0 has read them
	chain []chan []float64   // for rank r, from the one before; nil: given up
}

func newHub(size int, fast bool) *hub {
	h := &hub{size: size, fast: fast, taken: make(chan bool)}
	for range size {
		h.parts = append(h.parts, make(chan [][]float64))
		h.chain = append(h.chain, make(chan []float64))
	}
	return h
}

// joiner is a process's hub.
type joiner struct {
	*hub
	rank int
}

func (j joiner) Sum(tree reduce.Tree, dst []float64, nodes [][]float64) {
	if want := len(tree.Nodes(j.rank, j.size)); len(nodes) != want {
		panic(fmt.Sprintf("rank %d of %d: sums of %d nodes, expected %d", j.rank, j.size, len(nodes), want))
	}
	for _, sum := range nodes {
		if len(sum) != len(dst) {
			panic(fmt.Sprintf("sums of %d numbers, expected %d", len(sum), len(dst)))
		}
	}
	if j.rank > 0 {
		j.parts[j.rank] <- nodes
		<-j.taken
	} else {
		all := map[reduce.Node][]float64{}
		clear(dst)
		for rank := j.size - 1; rank >= 0; rank-- {
			own := nodes
			if rank > 0 {
				own = <-j.parts[rank]
			}
			for i, n := range tree.Nodes(rank, j.size) {
				all[n] = own[i]
				for k, x := range own[i] {
					dst[k] += x
				}
			}
		}
		if !j.fast {
			copy(dst, nodeSum(all, 10, 0))
		}
		for range j.size - 1 {
			j.taken <- true
		}
	}
	for _, sum := range nodes {
		spoil(sum)
	}
	if j.rank > 0 {
		spoil(dst)
	}
}

// nodeSum is naiveSum of what nodes have, where those below a node that has something do not count; nil if there are none.
func nodeSum(all map[reduce.Node][]float64, level, index int) []float64 {
	if sum, ok := all[reduce.Node{Level: level, Index: index}]; ok || level == 0 {
		return sum
	}
	left, right := nodeSum(all, level-1, 2*index), nodeSum(all, level-1, 2*index+1)
	if right == nil {
		return left
	}
	sum := make([]float64, len(left))
	for k := range sum {
		sum[k] = left[k] + right[k]
	}
	return sum
}

func (j joiner) Chain(x []float64, add func() bool) {
	if j.fast {
		goOn := add()
		if j.rank > 0 {
			j.chain[0] <- x
			<-j.taken
			return
		}
		for range j.size - 1 {
			for i, other := range <-j.chain[0] {
				if goOn {
					x[i] += other
				}
			}
		}
		for range j.size - 1 {
			j.taken <- true
		}
		return
	}
	if j.rank > 0 {
		before := <-j.chain[j.rank]
		if before == nil {
			j.chain[(j.rank+1)%j.size] <- nil
			return
		}
		copy(x, before)
	}
	var own []float64
	if add() {
		own = slices.Clone(x)
	}
	if j.size == 1 {
		return
	}
	j.chain[(j.rank+1)%j.size] <- own
	if j.rank == 0 {
		copy(x, <-j.chain[0])
	}
}

func spoil(x []float64) {
	for i := range x {
		x[i] = math.NaN()
	}
}

// inParts calls f for each of size processes, each with a Linearization of its part of the problem's rows, of which
// some have memory for a block or none and some two threads.
func inParts(p problem, size int, fast bool, f func(rank int, l *Linearization)) {
	h := newHub(size, fast)
	rows, columns := p.x.Dims()
	tree, row := reduce.NewTree(rows), int64(8*p.n.net.TapeSize())
	var all sync.WaitGroup
	for rank := range size {
		all.Go(func() {
			pool := reduce.NewPool(1 + rank%2)
			defer pool.Close()
			o := Options{Pool: pool, Memory: []int64{0, reduce.BlockRows * row, 1}[rank%3], Part: &reduce.Part{Rows: rows, Rank: rank, Size: size, Joiner: joiner{h, rank}}}
			var x, t *mat.Dense
			if first, last := tree.Rows(rank, size); first < last {
				x = p.x.Slice(first, last, 0, columns).(*mat.Dense)
				t = p.t.Slice(first, last, 0, p.n.Outputs()).(*mat.Dense)
			}
			f(rank, p.n.Bind(x, t, o))
		})
	}
	all.Wait()
}

// everyMethod returns all numbers that a Linearization computes, and again after an Update that kept no passes.
func everyMethod(l *Linearization, p problem) []float64 {
	all := everything(l, p)
	dst := make([]float64, p.n.Dim())
	l.GaussNewtonRowsTo(dst, p.d)
	all = append(all, dst...)
	if p.n.Dim() < 500 {
		m := spoiled(p.n.Dim())
		if err := l.GaussNewtonMatrixTo(m, nil); err != nil {
			panic(err)
		}
		all = append(all, upper(m)...)
	}
	l.Update(p.d)
	l.Update(p.w)
	l.HessianTo(dst, p.d)
	return append(all, dst...)
}

// checkParts: process 0 of any number has the bits that a single one has, or where sums are in another order almost.
func checkParts(t *testing.T, p problem, sizes ...int) {
	t.Helper()
	rows, _ := p.x.Dims()
	want := everyMethod(p.n.Bind(p.x, p.t, Options{}), p)
	for _, size := range sizes {
		for _, fast := range []bool{false, true} {
			var got []float64
			inParts(p, size, fast, func(rank int, l *Linearization) {
				if l.Rows() != rows {
					t.Errorf("%d rows, expected %d", l.Rows(), rows)
				}
				if all := everyMethod(l, p); rank == 0 {
					got = all
				}
			})
			what := fmt.Sprintf("%d rows, %d ranks, %s", rows, size, describe(p.n))
			if fast {
				wantNear(t, what+", fast", got, want, 1e-11)
			} else {
				wantSameBits(t, what, got, want)
			}
		}
	}
}

func TestParts(t *testing.T) {
	long := Chain(3, []int{4}, 2, Tanh, Softmax, CrossEntropy, SkipAll)
	checkParts(t, randomData(t, long, rand.New(rand.NewPCG(1, 2)), 40*reduce.BlockRows+5), 2, 33)
	if nightly.On() {
		checkParts(t, randomData(t, long, rand.New(rand.NewPCG(1, 2)), 130*reduce.BlockRows+5), 2, 33, 100)
	}
	checkParts(t, mixedProblem(t, 9*reduce.BlockRows+7), 4, 11)
	checkParts(t, mixtureProblem(t, 5*reduce.BlockRows), 3)
	deep := randomProblem(t, 3, 11*reduce.BlockRows+7, true)
	checkParts(t, deep, 1, 2, 3, 4, 5, 6, 7, 8, 9)
	for seed := range uint64(12) {
		rows := 1 + int(seed*seed*29)
		checkParts(t, randomProblem(t, seed, rows, true), 1+int(seed)%9)
		checkParts(t, randomMixture(t, seed, rows, false), 1+int(seed)%9)
	}
}

func FuzzParts(f *testing.F) {
	f.Add(uint64(1), 100, 2, false)
	f.Add(uint64(2), 1000, 7, true)
	f.Add(uint64(5), 4000, 33, false)
	f.Fuzz(func(t *testing.T, seed uint64, rows, size int, mixture bool) {
		if rows < 1 || rows > 5000 || size < 1 || size > 60 {
			t.Skip("too large, or nothing to share")
		}
		p := randomProblem(t, seed, rows, true)
		if mixture {
			p = randomMixture(t, seed, rows, false)
		}
		checkParts(t, p, size)
	})
}

// TestPartsGiveUp: where the watcher in process 0 ends an assembly, no process is left waiting, and the next one is right.
func TestPartsGiveUp(t *testing.T) {
	p, enough := wideProblem(t, Sigmoid, 5*reduce.BlockRows+20), errors.New("enough")
	want := spoiled(p.n.Dim())
	assembleTo(t, p.n.Linearize(p.w, p.x, p.t), want)
	for _, fast := range []bool{false, true} {
		inParts(p, 3, fast, func(rank int, l *Linearization) {
			var watch func(part, parts int) error
			if rank == 0 {
				watch = func(part, parts int) error { return enough }
			}
			l.Update(p.w)
			got := spoiled(p.n.Dim())
			if err := l.GaussNewtonMatrixTo(got, watch); err != nil != (rank == 0) {
				t.Errorf("rank %d: %v", rank, err)
			}
			if err := l.GaussNewtonMatrixTo(got, nil); err != nil {
				t.Errorf("rank %d: %v", rank, err)
			}
			if rank == 0 {
				wantNear(t, "matrix after one given up", upper(got), upper(want), 1e-12)
			}
		})
	}
}

// deaf is a Joiner that joins nothing.
type deaf struct{}

func (deaf) Sum(reduce.Tree, []float64, [][]float64) {}
func (deaf) Chain(x []float64, add func() bool)      { add() }

func TestPartsDoNotAllocate(t *testing.T) {
	p := wideProblem(t, Sigmoid, 9*reduce.BlockRows)
	dst, m := make([]float64, p.n.Dim()), mat.NewSymDense(p.n.Dim(), nil)
	x := p.x.Slice(0, 3*reduce.BlockRows, 0, p.n.Columns()).(*mat.Dense)
	targets := p.t.Slice(0, 3*reduce.BlockRows, 0, p.n.Outputs()).(*mat.Dense)
	for rank := range 3 {
		l := p.n.Bind(x, targets, Options{Part: &reduce.Part{Rows: 9 * reduce.BlockRows, Rank: rank, Size: 3, Joiner: deaf{}}})
		for name, f := range map[string]func(){
			"Update":              func() { l.Update(p.w) },
			"EvaluateAt":          func() { l.EvaluateAt(p.w) },
			"HessianTo":           func() { l.HessianTo(dst, p.d) },
			"GaussNewtonRowsTo":   func() { l.GaussNewtonRowsTo(dst, p.d) },
			"GaussNewtonMatrixTo": func() { assembleTo(t, l, m) },
		} {
			l.Update(p.w)
			if count := alloctest.PerRun(2, f); count != 0 {
				t.Errorf("%s in rank %d: %g allocations", name, rank, count)
			}
		}
	}
}

// TestKeptRowsOfParts: those of the process.
func TestKeptRowsOfParts(t *testing.T) {
	p := mixedProblem(t, 4*reduce.BlockRows+10) // 5 leaves: 1, 2 and 2
	kept := make([]int, 3)
	inParts(p, 3, false, func(rank int, l *Linearization) { kept[rank] = l.RetainedRows() })
	if want := []int{reduce.BlockRows, reduce.BlockRows, 0}; !slices.Equal(kept, want) {
		t.Errorf("rows kept: %v, expected %v", kept, want)
	}
}
