// Package mpi trains one run in several processes that were started by mpirun or srun.
//
// Process 0 has the session: it alone decides, records, prints and is looked at. The others wait for what it asks of
// its Linearizations and do the same to theirs, so that no decision can differ between processes, whatever it depends
// on: time, a viewer's key, a processor's instructions. A product is one broadcast and one reduction.
//
//	rank 0      session ─► Linearization ─┬ announce ─► own rows ─► Joiner.Sum ─► result
//	                                      │ broadcast                 ▲ reduction
//	rank 1, 2…  Work ◄────────────────────┴─────────────► own rows ───┘
package mpi

import (
	"time"

	"newtop/models/reduce"
)

// Collectives are what a run's sums and products take their time in. All processes call the same methods but for Alloc
// in the same order, with as many numbers: others would be written where they do not belong. Errors are MPI's own.
type Collectives interface {
	Rank() int
	Size() int
	// Alloc returns n zeros that MPI may send from and receive into without a copy.
	Alloc(n int) []float64
	// Sum replaces process 0's x by the sum of all processes' in an order of MPI's choice, the same whenever as many
	// processes lie in the same places; the others' x is spoilt.
	Sum(x []float64) error
	// SumFixed is reduce.Joiner's Sum in the order of the tree.
	SumFixed(tree reduce.Tree, dst []float64, nodes [][]float64) error
	// Bcast brings root's x to all.
	Bcast(x []float64, root int) error
}

// Options say how processes work together. The zero value works.
type Options struct {
	// whether sums may be in MPI's order, so that their last digits depend on the number of processes
	Fast    bool
	Timeout time.Duration // a process that nothing is heard of for so long ends the run; 0: 5 minutes
	// Fatal ends the process after something broke: it is told what in one line, and the exit code to end with. nil:
	// standard error and os.Exit.
	Fatal func(text string, code int)
}

// Exit codes of a process that Fatal ends.
const (
	ExitFailed = 1
	ExitHung   = 4 // nothing was heard of another process for Options.Timeout
)
