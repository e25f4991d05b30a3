package mpi

import (
	"math/bits"

	"newtop/models/reduce"
)

// step is an addition of a sum over a tree: that of one node, a right child's, is added to that of another, the left
// child's. Sums lie in slots: those of a process's own nodes, in their order.
type step struct {
	from, to         int // processes
	source, addition int // slots there
}

// schedule is who adds up what in a tree's order, where each process has the nodes of its leaves: every sum comes to be
// where that of the first leaf under it is. If each process does the steps that it takes part in, in their order, none
// waits for what comes later.
type schedule struct {
	steps  []step
	home   int // where the sum over all rows comes to be, in slot 0
	rounds int // how many messages wait for one another until it is there
}

// position is where the sum of a node is.
type position struct{ rank, slot int }

func newSchedule(tree reduce.Tree, size int) schedule {
	owned := map[reduce.Node]position{}
	for rank := range size {
		for slot, n := range tree.Nodes(rank, size) {
			owned[n] = position{rank, slot}
		}
	}
	var s schedule
	rounds := make([]int, size) // after which each process is free
	var add func(n reduce.Node) position
	add = func(n reduce.Node) position {
		if p, ok := owned[n]; ok {
			return p
		}
		left := add(reduce.Node{Level: n.Level - 1, Index: 2 * n.Index})
		right := reduce.Node{Level: n.Level - 1, Index: 2*n.Index + 1}
		if right.Index<<right.Level >= tree.Leaves() {
			return left
		}
		p := add(right)
		s.steps = append(s.steps, step{from: p.rank, to: left.rank, source: p.slot, addition: left.slot})
		if p.rank != left.rank {
			after := max(rounds[p.rank], rounds[left.rank]) + 1
			rounds[p.rank], rounds[left.rank] = after, after
		}
		return left
	}
	s.home = add(reduce.Node{Level: bits.Len(uint(tree.Leaves() - 1))}).rank
	if s.rounds = rounds[s.home]; s.home != 0 {
		s.rounds++
	}
	return s
}

// of returns the steps that a process takes part in.
func (s schedule) of(rank int) (own []step) {
	for _, step := range s.steps {
		if step.from == rank || step.to == rank {
			own = append(own, step)
		}
	}
	return own
}

// messageNumbers is how many numbers a network sends while a message is in progress: those of 32 KB, as on 10 Gbit/s
// with 25 µs.
const messageNumbers = 4096

// shared reports whether SumFixed shares out a sum of n numbers instead, because it takes less time by the messages and
// numbers that wait for one another. most is how many nodes a process has at most.
func shared(n, size, rounds, maxNodes int) bool {
	climb := rounds * (messageNumbers + n)
	exchange := 2*(size-1)*messageNumbers + (maxNodes+1)*n
	return size > 2 && climb > exchange
}
