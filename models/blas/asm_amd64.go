package blas

import "newtop/internal/kernel"

//go:generate go run ./gen -out kernels_amd64.s -stubs kernels_amd64.go -pkg blas

// run computes a panel.
func run(k kernel.Kernel, p *panel) {
	if k == kernel.AVX512 {
		sumAVX512(p)
	} else {
		sumAVX2(p)
	}
}

// runSweep computes a sweep.
func runSweep(k kernel.Kernel, s *sweep) {
	if k == kernel.AVX512 {
		sweepAVX512(s)
	} else {
		sweepAVX2(s)
	}
}

// packVector copies rows of 1 to 3 whole vectors.
func packVector(k kernel.Kernel, dst []float64, dstStride int, src []float64, srcStride, rows, vectors int) {
	if k == kernel.AVX512 {
		packAVX512(&dst[0], dstStride, &src[0], srcStride, rows, vectors)
	} else {
		packAVX2(&dst[0], dstStride, &src[0], srcStride, rows, vectors)
	}
}

// column adds A·b to c for A of len(c) × k that lies row by row, and b whose elements are stride apart. It has
// the same bits with all vector instructions.
func column(c, a []float64, rowStride int, b []float64, stride, k int) {
	if rows := len(c) &^ 3; rows > 0 && k > 0 {
		columnAVX2(&c[0], rows, &a[0], rowStride, &b[0], stride, k)
	}
}

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

// multiplyAdds does independent multiply-adds and returns how many operations that were.
func multiplyAdds(k kernel.Kernel, rounds int) int {
	switch k {
	case kernel.AVX512:
		peakAVX512(rounds)
		return rounds * 12 * 8 * 2
	case kernel.AVX2:
		peakAVX2(rounds)
		return rounds * 12 * 4 * 2
	}
	return multiplyAddsGeneric(rounds)
}
