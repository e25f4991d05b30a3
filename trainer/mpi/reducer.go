package mpi

import (
	"newtop/models"

	"gonum.org/v1/gonum/floats"
)

// reducer adds up what the processes have computed. In process 0 the calls are part of what a Linearization was asked for, in
// the others of what a message did.
type reducer struct{ c *Comm }

var _ models.Joiner = (*reducer)(nil)

// Sum is a reduction.
func (j *reducer) Sum(tree models.Tree, dst []float64, nodes [][]float64) {
	w := j.c
	w.meet()
	if !w.config.Fast {
		w.during(&inSum, func() error { return w.link.SumFixed(tree, dst, nodes) })
		return
	}
	sum := w.scratch.sums(w.link, len(dst))
	clear(sum)
	for _, x := range nodes {
		floats.Add(sum, x)
	}
	w.during(&inSum, func() error { return w.link.Sum(sum) })
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
func (j *reducer) Chain(x []float64, add func() (goOn bool)) {
	w := j.c
	last := w.Size() - 1
	if w.Rank() == 0 {
		if !add() {
			w.tell(message{placeOp: int64(opGiveUp)})
			return
		}
		w.tell(message{placeOp: int64(opGo), placePatient: 1})
		switch {
		case last == 0:
		case w.config.Fast:
			w.meet()
			w.during(&inSum, func() error { return w.link.Sum(x) })
		default:
			w.during(&inSum, func() error { return w.link.Send(x, 1) })
			w.receive(x, last)
		}
		return
	}
	if w.config.Fast {
		add()
		if w.turn() {
			w.meet()
			w.during(&inSum, func() error { return w.link.Sum(x) })
		}
		return
	}
	if !w.turn() {
		return
	}
	w.receive(x, w.Rank()-1)
	add()
	w.during(&inSum, func() error { return w.link.Send(x, (w.Rank()+1)%w.Size()) })
}
