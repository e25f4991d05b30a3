package reduce

import "newtop/internal/vector"

const (
	// The tasks of the workers are up to maxTasks nodes of the tree, so that up to that many threads have work.
	// Vectors so long that the nodes' sums would pass sumMemory numbers have fewer, but about minTasks if there are
	// as many leaves.
	maxTasks, minTasks = 32, 4
	sumMemory          = 1 << 25
	// foldChunk is how many numbers one task adds the nodes' sums of.
	foldChunk = 4096
)

// Reducer adds up vectors over the rows of data in the order of a Tree: a worker takes a node, goes through the leaves
// under it, block by block, and adds their sums; then the nodes' sums are added, a range of numbers by each worker. One
// goroutine uses it at a time.
type Reducer struct {
	// Run computes task(worker, i) for i = 0…count−1, with worker in [0, Threads) of the pool: what the pool does,
	// unless another is set.
	Run func(count int, task func(worker, i int))

	tree  Tree
	pool  *Pool
	part  *Part
	rows  int           // of all processes
	means int           // numbers at the beginning of a vector, of which the mean over the rows is taken
	base  int           // first block that is here
	tasks []Node        // in order, over the leaves that are here
	sums  [][]float64   // of a task each
	spare [][][]float64 // of a worker and a level each

	// The tree's nodes for this process, the first task of each, and what is joined of its sum.
	nodes []Node
	start []int
	joint [][]float64

	dst  []float64 // of the call under way
	fold func(worker, i int)
}

// Sum is a sum over the rows that a Reducer computes.
type Sum struct {
	*Reducer
	first, last int
	leaf        func(worker int, sum []float64, first, last int)
	task        func(worker, i int)
}

// NewReducer returns a Reducer of vectors of means + sums numbers over all rows, of which part, if not nil, says which
// are here. Sums over the rows become means of the first numbers, and stay sums of the others.
func NewReducer(rows, means, sums int, pool *Pool, part *Part) *Reducer {
	r := &Reducer{Run: pool.Run, tree: NewTree(rows), pool: pool, part: part, rows: rows, means: means}
	rank, size := 0, 1
	if part != nil {
		rank, size = part.Rank, part.Size
	}
	first, last := r.tree.Share(rank, size)
	r.base = r.tree.leafBlock(first)
	r.nodes = r.tree.Nodes(rank, size)
	r.tasks = r.tree.chooseTasks(first, last, means, pool.Threads())
	level := 0
	for _, n := range r.tasks {
		level = max(level, n.Level)
	}
	r.sums = vectors(len(r.tasks), means+sums)
	for range min(pool.Threads(), len(r.tasks)) {
		r.spare = append(r.spare, vectors(level, means+sums))
	}
	next := 0
	for _, n := range r.nodes {
		r.start = append(r.start, next)
		_, end := r.tree.span(n)
		for next < len(r.tasks) {
			if first, _ := r.tree.span(r.tasks[next]); first >= end {
				break
			}
			next++
		}
	}
	r.joint = make([][]float64, len(r.nodes))
	r.fold = r.foldRange
	return r
}

// chooseTasks returns the smallest nodes over some leaves that are not too many: for one thread as few as there can be,
// which needs the least memory.
func (t Tree) chooseTasks(first, last, dim, threads int) []Node {
	bound := max(minTasks, min(maxTasks, sumMemory/dim))
	if threads == 1 {
		bound = 1
	}
	for level := 0; ; level++ {
		if tasks := t.cover(nil, first, last, level); len(tasks) <= bound || level == t.root().Level {
			return tasks
		}
	}
}

// vectors returns vectors that begin at cache lines' distances.
func vectors(count, size int) [][]float64 {
	stride := (size + 7) &^ 7
	slab, all := make([]float64, count*stride), make([][]float64, count)
	for i := range all {
		all[i] = slab[i*stride:][:size:size]
	}
	return all
}

// Tasks returns how many tasks the blocks that are here make.
func (r *Reducer) Tasks() int { return len(r.tasks) }

// Blocks returns the range of blocks, of those that are here, of task i.
func (r *Reducer) Blocks(i int) (first, last int) { return r.blocks(r.tasks[i]) }

// blocks returns the range of blocks, of those that are here, under a node.
func (r *Reducer) blocks(n Node) (first, last int) {
	first, last = r.tree.span(n)
	return r.tree.leafBlock(first) - r.base, r.tree.leafBlock(last) - r.base
}

// Sum returns the sum of the vectors' numbers [first, last). leaf stores them in sum, which is a whole vector, for the
// rows of a range of blocks that are here; worker is in [0, Threads) of the pool.
func (r *Reducer) Sum(first, last int, leaf func(worker int, sum []float64, firstBlock, lastBlock int)) *Sum {
	s := &Sum{Reducer: r, first: first, last: last, leaf: leaf}
	s.task = func(worker, i int) { s.addNode(worker, r.tasks[i], r.sums[i]) }
	return s
}

// addNode stores the sum over a node in sum.
func (s *Sum) addNode(worker int, n Node, sum []float64) {
	if n.Level == 0 {
		first, last := s.blocks(n)
		s.leaf(worker, sum, first, last)
		return
	}
	left, right, both := s.tree.children(n)
	s.addNode(worker, left, sum)
	if !both {
		return
	}
	other := s.spare[worker][right.Level]
	s.addNode(worker, right, other)
	dst := sum[s.first:s.last]
	vector.Add(dst, dst, other[s.first:s.last])
}

// To stores the sum over all rows in dst, in process 0.
func (s *Sum) To(dst []float64) {
	r := s.Reducer
	r.Run(len(r.tasks), s.task)
	means := max(0, min(s.last, r.means)-s.first)
	r.dst = dst[:means]
	r.pool.Run((means+foldChunk-1)/foldChunk, r.fold)
	r.dst = nil
	if s.last > r.means {
		r.addUp(r.means, s.last)
	}
	if r.part == nil {
		copy(dst[means:], r.sums[0][s.first+means:s.last])
		return
	}
	for i, first := range r.start {
		r.joint[i] = r.sums[first][s.first:s.last]
	}
	r.part.Joiner.Sum(r.tree, dst, r.joint)
	if r.part.Rank == 0 {
		vector.Scale(dst[:means], 1/float64(r.rows), dst[:means])
	}
}

// addUp adds up the numbers [first, last) of the sums of the tasks under each of the process's nodes, in its first one.
func (r *Reducer) addUp(first, last int) {
	for i, n := range r.nodes {
		r.tree.addUp(n, r.tasks[r.start[i]:], r.sums[r.start[i]:], first, last)
	}
}

// foldRange does addUp for one range of numbers, and takes the mean if no other process has rows.
func (r *Reducer) foldRange(_, i int) {
	first := i * foldChunk
	last := min(first+foldChunk, len(r.dst))
	r.addUp(first, last)
	if r.part == nil {
		vector.Scale(r.dst[first:last], 1/float64(r.rows), r.sums[0][first:last])
	}
}
