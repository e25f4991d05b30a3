package pass

import (
	"newtop/internal/vector"
	"newtop/models/blas"
)

// Wide layers are divided by nodes: a part of the work on a block of rows is that on some nodes, which meet their weights and what
// lies node by node. How many parts there are follows from sizes alone, and what belongs to a node is computed alike in
// all, so that results are the same to the bit, divided or not, and however many threads share the parts.
const (
	mostParts   = 8
	partNodes   = 8       // what the nodes of a part are a multiple of: as many as blas takes together
	fewestNodes = 64      // of a part of a product, which copies the other factor
	partWork    = 1 << 18 // multiplications of a part of a product at least, 8 µs of them
	partNumbers = 1 << 13 // numbers of a part of elementwise work at least
)

// division is work on the nodes of a layer, which may be divided.
type division struct {
	// Threads share the parts: Run computes task(worker, i) for i = 0…count−1, by several threads at once. nil: nothing is
	// divided.
	Threads interface {
		Run(count int, task func(worker, i int))
	}

	task        func(worker, i int)
	work        func(s *Scratch, first, last int) // on the nodes [first, last)
	nodes, size int                               // of a part

	product struct { // arguments of productPart
		dst, bias []float64
		cols      int
		start     blas.Start
	}
	elements struct { // of elementsPart
		layer
		x, phi, ru []float64
		do         func(l layer, x, phi, ru []float64)
	}
	lines struct { // of transposePart and rowSumsPart
		dst, src []float64
		stride   int
	}
}

// divide does work on some nodes, in parts of at least fewest.
func (s *Scratch) divide(nodes, fewest int, work func(s *Scratch, first, last int)) {
	size := max(fewest, (nodes+mostParts-1)/mostParts)
	size = (size + partNodes - 1) &^ (partNodes - 1)
	if s.Threads == nil || nodes <= size {
		work(s, 0, nodes)
		return
	}
	s.work, s.nodes, s.size = work, nodes, size
	s.Threads.Run((nodes+size-1)/size, s.task)
}

// part is a part of the work.
func (s *Scratch) part(_, i int) { s.work(s, i*s.size, min((i+1)*s.size, s.nodes)) }

// multiply computes the sum of the terms, m × n.
func (s *Scratch) multiply(dst []float64, m, n int, start blas.Start, bias []float64) {
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
	s.divide(m, max(fewestNodes, partWork/(n*depth)), (*Scratch).productPart)
}

// productPart computes the rows [first, last) of a sum, term by term.
func (s *Scratch) productPart(first, last int) {
	p := &s.product
	bias, start := p.bias, p.start
	if start == blas.Bias {
		bias = bias[first:]
	}
	for _, t := range s.terms {
		t.A = t.A[first*t.RowStride:]
		one := [1]blas.Term{t}
		blas.Sum(p.dst[first*p.cols:], last-first, p.cols, p.cols, start, bias, one[:])
		start = blas.Add
	}
}

// each does what is elementwise on a layer, for x, φ and Ru of its nodes, those that it needs. Softmax needs all nodes together.
func (s *Scratch) each(tp *Tape, l int, x, phi, ru []float64, do func(l layer, x, phi, ru []float64)) {
	if s.Threads == nil || s.Activations[l] == Softmax {
		do(s.layer(tp, l), x, phi, ru)
		return
	}
	e := &s.elements
	e.layer, e.x, e.phi, e.ru, e.do = s.layer(tp, l), x, phi, ru, do
	s.divide(s.Nodes[l], partNumbers/s.Rows, (*Scratch).elementsPart)
}

func (s *Scratch) elementsPart(first, last int) {
	e := &s.elements
	of := func(x []float64) []float64 {
		if len(x) != len(e.u) { // nothing, or what belongs to rows
			return x
		}
		return x[first*s.Rows : last*s.Rows]
	}
	e.do(layer{e.Activation, of(e.u), of(e.delta), of(e.kept), e.ra, e.rb}, of(e.x), of(e.phi), of(e.ru))
}

// The work of each.

func activate(l layer, _, _, _ []float64) { l.activate() }
func pullKeep(l layer, _, _, _ []float64) { l.pullKeep() }
func push(l layer, _, phi, ru []float64)  { l.push(ru, phi) }
func pull(l layer, x, _, _ []float64)     { l.pull(x) }
func curve(l layer, x, phi, ru []float64) { l.curve(x, phi, ru) }

// transposePart stores the columns of nodes [first, last) of what lies row by row.
func (s *Scratch) transposePart(first, last int) {
	t := &s.lines
	blas.Transpose(t.dst[first:], t.stride, t.src[first*s.Rows:], s.Rows, last-first, s.Rows)
}

// addRowSums adds the sum over the rows of data of each node's numbers to dst.
func (s *Scratch) addRowSums(dst, x []float64) {
	s.lines.dst, s.lines.src = dst, x
	s.divide(len(dst), partNumbers/s.Rows, (*Scratch).rowSumsPart)
}

func (s *Scratch) rowSumsPart(first, last int) {
	vector.AddRowSums(s.lines.dst[first:last], s.lines.src[first*s.Rows:], s.Rows)
}
