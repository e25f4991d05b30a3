package models

// forward computes the outputs of layers 1…L−1 and the net inputs of layer L [M, eq. 3]:
// v^l = Σ_r W^{lr} u^r + b^l, u^l = f_l(v^l). The output layer's activation is finish's or loss's.
func (s *space) forward(w []float64, tp *tape) {
	for l := 1; l <= s.last(); l++ {
		s.fillBias(tp.u[l], s.bias(l).of(w))
		for _, b := range s.incoming[l] {
			s.addMul(tp.u[l], b.of(w), tp.u[b.From], b.Rows, s.rows, b.Cols)
		}
		if l < s.last() {
			s.activate(tp, l)
		}
	}
}

func (s *space) fillBias(v, bias []float64) {
	for i, x := range bias {
		node := v[i*s.rows : (i+1)*s.rows]
		for j := range node {
			node[j] = x
		}
	}
}

// backward computes δ^l of layers L−1…1 from δ^L [M, eq. 6]: ε^l = Σ_{r>l} (W^{rl})ᵀ δ^r, δ^l = J_lᵀ ε^l.
func (s *space) backward(w []float64, tp *tape) {
	for l := s.last() - 1; l > 0; l-- {
		delta := tp.delta[l]
		clear(delta)
		for _, b := range s.outgoing[l] {
			s.addMulTrans(delta, b.of(w), tp.delta[b.To], b.Cols, s.rows, b.Rows)
		}
		s.pullKeep(tp, l)
	}
}

// addGradient adds the sum over the block's rows of ∂E_p/∂w to dst: G^{lr} = δ^l (u^r)ᵀ, δ^l for the
// biases.
func (s *space) addGradient(dst []float64, tp *tape) {
	for _, b := range s.blocks {
		s.addOuter(b.of(dst), tp.delta[b.To], tp.u[b.From], b.Rows, b.Cols, s.rows)
	}
	for _, b := range s.biases {
		addColumnSums(b.of(dst), tp.delta[b.Layer], s.rows)
	}
}

// pushForward computes φ^l and Ru^l of all layers along the direction d [M, lemma 1]:
// φ^l = Σ_r (D^{lr} u^r + W^{lr} Ru^r) + d^l, Ru^l = J_l φ^l, where Ru^0 = 0 costs nothing.
func (s *space) pushForward(w, d []float64, tp *tape) {
	for l := 1; l <= s.last(); l++ {
		phi := s.phi[l]
		s.fillBias(phi, s.bias(l).of(d))
		for _, b := range s.incoming[l] {
			s.addMul(phi, b.of(d), tp.u[b.From], b.Rows, s.rows, b.Cols)
			if b.From > 0 {
				s.addMul(phi, b.of(w), s.ru[b.From], b.Rows, s.rows, b.Cols)
			}
		}
		s.push(tp, l, s.ru[l], phi)
	}
}

// addHessian adds the sum over the block's rows of H_p d to dst [M, corollary 2]:
//
//	γ^l  = R{J_lᵀ ε^l} with Rε^l = Σ_{r>l} ( (W^{rl})ᵀ γ^r + (D^{rl})ᵀ δ^r )
//	dst += δ^l (Ru^r)ᵀ + γ^l (u^r)ᵀ, γ^l for the biases
func (s *space) addHessian(dst, w, d []float64, tp *tape) {
	s.pushForward(w, d, tp)
	last := s.last()
	s.outputCurvature(tp)
	if !s.fused(last) {
		s.curve(tp, last, s.gamma[last], s.phi[last], s.ru[last])
	}
	for l := last - 1; l > 0; l-- {
		gamma := s.gamma[l]
		clear(gamma)
		for _, b := range s.outgoing[l] {
			s.addMulTrans(gamma, b.of(w), s.gamma[b.To], b.Cols, s.rows, b.Rows)
			s.addMulTrans(gamma, b.of(d), tp.delta[b.To], b.Cols, s.rows, b.Rows)
		}
		s.curve(tp, l, gamma, s.phi[l], s.ru[l])
	}
	s.addProduct(dst, tp)
	for _, b := range s.blocks {
		if b.From > 0 {
			s.addOuter(b.of(dst), tp.delta[b.To], s.ru[b.From], b.Rows, b.Cols, s.rows)
		}
	}
}

// addGaussNewton adds the sum over the block's rows of J_pᵀ B J_p d to dst [MD, §2.2]: γ^L = B φ^L, then
// the backward pass of the gradient, without f″ and without residuals.
func (s *space) addGaussNewton(dst, w, d []float64, tp *tape) {
	s.pushForward(w, d, tp)
	last := s.last()
	s.outputCurvature(tp)
	if !s.fused(last) {
		s.pull(tp, last, s.gamma[last])
	}
	for l := last - 1; l > 0; l-- {
		gamma := s.gamma[l]
		clear(gamma)
		for _, b := range s.outgoing[l] {
			s.addMulTrans(gamma, b.of(w), s.gamma[b.To], b.Cols, s.rows, b.Rows)
		}
		s.pull(tp, l, gamma)
	}
	s.addProduct(dst, tp)
}

// addProduct adds γ^l (u^r)ᵀ, and γ^l for the biases, to dst.
func (s *space) addProduct(dst []float64, tp *tape) {
	for _, b := range s.blocks {
		s.addOuter(b.of(dst), s.gamma[b.To], tp.u[b.From], b.Rows, b.Cols, s.rows)
	}
	for _, b := range s.biases {
		addColumnSums(b.of(dst), s.gamma[b.Layer], s.rows)
	}
}
