package pass

import (
	"newtop/internal/vector"
	"newtop/models/blas"
)

// Wide layers are divided by nodes: a part of the work on a block of rows is that on some nodes, which meet their
// weights and what lies node by node. What belongs to a node is computed alike in all, so that results are the same to
// the bit, divided or not, and however many threads share the parts.
const (
	maxParts    = 8       // or two a thread: each of a product copies the other factor
	partNodes   = 8       // what the nodes of a part are a multiple of: as many as blas takes together
	minNodes    = 64      // of a part of a product
	minSquare   = 24      // of a part of a square
	partWork    = 1 << 18 // multiplications of a part of a product at least, 8 µs of them
	partNumbers = 1 << 13 // numbers of a part of elementwise work at least
)

// division is work on the nodes of a layer, which may be divided.
type division[F Float] struct {
	products[F]
	// Threads share the parts: Run computes task(worker, i) for i = 0…count−1, by several threads at once. nil: nothing
	// is divided.
	Threads interface {
		Run(count int, task func(worker, i int))
		Threads() int
	}

	task        func(worker, i int)
	work        work
	nodes, size int // of a part

	product struct { // arguments of productPart
		dst, bias []F
		cols      int
		start     blas.Start
	}
	elements struct { // of elementsPart
		layer[F]
		x, phi, ru []F
		kind       elements
	}
	square struct { // of squarePart
		dst, x []F
		rows   RowMajor[F]
		start  blas.Start
	}
	lines struct { // of transposePart and rowSumsPart
		dst, src []F
		stride   int
	}
}

// work is a kind of work on some nodes, and elements one of what is elementwise. Function values in their place would
// be allocated.
type (
	work     uint8
	elements uint8
)

const (
	multiplying work = iota
	elementwise
	transposing
	addingRows
	squaring
)

const (
	activate elements = iota
	pullKeep
	push
	pull
	curve
)

// divide does work on some nodes, in parts of at least fewest.
func (d *division[F]) divide(nodes, fewest int, kind work) {
	d.work = kind
	if d.Threads == nil || nodes <= fewest {
		d.do(0, nodes)
		return
	}
	parts := min(2*d.Threads.Threads(), maxParts)
	size := max(fewest, (nodes+parts-1)/parts)
	size = (size + partNodes - 1) &^ (partNodes - 1)
	d.nodes, d.size = nodes, size
	d.Threads.Run((nodes+size-1)/size, d.task)
}

// part is a part of the work.
func (d *division[F]) part(_, i int) { d.do(i*d.size, min((i+1)*d.size, d.nodes)) }

// do does the work on the nodes [first, last).
func (d *division[F]) do(first, last int) {
	switch d.work {
	case multiplying:
		d.productPart(first, last)
	case elementwise:
		d.elementsPart(first, last)
	case transposing:
		d.transposePart(first, last)
	case addingRows:
		d.rowSumsPart(first, last)
	case squaring:
		d.squarePart(first, last)
	}
}

// multiply computes the sum of the terms, m × n.
func (d *division[F]) multiply(dst []F, m, n int, start blas.Start, bias []F) {
	depth := 0
	if d.Threads != nil {
		for i := range d.terms {
			depth += d.terms[i].K
		}
	}
	if m*n*depth < 2*partWork {
		blas.Sum(dst, m, n, n, start, bias, d.terms)
		return
	}
	p := &d.product
	p.dst, p.bias, p.cols, p.start = dst, bias, n, start
	d.divide(m, max(minNodes, partWork/(n*depth)), multiplying)
}

// productPart computes the rows [first, last) of a sum, term by term.
func (d *division[F]) productPart(first, last int) {
	p := &d.product
	bias, start := p.bias, p.start
	if start == blas.Bias {
		bias = bias[first:]
	}
	for _, t := range d.terms {
		t.A = t.A[first*t.RowStride:]
		one := [1]blas.Term[F]{t}
		blas.Sum(p.dst[first*p.cols:], last-first, p.cols, p.cols, start, bias, one[:])
		start = blas.Add
	}
}

// squareTo stores x xᵀ of nodes × nodes in dst, or with blas.Add adds it, from the diagonal on to the right and what
// the parts have of the left; xRows is x row by row. It is divided, and so half of it left out, whether threads share
// the parts or not.
func (d *division[F]) squareTo(dst []F, nodes int, x []F, xRows RowMajor[F], start blas.Start) {
	q := &d.square
	q.dst, q.x, q.rows, q.start = dst, x, xRows, start
	d.work, d.nodes, d.size = squaring, nodes, squareNodes(nodes)
	parts := (nodes + d.size - 1) / d.size
	if d.Threads != nil && parts > 1 && nodes*nodes*d.Rows >= 4*partWork {
		d.Threads.Run(parts, d.task)
	} else {
		for i := range parts {
			d.part(0, i)
		}
	}
	d.Multiplications += SquareCost(nodes) * d.Rows
}

// squareNodes returns how many nodes a part has.
func squareNodes(nodes int) int {
	return (max(minSquare, (nodes+maxParts-1)/maxParts) + partNodes - 1) &^ (partNodes - 1)
}

// SquareCost returns how many multiplications of a row's numbers the square of that many nodes takes.
func SquareCost(nodes int) int {
	cost, size := 0, squareNodes(nodes)
	for first := 0; first < nodes; first += size {
		cost += min(size, nodes-first) * (nodes - first)
	}
	return cost
}

// squarePart computes the rows [first, last), which begin at the part's first column: the first part is the largest.
func (d *division[F]) squarePart(first, last int) {
	q, n := &d.square, d.nodes
	one := [1]blas.Term[F]{{A: q.x[first*d.Rows:], RowStride: d.Rows, ColStride: 1, B: q.rows.Data[first:],
		Stride: q.rows.Stride, K: d.Rows}}
	blas.Sum(q.dst[first*n+first:], last-first, n-first, n, q.start, nil, one[:])
}

func (d *division[F]) elementsPart(first, last int) {
	e := &d.elements
	of := func(x []F) []F {
		if len(x) != len(e.u) { // nothing, or what belongs to rows
			return x
		}
		return x[first*d.Rows : last*d.Rows]
	}
	layer[F]{e.Activation, of(e.u), of(e.delta), of(e.kept), e.ra, e.rb}.do(e.kind, of(e.x), of(e.phi), of(e.ru))
}

// do does one kind of what is elementwise.
func (l layer[F]) do(kind elements, x, phi, ru []F) {
	switch kind {
	case activate:
		l.activate()
	case pullKeep:
		l.pullKeep()
	case push:
		l.push(ru, phi)
	case pull:
		l.pull(x)
	case curve:
		l.curve(x, phi, ru)
	}
}

// transposePart stores the columns of nodes [first, last) of what lies row by row.
func (d *division[F]) transposePart(first, last int) {
	t := &d.lines
	blas.Transpose(t.dst[first:], t.stride, t.src[first*d.Rows:], d.Rows, last-first, d.Rows)
}

// addRowSums adds the sum over the rows of data of each node's numbers to dst.
func (d *division[F]) addRowSums(dst, x []F) {
	d.lines.dst, d.lines.src = dst, x
	d.divide(len(dst), partNumbers/d.Rows, addingRows)
}

func (d *division[F]) rowSumsPart(first, last int) {
	vector.AddRowSums(d.lines.dst[first:last], d.lines.src[first*d.Rows:], d.Rows)
}

// sumTo stores the sum in dst, nodes × rows, beginning with the biases of the nodes, or with 0 where there are none.
func (d *division[F]) sumTo(dst, bias []F) {
	start := blas.Zero
	if len(bias) > 0 {
		start = blas.Bias
	}
	d.finishSum(dst, len(dst)/d.Rows, d.Rows, start, bias)
}

// sumWeights adds the sum to the weights of a block in dst.
func (d *division[F]) sumWeights(dst []F, b Block) {
	d.finishSum(weightsOf(&b, dst), b.Rows, b.Cols, blas.Add, nil)
}

func (d *division[F]) finishSum(dst []F, m, n int, start blas.Start, bias []F) {
	if len(d.terms) > 0 || start != blas.Add {
		d.multiply(dst, m, n, start, bias)
	}
	for _, t := range d.terms {
		d.Multiplications += m * n * t.K
	}
	for _, t := range d.sparse {
		t.add(dst, d.Rows)
		d.Multiplications += t.sources.Len() * d.Rows
	}
	d.terms, d.sparse = d.terms[:0], d.sparse[:0]
}

func (d *division[F]) transposeTo(dst, src []F, nodes int) RowMajor[F] {
	if d.Rows == 1 {
		return RowMajor[F]{src, nodes}
	}
	stride := padded(nodes)
	d.lines.dst, d.lines.src, d.lines.stride = dst, src, stride
	d.divide(nodes, partNumbers/d.Rows, transposing)
	return RowMajor[F]{dst, stride}
}
