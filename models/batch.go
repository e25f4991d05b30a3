package models

import (
	"fmt"

	"newtop/models/reduce"
)

// Batch computes gradients of the mean loss over few rows at a time. One goroutine uses it at a time.
type Batch struct {
	// Pool computes batches that are large enough to gain from it. nil: the caller's goroutine computes all. The
	// results are the same to the bit.
	Pool *reduce.Pool

	net   *Network
	cost  int // multiplications a row
	rows  int // of the data
	most  int
	parts []batchPart // of a large batch
	wide  bool        // whether threads share the work on nodes
	batchComputation
	add func(worker, part int)
}

// batchPart is what some rows of a batch add to it.
type batchPart struct {
	first, last int     // rows [first, last)
	loss        float64 // the plain sum over the rows
}

// batchComputation is a batchPasses of either precision.
type batchComputation interface {
	// addWorkers sees to it that there are that many workers, and addParts that there are sums for that many parts.
	addWorkers(count int)
	addParts(count int)
	// begin is given the arguments of a call, and end takes them away and stores the sum over that many parts.
	begin(dst, w []float64, rows []int)
	end(parts int)
	// addPart sums the gradients of the rows of a part, of which worker may be one of several at once.
	addPart(worker, i int, part *batchPart)
	// shareNodes has the caller's worker share the work on nodes with a pool; nil: no longer.
	shareNodes(pool *reduce.Pool)
	// ofRow stores the gradient of a batch of one row, and returns its loss.
	ofRow() float64
}

const (
	// partWork is how many multiplications a part of a batch has at least, 15 µs of them: some tens of times what it takes to
	// call a thread that looks for work, and to add the part's sum.
	partWork = 1 << 19
	// evenRows is what the rows of a part are a multiple of: as many as the widest registers hold.
	evenRows = 8
	// mostParts bounds how many sums of the network's size there are.
	mostParts = 8
	// wideBlock is how many rows of a batch go through a wide net together: blas takes the same number at a time.
	wideBlock = 256
)

// newBatch returns a Batch of rows that were checked.
func newBatch(n *Network, x, t Matrix, rows int) *Batch {
	all, _ := x.Dims()
	b := &Batch{net: n, cost: int(n.Cost().Gradient), rows: all, most: rows, parts: make([]batchPart, 1), wide: n.wide(wideBatch)}
	if n.precision == Single {
		b.batchComputation = newBatchPasses[float32](n, x, t, rows)
	} else {
		b.batchComputation = newBatchPasses[float64](n, x, t, rows)
	}
	b.add = func(worker, i int) { b.addPart(worker, i, &b.parts[i]) }
	b.addWorkers(1)
	b.addParts(1)
	return b
}

// GradientTo stores the gradient at w of the mean loss over the given rows in dst and returns that
// loss. A row may be given more than once. It allocates nothing but at the first large batch.
func (b *Batch) GradientTo(dst, w []float64, rows []int) float64 {
	b.net.checkWeights("GradientTo", "dst", dst)
	b.net.checkWeights("GradientTo", "w", w)
	if len(rows) < 1 || len(rows) > b.most {
		panic(fmt.Sprintf("models: GradientTo: %d rows, expected 1 to %d", len(rows), b.most))
	}
	for _, p := range rows {
		if p < 0 || p >= b.rows {
			panic(fmt.Sprintf("models: GradientTo: row %d of %d", p, b.rows))
		}
	}
	b.begin(dst, w, rows)
	if len(rows) == 1 {
		loss := b.ofRow()
		b.end(1)
		return loss
	}
	count := b.divide(len(rows))
	switch {
	case count == 1 && b.wide && b.Pool.Threads() > 1:
		b.shareNodes(b.Pool)
		defer b.shareNodes(nil)
		b.add(0, 0)
	case count == 1:
		b.add(0, 0)
	default:
		b.addWorkers(b.Pool.Threads())
		b.Pool.Run(count, b.add)
	}
	b.end(count)
	loss := 0.0
	for _, part := range b.parts[:count] {
		loss += part.loss
	}
	return loss / float64(len(rows))
}

// divide settles the parts of a batch of that many rows and returns how many there are: an even number, if there is work for
// more than one, of as many rows each as whole registers allow. That of a wide net is one part: its sum is long. It does not
// depend on how many threads there are.
func (b *Batch) divide(rows int) int {
	blocks := (rows + reduce.BlockRows - 1) / reduce.BlockRows
	count := 1
	if !b.wide && rows*b.cost >= 2*partWork {
		count = min((blocks+1)&^1, mostParts)
	}
	size := (rows + count - 1) / count
	size = min((size+evenRows-1)&^(evenRows-1), rows)
	count = (rows + size - 1) / size
	if len(b.parts) < count {
		b.parts = append(b.parts, make([]batchPart, count-len(b.parts))...)
		b.addParts(count)
	}
	for i := range b.parts[:count] {
		b.parts[i].first, b.parts[i].last = i*size, min((i+1)*size, rows)
	}
	return count
}
