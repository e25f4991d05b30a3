package blas

import "newtop/internal/kernel"

// transposeVector is Transpose for sizes above 0 and slices that were checked.
func transposeVector(k kernel.Kernel, dst []float64, dstStride int, src []float64, srcStride, rows, cols int) {
	if k == kernel.AVX512 {
		transposeAVX512(&dst[0], dstStride, &src[0], srcStride, rows, cols)
		return
	}
	r, c := rows&^3, cols&^3
	if r > 0 && c > 0 {
		transposeAVX2(&dst[0], dstStride, &src[0], srcStride, r, c)
	}
	if c < cols {
		transposeGeneric(dst[c*dstStride:], dstStride, src[c:], srcStride, r, cols-c)
	}
	if r < rows {
		transposeGeneric(dst[r:], dstStride, src[r*srcStride:], srcStride, rows-r, cols)
	}
}
