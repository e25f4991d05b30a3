package pass

import (
	"newtop/internal/vector"
	"newtop/models/blas"
)

// Wide layers are divided by nodes: a part of the work on a block of rows is that on some nodes, which meet their
// weights and what lies node by node. How many parts there are follows from sizes alone, and what belongs to a node is
// computed alike in all, so that results are the same to the bit, divided or not, and however many threads share the
// parts.
const (
	mostParts    = 8
	partNodes    = 8       // what the nodes of a part are a multiple of: as many as blas takes together
	fewestNodes  = 64      // of a part of a product, which copies the other factor
	fewestSquare = 24      // of a part of a square
	partWork     = 1 << 18 // multiplications of a part of a product at least, 8 µs of them
	partNumbers  = 1 << 13 // numbers of a part of elementwise work at least
)

// division is work on the nodes of a layer, which may be divided.
type division[F Float] struct {
	// Threads share the parts: Run computes task(worker, i) for i = 0…count−1, by several threads at once. nil: nothing
	// is divided.
	Threads interface {
		Run(count int, task func(worker, i int))
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
func (s *Scratch[F]) divide(nodes, fewest int, kind work) {
	size := max(fewest, (nodes+mostParts-1)/mostParts)
	size = (size + partNodes - 1) &^ (partNodes - 1)
	s.work = kind
	if s.Threads == nil || nodes <= size {
		s.do(0, nodes)
		return
	}
	s.nodes, s.size = nodes, size
	s.Threads.Run((nodes+size-1)/size, s.task)
}

// part is a part of the work.
func (s *Scratch[F]) part(_, i int) { s.do(i*s.size, min((i+1)*s.size, s.nodes)) }

// do does the work on the nodes [first, last).
func (s *Scratch[F]) do(first, last int) {
	switch s.work {
	case multiplying:
		s.productPart(first, last)
	case elementwise:
		s.elementsPart(first, last)
	case transposing:
		s.transposePart(first, last)
	case addingRows:
		s.rowSumsPart(first, last)
	case squaring:
		s.squarePart(first, last)
	}
}

// multiply computes the sum of the terms, m × n.
func (s *Scratch[F]) multiply(dst []F, m, n int, start blas.Start, bias []F) {
	depth := 0
	if s.Threads != nil {
		for i := range s.terms {
			depth += s.terms[i].K
		}
	}
	if m*n*depth < 2*partWork {
		blas.Sum(dst, m, n, n, start, bias, s.terms)
		return
	}
	p := &s.product
	p.dst, p.bias, p.cols, p.start = dst, bias, n, start
	s.divide(m, max(fewestNodes, partWork/(n*depth)), multiplying)
}

// productPart computes the rows [first, last) of a sum, term by term.
func (s *Scratch[F]) productPart(first, last int) {
	p := &s.product
	bias, start := p.bias, p.start
	if start == blas.Bias {
		bias = bias[first:]
	}
	for _, t := range s.terms {
		t.A = t.A[first*t.RowStride:]
		one := [1]blas.Term[F]{t}
		blas.Sum(p.dst[first*p.cols:], last-first, p.cols, p.cols, start, bias, one[:])
		start = blas.Add
	}
}

// squareTo stores x xᵀ of nodes × nodes in dst, or with blas.Add adds it, from the diagonal on to the right and what
// the parts have of the left; xRows is x row by row. It is divided, and so half of it left out, whether threads share
// the parts or not.
func (s *Scratch[F]) squareTo(dst []F, nodes int, x []F, xRows RowMajor[F], start blas.Start) {
	q := &s.square
	q.dst, q.x, q.rows, q.start = dst, x, xRows, start
	s.work, s.nodes, s.size = squaring, nodes, squareNodes(nodes)
	parts := (nodes + s.size - 1) / s.size
	if s.Threads != nil && parts > 1 && nodes*nodes*s.Rows >= 4*partWork {
		s.Threads.Run(parts, s.task)
	} else {
		for i := range parts {
			s.part(0, i)
		}
	}
	s.Multiplications += SquareCost(nodes) * s.Rows
}

// squareNodes returns how many nodes a part has.
func squareNodes(nodes int) int {
	return (max(fewestSquare, (nodes+mostParts-1)/mostParts) + partNodes - 1) &^ (partNodes - 1)
}

// SquareCost returns how many multiplications of a row's numbers the square of so many nodes takes.
func SquareCost(nodes int) int {
	cost, size := 0, squareNodes(nodes)
	for first := 0; first < nodes; first += size {
		cost += min(size, nodes-first) * (nodes - first)
	}
	return cost
}

// squarePart computes the rows [first, last), which begin at the part's first column: the first part is the largest.
func (s *Scratch[F]) squarePart(first, last int) {
	q, n := &s.square, s.nodes
	one := [1]blas.Term[F]{{A: q.x[first*s.Rows:], RowStride: s.Rows, ColStride: 1, B: q.rows.Data[first:],
		Stride: q.rows.Stride, K: s.Rows}}
	blas.Sum(q.dst[first*n+first:], last-first, n-first, n, q.start, nil, one[:])
}

// each does what is elementwise on a layer, for x, φ and Ru of its nodes, those that it needs. Softmax needs all nodes
// together.
func (s *Scratch[F]) each(tp *Tape[F], l int, x, phi, ru []F, kind elements) {
	layer := s.layer(tp, l)
	if s.Threads == nil || s.Activations[l] == Softmax {
		layer.do(kind, x, phi, ru)
		return
	}
	e := &s.elements
	e.layer, e.x, e.phi, e.ru, e.kind = layer, x, phi, ru, kind
	s.divide(s.Nodes[l], partNumbers/s.Rows, elementwise)
}

func (s *Scratch[F]) elementsPart(first, last int) {
	e := &s.elements
	of := func(x []F) []F {
		if len(x) != len(e.u) { // nothing, or what belongs to rows
			return x
		}
		return x[first*s.Rows : last*s.Rows]
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
func (s *Scratch[F]) transposePart(first, last int) {
	t := &s.lines
	blas.Transpose(t.dst[first:], t.stride, t.src[first*s.Rows:], s.Rows, last-first, s.Rows)
}

// addRowSums adds the sum over the rows of data of each node's numbers to dst.
func (s *Scratch[F]) addRowSums(dst, x []F) {
	s.lines.dst, s.lines.src = dst, x
	s.divide(len(dst), partNumbers/s.Rows, addingRows)
}

func (s *Scratch[F]) rowSumsPart(first, last int) {
	vector.AddRowSums(s.lines.dst[first:last], s.lines.src[first*s.Rows:], s.Rows)
}
