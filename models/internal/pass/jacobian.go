package pass

import (
	"newtop/internal/vector"
	"newtop/models/blas"
)

// jacobian carries the columns s_k of S, B' = SSᵀ, back through the network: s_k is c_k e_k, or c_k (e_k − u) after
// softmax, where Loss.factor stores c. So the output layer needs no backward pass of its own.
//
//	squared error        c_k = f′_k         softmax  c_k = u_k        (B' = J², S = J)
//	cross-entropy        c_k = √f′_k        softmax  c_k = √(u_k Σt)  (B' = (diag(u) − uuᵀ) Σt)
//
// Row p of the data and output k have the row δ_k^l (u^r)ᵀ of Sᵀ ∂v^L/∂w, δ_k being the backward pass of s_k.
type jacobian[F Float] struct{ *Scratch[F] }

// shareOutputs stores (W^{Lr})ᵀ u^L in s.spare[r] for softmax outputs: the part of (W^{Lr})ᵀ (e_k − u^L)
// that is the same for every k.
func (s jacobian[F]) shareOutputs(w []F, tp *Tape[F]) {
	last := s.Last()
	if s.out() != Softmax {
		return
	}
	for _, b := range s.Incoming[last] {
		if b.From > 0 {
			s.mulTrans(b, w, tp.U[last])
			s.sumTo(s.spare[b.From], nil)
		}
	}
}

// pullOutput carries s_k = c(e_k − u) or c e_k back through the network: δ_k^l of the hidden layers lies in
// s.phi afterwards. It needs what shareOutputs left. In a mixture it leaves s_k itself in s.spare[L]
// and the gates' part of the Jacobian's rows in s.gates.byParameter.
func (s jacobian[F]) pullOutput(k int, c, w []F, tp *Tape[F]) {
	last := s.Last()
	if s.Mixture != nil {
		s.layColumn(s.spare[last], k, c, tp)
		s.gates.pull(w, s.spare[last], tp)
	}
	for l := last - 1; l > 0; l-- {
		delta := s.phi[l]
		for _, b := range s.Outgoing[l] {
			switch {
			case b.To == last:
				s.outputRow(k, c, b, w)
			case s.Lone(b.To):
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
		s.gates.addGated(delta, s.GateOf[l], tp.gates.g, s.spare[last])
		s.layer(tp, l).pull(delta)
	}
}

// layColumn stores s_k in column, nodes × rows.
func (s jacobian[F]) layColumn(column []F, k int, c []F, tp *Tape[F]) {
	clear(column)
	copy(column[k*s.Rows:], c)
	if u := tp.U[s.Last()]; s.out() == Softmax {
		for i := 0; i < len(u); i += s.Rows {
			for j, c := range c {
				column[i+j] -= c * u[i+j]
			}
		}
	}
}

// outputRow adds c·w_k to the sum, w_k being row k of a dense block into the output layer, or a lone expert.
func (s jacobian[F]) outputRow(k int, c []F, b Block, w []F) {
	if b.Sparse == nil {
		s.terms = append(s.terms, blas.Term[F]{A: rowOf(&b, w, k), RowStride: 1, ColStride: 1, B: c, Stride: s.Rows,
			K: 1})
	}
}

// addSparseRows is outputRow for the sparse blocks out of layer l, after the sum.
func (s jacobian[F]) addSparseRows(delta []F, k int, c []F, l int, w []F) {
	for _, b := range s.Outgoing[l] {
		if b.Sparse == nil || b.To != s.Last() && !s.Lone(b.To) {
			continue
		}
		x := c
		if b.To != s.Last() {
			x = s.node(s.phi[b.To], k)
		}
		row := rowOf(&b, w, k)
		for i, node := range b.Sparse.Of(k) {
			vector.Axpy(s.node(delta, node), row[i], x)
		}
		s.Multiplications += len(row) * s.Rows
	}
}

// subtractShared subtracts c·shared of every node.
func (s jacobian[F]) subtractShared(delta, c, shared []F) {
	vector.Scale(s.ra, -1, c)
	addScaledRows(delta, s.ra, shared)
}
