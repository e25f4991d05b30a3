package reduce

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestTreeSizes: how many leaves there are for a number of blocks, by the rule in words: a fourth of the blocks, rounded
// down to a power of two, within 32 and 65536, but no more than blocks.
func TestTreeSizes(t *testing.T) {
	for blocks, want := range map[int]int{1: 1, 2: 2, 31: 31, 32: 32, 33: 32, 167: 32, 255: 32, 256: 64, 511: 64, 512: 128,
		4095: 512, 4096: 1024, 8192: 2048, 1 << 18: 1 << 16, 1<<20 + 3: 1 << 16} {
		for _, rows := range []int{blocks * BlockRows, blocks*BlockRows - BlockRows + 1} {
			if got := NewTree(rows).Leaves(); got != want {
				t.Errorf("%d rows: %d leaves, expected %d", rows, got, want)
			}
		}
	}
}

// TestTreeShares: ranks have all rows in order, each whole blocks but the last, and none is more than a leaf ahead.
func TestTreeShares(t *testing.T) {
	for _, rows := range []int{1, 95, 96, 97, 5*BlockRows + 1, 16000, 300*BlockRows + 7, 500000} {
		tree := NewTree(rows)
		for _, size := range []int{1, 2, 3, 7, 32, 33, 100, 2000} {
			next, leaves := 0, 0
			least, bound := tree.Leaves(), 0
			for rank := range size {
				first, last := tree.Rows(rank, size)
				if first != next || last < first || last < rows && last%BlockRows != 0 {
					t.Errorf("%d rows, rank %d of %d: [%d, %d) after %d", rows, rank, size, first, last, next)
				}
				a, b := tree.Share(rank, size)
				leaves += b - a
				least, bound, next = min(least, b-a), max(bound, b-a), last
			}
			if next != rows || leaves != tree.Leaves() || bound-least > 1 {
				t.Errorf("%d rows, %d ranks: %d rows and %d leaves shared out, %d to %d to a rank", rows, size, next, leaves, least, bound)
			}
		}
	}
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

// naiveNodes returns the largest of all nodes, up to a level, within the leaves [first, last), and of equal ones the lowest.
func naiveNodes(leaves, first, last, top int) []Node {
	var all []Node
	for leaf := first; leaf < last; {
		best, end := Node{0, leaf}, leaf+1
		for level := 1; level <= top; level++ {
			if i := leaf >> level; i<<level == leaf {
				if to := min(leaves, (i+1)<<level); to <= last && to > end {
					best, end = Node{level, i}, to
				}
			}
		}
		all, leaf = append(all, best), end
	}
	return all
}

func TestTreeNodes(t *testing.T) {
	tree := NewTree(11 * BlockRows)
	for _, c := range []struct {
		rank, size int
		want       []Node
	}{
		{0, 1, []Node{{4, 0}}},
		{0, 2, []Node{{2, 0}, {0, 4}}},
		{1, 2, []Node{{0, 5}, {1, 3}, {2, 2}}},
		{2, 3, []Node{{0, 7}, {2, 2}}},
		{10, 11, []Node{{0, 10}}},
		{0, 12, nil},
	} {
		if got := tree.Nodes(c.rank, c.size); !slices.Equal(got, c.want) {
			t.Errorf("rank %d of %d: %v, expected %v", c.rank, c.size, got, c.want)
		}
	}
}

// TestCombine: any way of sharing out the leaves gives the bits of the naive sum, and so does any level of nodes.
func TestCombine(t *testing.T) {
	for leaves := 1; leaves <= 32; leaves++ {
		for size := 1; size <= leaves+2; size++ {
			checkCombine(t, leaves*BlockRows, size, 16, uint64(leaves))
		}
	}
	for _, rows := range []int{256 * BlockRows, 100000, 1 << 20} {
		for _, size := range []int{1, 2, 5, 33, 1030} {
			for _, level := range []int{0, 2, 16} {
				checkCombine(t, rows, size, level, 3)
			}
		}
	}
}

func FuzzCombine(f *testing.F) {
	f.Add(16000, 3, 16, uint64(1))
	f.Add(300*BlockRows, 9, 1, uint64(2))
	f.Add(17*BlockRows, 40, 0, uint64(3))
	f.Fuzz(func(t *testing.T, rows, size, level int, seed uint64) {
		if rows < 1 || rows > 1<<21 || size < 1 || size > 2000 || level < 0 || level > 20 {
			t.Skip("too large, or nothing to add up")
		}
		checkCombine(t, rows, size, level, seed)
	})
}

// checkCombine shares out the leaves among ranks, each of which adds up what lies in its nodes of at most that level by
// naiveSum, and combines them, three numbers at once in two pieces.
func checkCombine(t *testing.T, rows, size, level int, seed uint64) {
	t.Helper()
	tree, rng := NewTree(rows), rand.New(rand.NewPCG(seed, 1))
	all := make([][]float64, 3)
	var want []float64
	for i := range all {
		all[i] = make([]float64, tree.Leaves())
		for j := range all[i] {
			all[i][j] = rng.NormFloat64()
		}
		sum, _ := naiveSum(all[i], 16, 0)
		want = append(want, sum)
	}
	var nodes []Node
	for rank := range size {
		first, last := tree.Share(rank, size)
		own := tree.cover(nil, first, last, level)
		if level >= 16 {
			own = tree.Nodes(rank, size)
		}
		if want := naiveNodes(tree.Leaves(), first, last, level); !slices.Equal(own, want) {
			t.Fatalf("%d rows, rank %d of %d, level %d: nodes %v, expected %v", rows, rank, size, level, own, want)
		}
		nodes = append(nodes, own...)
	}
	sums := make([][]float64, len(nodes))
	head, tail := make([][]float64, len(nodes)), make([][]float64, len(nodes))
	for i, n := range nodes {
		for _, leaves := range all {
			sum, _ := naiveSum(leaves, n.Level, n.Index)
			sums[i] = append(sums[i], sum)
		}
		head[i], tail[i] = sums[i][:2], sums[i][2:]
	}
	tree.Combine(nodes, tail)
	tree.Combine(nodes, head)
	if !slices.EqualFunc(sums[0], want, func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }) {
		t.Errorf("%d rows, %d ranks, level %d: %v, expected %v", rows, size, level, sums[0], want)
	}
}

func TestTreeMisuse(t *testing.T) {
	for _, c := range []struct {
		want string
		f    func()
	}{
		{"reduce: NewTree: 0 rows", func() { NewTree(0) }},
		{"reduce: process 3 of 3", func() { NewTree(1).Rows(3, 3) }},
		{"reduce: process -1 of 3", func() { NewTree(1).Nodes(-1, 3) }},
		{"reduce: Combine: node {0 1} where leaf 0 of 3 comes next", func() { NewTree(3*BlockRows).Combine([]Node{{Level: 0, Index: 1}}, nil) }},
		{"reduce: Combine: node {1 0} where leaf 1 of 3 comes next", func() {
			NewTree(3*BlockRows).Combine([]Node{{Level: 0, Index: 0}, {Level: 1, Index: 0}}, make([][]float64, 2))
		}},
		{"reduce: Combine: 1 sums over 2 of 3 leaves", func() {
			NewTree(3*BlockRows).Combine([]Node{{Level: 1, Index: 0}}, make([][]float64, 1))
		}},
		{"reduce: Combine: 2 sums over 3 of 3 leaves", func() {
			NewTree(3*BlockRows).Combine([]Node{{Level: 2, Index: 0}}, make([][]float64, 2))
		}},
	} {
		func() {
			defer func() {
				if got := fmt.Sprint(recover()); got != c.want {
					t.Errorf("panicked with %q, expected %q", got, c.want)
				}
			}()
			c.f()
		}()
	}
}
