package models

import "newtop/internal/vector"

const (
	// The tasks of the workers are up to mostTasks nodes of the tree, so that up to that many threads have work. Networks so
	// large that the nodes' sums would pass sumMemory numbers have fewer, but about leastTasks if there are as many leaves.
	mostTasks, leastTasks = 32, 4
	sumMemory             = 1 << 25
	// foldChunk is how many weights one task adds the nodes' sums of.
	foldChunk = 4096
)

// adding is how the sums over rows are added up in the tree's order: a worker takes a node, goes through the leaves
// under it, block by block, and adds their sums; then the nodes' sums are added, weights by weights.
type adding struct {
	tree  Tree
	part  *Part
	base  int           // first block that is here
	tasks []Node        // in order, over the leaves that are here
	sums  [][]float64   // of a task each: one number a weight, and a tally behind them
	spare [][][]float64 // of a worker and a level each

	// The tree's nodes for this process, the first task of each, and what is joined of its sum.
	nodes []Node
	start []int
	joint [][]float64

	dst []float64 // of the call under way
}

// rowSum is a sum over rows: leaf stores the numbers [first, last) of the sum over a range of blocks.
type rowSum struct {
	first, last int
	leaf        func(s *space, sum []float64, first, last int)
	task        func(worker, i int)
}

// newSum returns the sum of what leaf stores.
func (l *Linearization) newSum(first, last int, leaf func(s *space, sum []float64, first, last int)) *rowSum {
	r := &rowSum{first: first, last: last, leaf: leaf}
	r.task = func(worker, i int) { l.addNode(r, worker, l.adding.tasks[i], l.adding.sums[i]) }
	return r
}

// divide makes tasks of the leaves that are here, for networks of dim weights on all rows of data.
func (a *adding) divide(dim, rows, threads int, part *Part) {
	a.tree, a.part = NewTree(rows), part
	rank, size := 0, 1
	if part != nil {
		rank, size = part.Rank, part.Size
	}
	first, last := a.tree.Share(rank, size)
	a.base = a.tree.leafBlock(first)
	a.nodes = a.tree.Nodes(rank, size)
	a.tasks = a.tree.chooseTasks(first, last, dim, threads)
	level := 0
	for _, n := range a.tasks {
		level = max(level, n.Level)
	}
	a.sums = vectors(len(a.tasks), dim+tallySize)
	for range min(threads, len(a.tasks)) {
		a.spare = append(a.spare, vectors(level, dim+tallySize))
	}
	next := 0
	for _, n := range a.nodes {
		a.start = append(a.start, next)
		_, end := a.tree.span(n)
		for next < len(a.tasks) {
			if first, _ := a.tree.span(a.tasks[next]); first >= end {
				break
			}
			next++
		}
	}
	a.joint = make([][]float64, len(a.nodes))
}

// chooseTasks returns the smallest nodes over some leaves that are not too many: for one thread as few as there can be, which
// needs the least memory.
func (t Tree) chooseTasks(first, last, dim, threads int) []Node {
	most := max(leastTasks, min(mostTasks, sumMemory/dim))
	if threads == 1 {
		most = 1
	}
	for level := 0; ; level++ {
		if tasks := t.cover(nil, first, last, level); len(tasks) <= most || level == t.root().Level {
			return tasks
		}
	}
}

// vectors returns vectors that begin at cache lines' distances.
func vectors(count, size int) [][]float64 {
	stride := padded(size)
	slab, all := make([]float64, count*stride), make([][]float64, count)
	for i := range all {
		all[i] = slab[i*stride:][:size:size]
	}
	return all
}

// blocks returns the range of blocks, of those that are here, under a node.
func (a *adding) blocks(n Node) (first, last int) {
	first, last = a.tree.span(n)
	return a.tree.leafBlock(first) - a.base, a.tree.leafBlock(last) - a.base
}

// addNode stores the sum over a node in sum.
func (l *Linearization) addNode(r *rowSum, worker int, n Node, sum []float64) {
	if n.Level == 0 {
		first, last := l.adding.blocks(n)
		r.leaf(l.spaces[worker], sum, first, last)
		return
	}
	left, right, both := l.adding.tree.children(n)
	l.addNode(r, worker, left, sum)
	if !both {
		return
	}
	other := l.adding.spare[worker][right.Level]
	l.addNode(r, worker, right, other)
	dst := sum[r.first:r.last]
	vector.Add(dst, dst, other[r.first:r.last])
}

// sumTo stores the sum over all rows in dst, in process 0: means of what belongs to weights, and a tally as it is.
func (l *Linearization) sumTo(dst []float64, r *rowSum) {
	l.pool.run(len(l.adding.tasks), r.task)
	a, dim := &l.adding, l.net.dim
	weights := max(0, min(r.last, dim)-r.first)
	a.dst = dst[:weights]
	l.pool.run((weights+foldChunk-1)/foldChunk, l.fold)
	a.dst = nil
	if r.last > dim {
		a.addUp(dim, r.last)
	}
	if a.part == nil {
		copy(dst[weights:], a.sums[0][r.first+weights:r.last])
		return
	}
	for i, first := range a.start {
		a.joint[i] = a.sums[first][r.first:r.last]
	}
	a.part.Joiner.Sum(a.tree, dst, a.joint)
	if a.part.Rank == 0 {
		vector.Scale(dst[:weights], 1/float64(l.all), dst[:weights])
	}
}

// addUp adds up the numbers [first, last) of the sums of the tasks under each of the process's nodes, in its first one.
func (a *adding) addUp(first, last int) {
	for i, n := range a.nodes {
		a.tree.addUp(n, a.tasks[a.start[i]:], a.sums[a.start[i]:], first, last)
	}
}

// foldWeights does addUp for one chunk of weights, and takes the mean if no other process has rows.
func (l *Linearization) foldWeights(_, i int) {
	a := &l.adding
	first := i * foldChunk
	last := min(first+foldChunk, len(a.dst))
	a.addUp(first, last)
	if a.part == nil {
		vector.Scale(a.dst[first:last], 1/float64(l.all), a.sums[0][first:last])
	}
}
