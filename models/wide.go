package models

import (
	"newtop/internal/vector"
	"newtop/models/blas"
	"newtop/models/internal/pass"
	"newtop/models/reduce"
)

// wideSums adds up the gradients of a wide net, whose weights are more than caches hold: first go the passes of all rows, whose work
// is divided by nodes, and then a worker takes some weights at a time and adds up what all rows say about them.
type wideSums struct {
	*Linearization
	passes *reduce.Sum // of tallies
	pieces []widePiece
	sum    *reduce.Pieces
}

// widePiece is some weights between layers, of nodes of the one and sources in the other, or some biases.
type widePiece struct {
	to, from       int // layers; from < 0 for biases
	node, source   int // the first ones
	nodes, sources int
}

// A piece's sum, and those of the tree's levels that are added to it, fit in a core's second-level cache.
const pieceNodes, pieceSources = 256, 120

// newWideSums returns nil unless the net is wide and all passes are kept, here.
func (l *Linearization) newWideSums() *wideSums {
	if !l.network.wide() || l.part != nil || l.kept < l.blocks() || !l.network.plain() {
		return nil
	}
	s := &wideSums{Linearization: l}
	var pieces []reduce.Piece
	add := func(p widePiece, of reduce.Piece) {
		s.pieces, pieces = append(s.pieces, p), append(pieces, of)
	}
	for _, b := range l.net.Blocks {
		rows, cols := evenly(b.Rows, pieceNodes), evenly(b.Cols, pieceSources)
		for i := 0; i < b.Rows; i += rows {
			for j := 0; j < b.Cols; j += cols {
				p := widePiece{b.To, b.From, i, j, min(rows, b.Rows-i), min(cols, b.Cols-j)}
				add(p, reduce.Piece{First: b.Offset + i*b.Cols + j, Rows: p.nodes, Cols: p.sources, Stride: b.Cols})
			}
		}
	}
	for _, b := range l.net.Biases {
		add(widePiece{to: b.Layer, from: -1, nodes: b.Nodes}, reduce.Piece{First: b.Offset, Rows: 1, Cols: b.Nodes})
	}
	s.passes = l.sums.Sum(l.net.Dim, l.net.Dim+pass.TallySize, s.passLeaf)
	s.sum = l.sums.Pieces(pieces, s.gradientLeaf)
	return s
}

// evenly returns how many of count make a part, of parts of at most most each that differ little: whole registers.
func evenly(count, most int) int {
	parts := (count + most - 1) / most
	return ((count+parts-1)/parts + 7) &^ 7
}

// gradientTo stores the gradient and the tallies in dst.
func (s *wideSums) gradientTo(dst []float64) {
	s.passes.To(dst[s.net.Dim:])
	s.sum.To(dst[:s.net.Dim])
}

// passLeaf does the passes of some blocks.
func (s *wideSums) passLeaf(worker int, sum []float64, first, last int) {
	var total pass.Tally
	for block := first; block < last; block++ {
		tp, _ := s.prepare(s.scratches[worker], block)
		total.Add(s.pass(s.scratches[worker], tp, block))
	}
	total.StoreTo(sum[s.net.Dim:])
}

// gradientLeaf stores a piece of the sum of the blocks' gradients.
func (s *wideSums) gradientLeaf(worker, i int, sum []float64, first, last int) {
	p, scratch := s.pieces[i], s.scratches[worker]
	start := blas.Zero
	if p.from < 0 {
		clear(sum)
	}
	for block := first; block < last; block++ {
		tp, _ := s.prepare(scratch, block)
		if p.from < 0 {
			vector.AddRowSums(sum, tp.Delta[p.to][p.node*scratch.Rows:], scratch.Rows)
			continue
		}
		scratch.Outer(sum, start, tp.Delta[p.to], p.node, p.nodes, tp.U[p.from], p.source, p.sources)
		start = blas.Add
	}
}
