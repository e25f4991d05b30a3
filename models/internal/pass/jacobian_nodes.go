package pass

import "newtop/models/blas"

// NodeRows is what some rows of a block say of the Gauss–Newton matrix node by node. A weight's column of the Jacobian
// is δ_k of the node it leads to times u of the one it comes from, so that over the outputs k of a row
//
//	G = Σ_p D_p ∘ (u uᵀ)      D_p = Σ_k δ_k δ_kᵀ
//
// where a D of nodes takes the place of the products of all their weights. Nodes are those of layers 1…L, or 1…L−1 and
// the gates' parameters in a mixture; biases, and these parameters, have u = 1.
type NodeRows[F Float] struct {
	Rows  int
	Delta []F   // δ_k of all nodes: row by row, and in a row output by output
	U     [][]F // u^r of layers 0…L−1, node by node
	ByRow [][]F // and row by row
}

// Size returns how many numbers they are.
func (b *NodeRows[F]) Size() int {
	size := len(b.Delta)
	for r := range b.U {
		size += len(b.U[r]) + len(b.ByRow[r])
	}
	return size
}

// NewNodeRows returns room for that many rows.
func NewNodeRows[F Float](n *Net, rows int) NodeRows[F] {
	b := NodeRows[F]{Delta: make([]F, rows*n.Outputs()*n.NodeCount())}
	for _, nodes := range n.Nodes[:n.Last()] {
		b.U, b.ByRow = append(b.U, make([]F, nodes*rows)), append(b.ByRow, make([]F, nodes*rows))
	}
	return b
}

// FormNodes stores what the block's rows from one on say in dst, which has dst.Rows of them. w are the weights of the
// pass that the tape has.
func FormNodes[F Float](scratch *Scratch[F], dst *NodeRows[F], first int, w []F, tp *Tape[F]) {
	s := jacobian[F]{scratch}
	last := s.Last()
	for r := range last {
		nodes := s.Nodes[r]
		for i := range nodes {
			copy(dst.U[r][i*dst.Rows:][:dst.Rows], s.node(tp.U[r], i)[first:])
		}
		blas.Transpose(dst.ByRow[r], nodes, dst.U[r], dst.Rows, nodes, dst.Rows)
	}
	c, all := s.phi[last], s.NodeCount()
	s.loss.factor(c, s.Scratch, tp)
	s.shareOutputs(w, tp)
	for k := range s.Outputs() {
		c := s.node(c, k)
		s.pullOutput(k, c, w, tp)
		delta := s.spare[last]
		if s.Mixture != nil {
			delta = s.gates.byParameter
		} else {
			s.layColumn(delta, k, c, tp)
		}
		at := k * all
		for l := 1; l < last; l++ {
			blas.Transpose(dst.Delta[at:], s.Outputs()*all, s.phi[l][first:], s.Rows, s.Nodes[l], dst.Rows)
			at += s.Nodes[l]
		}
		blas.Transpose(dst.Delta[at:], s.Outputs()*all, delta[first:], s.Rows, s.LayerNodes(last), dst.Rows)
	}
}

// ScaledSources stores d_i·u in dst for the weights of rows first, first+1, … of a block, as many as there are d, of
// one row of data whose sources are u.
func ScaledSources[F Float](b *Block, dst, d, u []F, first int) {
	start, _ := b.RowSpan(first)
	for i, d := range d {
		from, to := b.RowSpan(first + i)
		scaleRow(dst[from-start:to-start], *b, first+i, d, u)
	}
}
