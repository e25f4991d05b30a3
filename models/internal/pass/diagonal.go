package pass

import "newtop/internal/vector"

// AddDiagonal adds the sum over the block's rows of diag(J_pᵀ B J_p) to dst, the preconditioner of
// [MD, algorithm D]: the sum of the squared entries of the jacobian's rows,
//
//	dst^{lr} += ( Σ_k δ_k^l ∘ δ_k^l ) ( u^r ∘ u^r )ᵀ
//
// where Σ_k δ_k^L ∘ δ_k^L is diag(B').
func AddDiagonal[F Float](scratch *Scratch[F], dst, w, _ []F, tp *Tape[F]) {
	s := jacobian[F]{scratch}
	last := s.Last()
	squares := s.ru
	for r := range last {
		u := tp.U[r][:len(squares[r])]
		vector.Mul(squares[r], u, u)
	}
	s.transposeTangents(0)
	scale := s.phi[last]
	s.loss.factor(scale, s.Scratch, tp)
	if s.Mixture == nil {
		s.loss.diagonal(s.gamma[last], scale, s.Scratch, tp)
	}
	for l := 1; l < last; l++ {
		clear(s.gamma[l])
	}
	s.shareOutputs(w, tp)
	if last > 1 {
		for k := range s.Outputs() {
			s.addSquares(k, s.node(scale, k), w, tp)
			if s.Mixture != nil {
				addColumnSquares(dst[s.Mixture.Offset:], s.gates.byParameter, s.Rows)
			}
		}
	}
	for _, b := range s.Blocks {
		s.outer(b, s.gamma[b.To], squares[b.From], s.ruRows[b.From])
		s.sumWeights(dst, b)
	}
	for _, b := range s.Biases {
		vector.AddRowSums(biasesOf(b, dst), s.gamma[b.Layer], s.Rows)
	}
}

// addColumnSquares adds the sum of squares over the rows of data to dst, one number a node; x is len(dst) ×
// rows.
func addColumnSquares[F Float](dst, x []F, rows int) {
	for i := range dst {
		x := x[i*rows : (i+1)*rows]
		dst[i] += vector.Dot(x, x)
	}
}

// addSquares adds δ_k^l ∘ δ_k^l of the hidden layers to s.gamma.
func (s jacobian[F]) addSquares(k int, c, w []F, tp *Tape[F]) {
	s.pullOutput(k, c, w, tp)
	for l := s.Last() - 1; l > 0; l-- {
		vector.MulAdd(s.gamma[l], s.phi[l], s.phi[l])
	}
}
