package models

import (
	"fmt"

	"gonum.org/v1/gonum/mat"
)

// Batch computes gradients of the mean loss over few rows at a time, on the caller's goroutine. One
// goroutine uses it at a time.
type Batch struct {
	net  *Network
	x, t *mat.Dense
	most int
	s    *space
}

// NewBatch returns a Batch that takes up to rows rows at once of x and t, which are all × Columns and
// all × Outputs and must not change as long as it is used.
func (n *Network) NewBatch(x, t *mat.Dense, rows int) *Batch {
	all, _ := x.Dims()
	n.checkMatrix("NewBatch", "x", x, all, n.Columns())
	n.checkMatrix("NewBatch", "t", t, all, n.Outputs())
	if rows < 1 {
		panic(fmt.Sprintf("models: NewBatch: batches of %d rows", rows))
	}
	return &Batch{net: n, x: x, t: t, most: rows, s: n.newSpace(min(rows, blockRows))}
}

// GradientTo stores the gradient at w of the mean loss over the given rows in dst and returns that
// loss. A row may be given more than once. It allocates nothing.
func (b *Batch) GradientTo(dst, w []float64, rows []int) float64 {
	b.net.checkWeights("GradientTo", "dst", dst)
	b.net.checkWeights("GradientTo", "w", w)
	if len(rows) < 1 || len(rows) > b.most {
		panic(fmt.Sprintf("models: GradientTo: %d rows, expected 1 to %d", len(rows), b.most))
	}
	if len(rows) == 1 {
		loss := b.pass(w, rows)
		b.s.storeGradient(dst, w, &b.s.own)
		return loss
	}
	clear(dst)
	loss := 0.0
	for first := 0; first < len(rows); first += blockRows {
		loss += b.pass(w, rows[first:min(first+blockRows, len(rows))])
		b.s.addGradient(dst, w, &b.s.own)
	}
	share := 1 / float64(len(rows))
	for i := range dst {
		dst[i] *= share
	}
	return loss * share
}

// pass does the forward and backward pass on one block of rows and returns the sum of their losses.
func (b *Batch) pass(w []float64, rows []int) float64 {
	s, tp := b.s, &b.s.own
	s.setRows(len(rows))
	x, t := b.x.RawMatrix(), b.t.RawMatrix()
	for j, p := range rows {
		if p < 0 || p >= x.Rows {
			panic(fmt.Sprintf("models: GradientTo: row %d of %d", p, x.Rows))
		}
		gatherRow(tp.u[0], x, p, j, s.rows)
		gatherRow(s.targets, t, p, j, s.rows)
	}
	s.forward(w, tp)
	sum := s.loss(tp)
	s.outputDelta(tp)
	s.backward(w, tp)
	return sum.loss
}
