//go:build !amd64

package blas

import "newtop/internal/kernel"

func transposeVector(_ kernel.Kernel, dst []float64, dstStride int, src []float64, srcStride, rows, cols int) {
	transposeGeneric(dst, dstStride, src, srcStride, rows, cols)
}
