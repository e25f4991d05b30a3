package blas

import (
	"math/bits"
	"unsafe"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"

	"newtop/internal/kernel"
)

// Sum computes c = start + Σ_t A_t·B_t for a matrix c of m × n with rows stride apart. bias has m numbers with
// Bias and is ignored otherwise. Terms with K = 0 add nothing. c must not overlap the terms. It allocates
// nothing, starts no goroutine, and an element's value depends on the element alone, not on its place: the
// products are added one after another, in the order of the terms and of p.
func Sum[F Float](c []F, m, n, stride int, start Start, bias []F, terms []Term[F]) {
	sum(kernel.Selected(), c, m, n, stride, start, bias, terms)
}

func sum[F Float](k kernel.Kernel, c []F, m, n, stride int, start Start, bias []F, terms []Term[F]) {
	if m < 0 || n < 0 {
		panic("blas: negative size")
	}
	if m == 0 || n == 0 {
		return
	}
	check(c, m, n, stride, start, bias, terms)
	if k == kernel.Generic {
		sumGeneric(c, m, n, stride, start, bias, terms)
		return
	}
	sumVector(k, c, m, n, stride, start, bias, terms)
}

// check panics unless all elements that m × n and the terms speak of are in their slices: assembly would read
// and write outside.
func check[F Float](c []F, m, n, stride int, start Start, bias []F, terms []Term[F]) {
	if !holds(c, m, n, stride) {
		panic("blas: short c")
	}
	if start > Bias {
		panic("blas: unknown start")
	}
	if start == Bias && len(bias) < m {
		panic("blas: short bias")
	}
	for i := range terms {
		t := &terms[i]
		if t.K <= 0 {
			if t.K < 0 {
				panic("blas: negative K")
			}
			continue
		}
		if !holds(t.B, t.K, n, t.Stride) {
			panic("blas: short B")
		}
		switch {
		case t.ColStride == 1 && holds(t.A, m, t.K, t.RowStride):
		case t.RowStride == 1 && holds(t.A, t.K, m, t.ColStride):
		default:
			panic("blas: short A, or one without a stride of 1")
		}
	}
}

// holds says whether x holds a matrix of rows × cols, both at least 1, with rows stride apart.
func holds[F Float](x []F, rows, cols, stride int) bool {
	if rows == 1 || cols > len(x) {
		return cols <= len(x)
	}
	over, last := bits.Mul64(uint64(rows-1), uint64(stride)) // where the last row begins
	return stride >= cols && over == 0 && last <= uint64(len(x)-cols)
}

// sumGeneric is Sum in Go and with what gonum has.
func sumGeneric[F Float](c []F, m, n, stride int, start Start, bias []F, terms []Term[F]) {
	for i := range m {
		row := c[i*stride:][:n]
		switch start {
		case Zero:
			clear(row)
		case Bias:
			for j := range row {
				row[j] = bias[i]
			}
		}
	}
	for i := range terms {
		t := &terms[i]
		switch {
		case t.K == 0:
		case n == 1 && t.ColStride == 1:
			addDots(c, m, stride, t)
		case n == 1:
			for p := range t.K {
				addScaled(c, max(stride, 1), t.B[p*t.Stride], t.A[p*t.ColStride:][:m])
			}
		default:
			addTiles(c, m, n, stride, t)
		}
	}
}

// as returns x as what it is.
func as[T, F Float](x []F) []T {
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(x))), len(x))
}

// addScaled adds a·x to c, whose elements are stride apart, by gonum's axpy.
func addScaled[F Float](c []F, stride int, a F, x []F) {
	if sizeOf[F]() == 4 {
		gonum.Implementation{}.Saxpy(len(x), float32(a), as[float32](x), 1, as[float32](c), stride)
	} else {
		gonum.Implementation{}.Daxpy(len(x), float64(a), as[float64](x), 1, as[float64](c), stride)
	}
}

// addTiles adds A·B by gonum's gemm, which adds in the order of p. It starts goroutines from four tiles of
// 64 × 64 on.
func addTiles[F Float](c []F, m, n, stride int, t *Term[F]) {
	const rows, cols = 64, 192
	// A leading dimension is at least the width even where there is one row only.
	layout, lda := blas.NoTrans, max(t.RowStride, t.K)
	if t.ColStride != 1 {
		layout, lda = blas.Trans, max(t.ColStride, m)
	}
	for i := 0; i < m; i += rows {
		for j := 0; j < n; j += cols {
			m, n := min(rows, m-i), min(cols, n-j)
			a, b, c := t.A[i*t.RowStride:], t.B[j:], c[i*stride+j:]
			ldb, ldc := max(t.Stride, n), max(stride, n)
			if sizeOf[F]() == 4 {
				gonum.Implementation{}.Sgemm(layout, blas.NoTrans, m, n, t.K, 1, as[float32](a), lda, as[float32](b),
					ldb, 1, as[float32](c), ldc)
			} else {
				gonum.Implementation{}.Dgemm(layout, blas.NoTrans, m, n, t.K, 1, as[float64](a), lda, as[float64](b),
					ldb, 1, as[float64](c), ldc)
			}
		}
	}
}

// addDots adds A·B for a B of one column, four rows of A at a time, in the order of p.
func addDots[F Float](c []F, m, stride int, t *Term[F]) {
	i := 0
	for ; i+4 <= m; i += 4 {
		a0, a1 := t.A[i*t.RowStride:][:t.K], t.A[(i+1)*t.RowStride:][:t.K]
		a2, a3 := t.A[(i+2)*t.RowStride:][:t.K], t.A[(i+3)*t.RowStride:][:t.K]
		to := c[i*stride:]
		x0, x1, x2, x3 := to[0], to[stride], to[2*stride], to[3*stride]
		for p := range a0 {
			b := t.B[p*t.Stride]
			x0 += a0[p] * b
			x1 += a1[p] * b
			x2 += a2[p] * b
			x3 += a3[p] * b
		}
		to[0], to[stride], to[2*stride], to[3*stride] = x0, x1, x2, x3
	}
	for ; i < m; i++ {
		x := c[i*stride]
		for p, a := range t.A[i*t.RowStride:][:t.K] {
			x += a * t.B[p*t.Stride]
		}
		c[i*stride] = x
	}
}
