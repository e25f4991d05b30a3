package models

import (
	"newtop/internal/vector"
	"newtop/models/blas"
)

// productSum is a sum of matrix products under way. Dense blocks become terms of one blas.Sum, so that what it adds up stays
// in registers; sparse ones are added afterwards.
type productSum struct {
	terms  []blas.Term
	sparse []sparseTerm
	// multiplications counts all that were done, those of sparse blocks included.
	multiplications int
}

// sparseTerm is one call of a Sources' addMul, addMulTrans or addOuter.
type sparseTerm struct {
	add     func(s *Sources, c, a, b []float64, rows int)
	sources *Sources
	a, b    []float64
}

// mul adds W^{lr} x to the sum, w being all weights.
func (s *scratch) mul(b Block, w, x []float64) {
	if b.Sources != nil {
		s.sparse = append(s.sparse, sparseTerm{(*Sources).addMul, b.Sources, b.of(w), x})
		return
	}
	s.terms = append(s.terms, blas.Term{A: b.of(w), RowStride: b.Cols, ColStride: 1, B: x, Stride: s.rows, K: b.Cols})
}

// mulTrans adds (W^{lr})ᵀ x to the sum, w being all weights.
func (s *scratch) mulTrans(b Block, w, x []float64) {
	if b.Sources != nil {
		s.sparse = append(s.sparse, sparseTerm{(*Sources).addMulTrans, b.Sources, b.of(w), x})
		return
	}
	s.terms = append(s.terms, blas.Term{A: b.of(w), RowStride: 1, ColStride: b.Cols, B: x, Stride: s.rows, K: b.Rows})
}

// outer adds x yᵀ to the sum, over the rows of data, y being the outputs of layer b.From or what belongs to them, node
// by node, and turned the same row by row.
func (s *scratch) outer(b Block, x, y []float64, turned byRow) {
	if b.Sources != nil {
		s.sparse = append(s.sparse, sparseTerm{(*Sources).addOuter, b.Sources, x, y})
		return
	}
	s.terms = append(s.terms, blas.Term{A: x, RowStride: s.rows, ColStride: 1, B: turned.data, Stride: turned.stride, K: s.rows})
}

// sumTo stores the sum in dst, nodes × rows, beginning with the biases of the nodes, or with 0 where there are none.
func (s *scratch) sumTo(dst, bias []float64) {
	start := blas.Zero
	if len(bias) > 0 {
		start = blas.Bias
	}
	s.finishSum(dst, len(dst)/s.rows, s.rows, start, bias)
}

// sumWeights adds the sum to the weights of a block in dst.
func (s *scratch) sumWeights(dst []float64, b Block) {
	s.finishSum(b.of(dst), b.Rows, b.Cols, blas.Add, nil)
}

func (s *scratch) finishSum(dst []float64, m, n int, start blas.Start, bias []float64) {
	if len(s.terms) > 0 || start != blas.Add {
		blas.Sum(dst, m, n, n, start, bias, s.terms)
	}
	for _, t := range s.terms {
		s.multiplications += m * n * t.K
	}
	for _, t := range s.sparse {
		t.add(t.sources, dst, t.a, t.b, s.rows)
		s.multiplications += t.sources.Len() * s.rows
	}
	s.terms, s.sparse = s.terms[:0], s.sparse[:0]
}

// byRow is what lies row by row: rows of data, stride apart.
type byRow struct {
	data   []float64
	stride int
}

// row returns row p, of that many numbers.
func (r byRow) row(p, cols int) []float64 { return r.data[p*r.stride:][:cols] }

// transposeOutputs stores u^r of all layers that others take from row by row in s.uRows.
func (s *scratch) transposeOutputs(tp *tape) {
	for r := range s.last() {
		if r == 0 && tp.x.data != nil {
			s.uRows[0] = tp.x
			continue
		}
		s.uRows[r] = s.transposeTo(s.uRowsMemory[r], tp.u[r], s.nodes[r])
	}
}

// transposeTangents stores s.ru of layers first and beyond row by row in s.ruRows.
func (s *scratch) transposeTangents(first int) {
	for r := first; r < s.last(); r++ {
		s.ruRows[r] = s.transposeTo(s.ruRowsMemory[r], s.ru[r], s.nodes[r])
	}
}

func (s *scratch) transposeTo(dst, src []float64, nodes int) byRow {
	if s.rows == 1 {
		return byRow{src, nodes}
	}
	stride := padded(nodes)
	blas.Transpose(dst, stride, src, s.rows, nodes, s.rows)
	return byRow{dst, stride}
}

// padded rounds up to whole cache lines, so that no register of a row lies across two.
func padded(nodes int) int { return (nodes + 7) &^ 7 }

// addColumnSums adds the sum over the rows of data to dst, one number a node; x is len(dst) × rows.
func addColumnSums(dst, x []float64, rows int) { vector.AddRowSums(dst, x, rows) }
