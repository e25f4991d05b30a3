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
func GradientPiece[F Float](s *Scratch[F], dst []F, p Piece, tp *Tape[F], start blas.Start) {
	if p.From < 0 {
		biasPiece(s, dst, p, tp.Delta, start)
		return
	}
	outerPiece(s, dst, p, tp.Delta, tp.U, start)
}

// ProductPiece stores what a block of rows, of which Tangents were computed, adds to a piece of the product, or with
// blas.Add adds it.
func ProductPiece[F Float](s *Scratch[F], dst []F, p Piece, tp *Tape[F], exact bool, start blas.Start) {
	if p.From < 0 {
		biasPiece(s, dst, p, s.gamma, start)
		return
	}
	outerPiece(s, dst, p, s.gamma, tp.U, start)
	if exact && p.From > 0 {
		outerPiece(s, dst, p, tp.Delta, s.ru, blas.Add)
	}
}

func biasPiece[F Float](s *Scratch[F], dst []F, p Piece, x [][]F, start blas.Start) {
	if start == blas.Zero {
		clear(dst)
	}
	vector.AddRowSums(dst, x[p.To][p.Node*s.Rows:], s.Rows)
}

func outerPiece[F Float](s *Scratch[F], dst []F, p Piece, x, y [][]F, start blas.Start) {
	blas.Outer(dst, p.Nodes, p.Sources, p.Sources, start, x[p.To][p.Node*s.Rows:], s.Rows, y[p.From][p.Source*s.Rows:],
		s.Rows, s.Rows)
	s.Multiplications += p.Nodes * p.Sources * s.Rows
}
