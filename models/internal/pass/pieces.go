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

// Factors are what is multiplied where rows are summed up: x^l (y^r)ᵀ for weights, x^l for biases.
type Factors uint8

// The factors of a gradient, of a product with the Gauss–Newton matrix, and of what an exact one has beside these.
const (
	DeltaU  Factors = iota // δ and u
	GammaU                 // γ and u
	DeltaRu                // δ and Ru
)

func (tp *Tape[F]) factors(of Factors) (x, y [][]F) {
	switch of {
	case DeltaU:
		return tp.Delta, tp.U
	case GammaU:
		return tp.gamma, tp.U
	default:
		return tp.Delta, tp.ru
	}
}

// OuterPiece stores what some rows of a tape, from row at on, say of a piece of weights in dst, row after row, or with
// blas.Add adds it.
func OuterPiece[F Float](s *Scratch[F], dst []F, p Piece, tp *Tape[F], of Factors, at, rows int, start blas.Start) {
	x, y := tp.factors(of)
	blas.Outer(dst, p.Nodes, p.Sources, p.Sources, start, x[p.To][p.Node*tp.Rows+at:], tp.Rows,
		y[p.From][p.Source*tp.Rows+at:], tp.Rows, rows)
	s.Multiplications += p.Nodes * p.Sources * rows
}

// GatherPiece copies what some rows of a tape, from row at on, have of a piece of biases to row to of the block.
func GatherPiece[F Float](s *Scratch[F], p Piece, tp *Tape[F], of Factors, at, rows, to int) {
	x, _ := tp.factors(of)
	copyRows(s.spare[p.To], s.Rows, to, x[p.To], tp.Rows, at, rows)
}

// BiasPiece adds up what GatherPiece copied in dst, or with blas.Add adds it.
func BiasPiece[F Float](s *Scratch[F], dst []F, p Piece, start blas.Start) {
	if start == blas.Zero {
		clear(dst)
	}
	vector.AddRowSums(dst, s.spare[p.To], s.Rows)
}
