package pass

import (
	"math"

	"newtop/internal/vector"
	"newtop/models/blas"
)

// SquaresTo stores the mean over a batch of the squares of each row's own gradient, as far as the block's rows add to
// it, in dst, or with blas.Add adds it [Martens 2010, §4.7]:
//
//	dst^{lr} = 1/P Σ_p ( δ_p^l ∘ δ_p^l ) ( u_p^r ∘ u_p^r )ᵀ      of the biases 1/P Σ_p δ_p^l ∘ δ_p^l
//
// It follows a GradientTo of the same tape, of a loss that counts each row by share = 1/P, as δ in the tape does.
func SquaresTo[F Float](s *Scratch[F], dst []F, tp *Tape[F], share float64, start blas.Start) {
	root := F(1 / math.Sqrt(share)) // √P·δ/P has the square δ²/P
	for l, squares := range s.ru {
		if l < s.Last() {
			u := tp.U[l][:len(squares)]
			vector.Mul(squares, u, u)
		}
	}
	s.transposeTangents(0)
	for l := 1; l <= s.Last(); l++ {
		squares := s.gamma[l]
		vector.Scale(squares, root, tp.Delta[l])
		vector.Mul(squares, squares, squares)
	}
	s.outerTo(dst, s.gamma, s.ru, s.ruRows, start)
	if s.Mixture == nil {
		return
	}
	gates := dst[s.Mixture.Offset:]
	if start == blas.Zero {
		clear(gates)
	}
	vector.Scale(s.gates.byParameter, root, s.gates.byParameter)
	addColumnSquares(gates, s.gates.byParameter, s.Rows)
}
