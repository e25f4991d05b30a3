package models

import "math"

// addDiagonal adds the sum over the block's rows of diag(J_pᵀ B J_p) to dst, the preconditioner of
// [MD, algorithm D]. With B' = SSᵀ the curvature of the loss at the net inputs v^L, the diagonal is the
// sum of the squared entries of one Jacobian row per column s_k of S, and the row's entries are
// δ_k^l (u^r)ᵀ, δ_k being the backward pass of s_k:
//
//	dst^{lr} += ( Σ_k δ_k^l ∘ δ_k^l ) ( u^r ∘ u^r )ᵀ
//
// Every s_k is c_k e_k, or c_k (e_k − u) after softmax:
//
//	squared error        c_k = f′_k         softmax  c_k = u_k        (B' = J², S = J)
//	cross-entropy        c_k = √f′_k        softmax  c_k = √(u_k Σt)  (B' = (diag(u) − uuᵀ) Σt)
//
// so that the output layer needs no backward pass of its own and Σ_k δ_k^L ∘ δ_k^L is diag(B').
func (s *space) addDiagonal(dst, w []float64, tp *tape) {
	last := s.last()
	squares := s.ru
	for r := range last {
		for i, u := range tp.u[r] {
			squares[r][i] = u * u
		}
	}
	scale := s.phi[last]
	s.factorScales(scale, tp)
	s.outputDiagonal(s.gamma[last], scale, tp)
	for l := 1; l < last; l++ {
		clear(s.gamma[l])
	}
	s.shareOutputs(w, tp)
	if last > 1 {
		for k := range s.Outputs() {
			s.addSquares(k, scale[k*s.rows:(k+1)*s.rows], w, tp)
		}
	}
	for _, b := range s.blocks {
		s.addOuter(b.of(dst), s.gamma[b.To], squares[b.From], b.Rows, b.Cols, s.rows)
	}
	for _, b := range s.biases {
		addColumnSums(b.of(dst), s.gamma[b.Layer], s.rows)
	}
}

// factorScales stores c_k of every output and row.
func (s *space) factorScales(c []float64, tp *tape) {
	last := s.last()
	u, a := tp.u[last], s.activation(last)
	switch {
	case a != Softmax:
		for i := 0; i < len(u); i += chunk {
			copy(c[i:], s.slopes(tp, last, i))
		}
		if s.fused(last) {
			for i := range c {
				c[i] = math.Sqrt(c[i])
			}
		}
	case s.fused(last):
		for i := 0; i < len(u); i += s.rows {
			for j, sum := range tp.kept[last] {
				c[i+j] = math.Sqrt(u[i+j] * sum)
			}
		}
	default:
		copy(c, u)
	}
}

// outputDiagonal stores diag(B') in dst: c² elementwise; after softmax Σt·u(1 − u) with cross-entropy
// and u²((1 − u)² + Σ_{k≠j} u_k²) = u²(1 − 2u + ⟨u, u⟩) with squared error.
func (s *space) outputDiagonal(dst, c []float64, tp *tape) {
	last := s.last()
	u := tp.u[last]
	if s.activation(last) != Softmax {
		for i, c := range c {
			dst[i] = c * c
		}
		return
	}
	if s.fused(last) {
		for i, c := range c {
			dst[i] = c * c * (1 - u[i])
		}
		return
	}
	columnDots(s.ra, u, u)
	for i := 0; i < len(u); i += s.rows {
		for j, norm := range s.ra {
			x := u[i+j]
			dst[i+j] = x * x * ((1-x)*(1-x) + (norm - x*x))
		}
	}
}

// shareOutputs stores (W^{Lr})ᵀ u^L in s.spare[r] for softmax outputs: the part of (W^{Lr})ᵀ (e_k − u^L)
// that is the same for every k.
func (s *space) shareOutputs(w []float64, tp *tape) {
	last := s.last()
	if s.activation(last) != Softmax {
		return
	}
	for _, b := range s.incoming[last] {
		if b.From > 0 {
			clear(s.spare[b.From])
			s.addMulTrans(s.spare[b.From], b.of(w), tp.u[last], b.Cols, s.rows, b.Rows)
		}
	}
}

// addSquares carries s_k = c(e_k − u) or c e_k back through the network and adds δ_k^l ∘ δ_k^l of the
// hidden layers to s.gamma. δ_k lies in s.phi.
func (s *space) addSquares(k int, c, w []float64, tp *tape) {
	last := s.last()
	for l := last - 1; l > 0; l-- {
		delta := s.phi[l]
		clear(delta)
		for _, b := range s.outgoing[l] {
			if b.To < last {
				s.addMulTrans(delta, b.of(w), s.phi[b.To], b.Cols, s.rows, b.Rows)
				continue
			}
			s.addOutputRow(delta, b.of(w)[k*b.Cols:(k+1)*b.Cols], c, s.spare[l])
		}
		s.pull(tp, l, delta)
		sum := s.gamma[l][:len(delta)]
		for i, x := range delta {
			sum[i] += x * x
		}
	}
}

// addOutputRow adds c·(w_k − shared) to delta, w_k being row k of a block into the output layer.
func (s *space) addOutputRow(delta, row, c, shared []float64) {
	softmax := s.activation(s.last()) == Softmax
	for i, w := range row {
		delta := delta[i*s.rows:][:len(c)]
		if !softmax {
			for j, c := range c {
				delta[j] += c * w
			}
			continue
		}
		shared := shared[i*s.rows:][:len(c)]
		for j, c := range c {
			delta[j] += c * (w - shared[j])
		}
	}
}
