package blas

import "newtop/internal/kernel"

// Outer computes c = start + x·yᵀ for c of m × n, x of m × k and y of n × k, which lie row by row, c's rows stride, x's and
// y's xStride and yStride apart. It adds the products as Sum does, with start Zero or Add, and allocates nothing.
func Outer(c []float64, m, n, stride int, start Start, x []float64, xStride int, y []float64, yStride, k int) {
	outer(kernel.Selected(), c, m, n, stride, start, x, xStride, y, yStride, k)
}

func outer(selected kernel.Kernel, c []float64, m, n, stride int, start Start, x []float64, xStride int, y []float64, yStride, k int) {
	if m <= 0 || n <= 0 || k <= 0 {
		panic("blas: Outer of nothing")
	}
	if start > Add || !holds(c, m, n, stride) || !holds(x, m, k, xStride) || !holds(y, n, k, yStride) {
		panic("blas: short c, x or y of Outer, or another start")
	}
	w := takeWorkspace()
	a, b := operand{x, xStride, 1}, operand{y, 1, yStride}
	if selected != kernel.Generic {
		w.product(selected, c, m, n, stride, start, nil, 1, a, b, k)
	} else {
		w.productGeneric(c, m, n, stride, start, a, b, k)
	}
	w.giveBack()
}

// productGeneric computes c = start + A·B for a B that lies column by column.
func (w *workspace) productGeneric(c []float64, m, n, stride int, start Start, a, b operand, depth int) {
	for p := 0; p < depth; p += blockDepth {
		depth := min(blockDepth, depth-p)
		for j := 0; j < n; j += blockWidth {
			cols := min(blockWidth, n-j)
			transposeGeneric(w.b[:], cols, b.from(p, j), b.col, cols, depth)
			one := [1]Term{{A: a.from(0, p), RowStride: a.row, ColStride: 1, B: w.b[:], Stride: cols, K: depth}}
			sumGeneric(c[j:], m, cols, stride, start, nil, one[:])
		}
		start = Add
	}
}
