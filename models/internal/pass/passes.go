package pass

import (
	"newtop/internal/vector"
	"newtop/models/blas"
)

// Pass does the forward and backward pass on a block whose inputs and s.Targets are filled in, of a loss that counts
// each row by share, and returns the plain sums over the rows.
func (s *Scratch[F]) Pass(w []F, tp *Tape[F], share float64) Tally {
	s.Forward(w, tp)
	sum := s.MeasureDelta(tp)
	if delta := tp.Delta[s.Last()]; share != 1 {
		vector.Scale(delta, F(share), delta) // instead of the gradient, which is longer
	}
	s.Backward(w, tp)
	return sum
}

// Forward computes the outputs of layers 1…L−1 and the net inputs of layer L [M, eq. 3]:
// v^l = Σ_r W^{lr} u^r + b^l, u^l = f_l(v^l). In a mixture v^L = Σ_i g_i o_i [MD, §3]. The output layer's
// activation is Finish's or Measure's.
func (s *Scratch[F]) Forward(w []F, tp *Tape[F]) {
	for l := 1; l <= s.Last(); l++ {
		for _, b := range s.Incoming[l] {
			s.mul(b, w, tp.U[b.From])
		}
		s.sumTo(tp.U[l], biasesOf(s.bias(l), w))
		if l < s.Last() {
			s.each(tp, l, nil, nil, nil, activate)
		}
	}
	if s.Mixture != nil {
		s.gates.compute(w, tp)
		s.gates.combine(tp.U[s.Last()], tp.gates.g, tp.U)
	}
}

// Finish turns the net inputs of the output layer into outputs.
func (s *Scratch[F]) Finish(tp *Tape[F]) { s.layer(tp, s.Last()).activate() }

// Measure turns the net inputs of the output layer into outputs, measures them against s.Targets, and leaves u − t in
// δ^L.
func (s *Scratch[F]) Measure(tp *Tape[F]) Tally {
	loss, squared := s.loss.measure(s, tp)
	return Tally{Loss: loss, Squared: squared, Misclassified: s.CountMisclassified(tp)}
}

// MeasureDelta is Measure, and leaves δ^L.
func (s *Scratch[F]) MeasureDelta(tp *Tape[F]) Tally {
	sum := s.Measure(tp)
	s.loss.delta(s, tp)
	return sum
}

// residual leaves u − t in δ^L and returns the sum of its squares.
func (s *Scratch[F]) residual(tp *Tape[F]) float64 {
	last := s.Last()
	return vector.Residual(tp.Delta[last], tp.U[last], s.Targets)
}

// CountMisclassified returns how many rows of outputs are wrong.
func (s *Scratch[F]) CountMisclassified(tp *Tape[F]) int {
	if s.Outputs() == 1 {
		return 0
	}
	best, want := s.ra, s.rb
	vector.ColumnArgMax(best, s.rc, tp.U[s.Last()])
	vector.ColumnArgMax(want, s.rc, s.Targets)
	misclassified := 0
	for j, best := range best {
		if best != want[j] { // a NaN among the outputs is no number of a node
			misclassified++
		}
	}
	return misclassified
}

// Backward computes δ^l of layers L−1…1 from δ^L [M, eq. 6]: ε^l = Σ_{r>l} (W^{rl})ᵀ δ^r, and for expert i of
// a mixture g_i δ^L more; δ^l = J_lᵀ ε^l.
func (s *Scratch[F]) Backward(w []F, tp *Tape[F]) {
	for l := s.Last() - 1; l > 0; l-- {
		delta := tp.Delta[l]
		for _, b := range s.Outgoing[l] {
			s.mulTrans(b, w, tp.Delta[b.To])
		}
		s.sumTo(delta, nil)
		s.gates.addGated(delta, s.GateOf[l], tp.gates.g, tp.Delta[s.Last()])
		s.each(tp, l, nil, nil, nil, pullKeep)
	}
}

// GradientTo stores the sum over the block's rows of ∂E_p/∂w in dst, or with blas.Add adds it: G^{lr} = δ^l (u^r)ᵀ, δ^l
// for the biases.
func (s *Scratch[F]) GradientTo(dst, w []F, tp *Tape[F], start blas.Start) {
	s.transposeOutputs(tp)
	s.outerTo(dst, tp.Delta, tp.U, s.uRows, start)
	if s.Mixture != nil {
		if start == blas.Zero {
			clear(dst[s.Mixture.Offset:])
		}
		s.gates.addGradient(dst, w, tp.Delta[s.Last()], tp)
	}
}

// outerTo stores x^l (y^r)ᵀ of every block and x^l for the biases in dst, or with blas.Add adds them, summed over the
// block's rows. yRows is y row by row.
func (s *Scratch[F]) outerTo(dst []F, x, y [][]F, yRows []RowMajor[F], start blas.Start) {
	for _, b := range s.Blocks {
		s.outer(b, x[b.To], y[b.From], yRows[b.From])
		to, start := weightsOf(&b, dst), start
		if b.Sparse != nil && start == blas.Zero {
			clear(to)
			start = blas.Add
		}
		s.finishSum(to, b.Rows, b.Cols, start, nil)
	}
	for _, b := range s.Biases {
		to := biasesOf(b, dst)
		if start == blas.Zero {
			clear(to)
		}
		s.addRowSums(to, x[b.Layer])
	}
}

// pushForward computes φ^l and Ru^l of all layers along the direction d [M, lemma 1]:
// φ^l = Σ_r (D^{lr} u^r + W^{lr} Ru^r) + d^l, Ru^l = J_l φ^l, where Ru^0 = 0 costs nothing. In a mixture
// φ^L = Σ_i R{g_i} o_i + g_i R{o_i} [MD, §3].
func (s *Scratch[F]) pushForward(w, d []F, tp *Tape[F]) {
	for l := 1; l <= s.Last(); l++ {
		phi := s.phi[l]
		for _, b := range s.Incoming[l] {
			s.mul(b, d, tp.U[b.From])
			if b.From > 0 {
				s.mul(b, w, s.ru[b.From])
			}
		}
		s.sumTo(phi, biasesOf(s.bias(l), d))
		if s.mixes(l) {
			s.gates.push(phi, w, d, tp, s.ru)
		}
		s.each(tp, l, nil, phi, s.ru[l], push)
	}
}

// AddHessian adds the sum over the block's rows of H_p d to dst [M, corollary 2]: with Tangents' γ
//
//	dst += δ^l (Ru^r)ᵀ + γ^l (u^r)ᵀ, γ^l for the biases
func (s *Scratch[F]) AddHessian(dst, w, d []F, tp *Tape[F]) {
	s.Tangents(w, d, tp, true)
	s.addProduct(dst, tp, true)
	if s.Mixture != nil {
		last := s.Last()
		s.gates.addHessian(dst, w, d, tp, tp.Delta[last], s.gamma[last], s.ru)
	}
}

// AddGaussNewton adds the sum over the block's rows of J_pᵀ B J_p d to dst [MD, §2.2]: the gradient with γ for δ.
func (s *Scratch[F]) AddGaussNewton(dst, w, d []F, tp *Tape[F]) {
	s.Tangents(w, d, tp, false)
	s.addProduct(dst, tp, false)
	if s.Mixture != nil {
		s.gates.addGradient(dst, w, s.gamma[s.Last()], tp)
	}
}

// Tangents computes Ru^l, and γ^l for a product with the exact Hessian [M, corollary 2]:
//
//	γ^l = R{J_lᵀ ε^l} with Rε^l = Σ_{r>l} ( (W^{rl})ᵀ γ^r + (D^{rl})ᵀ δ^r ), and for expert i of a mixture
//	      g_i γ^L + R{g_i} δ^L more
//
// or with the Gauss–Newton matrix [MD, §2.2]: γ^L = B φ^L, then the backward pass of the gradient, without f″ and
// without residuals.
func (s *Scratch[F]) Tangents(w, d []F, tp *Tape[F], exact bool) {
	s.pushForward(w, d, tp)
	last := s.Last()
	s.loss.curve(s, tp, exact)
	for l := last - 1; l > 0; l-- {
		gamma := s.gamma[l]
		for _, b := range s.Outgoing[l] {
			s.mulTrans(b, w, s.gamma[b.To])
			if exact {
				s.mulTrans(b, d, tp.Delta[b.To])
			}
		}
		s.sumTo(gamma, nil)
		s.gates.addGated(gamma, s.GateOf[l], tp.gates.g, s.gamma[last])
		if !exact {
			s.each(tp, l, gamma, nil, nil, pull)
			continue
		}
		if s.gates.moving {
			s.gates.addGated(gamma, s.GateOf[l], s.gates.rg, tp.Delta[last])
		}
		s.each(tp, l, gamma, s.phi[l], s.ru[l], curve)
	}
}

// addProduct adds γ^l (u^r)ᵀ to the weights in dst, for the exact Hessian also δ^l (Ru^r)ᵀ, and γ^l to the biases.
func (s *Scratch[F]) addProduct(dst []F, tp *Tape[F], exact bool) {
	s.transposeOutputs(tp)
	if exact {
		s.transposeTangents(1)
	}
	for _, b := range s.Blocks {
		s.outer(b, s.gamma[b.To], tp.U[b.From], s.uRows[b.From])
		if exact && b.From > 0 {
			s.outer(b, tp.Delta[b.To], s.ru[b.From], s.ruRows[b.From])
		}
		s.sumWeights(dst, b)
	}
	for _, b := range s.Biases {
		s.addRowSums(biasesOf(b, dst), s.gamma[b.Layer])
	}
}

// AddShares adds the sum over the block's rows of every gate's share to dst.
func (s *Scratch[F]) AddShares(dst, w []F, tp *Tape[F]) {
	s.gates.compute(w, tp)
	vector.AddRowSums(dst, tp.gates.g, s.Rows)
}
