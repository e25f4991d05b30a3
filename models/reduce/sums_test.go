package reduce

import "testing"

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
