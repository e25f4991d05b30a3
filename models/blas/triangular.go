package blas

import (
	"gonum.org/v1/gonum/blas"

	"newtop/internal/kernel"
)

// triangle is the size of triangular systems that gonum solves.
const triangle = 16

// Dtrsm solves op(A)·X = α·B, or X·op(A) = α·B with side Right, for a triangular A and stores X in B of m × n.
// It halves A until there is little left, so that most of the work is Dgemm's.
func (b Implementation) Dtrsm(s blas.Side, ul blas.Uplo, tA blas.Transpose, d blas.Diag, m, n int, alpha float64,
	x []float64, lda int, y []float64, ldb int) {
	order := n
	if s == blas.Left {
		order = m
	}
	right := s == blas.Left || s == blas.Right
	right = right && (ul == blas.Upper || ul == blas.Lower) && (d == blas.Unit || d == blas.NonUnit) && legal(tA)
	if b.kernel == kernel.Generic || !right || order <= triangle || m <= 0 || n <= 0 || alpha == 0 ||
		!fits(tA, x, order, order, lda) || ldb < n || !holds(y, m, n, ldb) {
		b.Implementation.Dtrsm(s, ul, tA, d, m, n, alpha, x, lda, y, ldb)
		return
	}
	// A = (A₁₁ A₁₂; A₂₁ A₂₂), of which only one of A₁₂ and A₂₁ is stored.
	half := order / 2
	off := x[half*lda:]
	if ul == blas.Upper {
		off = x[half:]
	}
	first, second := x, x[half*lda+half:]
	lower := (ul == blas.Lower) == (tA == blas.NoTrans) // op(A) is
	if s == blas.Left {
		y1, y2 := y, y[half*ldb:]
		m1, m2 := half, m-half
		if lower {
			b.Dtrsm(s, ul, tA, d, m1, n, alpha, first, lda, y1, ldb)
			b.Dgemm(tA, blas.NoTrans, m2, n, m1, -1, off, lda, y1, ldb, alpha, y2, ldb)
			b.Dtrsm(s, ul, tA, d, m2, n, 1, second, lda, y2, ldb)
			return
		}
		b.Dtrsm(s, ul, tA, d, m2, n, alpha, second, lda, y2, ldb)
		b.Dgemm(tA, blas.NoTrans, m1, n, m2, -1, off, lda, y2, ldb, alpha, y1, ldb)
		b.Dtrsm(s, ul, tA, d, m1, n, 1, first, lda, y1, ldb)
		return
	}
	y1, y2 := y, y[half:]
	n1, n2 := half, n-half
	if lower {
		b.Dtrsm(s, ul, tA, d, m, n2, alpha, second, lda, y2, ldb)
		b.Dgemm(blas.NoTrans, tA, m, n1, n2, -1, y2, ldb, off, lda, alpha, y1, ldb)
		b.Dtrsm(s, ul, tA, d, m, n1, 1, first, lda, y1, ldb)
		return
	}
	b.Dtrsm(s, ul, tA, d, m, n1, alpha, first, lda, y1, ldb)
	b.Dgemm(blas.NoTrans, tA, m, n2, n1, -1, y1, ldb, off, lda, alpha, y2, ldb)
	b.Dtrsm(s, ul, tA, d, m, n2, 1, second, lda, y2, ldb)
}
