package blas

import "newtop/internal/kernel"

// Outer computes c = start + x·yᵀ for c of m × n, x of m × k and y of n × k, which lie row by row, c's rows stride, x's
// and y's xStride and yStride apart. It adds the products as Sum does, with start Zero or Add, and allocates nothing.
func Outer[F Float](c []F, m, n, stride int, start Start, x []F, xStride int, y []F, yStride, k int) {
	outer(kernel.Selected(), c, m, n, stride, start, x, xStride, y, yStride, k)
}

func outer[F Float](selected kernel.Kernel, c []F, m, n, stride int, start Start, x []F, xStride int, y []F, yStride,
	k int) {
	if m <= 0 || n <= 0 || k <= 0 {
		panic("blas: Outer of nothing")
	}
	if start > Add || !holds(c, m, n, stride) || !holds(x, m, k, xStride) || !holds(y, n, k, yStride) {
		panic("blas: short c, x or y of Outer, or another start")
	}
	w := getWorkspace[F]()
	a, b := operand[F]{x, xStride, 1}, operand[F]{y, 1, yStride}
	if selected != kernel.Generic {
		w.product(selected, c, m, n, stride, start, nil, 1, a, b, k)
	} else {
		w.productGeneric(c, m, n, stride, start, a, b, k)
	}
	w.giveBack()
}

// productGeneric computes c = start + A·B for a B that lies column by column.
func (w *workspace[F]) productGeneric(c []F, m, n, stride int, start Start, a, b operand[F], depth int) {
	for p := 0; p < depth; p += blockDepth {
		depth := min(blockDepth, depth-p)
		for j := 0; j < n; j += blockBytes / sizeOf[F]() {
			cols := min(blockBytes/sizeOf[F](), n-j)
			transposeGeneric(w.b[:], cols, b.from(p, j), b.col, cols, depth)
			one := [1]Term[F]{{A: a.from(0, p), RowStride: a.row, ColStride: 1, B: w.b[:], Stride: cols, K: depth}}
			sumGeneric(c[j:], m, cols, stride, start, nil, one[:])
		}
		start = Add
	}
}
