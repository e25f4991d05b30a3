package blas

import (
	"runtime"
	"sync"
	"sync/atomic"

	"gonum.org/v1/gonum/blas"

	"newtop/internal/kernel"
	"newtop/internal/routine"
)

// parallelSize is from how many multiply-adds on a product starts goroutines: it then takes some 100 µs.
const parallelSize = 1 << 22

func legal(t blas.Transpose) bool { return t == blas.NoTrans || t == blas.Trans || t == blas.ConjTrans }

// op returns the matrix op(A) of an A that lies row by row, with rows lda apart.
func op(t blas.Transpose, a []float64, lda int) operand[float64] {
	o := operand[float64]{a, lda, 1}
	if t != blas.NoTrans {
		o = o.transposed()
	}
	return o
}

// fits says whether a holds A for an op(A) of m × n, at least 1 × 1.
func fits(t blas.Transpose, a []float64, m, n, lda int) bool {
	if t != blas.NoTrans {
		m, n = n, m
	}
	return lda >= n && holds(a, m, n, lda)
}

// Dgemm computes C = α·op(A)·op(B) + β·C for C of m × n and op(A) of m × k.
func (b Implementation) Dgemm(tA, tB blas.Transpose, m, n, k int, alpha float64, x []float64, lda int,
	y []float64, ldb int, beta float64, c []float64, ldc int) {
	if b.kernel == kernel.Generic || !legal(tA) || !legal(tB) || m <= 0 || n <= 0 || k <= 0 || alpha == 0 ||
		ldc < n || !fits(tA, x, m, k, lda) || !fits(tB, y, k, n, ldb) || !holds(c, m, n, ldc) {
		b.Implementation.Dgemm(tA, tB, m, n, k, alpha, x, lda, y, ldb, beta, c, ldc)
		return
	}
	g := gemm{b.kernel, alpha, op(tA, x, lda), op(tB, y, ldb), k, beta, c, ldc}
	if workers := runtime.GOMAXPROCS(0); workers > 1 && m*n*k >= parallelSize {
		g.shared(m, n, workers)
	} else {
		g.compute(0, m, 0, n)
	}
}

// shared computes all m × n by some workers: each has a block of rows, or of columns, that no other touches. It has a
// copy of g, which goroutines keep, so that small products allocate nothing.
func (g gemm) shared(m, n, workers int) {
	share(workers, workers, func(i int) {
		if m >= n {
			g.compute(m*i/workers, m*(i+1)/workers, 0, n)
		} else {
			g.compute(0, m, n*i/workers, n*(i+1)/workers)
		}
	})
}

// share calls f for 0 … n−1, from as many goroutines as there are workers, and waits for them.
func share(workers, n int, f func(i int)) {
	var next atomic.Int64
	var done sync.WaitGroup
	for range min(workers, n) {
		done.Go(routine.Guard(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				f(i)
			}
		}))
	}
	done.Wait()
}

// gemm is C = α·A·B + β·C.
type gemm struct {
	kernel kernel.Kernel
	alpha  float64
	a, b   operand[float64]
	depth  int
	beta   float64
	c      []float64
	stride int
}

// compute computes rows i0 … i1−1 and columns j0 … j1−1.
func (g *gemm) compute(i0, i1, j0, j1 int) {
	if i0 >= i1 || j0 >= j1 {
		return
	}
	m, n := i1-i0, j1-j0
	c := g.c[i0*g.stride+j0:]
	start := Add
	if g.beta == 0 {
		start = Zero
	} else if g.beta != 1 {
		for i := range m {
			scale(c[i*g.stride:][:n], g.beta)
		}
	}
	a, b := g.a.sub(i0, 0), g.b.sub(0, j0)
	if g.alpha == 1 && b.col == 1 {
		one := [1]Term[float64]{{A: a.x, RowStride: a.row, ColStride: a.col, B: b.x, Stride: b.row, K: g.depth}}
		sumVector(g.kernel, c, m, n, g.stride, start, nil, one[:])
		return
	}
	w := getWorkspace[float64]()
	w.product(g.kernel, c, m, n, g.stride, start, nil, g.alpha, a, b, g.depth)
	w.giveBack()
}

// Dsyrk computes the triangle ul of C = α·op(A)·op(A)ᵀ + β·C for C of n × n and op(A) of n × k.
func (b Implementation) Dsyrk(ul blas.Uplo, tA blas.Transpose, n, k int, alpha float64, x []float64, lda int,
	beta float64, c []float64, ldc int) {
	if b.kernel == kernel.Generic || ul != blas.Upper && ul != blas.Lower || !legal(tA) || n <= 0 || k <= 0 ||
		alpha == 0 || ldc < n || !fits(tA, x, n, k, lda) || !holds(c, n, n, ldc) {
		b.Implementation.Dsyrk(ul, tA, n, k, alpha, x, lda, beta, c, ldc)
		return
	}
	a := op(tA, x, lda)
	g := gemm{b.kernel, alpha, a, a.transposed(), k, beta, c, ldc}
	const size = triangleSize
	blocks := (n + size - 1) / size
	rows := func(block int) {
		i, j := block*size, min(n, block*size+size)
		if ul == blas.Lower {
			g.compute(i, j, 0, i)
		} else {
			g.compute(i, j, j, n)
		}
		g.diagonal(ul, i, j)
	}
	workers := runtime.GOMAXPROCS(0)
	if workers == 1 || n*n/2*k < parallelSize {
		for block := range blocks {
			rows(block)
		}
		return
	}
	share(workers, blocks, func(i int) {
		if ul == blas.Lower {
			i = blocks - 1 - i // the longest first
		}
		rows(i)
	})
}

// diagonal computes the triangle ul of rows and columns i … j−1, by way of the whole square.
func (g *gemm) diagonal(ul blas.Uplo, i, j int) {
	n := j - i
	w := getWorkspace[float64]()
	square := *g
	square.a, square.b = g.a.sub(i, 0), g.b.sub(0, i)
	square.c, square.stride = w.c[:n*n], n
	triangle := func(r int) (c, s []float64) {
		from, to := 0, r+1
		if ul == blas.Upper {
			from, to = r, n
		}
		return g.c[(i+r)*g.stride+i:][from:to], w.c[r*n:][from:to]
	}
	if g.beta != 0 {
		clear(square.c)
		for r := range n {
			c, s := triangle(r)
			copy(s, c)
		}
	}
	square.compute(0, n, 0, n)
	for r := range n {
		c, s := triangle(r)
		copy(c, s)
	}
	w.giveBack()
}
