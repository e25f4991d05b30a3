package models

import (
	"math"
	"slices"

	"newtop/internal/vector"
	"newtop/models/blas"
)

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
func (s *scratch) addDiagonal(dst, w []float64, tp *tape) {
	last := s.last()
	squares := s.ru
	for r := range last {
		u := tp.u[r][:len(squares[r])]
		vector.Mul(squares[r], u, u)
	}
	s.transposeTangents(0)
	scale := s.phi[last]
	s.factorScales(scale, tp)
	if s.mix == nil {
		s.outputDiagonal(s.gamma[last], scale, tp)
	}
	for l := 1; l < last; l++ {
		clear(s.gamma[l])
	}
	s.shareOutputs(w, tp)
	if last > 1 {
		for k := range s.Outputs() {
			s.addSquares(k, scale[k*s.rows:(k+1)*s.rows], w, tp)
			if s.mix != nil {
				addColumnSquares(dst[s.mix.offset:], s.gateRows, s.rows)
			}
		}
	}
	for _, b := range s.blocks {
		s.outer(b, s.gamma[b.To], squares[b.From], s.ruRows[b.From])
		s.sumWeights(dst, b)
	}
	for _, b := range s.biases {
		addColumnSums(b.of(dst), s.gamma[b.Layer], s.rows)
	}
}

// addColumnSquares adds the sum of squares over the rows of data to dst, one number a node; x is len(dst) ×
// rows.
func addColumnSquares(dst, x []float64, rows int) {
	for i := range dst {
		x := x[i*rows : (i+1)*rows]
		dst[i] += vector.Dot(x, x)
	}
}

// factorScales stores c_k of every output and row.
func (s *scratch) factorScales(c []float64, tp *tape) {
	last := s.last()
	u, a := tp.u[last], s.activation(last)
	switch {
	case a != Softmax:
		for i := range c {
			c[i] = 1
		}
		a.push(c, u, tp.kept[last], c)
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
func (s *scratch) outputDiagonal(dst, c []float64, tp *tape) {
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
	vector.ColumnDots(s.ra, u, u)
	for i := 0; i < len(u); i += s.rows {
		for j, norm := range s.ra {
			x := u[i+j]
			dst[i+j] = x * x * ((1-x)*(1-x) + (norm - x*x))
		}
	}
}

// shareOutputs stores (W^{Lr})ᵀ u^L in s.spare[r] for softmax outputs: the part of (W^{Lr})ᵀ (e_k − u^L)
// that is the same for every k.
func (s *scratch) shareOutputs(w []float64, tp *tape) {
	last := s.last()
	if s.activation(last) != Softmax {
		return
	}
	for _, b := range s.incoming[last] {
		if b.From > 0 {
			s.mulTrans(b, w, tp.u[last])
			s.sumTo(s.spare[b.From], nil)
		}
	}
}

// addSquares adds δ_k^l ∘ δ_k^l of the hidden layers to s.gamma.
func (s *scratch) addSquares(k int, c, w []float64, tp *tape) {
	s.pullOutput(k, c, w, tp)
	for l := s.last() - 1; l > 0; l-- {
		vector.MulAdd(s.gamma[l], s.phi[l], s.phi[l])
	}
}

// pullOutput carries s_k = c(e_k − u) or c e_k back through the network: δ_k^l of the hidden layers lies in
// s.phi afterwards. It needs what shareOutputs left. In a mixture it leaves s_k itself in s.spare[L]
// and the gates' part of the Jacobian's rows in s.gateRows.
func (s *scratch) pullOutput(k int, c, w []float64, tp *tape) {
	last := s.last()
	if s.mix != nil {
		s.layColumn(s.spare[last], k, c, tp)
		s.pullGates(w, s.spare[last], tp)
	}
	for l := last - 1; l > 0; l-- {
		delta := s.phi[l]
		for _, b := range s.outgoing[l] {
			switch {
			case b.To == last:
				s.outputRow(k, c, b, w)
			case s.lone(b.To):
				s.outputRow(k, s.node(s.phi[b.To], k), b, w)
			default:
				s.mulTrans(b, w, s.phi[b.To])
			}
		}
		s.sumTo(delta, nil)
		s.addSparseRows(delta, k, c, l, w)
		if s.shares(l) {
			s.subtractShared(delta, c, s.spare[l])
		}
		s.addGated(delta, l, tp.gates.g, s.spare[last])
		s.pull(tp, l, delta)
	}
}

// layColumn stores s_k in column, nodes × rows.
func (s *scratch) layColumn(column []float64, k int, c []float64, tp *tape) {
	clear(column)
	copy(column[k*s.rows:], c)
	if u := tp.u[s.last()]; s.activation(s.last()) == Softmax {
		for i := 0; i < len(u); i += s.rows {
			for j, c := range c {
				column[i+j] -= c * u[i+j]
			}
		}
	}
}

// lone reports whether layer l is an expert whose δ_k is 0 in all nodes but k.
func (n *Network) lone(l int) bool {
	return n.gateOf[l] > 0 && len(n.outgoing[l]) == 0 && n.activation(l) != Softmax && n.activation(n.last()) != Softmax
}

// outputRow adds c·w_k to the sum, w_k being row k of a dense block into the output layer, or a lone expert.
func (s *scratch) outputRow(k int, c []float64, b Block, w []float64) {
	if b.Sources == nil {
		s.terms = append(s.terms, blas.Term{A: b.row(w, k), RowStride: 1, ColStride: 1, B: c, Stride: s.rows, K: 1})
	}
}

// addSparseRows is outputRow for the sparse blocks out of layer l, after the sum.
func (s *scratch) addSparseRows(delta []float64, k int, c []float64, l int, w []float64) {
	for _, b := range s.outgoing[l] {
		if b.Sources == nil || b.To != s.last() && !s.lone(b.To) {
			continue
		}
		if b.To != s.last() {
			c = s.node(s.phi[b.To], k)
		}
		row := b.row(w, k)
		for i, node := range b.Sources.Of(k) {
			axpy(row[i], c, s.node(delta, node))
		}
		s.multiplications += len(row) * s.rows
	}
}

// shares reports whether δ_k of layer l has a part that is the same for every k, left by shareOutputs.
func (s *scratch) shares(l int) bool {
	return s.activation(s.last()) == Softmax && slices.ContainsFunc(s.outgoing[l], func(b Block) bool { return b.To == s.last() })
}

// subtractShared subtracts c·shared of every node.
func (s *scratch) subtractShared(delta, c, shared []float64) {
	vector.Scale(s.ra, -1, c)
	addScaledRows(delta, s.ra, shared)
}
