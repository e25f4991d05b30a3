package models

import (
	"fmt"

	"newtop/internal/vector"
	"newtop/models/internal/pass"
	"newtop/models/reduce"
)

// Batch computes gradients of the mean loss over few rows at a time. One goroutine uses it at a time.
type Batch struct {
	// Pool computes batches that are large enough to gain from it. nil: the caller's goroutine computes all. The
	// results are the same to the bit.
	Pool *reduce.Pool

	net     *Network
	cost    Cost
	rows    int // of the data
	maxRows int
	parts   []batchPart // of a large batch
	wide    bool        // whether threads share the work on nodes
	batchFactors
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
	// addWorkers sees to it that there are that many workers.
	addWorkers(count int)
	// beginGradient is given the arguments of a call, and how many parts it has; end takes them away and stores the
	// sums over the parts.
	beginGradient(dst, w []float64, rows []int, parts int)
	beginSingle(dst, w []float32, rows []int, parts int) // the same of a network in single precision
	beginSquares(dst []float64, parts int)               // behind it
	// beginMoments is for the sums of K-FAC's factors, over rows whose targets are made of numbers that were drawn.
	beginMoments(dst []float64, layout *pass.Moments, w []float64, rows []int, drawn []float64, parts int)
	end()
	// addPart sums up what is asked for over the rows of a part, of which worker may be one of several at once.
	addPart(worker, i int, part *batchPart)
	// shareNodes has the caller's worker share the work on nodes with a pool; nil: no longer.
	shareNodes(pool *reduce.Pool)
	// ofRow stores the gradient of a batch of one row, and returns its loss.
	ofRow() float64
}

const (
	// partWork is how many multiplications a part of a batch has at least, 15 µs of them: some tens of times what it
	// takes to call a thread that looks for work, and to add the part's sum.
	partWork = 1 << 19
	// evenRows is what the rows of a part are a multiple of: as many as the widest registers hold.
	evenRows = 8
	// maxParts bounds how many sums of the network's size there are.
	maxParts = 8
	// wideBlock is how many rows of a batch go through a wide net together: blas takes the same number at a time.
	wideBlock = 256
)

// newBatch returns a Batch of rows that were checked.
func newBatch(n *Network, x, t Matrix, rows int) *Batch {
	all, _ := x.Dims()
	b := &Batch{net: n, cost: n.Cost(), rows: all, maxRows: rows, parts: make([]batchPart, 1), wide: n.wide(wideBatch)}
	if n.precision == Single {
		b.batchComputation = newBatchPasses[float32](n, x, t, rows)
	} else {
		b.batchComputation = newBatchPasses[float64](n, x, t, rows)
	}
	b.add = func(worker, i int) { b.addPart(worker, i, &b.parts[i]) }
	b.addWorkers(1)
	return b
}

// GradientTo stores the gradient at w of the mean loss over the given rows in dst and returns that
// loss. A row may be given more than once. It allocates nothing but at the first large batch.
func (b *Batch) GradientTo(dst, w []float64, rows []int) float64 {
	b.net.checkWeights("GradientTo", "dst", dst)
	b.net.checkWeights("GradientTo", "w", w)
	parts := b.partsOf("GradientTo", rows)
	b.beginGradient(dst, w, rows, parts)
	return b.gradient(parts, rows)
}

// SingleGradientTo is GradientTo for a network in single precision, with weights and gradient as its passes have them:
// parts of a large batch are added up in float32.
func (b *Batch) SingleGradientTo(dst, w []float32, rows []int) float64 {
	if dim := b.net.Dim(); b.net.precision != Single || len(dst) != dim || len(w) != dim {
		panic(fmt.Sprintf("models: SingleGradientTo: dst of %d and w of %d numbers, the network has %d weights in %s",
			len(dst), len(w), dim, b.net.precision))
	}
	parts := b.partsOf("SingleGradientTo", rows)
	b.beginSingle(dst, w, rows, parts)
	return b.gradient(parts, rows)
}

// partsOf checks rows and settles their parts.
func (b *Batch) partsOf(name string, rows []int) int {
	b.checkRows(name, rows)
	if len(rows) == 1 {
		return 1
	}
	return b.divide(len(rows), b.cost.Gradient, b.wide)
}

// gradient computes a gradient that began, and returns the loss.
func (b *Batch) gradient(parts int, rows []int) float64 {
	defer b.end()
	if len(rows) == 1 {
		return b.ofRow()
	}
	b.run(parts, b.wide)
	return b.loss(parts, len(rows))
}

// GradientSquaresTo is GradientTo, to the bit, and stores in squares the mean over the rows of the squares of each
// row's own gradient: the diagonal of the empirical Fisher matrix, with which Martens 2010, §4.7, preconditions, and
// from which Byrd et al. 2012, §3, estimate the gradient's variance. The parameters of gates are in it like weights.
func (b *Batch) GradientSquaresTo(dst, squares, w []float64, rows []int) float64 {
	b.net.checkWeights("GradientSquaresTo", "dst", dst)
	b.net.checkWeights("GradientSquaresTo", "squares", squares)
	b.check("GradientSquaresTo", w, rows)
	if len(rows) == 1 {
		loss := b.GradientTo(dst, w, rows)
		vector.Mul(squares, dst, dst)
		return loss
	}
	parts := b.divide(len(rows), b.cost.Gradient, b.wide)
	b.beginGradient(dst, w, rows, parts)
	b.beginSquares(squares, parts)
	b.run(parts, b.wide)
	b.end()
	return b.loss(parts, len(rows))
}

// check panics unless there is a weight for each of the network's, and the rows are some of the data's, and not too
// many.
func (b *Batch) check(name string, w []float64, rows []int) {
	b.net.checkWeights(name, "w", w)
	b.checkRows(name, rows)
}

func (b *Batch) checkRows(name string, rows []int) {
	if len(rows) < 1 || len(rows) > b.maxRows {
		panic(fmt.Sprintf("models: %s: %d rows, expected 1 to %d", name, len(rows), b.maxRows))
	}
	for _, p := range rows {
		if p < 0 || p >= b.rows {
			panic(fmt.Sprintf("models: %s: row %d of %d", name, p, b.rows))
		}
	}
}

// divide settles the parts of a batch of that many rows, each of which takes cost multiplications, and returns how many
// there are: an even number, if there is work for more than one, of as many rows each as whole registers allow. A wide
// batch is one part: its sum is long. It does not depend on how many threads there are.
func (b *Batch) divide(rows int, cost float64, wide bool) int {
	blocks := (rows + reduce.BlockRows - 1) / reduce.BlockRows
	count := 1
	if !wide && rows*int(cost) >= 2*partWork {
		count = min((blocks+1)&^1, maxParts)
	}
	size := (rows + count - 1) / count
	size = min((size+evenRows-1)&^(evenRows-1), rows)
	count = (rows + size - 1) / size
	if len(b.parts) < count {
		b.parts = append(b.parts, make([]batchPart, count-len(b.parts))...)
	}
	for i := range b.parts[:count] {
		b.parts[i].first, b.parts[i].last = i*size, min((i+1)*size, rows)
	}
	return count
}

// run computes the parts. Threads share them, or of a wide batch the work on nodes.
func (b *Batch) run(parts int, wide bool) {
	switch {
	case parts == 1 && wide && b.Pool.Threads() > 1:
		b.shareNodes(b.Pool)
		defer b.shareNodes(nil)
		b.add(0, 0)
	case parts == 1:
		b.add(0, 0)
	default:
		b.addWorkers(b.Pool.Threads())
		b.Pool.Run(parts, b.add)
	}
}

// loss returns the mean of what that many rows in that many parts lost.
func (b *Batch) loss(parts, rows int) float64 {
	loss := 0.0
	for _, part := range b.parts[:parts] {
		loss += part.loss
	}
	return loss / float64(rows)
}

// NewBatch returns a Batch that takes up to rows rows at once of x and t, which are all × Columns and
// all × Outputs and must not change as long as it is used.
func (n *Network) NewBatch(x, t Matrix, rows int) *Batch {
	all, _ := x.Dims()
	n.checkMatrix("NewBatch", "x", x, all, n.Columns())
	n.checkMatrix("NewBatch", "t", t, all, n.Outputs())
	if rows < 1 {
		panic(fmt.Sprintf("models: NewBatch: batches of %d rows", rows))
	}
	return newBatch(n, x, t, rows)
}

// NewFactors returns room for the factors of all Matrices, and for single numbers where they have more than side rows.
func (n *Network) NewFactors(side int) []Factors {
	room := func(d int) []float64 {
		if d > side {
			return make([]float64, 1)
		}
		return make([]float64, d*d)
	}
	var all []Factors
	for _, m := range n.matrices {
		all = append(all, Factors{room(m.inputs()), room(m.Rows)})
	}
	return all
}
