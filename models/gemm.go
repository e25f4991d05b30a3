package models

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

// All matrix products of the package are the three of this file. They go through the BLAS that blas64
// is set to use.

const (
	// blockRows is how many rows of data go through the network together: enough for long inner loops,
	// few enough for a block of a net of some hundred nodes to stay in a core's second-level cache.
	blockRows = 64
	// narrowRows is below how many rows inner loops along the rows are slower than loops along the
	// nodes with one operand transposed.
	narrowRows = 48
	// tileRows × tileCols is what one call of Dgemm computes. gonum starts goroutines from four tiles
	// of 64 × 64 on, which costs an allocation and buys nothing where every core has a block of its own.
	tileRows, tileCols = 64, 192
)

// product computes matrix products for one worker; matrices are row-major without gaps.
type product struct {
	packed []float64 // a transposed operand or result: narrowRows × the widest layer
}

// addMul adds a·b to c: forward passes. a is m × k, b is k × n, c is m × n; n counts rows of data.
func (g *product) addMul(c, a, b []float64, m, n, k int) {
	switch {
	case n == 1: // four rows of a at a time, where Dgemm takes a dot product for each
		blas64.Implementation().Dgemv(blas.NoTrans, m, k, 1, a, k, b, 1, 1, c, 1)
		return
	case n >= narrowRows:
		dgemm(blas.NoTrans, blas.NoTrans, m, n, k, a, k, b, n, c)
		return
	}
	dgemm(blas.NoTrans, blas.Trans, m, n, k, a, k, g.transposed(b, k, n), k, c)
}

// addMulTrans adds aᵀ·b to c: backward passes. a is k × m, b is k × n, c is m × n; n counts rows of data.
func (g *product) addMulTrans(c, a, b []float64, m, n, k int) {
	if n >= narrowRows {
		dgemm(blas.Trans, blas.NoTrans, m, n, k, a, m, b, n, c)
		return
	}
	t := g.transposed(c, m, n)
	dgemm(blas.Trans, blas.NoTrans, n, m, k, b, n, a, m, t)
	if n > 1 {
		transpose(c, t, n, m)
	}
}

// addOuter adds a·bᵀ to c: sums over rows of data. a is m × k, b is n × k, c is m × n; k counts rows
// of data.
func (g *product) addOuter(c, a, b []float64, m, n, k int) {
	if k >= narrowRows {
		dgemm(blas.NoTrans, blas.Trans, m, n, k, a, k, b, k, c)
		return
	}
	dgemm(blas.NoTrans, blas.NoTrans, m, n, k, a, k, g.transposed(b, n, k), n, c)
}

// transposed returns the transpose of a, which is rows × cols: in g.packed, or a itself where a vector
// is its own.
func (g *product) transposed(a []float64, rows, cols int) []float64 {
	if cols == 1 {
		return a
	}
	t := g.packed[:rows*cols]
	transpose(t, a, rows, cols)
	return t
}

// dgemm adds op(a)·op(b) to c, tile by tile. c is m × n without gaps.
func dgemm(ta, tb blas.Transpose, m, n, k int, a []float64, lda int, b []float64, ldb int, c []float64) {
	impl := blas64.Implementation()
	stepA, stepB := lda, 1 // from one row of op(a), one column of op(b), to the next
	if ta == blas.Trans {
		stepA = 1
	}
	if tb == blas.Trans {
		stepB = ldb
	}
	for i := 0; i < m; i += tileRows {
		for j := 0; j < n; j += tileCols {
			impl.Dgemm(ta, tb, min(tileRows, m-i), min(tileCols, n-j), k,
				1, a[i*stepA:], lda, b[j*stepB:], ldb, 1, c[i*n+j:], n)
		}
	}
}

// transpose stores the transpose of a, which is rows × cols, in dst.
func transpose(dst, a []float64, rows, cols int) {
	for i := range rows {
		for j, v := range a[i*cols : (i+1)*cols] {
			dst[j*rows+i] = v
		}
	}
}

// addColumnSums adds the sum over the rows of data to dst, one number a node; x is len(dst) × rows.
func addColumnSums(dst, x []float64, rows int) {
	for i := range dst {
		sum := 0.0
		for _, v := range x[i*rows : (i+1)*rows] {
			sum += v
		}
		dst[i] += sum
	}
}
