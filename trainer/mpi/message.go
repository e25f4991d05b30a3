package mpi

// message is what process 0 tells all others to do.
type message [10]int64

// The places of a message that all have. What else there is is the op's own, from arguments on.
const (
	indexOp = 0
	indexID = 1 // of a linearization
	// whether the processes meet before a sum, because one may take far longer to its part than another
	indexPatient = 2
	arguments    = 3
)

// op is what a message asks for.
type op int64

const (
	opPrepare op = iota // the configuration follows: its length
	opReport            // on what came of opPrepare
	opBind              // test, first, step, count, bytes of memory, whether in double precision
	opRelease
	opEnd // the exit code

	// Calls of a linearization. Up to opRows a vector of its size follows.
	opUpdate // whether products are expected
	opEvaluate
	opHessian
	opGaussNewton
	opRows
	opDiagonal
	opMatrix
	ops

	// Answers to the processes that have come to a Chain.
	opGo     = ops
	opGiveUp = ops + 1
)

// hasVector reports whether a vector follows.
func (o op) hasVector() bool { return o >= opUpdate && o <= opRows }

func (m *message) op() op { return op(m[indexOp]) }

// boolToInt returns 1 for true.
func boolToInt(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// Notes of one process to another.
const (
	noteHeartbeat = iota // nothing: it is still there
	notePrepared         // it has tried to prepare its part
)
