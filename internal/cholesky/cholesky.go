// Package cholesky factorizes symmetric matrices of some thousand rows at the speed of matrix products, on all
// processors. The work can be watched and ended, and needs no second matrix.
package cholesky

import (
	"math"
	"runtime"
	"sync"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	lapack "gonum.org/v1/gonum/lapack/gonum"

	"newtop/internal/routine"
	"newtop/internal/vector"
)

const (
	// rows and columns of a tile: a multiple of all kernels' strips, and a tile fits a second-level cache
	tileSize  = 240
	tileDepth = 120     // columns of L in one product, so that a strip of them fits a first-level cache
	tileStep  = 24      // rows of L in a strip, and of a tile that are solved for at a time
	tileGap   = 8       // which keeps copied rows from lying a power of two apart
	partSize  = 1 << 30 // multiply-adds of a part of the work, of some 30 ms
)

// Factor is the factorization A + μI = L·Lᵀ of a symmetric matrix. L lies in the triangle of A's storage that A does
// not use, so that there is no second matrix:
//
//	A  the diagonal and what is above it, which are left alone
//	L  below the diagonal, row by row; its diagonal beside it
//
// It is computed column of tiles by column of tiles ("left-looking", Golub & Van Loan 2013, algorithm 4.2.2 in blocks):
//
//	L_jj·L_jjᵀ = A_jj + μI − Σ_{k<j} L_jk·L_jkᵀ      L_ij = (A_ij − Σ_{k<j} L_ik·L_jkᵀ)·L_jj⁻ᵀ
//
// Workers draw tiles in this order, and wait for those a tile needs, which others have drawn before. An element is one
// chain of operations in the order of k, whoever computes it: results do not depend on the number of processors.
//
// The zero value is ready. One goroutine uses it at a time.
type Factor struct {
	a        blas64.Symmetric // and L
	shift    float64          // μ
	diagonal []float64        // of L
	spaces   []*tileSpace     // of a worker each

	sums, x, v []float64 // of Condition
	sign       []int
}

// tileSpace is what one worker computes a tile in.
type tileSpace struct {
	t     [tileSize * tileSize]float64              // the tile, transposed
	left  [tileSize * (tileDepth + tileGap)]float64 // some columns of L_j
	right [tileDepth * tileStep]float64             // those columns of some rows of L_i, transposed
}

// Factorize factorizes A + μI for the upper triangle of a, and reports whether that is positive definite to rounding.
// It works with all processors. After every part of the work but the last, watch is called by the caller's goroutine,
// if it is not nil, with the number of parts done and of all; its error ends the work and is returned. A's numbers must
// be finite. It panics unless a stores the upper triangle. The factor is worthless after false or an error, and once a
// is another.
func (c *Factor) Factorize(a blas64.Symmetric, mu float64, watch func(part, parts int) error) (definite bool,
	err error) {
	if a.Uplo != blas.Upper || a.N < 1 || a.Stride < a.N || len(a.Data) < (a.N-1)*a.Stride+a.N {
		panic("cholesky: Factorize: expected the upper triangle of a matrix")
	}
	c.a, c.shift = a, mu
	if len(c.diagonal) != a.N {
		c.diagonal = make([]float64, a.N)
	}
	f := newFactoring(c, watch)
	workers := min(runtime.GOMAXPROCS(0), f.tiles)
	for len(c.spaces) < workers {
		c.spaces = append(c.spaces, new(tileSpace))
	}
	var others sync.WaitGroup
	for _, s := range c.spaces[1:workers] {
		others.Go(routine.Guard(func() { (&tileWork{factoring: f, tileSpace: s}).run() }))
	}
	(&tileWork{factoring: f, tileSpace: c.spaces[0], reports: true}).run()
	others.Wait()
	f.report(f.count)
	return !f.indefinite && f.err == nil, f.err
}

// SolveTo stores (A + μI)⁻¹b in dst, which may be b.
func (c *Factor) SolveTo(dst, b []float64) {
	n := c.a.N
	if len(dst) != n || len(b) != n {
		panic("cholesky: SolveTo: vectors of another length")
	}
	copy(dst, b)
	for i, l := range c.diagonal {
		dst[i] = (dst[i] - vector.Dot(c.row(i), dst[:i])) / l
	}
	for i := n - 1; i >= 0; i-- {
		dst[i] /= c.diagonal[i]
		vector.Axpy(dst[:i], -dst[i], c.row(i))
	}
}

// row returns row i of L up to the diagonal.
func (c *Factor) row(i int) []float64 { return c.a.Data[i*c.a.Stride:][:i] }

// Condition estimates the condition number of A + μI in the 1-norm from some solutions (Higham 1988, by LAPACK's
// Dlacn2). Before each of them watch is called, if it is not nil; its error is returned.
func (c *Factor) Condition(watch func() error) (float64, error) {
	n := c.a.N
	if len(c.x) != n {
		c.sums, c.x, c.v, c.sign = make([]float64, n), make([]float64, n), make([]float64, n), make([]int, n)
	}
	norm := c.norm()
	var save [3]int
	for inverse, kase := 0.0, 0; ; {
		inverse, kase = lapack.Implementation{}.Dlacn2(n, c.v, c.x, c.sign, inverse, kase, &save)
		if kase == 0 {
			return norm * inverse, nil
		}
		if watch != nil {
			if err := watch(); err != nil {
				return math.NaN(), err
			}
		}
		c.SolveTo(c.x, c.x)
	}
}

// norm returns ‖A + μI‖₁, the largest sum of a column's magnitudes.
func (c *Factor) norm() float64 {
	clear(c.sums)
	largest := 0.0
	for i := range c.sums {
		row := c.a.Data[i*c.a.Stride:][i:c.a.N]
		sum := c.sums[i] + math.Abs(row[0]+c.shift)
		below := c.sums[i+1:]
		for j, x := range row[1:] {
			x = math.Abs(x)
			sum += x
			below[j] += x
		}
		largest = max(largest, sum)
	}
	return largest
}
