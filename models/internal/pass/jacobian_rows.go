package pass

import (
	"newtop/internal/vector"
	"newtop/models/blas"
)

// Rows of the Jacobian, for the Gauss–Newton matrix through them [MD, eq. 1 and Algorithm 2]. Row p of the data and
// output k have
//
//	b_{p,k}  over the n_B hidden weights, which come first in the flat vector: δ_k^l (u^r)ᵀ and δ_k^l, δ_k
//	         being the backward pass of s_k
//	a_p      over the C_A terminal weights of one output, those into v_k^L: u^r of every source, and 1
//
// Terminal weights of other outputs have no effect on v_k^L: J is block-angular, and a row is n_B + C_A numbers.
// After softmax the terminal part of row k is S's column times a_p, over all outputs.

// AddRowProducts adds the sum over the block's rows and the outputs of (row·v) row to dst. What a terminal part
// a_p has to do with v and dst is the same for every output, and is done for all of them at once:
//
//	η_k = a_p·v_k      α_k = c_k (η_k − ⟨u, η⟩) + b_{p,k}·v_B     dst_B += α_k b_{p,k}
//	γ_k = c_k α_k − u_k Σ_j c_j α_j                              dst_k += γ_k a_p
//
// where the terms in u are softmax's. η, then c∘α, then γ lie in s.gamma.
func AddRowProducts[F Float](scratch *Scratch[F], dst, w, v []F, tp *Tape[F]) {
	s := jacobian[F]{scratch}
	if s.row == nil {
		s.row = make([]F, s.Hidden())
	}
	last := s.Last()
	c, eta := s.phi[last], s.gamma[last]
	s.loss.factor(c, s.Scratch, tp)
	for _, b := range s.Incoming[last] {
		s.mul(b, v, tp.U[b.From])
	}
	s.sumTo(eta, biasesOf(s.bias(last), v))
	softmax := s.out() == Softmax
	if softmax {
		center(s.ra, tp.U[last], eta)
		s.shareOutputs(w, tp)
	}
	s.transposeOutputs(tp)
	hidden := len(s.row)
	for k := range s.Outputs() {
		c, eta := s.node(c, k), s.node(eta, k)
		s.pullOutput(k, c, w, tp)
		s.transposeDeltas()
		for p, c := range c {
			s.formRow(s.row, p)
			alpha := c*eta[p] + vector.Dot(s.row, v[:hidden])
			vector.Axpy(dst[:hidden], alpha, s.row)
			eta[p] = c * alpha
		}
	}
	if softmax {
		s.spreadOutputs(eta, tp.U[last])
	}
	for _, b := range s.Incoming[last] {
		s.outer(b, eta, tp.U[b.From], s.uRows[b.From])
		s.sumWeights(dst, b)
	}
	vector.AddRowSums(biasesOf(s.bias(last), dst), eta, s.Rows)
}

// spreadOutputs subtracts u times the sum over the outputs from x.
func (s jacobian[F]) spreadOutputs(x, u []F) {
	vector.ColumnSums(s.ra, x)
	for i := 0; i < len(x); i += s.Rows {
		for j, sum := range s.ra {
			x[i+j] -= u[i+j] * sum
		}
	}
}

// FormRows stores the rows of the Jacobian of a net of one output that the block's rows have, as the flat vector has
// them. w are the weights of the pass that the tape has.
func FormRows[F Float](scratch *Scratch[F], rows RowMajor[F], w []F, tp *Tape[F]) {
	s := jacobian[F]{scratch}
	last := s.Last()
	c := s.phi[last]
	s.loss.factor(c, s.Scratch, tp)
	s.shareOutputs(w, tp)
	s.pullOutput(0, c, w, tp)
	s.layColumn(s.spare[last], 0, c, tp)
	s.transposeOutputs(tp)
	s.transposeDeltas()
	for p, delta := range s.spare[last] {
		row := rows.row(p, rows.Stride)
		s.formRow(row, p)
		if s.Mixture != nil {
			continue
		}
		for _, b := range s.Incoming[last] {
			scaleRow(rowOf(&b, row, 0), b, 0, delta, s.uRows[b.From].row(p, b.Cols))
		}
		biasesOf(s.bias(last), row)[0] = delta
	}
}

// transposeDeltas stores δ^l of the hidden layers, which pullOutput left, row by row in s.gamma.
func (s jacobian[F]) transposeDeltas() {
	for l := 1; l < s.Last(); l++ {
		blas.Transpose(s.gamma[l], s.Nodes[l], s.phi[l], s.Rows, s.Nodes[l], s.Rows)
	}
}

// formRow stores b_{p,k} in row, from what transposeOutputs and transposeDeltas left for row p of the block and output
// k.
func (s jacobian[F]) formRow(row []F, p int) {
	last := s.Last()
	for _, b := range s.Blocks {
		if b.To == last {
			break // they come last
		}
		storeOuter(row, b, s.gamma[b.To][p*b.Rows:][:b.Rows], s.uRows[b.From].row(p, b.Cols))
	}
	for _, b := range s.Biases[:last-1] {
		copy(biasesOf(b, row), s.gamma[b.Layer][p*b.Nodes:])
	}
	if s.Mixture != nil {
		for i := range row[s.Mixture.Offset:] {
			row[s.Mixture.Offset+i] = s.node(s.gates.byParameter, i)[p]
		}
	}
}

// storeOuter stores δuᵀ in the weights of a block in dst, for one row of data.
func storeOuter[F Float](dst []F, b Block, delta, u []F) {
	for i, d := range delta {
		scaleRow(rowOf(&b, dst, i), b, i, d, u)
	}
}

// scaleRow stores d·u in what row i of a block has weights for.
func scaleRow[F Float](dst []F, b Block, i int, d F, u []F) {
	if b.Sparse == nil {
		vector.Scale(dst, d, u)
		return
	}
	for t, j := range b.Sparse.Of(i) {
		dst[t] = d * u[j]
	}
}
