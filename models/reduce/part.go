package reduce

// Part makes what sums over rows one of several, in as many processes, that share the rows: each has those that
// NewTree(Rows).Rows(Rank, Size) says, which may be none. Every sum must be asked for in all processes, in the same
// order and with the same arguments; process 0 receives what it is over all rows, the others nothing of use.
type Part struct {
	Rows       int // of all parts together
	Rank, Size int
	Joiner     Joiner
}

// Joiner adds up what the parts have computed. Its methods are called in all processes in the same order.
type Joiner interface {
	// Sum stores in process 0's dst the sum over all processes' nodes, in the order of the tree or in another. nodes
	// has a slice as long as dst for each of Tree.Nodes; Sum may spoil them, and dst in the other processes.
	Sum(tree Tree, dst []float64, nodes [][]float64)
	// Chain is for what is added to in place, row after row: where the order counts it gives each process the numbers
	// in x that the processes before it left, has add add its own, and brings those of the last one to process 0. add
	// in process 0 meets zeros. add returns goOn = false if the work was given up, which no process then finishes.
	Chain(x []float64, add func() (goOn bool))
}
