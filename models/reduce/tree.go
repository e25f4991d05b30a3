// Package reduce adds up over the rows of data: in a fixed order, so that the bits of a sum depend on neither the
// number of threads nor that of processes; on a pool of threads; and across processes.
package reduce

import (
	"fmt"
	"math/bits"

	"newtop/internal/vector"
)

// BlockRows is how many rows of data go through a network together: whole registers of every kernel, and few
// enough for what a block of a net of some hundred nodes needs to stay in a core's second-level cache.
const BlockRows = 96

// Tree is the order in which sums over rows are added up: that of a binary tree over contiguous groups of blocks, its
// leaves, which depends on the number of rows alone. Any process that has some of the leaves can add up what lies in
// whole subtrees, and the sum over all rows has the same bits however the leaves are shared out.
//
//	level 2            ┌───────┴───────┐
//	level 1        ┌───┴───┐       ┌───┴──
//	level 0        0       1       2          node i of level k is over the leaves [i·2ᵏ, (i+1)·2ᵏ), as far
//	                                          as they exist; one with a single child is that child
type Tree struct{ rows, blocks, leaves int }

// Node is a node of a Tree. Level 0 has the leaves.
type Node struct{ Level, Index int }

// A leaf has at least leafBlocks blocks where minLeaves are left then, so that adding its sum to others costs little
// beside computing it. maxLeaves is so many that thousands of processes have about as many each.
const leafBlocks, minLeaves, maxLeaves = 4, 32, 1 << 16

// NewTree returns the tree for sums over rows, of which there is at least one.
func NewTree(rows int) Tree {
	if rows < 1 {
		panic(fmt.Sprintf("reduce: NewTree: %d rows", rows))
	}
	blocks := (rows-1)/BlockRows + 1
	power := 1 << bits.Len(uint(blocks/leafBlocks)) >> 1
	return Tree{rows, blocks, min(blocks, max(minLeaves, min(power, maxLeaves)))}
}

// Leaves returns how many leaves there are: the most processes that can have rows.
func (t Tree) Leaves() int { return t.leaves }

// Share returns the leaves [first, last) of process rank of size: none for some if there are more processes than
// leaves.
func (t Tree) Share(rank, size int) (first, last int) {
	if rank < 0 || rank >= size {
		panic(fmt.Sprintf("reduce: process %d of %d", rank, size))
	}
	return rank * t.leaves / size, (rank + 1) * t.leaves / size
}

// Rows returns the rows [first, last) that process rank of size has: those of its leaves. With as many processes as
// leaves these are a leaf's.
func (t Tree) Rows(rank, size int) (first, last int) {
	first, last = t.Share(rank, size)
	return t.leafRow(first), t.leafRow(last)
}

// leafRow returns the first row of a leaf, or how many rows there are.
func (t Tree) leafRow(leaf int) int { return min(t.rows, t.leafBlock(leaf)*BlockRows) }

// leafBlock returns the first block of a leaf, or how many blocks there are.
func (t Tree) leafBlock(leaf int) int { return leaf * t.blocks / t.leaves }

// Nodes returns the largest nodes that are over leaves of process rank of size alone, in the order of the leaves.
func (t Tree) Nodes(rank, size int) []Node {
	first, last := t.Share(rank, size)
	return t.cover(nil, first, last, t.root().Level)
}

// cover appends to nodes the largest ones up to a level that are over some of the leaves [first, last), all together
// over all of them, in order. Of a node with a single child it takes the child.
func (t Tree) cover(nodes []Node, first, last, level int) []Node {
	for first < last {
		n := Node{0, first}
		for n.Level < level && n.Index&1 == 0 {
			_, end := t.span(n)
			parent := Node{n.Level + 1, n.Index / 2}
			if _, to := t.span(parent); to > last || to == end {
				break
			}
			n = parent
		}
		nodes = append(nodes, n)
		_, first = t.span(n)
	}
	return nodes
}

// root returns the node over all leaves.
func (t Tree) root() Node { return Node{Level: bits.Len(uint(t.leaves - 1))} }

// span returns the leaves [first, last) of a node.
func (t Tree) span(n Node) (first, last int) {
	return min(t.leaves, n.Index<<n.Level), min(t.leaves, (n.Index+1)<<n.Level)
}

// children returns the two nodes below one, and whether the right one exists.
func (t Tree) children(n Node) (left, right Node, both bool) {
	left, right = Node{n.Level - 1, 2 * n.Index}, Node{n.Level - 1, 2*n.Index + 1}
	first, last := t.span(right)
	return left, right, first < last
}

// Combine adds up sums[i] over nodes[i], which have all leaves in order, as those of all of Nodes of all ranks do, in
// the tree's order. It leaves the result in sums[0], which it returns, and spoils the others. Every number is added up
// by itself, so that long sums may be combined piece by piece, by several goroutines.
func (t Tree) Combine(nodes []Node, sums [][]float64) []float64 {
	next := 0
	for _, n := range nodes {
		first, last := t.span(n)
		if n.Level < 0 || n.Index < 0 || first != next || last == first {
			panic(fmt.Sprintf("reduce: Combine: node %v where leaf %d of %d comes next", n, next, t.leaves))
		}
		next = last
	}
	if next != t.leaves || len(sums) != len(nodes) {
		panic(fmt.Sprintf("reduce: Combine: %d sums over %d of %d leaves", len(sums), next, t.leaves))
	}
	t.addUp(t.root(), nodes, sums, 0, len(sums[0]))
	return sums[0]
}

// addUp adds up the numbers [first, last) of the sums over what n is over, the first of which are nodes and sums, and
// leaves the result in those of sums[0]. It returns how many nodes that took.
func (t Tree) addUp(n Node, nodes []Node, sums [][]float64, first, last int) int {
	_, end := t.span(n)
	if _, to := t.span(nodes[0]); to == end {
		return 1
	}
	left, right, both := t.children(n)
	count := t.addUp(left, nodes, sums, first, last)
	if !both {
		return count
	}
	other := sums[count]
	count += t.addUp(right, nodes[count:], sums[count:], first, last)
	dst := sums[0][first:last]
	vector.Add(dst, dst, other[first:last])
	return count
}
