package models

import (
	"gonum.org/v1/gonum/mat"

	"newtop/models/internal/pass"
	"newtop/models/reduce"
)

// tapes are the rows of data that a Linearization has here, cut into blocks, and the passes of the first blocks, kept as far as
// memory allows.
type tapes struct {
	net       *pass.Net
	x, t      *mat.Dense
	rows      int       // that are here
	w         []float64 // weights of the last Update
	current   bool      // whether the kept tapes are those at w
	slab      []float64 // tapes of the first kept blocks, one after another
	kept      int
	scratches []*pass.Scratch // one a worker
}

// blocks returns how many blocks the rows that are here make.
func (l *tapes) blocks() int { return (l.rows + reduce.BlockRows - 1) / reduce.BlockRows }

// blockSize returns the number of rows of block i; all but the last are full.
func (l *tapes) blockSize(i int) int { return min(reduce.BlockRows, l.rows-i*reduce.BlockRows) }

// allocate makes room for the tapes of as many blocks as memory allows.
func (l *tapes) allocate(memory int64) {
	perRow := int64(l.net.TapeSize())
	rows := min(int64(l.rows), memory/(8*perRow))
	if rows == int64(l.rows) {
		l.kept = l.blocks()
	} else {
		l.kept = int(rows / reduce.BlockRows)
		rows = int64(l.kept) * reduce.BlockRows
	}
	l.slab = make([]float64, rows*perRow)
}

// fill stores the inputs of those of the blocks [first, last) whose tapes are kept.
func (l *tapes) fill(s *pass.Scratch, first, last int) {
	for block := first; block < min(last, l.kept); block++ {
		s.SetRows(l.blockSize(block))
		pass.Gather(l.keptTape(s, block).U[0], l.x.RawMatrix(), block*reduce.BlockRows, s.Rows)
	}
}

// keptTape returns the view of a kept block's tape.
func (l *tapes) keptTape(s *pass.Scratch, block int) *pass.Tape {
	l.net.PlaceTape(&s.View, l.slab[block*reduce.BlockRows*l.net.TapeSize():], s.Rows)
	return &s.View
}

// prepare makes the scratch ready for a block and returns its tape with the inputs filled in, and whether the
// tape outlives the block.
func (l *tapes) prepare(s *pass.Scratch, block int) (tp *pass.Tape, kept bool) {
	s.SetRows(l.blockSize(block))
	if l.current && block < l.kept {
		tp := l.keptTape(s, block)
		tp.X = l.inputs(block)
		return tp, true
	}
	s.Own.X = l.inputs(block)
	pass.Gather(s.Own.U[0], l.x.RawMatrix(), block*reduce.BlockRows, s.Rows)
	return &s.Own, false
}

// inputs returns the rows of x of a block.
func (l *tapes) inputs(block int) pass.RowMajor {
	x := l.x.RawMatrix()
	return pass.RowMajor{Data: x.Data[block*reduce.BlockRows*x.Stride:], Stride: x.Stride}
}

// pass does the forward and backward pass on a block whose inputs are filled in.
func (l *tapes) pass(s *pass.Scratch, tp *pass.Tape, block int) pass.Tally {
	l.targets(s, block)
	return s.Pass(l.w, tp, 1)
}

// targets makes the scratch's targets those of a block.
func (l *tapes) targets(s *pass.Scratch, block int) {
	pass.Gather(s.Targets, l.t.RawMatrix(), block*reduce.BlockRows, s.Rows)
}
