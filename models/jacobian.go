package models

import (
	"newtop/internal/vector"
	"newtop/models/blas"
)

// The Gauss–Newton matrix through explicit rows of the Jacobian, [MD, eq. 1 and Algorithm 2]. With B' = SSᵀ the
// curvature of the loss at the net inputs v^L (diagonal.go has its columns s_k = c_k e_k, or c_k (e_k − u) after
// softmax), row p of the data and output k have the row of Sᵀ ∂v^L/∂w
//
//	b_{p,k}  over the n_B hidden weights, which come first in the flat vector: δ_k^l (u^r)ᵀ and δ_k^l, δ_k
//	         being the backward pass of s_k
//	a_p      over the C_A terminal weights of one output, those into v_k^L: u^r of every source, and 1
//
// Terminal weights of other outputs have no effect on v_k^L: J is block-angular, and a row is n_B + C_A numbers.
// After softmax the terminal part of row k is S's column times a_p, over all outputs.

// rowsNeeded makes every worker able to hold one row.
func (l *Linearization) rowsNeeded() {
	if l.rowProducts != nil {
		return
	}
	for _, s := range l.scratches {
		s.row = make([]float64, l.net.hidden())
	}
	l.rowProducts = l.newProduct((*scratch).addRowProducts)
}

// hidden returns n_B, the number of weights that are not into the output layer: all of a mixture's.
func (n *Network) hidden() int {
	if n.mix != nil {
		return n.dim
	}
	size := 0
	for _, b := range n.blocks {
		if b.To < n.last() {
			size += b.Size()
		}
	}
	for _, b := range n.biases {
		if b.Layer < n.last() {
			size += b.Nodes
		}
	}
	return size
}

// GaussNewtonRowsTo stores the product (JᵀBJ)v in dst, as GaussNewtonTo does, by [MD, Algorithm 2]: every row of
// the Jacobian is formed, α = row·v, dst += α·row. It is up to as many times dearer as there are outputs, and
// here to be compared with. dst and v must not overlap.
func (l *Linearization) GaussNewtonRowsTo(dst, v []float64) {
	l.rowsNeeded()
	l.product("GaussNewtonRowsTo", dst, v, l.rowProducts)
}

// addRowProducts adds the sum over the block's rows and the outputs of (row·v) row to dst. What a terminal part
// a_p has to do with v and dst is the same for every output, and is done for all of them at once:
//
//	η_k = a_p·v_k      α_k = c_k (η_k − ⟨u, η⟩) + b_{p,k}·v_B     dst_B += α_k b_{p,k}
//	γ_k = c_k α_k − u_k Σ_j c_j α_j                              dst_k += γ_k a_p
//
// where the terms in u are softmax's. η, then c∘α, then γ lie in s.gamma.
func (s *scratch) addRowProducts(dst, w, v []float64, tp *tape) {
	last := s.last()
	c, eta := s.phi[last], s.gamma[last]
	s.factorScales(c, tp)
	for _, b := range s.incoming[last] {
		s.mul(b, v, tp.u[b.From])
	}
	s.sumTo(eta, s.bias(last).of(v))
	softmax := s.activation(last) == Softmax
	if softmax {
		s.center(tp.u[last], eta)
		s.shareOutputs(w, tp)
	}
	s.transposeOutputs(tp)
	hidden := len(s.row)
	for k := range s.Outputs() {
		c, eta := c[k*s.rows:][:s.rows], eta[k*s.rows:][:s.rows]
		s.pullOutput(k, c, w, tp)
		s.transposeDeltas()
		for p, c := range c {
			s.formRow(s.row, p)
			alpha := c*eta[p] + dot(s.row, v[:hidden])
			axpy(alpha, s.row, dst[:hidden])
			eta[p] = c * alpha
		}
	}
	if softmax {
		s.spreadOutputs(eta, tp.u[last])
	}
	for _, b := range s.incoming[last] {
		s.outer(b, eta, tp.u[b.From], s.uRows[b.From])
		s.sumWeights(dst, b)
	}
	addColumnSums(s.bias(last).of(dst), eta, s.rows)
}

// spreadOutputs subtracts u times the sum over the outputs from x.
func (s *scratch) spreadOutputs(x, u []float64) {
	vector.ColumnSums(s.ra, x)
	for i := 0; i < len(x); i += s.rows {
		for j, sum := range s.ra {
			x[i+j] -= u[i+j] * sum
		}
	}
}

// transposeDeltas stores δ^l of the hidden layers, which pullOutput left, row by row in s.gamma.
func (s *scratch) transposeDeltas() {
	for l := 1; l < s.last(); l++ {
		blas.Transpose(s.gamma[l], s.nodes[l], s.phi[l], s.rows, s.nodes[l], s.rows)
	}
}

// formRow stores b_{p,k} in row, from what turn and transposeDeltas left for row p of the block and output k.
func (s *scratch) formRow(row []float64, p int) {
	last := s.last()
	for _, b := range s.blocks {
		if b.To == last {
			break // they come last
		}
		storeOuter(row, b, s.gamma[b.To][p*b.Rows:][:b.Rows], s.uRows[b.From].row(p, b.Cols))
	}
	for _, b := range s.biases[:last-1] {
		copy(b.of(row), s.gamma[b.Layer][p*b.Nodes:])
	}
	if s.mix != nil {
		for i := range row[s.mix.offset:] {
			row[s.mix.offset+i] = s.node(s.gateRows, i)[p]
		}
	}
}

// storeOuter stores δuᵀ in the weights of a block in dst, for one row of data.
func storeOuter(dst []float64, b Block, delta, u []float64) {
	if b.Sources != nil {
		for i, d := range delta {
			scaleRow(b.row(dst, i), b, i, d, u)
		}
		return
	}
	weights := b.of(dst)
	for i, d := range delta {
		vector.Scale(weights[i*len(u):][:len(u)], d, u)
	}
}

// scaleRow stores d·u in what row i of a block has weights for.
func scaleRow(dst []float64, b Block, i int, d float64, u []float64) {
	if b.Sources == nil {
		vector.Scale(dst, d, u)
		return
	}
	for t, j := range b.Sources.Of(i) {
		dst[t] = d * u[j]
	}
}

// rowCost counts the multiplications that explicit rows take for each row of data: one product through them,
// and the assembly of the matrix.
func (n *Network) rowCost() (product, matrix float64) {
	outputs, softmax := float64(n.Outputs()), n.activation(n.last()) == Softmax
	for _, b := range n.blocks {
		weights := float64(b.Size())
		if b.To < n.last() {
			product += 3 * outputs * weights // form, row·v, α·row
			matrix += outputs * weights
			switch { // back through the block
			case b.From > 0 && n.lone(b.To):
				product += weights
				matrix += weights
			case b.From > 0:
				product += outputs * weights
				matrix += outputs * weights
			}
			continue
		}
		product += 2 * weights
		matrix += weights
		if b.From > 0 {
			product += weights
			matrix += weights
		}
		if softmax {
			matrix += (outputs - 1) * weights // every row has all terminal weights
		}
		if softmax && b.From > 0 { // what all outputs share
			product += weights
			matrix += outputs * weights
		}
	}
	pairs := func(n float64) float64 { return n * (n + 1) / 2 }
	if softmax || n.mix != nil {
		return product, matrix + outputs*pairs(float64(n.dim))
	}
	hidden := n.hidden()
	for k := range n.Outputs() {
		own := 0
		for _, p := range n.ownPieces(k, hidden) {
			own += p.size
		}
		matrix += pairs(float64(hidden + own))
	}
	return product, matrix
}
