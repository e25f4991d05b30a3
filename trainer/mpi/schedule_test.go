package mpi

import (
	"fmt"
	"testing"

	"newtop/models/reduce"
)

// TestSchedule goes through the steps with words for sums, which show the order in which they were added.
func TestSchedule(t *testing.T) {
	for _, leaves := range []int{1, 2, 3, 5, 8, 13, 32} {
		tree := reduce.NewTree(leaves * reduce.BlockRows)
		if tree.Leaves() != leaves {
			t.Fatalf("%d leaves, expected %d", tree.Leaves(), leaves)
		}
		want := written(0, 5, leaves)
		for size := 1; size <= leaves+2; size++ {
			sums := make([][]string, size)
			for rank := range size {
				for _, n := range tree.Nodes(rank, size) {
					sums[rank] = append(sums[rank], written(n.Index<<n.Level, n.Level, leaves))
				}
			}
			s := newSchedule(tree, size)
			// Every process by itself, until it needs what has not come: in whatever order they run, they come to the end.
			run(t, s, sums)
			if got := sums[s.home][0]; got != want {
				t.Errorf("%d leaves of %d processes: %s, expected %s", leaves, size, got, want)
			}
			if size <= leaves && s.home != 0 {
				t.Errorf("%d leaves of %d processes: the sum is in process %d", leaves, size, s.home)
			}
		}
	}
}

// run has processes take turns, the last one first, as far as each comes.
func run(t *testing.T, s schedule, sums [][]string) {
	t.Helper()
	left := make([][]step, len(sums))
	for rank := range sums {
		left[rank] = s.of(rank)
	}
	mail := map[step]string{}
	for moved := true; moved; {
		moved = false
		for rank := len(sums) - 1; rank >= 0; rank-- {
			for len(left[rank]) > 0 {
				at := left[rank][0]
				if at.from == rank {
					mail[at] = sums[rank][at.source]
				}
				if _, come := mail[at]; !come {
					break
				}
				if at.to == rank {
					sums[rank][at.addition] = "(" + sums[rank][at.addition] + "+" + mail[at] + ")"
				}
				left[rank], moved = left[rank][1:], true
			}
		}
	}
	for rank, steps := range left {
		if len(steps) > 0 {
			t.Fatalf("process %d waits for ever", rank)
		}
	}
}

// written writes down the sum over the leaves of a node.
func written(first, level, leaves int) string {
	if level == 0 {
		return fmt.Sprint(first)
	}
	half := 1 << (level - 1)
	if first+half >= leaves {
		return written(first, level-1, leaves)
	}
	return "(" + written(first, level-1, leaves) + "+" + written(first+half, level-1, leaves) + ")"
}

// TestRounds: where the processes' shares are whole nodes the rounds are those of a tournament.
func TestRounds(t *testing.T) {
	for _, c := range []struct{ rows, size, want int }{
		{16000, 1, 0}, {16000, 2, 1}, {16000, 4, 2}, {16000, 32, 5}, {1e9, 1024, 10}, {16000, 3, 6}, {16000, 6, 6}, {1e6, 10, 20},
	} {
		if got := newSchedule(reduce.NewTree(c.rows), c.size).rounds; got != c.want {
			t.Errorf("%d rows of %d processes: %d rounds, expected %d", c.rows, c.size, got, c.want)
		}
	}
	for _, c := range []struct {
		n, size int
		want    bool
	}{{1 << 30, 2, false}, {6000, 4, false}, {1e6, 4, false}, {1e6, 8, true}, {1000, 8, false}, {1e6, 3, true}} {
		tree := reduce.NewTree(16000)
		maxNodes := 0
		for rank := range c.size {
			maxNodes = max(maxNodes, len(tree.Nodes(rank, c.size)))
		}
		if got := shared(c.n, c.size, newSchedule(tree, c.size).rounds, maxNodes); got != c.want {
			t.Errorf("%d numbers, %d processes: shared out %v, expected %v", c.n, c.size, got, c.want)
		}
	}
}
