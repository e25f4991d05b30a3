package models

import "newtop/models/blas"

// forward computes the outputs of layers 1…L−1 and the net inputs of layer L [M, eq. 3]:
// v^l = Σ_r W^{lr} u^r + b^l, u^l = f_l(v^l). In a mixture v^L = Σ_i g_i o_i [MD, §3]. The output layer's
// activation is finish's or loss's.
func (s *scratch) forward(w []float64, tp *tape) {
	for l := 1; l <= s.last(); l++ {
		for _, b := range s.incoming[l] {
			s.mul(b, w, tp.u[b.From])
		}
		s.sumTo(tp.u[l], s.bias(l).of(w))
		if l < s.last() {
			s.activate(tp, l)
		}
	}
	if s.mix != nil {
		s.computeGates(w, tp)
		s.combine(tp.u[s.last()], tp.gates.g, tp.u)
	}
}

// backward computes δ^l of layers L−1…1 from δ^L [M, eq. 6]: ε^l = Σ_{r>l} (W^{rl})ᵀ δ^r, and for expert i of
// a mixture g_i δ^L more; δ^l = J_lᵀ ε^l.
func (s *scratch) backward(w []float64, tp *tape) {
	for l := s.last() - 1; l > 0; l-- {
		delta := tp.delta[l]
		for _, b := range s.outgoing[l] {
			s.mulTrans(b, w, tp.delta[b.To])
		}
		s.sumTo(delta, nil)
		s.addGated(delta, l, tp.gates.g, tp.delta[s.last()])
		s.pullKeep(tp, l)
	}
}

// gradientTo stores the sum over the block's rows of ∂E_p/∂w in dst, or with blas.Add adds it: G^{lr} = δ^l (u^r)ᵀ, δ^l
// for the biases.
func (s *scratch) gradientTo(dst, w []float64, tp *tape, start blas.Start) {
	s.transposeOutputs(tp)
	for _, b := range s.blocks {
		s.outer(b, tp.delta[b.To], tp.u[b.From], s.uRows[b.From])
		to, start := b.of(dst), start
		if b.Sources != nil && start == blas.Zero {
			clear(to)
			start = blas.Add
		}
		s.finishSum(to, b.Rows, b.Cols, start, nil)
	}
	for _, b := range s.biases {
		to := b.of(dst)
		if start == blas.Zero {
			clear(to)
		}
		addColumnSums(to, tp.delta[b.Layer], s.rows)
	}
	if s.mix != nil {
		if start == blas.Zero {
			clear(dst[s.mix.offset:])
		}
		s.addGateGradient(dst, w, tp.delta[s.last()], tp)
	}
}

// pushForward computes φ^l and Ru^l of all layers along the direction d [M, lemma 1]:
// φ^l = Σ_r (D^{lr} u^r + W^{lr} Ru^r) + d^l, Ru^l = J_l φ^l, where Ru^0 = 0 costs nothing. In a mixture
// φ^L = Σ_i R{g_i} o_i + g_i R{o_i} [MD, §3].
func (s *scratch) pushForward(w, d []float64, tp *tape) {
	for l := 1; l <= s.last(); l++ {
		phi := s.phi[l]
		for _, b := range s.incoming[l] {
			s.mul(b, d, tp.u[b.From])
			if b.From > 0 {
				s.mul(b, w, s.ru[b.From])
			}
		}
		s.sumTo(phi, s.bias(l).of(d))
		if s.mixes(l) {
			s.pushMixture(phi, w, d, tp)
		}
		s.push(tp, l, s.ru[l], phi)
	}
}

// addHessian adds the sum over the block's rows of H_p d to dst [M, corollary 2]:
//
//	γ^l  = R{J_lᵀ ε^l} with Rε^l = Σ_{r>l} ( (W^{rl})ᵀ γ^r + (D^{rl})ᵀ δ^r ), and for expert i of a mixture
//	       g_i γ^L + R{g_i} δ^L more
//	dst += δ^l (Ru^r)ᵀ + γ^l (u^r)ᵀ, γ^l for the biases
func (s *scratch) addHessian(dst, w, d []float64, tp *tape) {
	s.pushForward(w, d, tp)
	last := s.last()
	s.outputCurvature(tp)
	if !s.fused(last) {
		s.curve(tp, last, s.gamma[last], s.phi[last], s.ru[last])
	}
	for l := last - 1; l > 0; l-- {
		gamma := s.gamma[l]
		for _, b := range s.outgoing[l] {
			s.mulTrans(b, w, s.gamma[b.To])
			s.mulTrans(b, d, tp.delta[b.To])
		}
		s.sumTo(gamma, nil)
		s.addGated(gamma, l, tp.gates.g, s.gamma[last])
		if s.moving {
			s.addGated(gamma, l, s.rg, tp.delta[last])
		}
		s.curve(tp, l, gamma, s.phi[l], s.ru[l])
	}
	s.transposeOutputs(tp)
	s.transposeTangents(1)
	for _, b := range s.blocks {
		s.outer(b, s.gamma[b.To], tp.u[b.From], s.uRows[b.From])
		if b.From > 0 {
			s.outer(b, tp.delta[b.To], s.ru[b.From], s.ruRows[b.From])
		}
		s.sumWeights(dst, b)
	}
	s.addBiases(dst)
	if s.mix != nil {
		s.addGateHessian(dst, w, d, tp)
	}
}

// addGaussNewton adds the sum over the block's rows of J_pᵀ B J_p d to dst [MD, §2.2]: γ^L = B φ^L, then
// the backward pass of the gradient, without f″ and without residuals.
func (s *scratch) addGaussNewton(dst, w, d []float64, tp *tape) {
	s.pushForward(w, d, tp)
	last := s.last()
	s.outputCurvature(tp)
	if !s.fused(last) {
		s.pull(tp, last, s.gamma[last])
	}
	for l := last - 1; l > 0; l-- {
		gamma := s.gamma[l]
		for _, b := range s.outgoing[l] {
			s.mulTrans(b, w, s.gamma[b.To])
		}
		s.sumTo(gamma, nil)
		s.addGated(gamma, l, tp.gates.g, s.gamma[last])
		s.pull(tp, l, gamma)
	}
	s.transposeOutputs(tp)
	for _, b := range s.blocks {
		s.outer(b, s.gamma[b.To], tp.u[b.From], s.uRows[b.From])
		s.sumWeights(dst, b)
	}
	s.addBiases(dst)
	if s.mix != nil {
		s.addGateGradient(dst, w, s.gamma[last], tp)
	}
}

// addBiases adds γ^l to the biases in dst.
func (s *scratch) addBiases(dst []float64) {
	for _, b := range s.biases {
		addColumnSums(b.of(dst), s.gamma[b.Layer], s.rows)
	}
}
