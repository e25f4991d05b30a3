package blas

import "newtop/internal/kernel"

// Transpose stores the transpose of src, rows × cols with rows srcStride apart, in dst, cols × rows with rows
// dstStride apart. They must not overlap.
func Transpose[F Float](dst []F, dstStride int, src []F, srcStride, rows, cols int) {
	transpose(kernel.Selected(), dst, dstStride, src, srcStride, rows, cols)
}

func transpose[F Float](k kernel.Kernel, dst []F, dstStride int, src []F, srcStride, rows, cols int) {
	if rows < 0 || cols < 0 {
		panic("blas: negative size")
	}
	if rows == 0 || cols == 0 {
		return
	}
	if !holds(src, rows, cols, srcStride) || !holds(dst, cols, rows, dstStride) {
		panic("blas: short matrix to transpose")
	}
	if k == kernel.Generic {
		transposeGeneric(dst, dstStride, src, srcStride, rows, cols)
		return
	}
	transposeVector(k, dst, dstStride, src, srcStride, rows, cols)
}

func transposeGeneric[F Float](dst []F, dstStride int, src []F, srcStride, rows, cols int) {
	for i := range rows {
		for j, v := range src[i*srcStride:][:cols] {
			dst[j*dstStride+i] = v
		}
	}
}
