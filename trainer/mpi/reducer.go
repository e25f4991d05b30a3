package mpi

import (
	"gonum.org/v1/gonum/floats"

	"newtop/models/reduce"
)

// reducer adds up what the processes have computed. In process 0 the calls are part of what a Linearization was asked
// for, in the others of what a message did.
type reducer struct {
	c   *Comm
	sum []float64 // from Alloc
}

var _ reduce.Joiner = (*reducer)(nil)

// Sum is a reduction.
func (r *reducer) Sum(tree reduce.Tree, dst []float64, nodes [][]float64) {
	c := r.c
	c.meet()
	if !c.config.Fast {
		c.during(&inSum, func() error { return c.link.SumFixed(tree, dst, nodes) })
		return
	}
	if len(r.sum) < len(dst) {
		r.sum = c.link.Alloc(len(dst))
	}
	sum := r.sum[:len(dst)]
	clear(sum)
	for _, x := range nodes {
		floats.Add(sum, x)
	}
	c.during(&inSum, func() error { return c.link.Sum(sum) })
	if c.Rank() == 0 {
		copy(dst, sum)
	}
}

// Chain has process 0 go first, since it may be given up there, or be asked for something else meanwhile, as to look at
// the Hessian's spectrum: the others then do that while they wait for their turn.
func (r *reducer) Chain(x []float64, add func() (goOn bool)) {
	c := r.c
	last := c.Size() - 1
	if c.Rank() == 0 {
		if !add() {
			c.send(message{indexOp: int64(opGiveUp)})
			return
		}
		c.send(message{indexOp: int64(opGo), indexPatient: 1})
		switch {
		case last == 0:
		case c.config.Fast:
			c.meet()
			c.during(&inSum, func() error { return c.link.Sum(x) })
		default:
			c.during(&inSum, func() error { return c.link.Send(x, 1) })
			c.receive(x, last)
		}
		return
	}
	if c.config.Fast {
		add()
		if c.worker.turn() {
			c.meet()
			c.during(&inSum, func() error { return c.link.Sum(x) })
		}
		return
	}
	if !c.worker.turn() {
		return
	}
	c.receive(x, c.Rank()-1)
	add()
	c.during(&inSum, func() error { return c.link.Send(x, (c.Rank()+1)%c.Size()) })
}
