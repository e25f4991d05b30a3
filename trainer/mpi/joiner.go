package mpi

import (
	"gonum.org/v1/gonum/floats"

	"newtop/models/reduce"
)

// joiner adds up what the processes have computed. In process 0 the calls are part of what a Linearization was asked for, in
// the others of what a message did.
type joiner struct{ w *World }

var _ reduce.Joiner = (*joiner)(nil)

// Sum is a reduction.
func (j *joiner) Sum(tree reduce.Tree, dst []float64, nodes [][]float64) {
	w := j.w
	w.meet()
	if !w.charter.Fast {
		w.during(&inSum, func() error { return w.wire.SumFixed(tree, dst, nodes) })
		return
	}
	sum := w.scratch.sums(w.wire, len(dst))
	clear(sum)
	for _, x := range nodes {
		floats.Add(sum, x)
	}
	w.during(&inSum, func() error { return w.wire.Sum(sum) })
	if w.Rank() == 0 {
		copy(dst, sum)
	}
}

// sums returns room for a sum.
func (s *scratch) sums(r Reducer, n int) []float64 {
	if len(s.sum) < n {
		s.sum = r.Alloc(n)
	}
	return s.sum[:n]
}

// Chain has process 0 go first, since it may be given up there, or be asked for something else meanwhile, as to look at the
// Hessian's spectrum: the others then do that while they wait for their turn.
func (j *joiner) Chain(x []float64, add func() (goOn bool)) {
	w := j.w
	last := w.Size() - 1
	if w.Rank() == 0 {
		if !add() {
			w.tell(message{placeOp: int64(opGiveUp)})
			return
		}
		w.tell(message{placeOp: int64(opGo), placePatient: 1})
		switch {
		case last == 0:
		case w.charter.Fast:
			w.meet()
			w.during(&inSum, func() error { return w.wire.Sum(x) })
		default:
			w.during(&inSum, func() error { return w.wire.Send(x, 1) })
			w.receive(x, last)
		}
		return
	}
	if w.charter.Fast {
		add()
		if w.turn() {
			w.meet()
			w.during(&inSum, func() error { return w.wire.Sum(x) })
		}
		return
	}
	if !w.turn() {
		return
	}
	w.receive(x, w.Rank()-1)
	add()
	w.during(&inSum, func() error { return w.wire.Send(x, (w.Rank()+1)%w.Size()) })
}
