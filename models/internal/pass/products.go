package pass

import (
	"newtop/models/blas"
)

// products is a sum of matrix products under way, for a block of Rows rows of data. Dense blocks become terms of one blas.Sum, so
// that what it adds up stays in registers; sparse ones are added afterwards.
type products struct {
	Rows   int
	terms  []blas.Term
	sparse []sparseTerm
	// Multiplications counts all that were done, those of sparse blocks included.
	Multiplications int
}

// sparseTerm is one call of a Sparse's addMul, addMulTrans or addOuter.
type sparseTerm struct {
	add     func(s *Sparse, c, a, b []float64, rows int)
	sources *Sparse
	a, b    []float64
}

// mul adds W^{lr} x to the sum, w being all weights.
func (p *products) mul(b Block, w, x []float64) {
	if b.Sparse != nil {
		p.sparse = append(p.sparse, sparseTerm{(*Sparse).addMul, b.Sparse, b.of(w), x})
		return
	}
	p.terms = append(p.terms, blas.Term{A: b.of(w), RowStride: b.Cols, ColStride: 1, B: x, Stride: p.Rows, K: b.Cols})
}

// mulTrans adds (W^{lr})ᵀ x to the sum, w being all weights.
func (p *products) mulTrans(b Block, w, x []float64) {
	if b.Sparse != nil {
		p.sparse = append(p.sparse, sparseTerm{(*Sparse).addMulTrans, b.Sparse, b.of(w), x})
		return
	}
	p.terms = append(p.terms, blas.Term{A: b.of(w), RowStride: 1, ColStride: b.Cols, B: x, Stride: p.Rows, K: b.Rows})
}

// outer adds x yᵀ to the sum, over the rows of data, y being the outputs of layer b.From or what belongs to them, node
// by node, and yRows the same row by row.
func (p *products) outer(b Block, x, y []float64, yRows RowMajor) {
	if b.Sparse != nil {
		p.sparse = append(p.sparse, sparseTerm{(*Sparse).addOuter, b.Sparse, x, y})
		return
	}
	p.terms = append(p.terms, blas.Term{A: x, RowStride: p.Rows, ColStride: 1, B: yRows.Data, Stride: yRows.Stride, K: p.Rows})
}

// sumTo stores the sum in dst, nodes × rows, beginning with the biases of the nodes, or with 0 where there are none.
func (s *Scratch) sumTo(dst, bias []float64) {
	start := blas.Zero
	if len(bias) > 0 {
		start = blas.Bias
	}
	s.finishSum(dst, len(dst)/s.Rows, s.Rows, start, bias)
}

// sumWeights adds the sum to the weights of a block in dst.
func (s *Scratch) sumWeights(dst []float64, b Block) {
	s.finishSum(b.of(dst), b.Rows, b.Cols, blas.Add, nil)
}

func (s *Scratch) finishSum(dst []float64, m, n int, start blas.Start, bias []float64) {
	if len(s.terms) > 0 || start != blas.Add {
		s.multiply(dst, m, n, start, bias)
	}
	for _, t := range s.terms {
		s.Multiplications += m * n * t.K
	}
	for _, t := range s.sparse {
		t.add(t.sources, dst, t.a, t.b, s.Rows)
		s.Multiplications += t.sources.Len() * s.Rows
	}
	s.terms, s.sparse = s.terms[:0], s.sparse[:0]
}
