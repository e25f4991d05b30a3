package models

import (
	"newtop/models/internal/pass"
	"newtop/models/reduce"
)

// wideSums adds up gradients and products of a wide net, whose weights are more than caches hold. First go the passes
// of all rows, whose work is divided by nodes. Then a worker takes a piece of the weights at a time and adds up what
// all rows say about it.
type wideSums struct {
	*Linearization
	pieces   []pass.Piece
	gradient *reduce.Pieces // of the gradient
	room     bool           // whether γ and Ru of all rows are not too many to keep
	exact    bool           // of the product under way
	push     *reduce.Sum    // of nothing: it computes the tangents
	product  *reduce.Pieces
}

// A piece's sum, and those of the tree's levels that are added to it, fit in a core's second-level cache.
const pieceNodes, pieceSources = 256, 120

// newWideSums returns nil unless the net is wide, dense, and all rows are here and their passes kept in that many
// bytes.
func (l *Linearization) newWideSums(memory int64) *wideSums {
	if !l.network.wide(wideRows) || !l.network.plain() || l.part != nil || l.kept < l.blocks() {
		return nil
	}
	s := &wideSums{Linearization: l}
	s.room = int64(l.rows)*int64(l.net.TapeSize()+l.net.TangentSize()) <= l.numbers(memory)
	var places []reduce.Piece
	add := func(p pass.Piece, place reduce.Piece) {
		s.pieces, places = append(s.pieces, p), append(places, place)
	}
	for _, b := range l.net.Blocks {
		rows, cols := evenly(b.Rows, pieceNodes), evenly(b.Cols, pieceSources)
		for i := 0; i < b.Rows; i += rows {
			for j := 0; j < b.Cols; j += cols {
				p := pass.Piece{To: b.To, From: b.From, Node: i, Source: j, Nodes: min(rows, b.Rows-i),
					Sources: min(cols, b.Cols-j)}
				add(p, reduce.Piece{First: b.Offset + i*b.Cols + j, Rows: p.Nodes, Cols: p.Sources, Stride: b.Cols})
			}
		}
	}
	for _, b := range l.net.Biases {
		add(pass.Piece{To: b.Layer, From: -1, Nodes: b.Nodes}, reduce.Piece{First: b.Offset, Rows: 1, Cols: b.Nodes})
	}
	dim := l.net.Dim
	s.gradient = l.sums.Pieces(places, s.gradientLeaf)
	s.push = l.sums.Sum(dim, dim, s.tangentLeaf)
	s.product = l.sums.Pieces(places, s.productLeaf)
	return s
}

// evenly returns how many of count a part has, of parts that have at most most and differ little: whole registers.
func evenly(count, maxRows int) int {
	parts := (count + maxRows - 1) / maxRows
	return ((count+parts-1)/parts + 7) &^ 7
}

// productTo stores the product with the Hessian, if exact, or the Gauss–Newton matrix in dst.
func (s *wideSums) productTo(dst []float64, exact bool) {
	s.allocateTangents()
	s.exact = exact
	s.push.To(nil)
	s.product.To(dst)
}

func (s *wideSums) gradientLeaf(worker, i int, sum []float64, first, last int) {
	s.gradientPiece(worker, s.pieces[i], sum, first, last)
}

// tangentLeaf computes γ and Ru of some blocks in the direction arg.
func (s *wideSums) tangentLeaf(worker int, _ []float64, first, last int) {
	s.tangents(worker, first, last, s.exact)
}

func (s *wideSums) productLeaf(worker, i int, sum []float64, first, last int) {
	s.productPiece(worker, s.pieces[i], sum, first, last, s.exact)
}
