package pass

import (
	"newtop/models/blas"
)

// products is a sum of matrix products under way, for a block of Rows rows of data. Dense blocks become terms of one
// blas.Sum, so that what it adds up stays in registers; sparse ones are added afterwards.
type products[F Float] struct {
	Rows   int
	terms  []blas.Term[F]
	sparse []sparseTerm[F]
	// Multiplications counts all that were done, those of sparse blocks included.
	Multiplications int
}

// sparseTerm is one product of a sparse block. A function value in place of its kind would be allocated.
type sparseTerm[F Float] struct {
	kind    sparseKind
	sources *Sparse
	a, b    []F
}

type sparseKind uint8

const (
	sparseMul sparseKind = iota
	sparseMulTrans
	sparseOuter
)

func (t *sparseTerm[F]) add(dst []F, rows int) {
	switch t.kind {
	case sparseMul:
		addMul(t.sources, dst, t.a, t.b, rows)
	case sparseMulTrans:
		addMulTrans(t.sources, dst, t.a, t.b, rows)
	case sparseOuter:
		addOuter(t.sources, dst, t.a, t.b, rows)
	}
}

// mul adds W^{lr} x to the sum, w being all weights.
func (p *products[F]) mul(b Block, w, x []F) {
	if b.Sparse != nil {
		p.sparse = append(p.sparse, sparseTerm[F]{sparseMul, b.Sparse, weightsOf(&b, w), x})
		return
	}
	p.terms = append(p.terms, blas.Term[F]{A: weightsOf(&b, w), RowStride: b.Cols, ColStride: 1, B: x, Stride: p.Rows,
		K: b.Cols})
}

// mulTrans adds (W^{lr})ᵀ x to the sum, w being all weights.
func (p *products[F]) mulTrans(b Block, w, x []F) {
	if b.Sparse != nil {
		p.sparse = append(p.sparse, sparseTerm[F]{sparseMulTrans, b.Sparse, weightsOf(&b, w), x})
		return
	}
	p.terms = append(p.terms, blas.Term[F]{A: weightsOf(&b, w), RowStride: 1, ColStride: b.Cols, B: x, Stride: p.Rows,
		K: b.Rows})
}

// outer adds x yᵀ to the sum, over the rows of data, y being the outputs of layer b.From or what belongs to them, node
// by node, and yRows the same row by row.
func (p *products[F]) outer(b Block, x, y []F, yRows RowMajor[F]) {
	if b.Sparse != nil {
		p.sparse = append(p.sparse, sparseTerm[F]{sparseOuter, b.Sparse, x, y})
		return
	}
	p.terms = append(p.terms, blas.Term[F]{A: x, RowStride: p.Rows, ColStride: 1, B: yRows.Data, Stride: yRows.Stride,
		K: p.Rows})
}

// Scratch is what one worker needs to carry a block of rows through the network.
type Scratch[F Float] struct {
	*Net
	division[F]
	loss  lossOn[F]
	gates gates[F] // nothing without a mixture
	Own   Tape[F]  // for a block whose tape is not kept

	// One array a layer, nodes × rows. In a product they hold φ, Ru and γ.
	phi, ru, gamma, spare [][]F
	borrowed              bool // whether γ and Ru are a tape's
	// u^r and Ru^r row by row, of layers that others take from: where transposeOutputs and transposeTangents found them
	// or put them.
	uRows, ruRows             []RowMajor[F]
	uRowsMemory, ruRowsMemory [][]F

	Targets    []F // outputs × rows
	ra, rb, rc []F // one number a row each
	row        []F // the hidden part of a Jacobian row; nil before the first is asked for

	tapeMemory, layerMemory, gateMemory, rowMemory []F
}
