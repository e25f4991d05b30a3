package pass

import (
	"newtop/internal/vector"
	"newtop/models/blas"
)

// Piece is some weights: those to some nodes of layer To from some nodes of layer From, or the biases of nodes of layer
// To.
type Piece struct {
	To, From       int // From < 0 for biases
	Node, Source   int // the first ones of To and From
	Nodes, Sources int
}

// GradientPiece is GradientTo for a piece, whose weights lie in dst row after row.
func (s *Scratch[F]) GradientPiece(dst []F, p Piece, tp *Tape[F], start blas.Start) {
	if p.From < 0 {
		s.biasPiece(dst, p, tp.Delta, start)
		return
	}
	s.outerPiece(dst, p, tp.Delta, tp.U, start)
}

// ProductPiece stores what a block of rows, of which Tangents were computed, adds to a piece of the product, or with
// blas.Add adds it.
func (s *Scratch[F]) ProductPiece(dst []F, p Piece, tp *Tape[F], exact bool, start blas.Start) {
	if p.From < 0 {
		s.biasPiece(dst, p, s.gamma, start)
		return
	}
	s.outerPiece(dst, p, s.gamma, tp.U, start)
	if exact && p.From > 0 {
		s.outerPiece(dst, p, tp.Delta, s.ru, blas.Add)
	}
}

func (s *Scratch[F]) biasPiece(dst []F, p Piece, x [][]F, start blas.Start) {
	if start == blas.Zero {
		clear(dst)
	}
	vector.AddRowSums(dst, x[p.To][p.Node*s.Rows:], s.Rows)
}

func (s *Scratch[F]) outerPiece(dst []F, p Piece, x, y [][]F, start blas.Start) {
	blas.Outer(dst, p.Nodes, p.Sources, p.Sources, start, x[p.To][p.Node*s.Rows:], s.Rows, y[p.From][p.Source*s.Rows:],
		s.Rows, s.Rows)
	s.Multiplications += p.Nodes * p.Sources * s.Rows
}

// TangentSize returns how many numbers a row's γ and Ru are.
func (n *Net) TangentSize() int {
	size := 0
	for _, nodes := range n.Nodes[1:] {
		size += 2 * nodes
	}
	return size
}

// PlaceTangents makes the scratch use memory for γ and Ru of its block of rows, up to the next SetRows.
func (s *Scratch[F]) PlaceTangents(memory []F) {
	for _, arrays := range [...][][]F{s.gamma, s.ru} {
		for l := 1; l < len(s.Nodes); l++ {
			size := s.Nodes[l] * s.Rows
			arrays[l], memory = memory[:size:size], memory[size:]
		}
	}
	s.elsewhere = true
}
