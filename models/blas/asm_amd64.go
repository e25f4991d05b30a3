package blas

import (
	"unsafe"

	"newtop/internal/kernel"
)

//go:generate go run ./gen -out kernels_amd64.s -stubs kernels_amd64.go -pkg blas

// run computes a panel of elements of size bytes.
func run(k kernel.Kernel, size int, p *panel) {
	switch {
	case k == kernel.AVX512 && size == 4:
		sumAVX512Single(p)
	case k == kernel.AVX512:
		sumAVX512(p)
	case size == 4:
		sumAVX2Single(p)
	default:
		sumAVX2(p)
	}
}

// runSweep computes a sweep over elements of size bytes.
func runSweep(k kernel.Kernel, size int, s *sweep) {
	switch {
	case k == kernel.AVX512 && size == 4:
		sweepAVX512Single(s)
	case k == kernel.AVX512:
		sweepAVX512(s)
	case size == 4:
		sweepAVX2Single(s)
	default:
		sweepAVX2(s)
	}
}

// packVector copies rows of 1 to 3 whole vectors.
func packVector[F Float](k kernel.Kernel, dst []F, dstStride int, src []F, srcStride, rows, vectors int) {
	if sizeOf[F]() == 4 {
		to, from := &as[float32](dst)[0], &as[float32](src)[0]
		if k == kernel.AVX512 {
			packAVX512Single(to, dstStride, from, srcStride, rows, vectors)
		} else {
			packAVX2Single(to, dstStride, from, srcStride, rows, vectors)
		}
		return
	}
	to, from := &as[float64](dst)[0], &as[float64](src)[0]
	if k == kernel.AVX512 {
		packAVX512(to, dstStride, from, srcStride, rows, vectors)
	} else {
		packAVX2(to, dstStride, from, srcStride, rows, vectors)
	}
}

// packColumns copies what panels have of columns of A, whose rows lie side by side.
func packColumns[F Float](k kernel.Kernel, dst []F, next int, src []F, srcStride, columns, panels int) {
	if sizeOf[F]() == 4 {
		to, from := &as[float32](dst)[0], &as[float32](src)[0]
		if k == kernel.AVX512 {
			packColumnsAVX512Single(to, next, from, srcStride, columns, panels)
		} else {
			packColumnsAVX2Single(to, next, from, srcStride, columns, panels)
		}
		return
	}
	to, from := &as[float64](dst)[0], &as[float64](src)[0]
	if k == kernel.AVX512 {
		packColumnsAVX512(to, next, from, srcStride, columns, panels)
	} else {
		packColumnsAVX2(to, next, from, srcStride, columns, panels)
	}
}

// column adds A·b to the first elements of c for A of len(c) × k that lies row by row, and b whose elements are stride
// apart, and returns to how many. It has the same bits with all vector instructions.
func column[F Float](c, a []F, rowStride int, b []F, stride, k int) int {
	rows := len(c) &^ 3
	if sizeOf[F]() == 4 || rows == 0 || k == 0 {
		return 0
	}
	columnAVX2(&as[float64](c)[0], rows, &as[float64](a)[0], rowStride, &as[float64](b)[0], stride, k)
	return rows
}

// transposeVector is Transpose for sizes above 0 and slices that were checked.
func transposeVector[F Float](k kernel.Kernel, dst []F, dstStride int, src []F, srcStride, rows, cols int) {
	double := sizeOf[F]() == 8
	if k == kernel.AVX512 && double {
		transposeAVX512(&as[float64](dst)[0], dstStride, &as[float64](src)[0], srcStride, rows, cols)
		return
	}
	square := 32 / int(unsafe.Sizeof(src[0]))
	r, c := rows&^(square-1), cols&^(square-1)
	switch {
	case r == 0 || c == 0:
	case double:
		transposeAVX2(&as[float64](dst)[0], dstStride, &as[float64](src)[0], srcStride, r, c)
	default:
		transposeAVX2Single(&as[float32](dst)[0], dstStride, &as[float32](src)[0], srcStride, r, c)
	}
	if c < cols {
		transposeGeneric(dst[c*dstStride:], dstStride, src[c:], srcStride, r, cols-c)
	}
	if r < rows {
		transposeGeneric(dst[r:], dstStride, src[r*srcStride:], srcStride, rows-r, cols)
	}
}
