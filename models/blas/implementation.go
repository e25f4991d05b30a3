package blas

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/blas/gonum"

	"newtop/internal/kernel"
	"newtop/internal/vector"
)

// Implementation is gonum's BLAS with the functions overridden that newtop's linear algebra spends its time in.
// Arguments that are wrong, or leave nothing to compute, go to gonum, which panics or returns. The zero value is
// gonum's implementation throughout; Use registers the selected kernel's.
//
// A function's result does not depend on the number of processors.
type Implementation struct {
	gonum.Implementation
	kernel kernel.Kernel
}

var _ blas.Float64 = Implementation{}

// Use makes gonum's blas64, and with it mat and lapack64, compute with the selected kernel. It is to be called
// before anything else uses them.
func Use() { blas64.Use(Implementation{kernel: kernel.Selected()}) }

// short is how long vectors are that gonum's functions are as good for.
const short = 16

// plain says whether x and y are contiguous, all there, and worth the vector instructions.
func (b Implementation) plain(n int, x []float64, incX int, y []float64, incY int) bool {
	return b.kernel != kernel.Generic && incX == 1 && incY == 1 && n >= short && n <= len(x) && n <= len(y)
}

// Ddot returns xᵀy.
func (b Implementation) Ddot(n int, x []float64, incX int, y []float64, incY int) float64 {
	if !b.plain(n, x, incX, y, incY) {
		return b.Implementation.Ddot(n, x, incX, y, incY)
	}
	return vector.Dot(x[:n], y[:n])
}

// Daxpy adds α·x to y.
func (b Implementation) Daxpy(n int, alpha float64, x []float64, incX int, y []float64, incY int) {
	if !b.plain(n, x, incX, y, incY) || alpha == 0 {
		b.Implementation.Daxpy(n, alpha, x, incX, y, incY)
		return
	}
	vector.Axpy(y[:n], alpha, x[:n])
}

// Dscal multiplies x by α.
func (b Implementation) Dscal(n int, alpha float64, x []float64, incX int) {
	if !b.plain(n, x, incX, x, 1) || alpha == 0 {
		b.Implementation.Dscal(n, alpha, x, incX)
		return
	}
	vector.Scale(x[:n], alpha, x[:n])
}

// Dger adds α·x·yᵀ to A, m × n.
func (b Implementation) Dger(m, n int, alpha float64, x []float64, incX int, y []float64, incY int, a []float64,
	lda int) {
	if b.kernel == kernel.Generic || m <= 0 || alpha == 0 || incX < 1 || (m-1)*incX >= len(x) ||
		incY != 1 || n < short || n > len(y) || lda < n || !holds(a, m, n, lda) {
		b.Implementation.Dger(m, n, alpha, x, incX, y, incY, a, lda)
		return
	}
	for i := range m {
		vector.Axpy(a[i*lda:][:n], alpha*x[i*incX], y[:n])
	}
}

// Dgemv computes y = α·A·x + β·y, or with Aᵀ, for A of m × n.
func (b Implementation) Dgemv(tA blas.Transpose, m, n int, alpha float64, a []float64, lda int,
	x []float64, incX int, beta float64, y []float64, incY int) {
	lenX, lenY := n, m
	if tA != blas.NoTrans {
		lenX, lenY = m, n
	}
	if b.kernel == kernel.Generic || !legal(tA) || m <= 0 || n < short || alpha == 0 || lda < n ||
		!holds(a, m, n, lda) ||
		incX != 1 || incY != 1 || lenX > len(x) || lenY > len(y) {
		b.Implementation.Dgemv(tA, m, n, alpha, a, lda, x, incX, beta, y, incY)
		return
	}
	x, y = x[:lenX], y[:lenY]
	if tA == blas.NoTrans {
		for i := range y {
			dot := alpha * vector.Dot(a[i*lda:][:n], x)
			if beta != 0 {
				dot += beta * y[i]
			}
			y[i] = dot
		}
		return
	}
	scale(y, beta)
	var ax [shallow]float64
	for i := 0; i < m; i += shallow {
		rows := min(shallow, m-i)
		for r, v := range x[i : i+rows] {
			ax[r] = alpha * v
		}
		one := [1]Term[float64]{{A: ax[:], RowStride: 1, ColStride: 1, B: a[i*lda:], Stride: lda, K: rows}}
		panels(b.kernel, y, 1, n, n, Add, nil, one[:])
	}
}

// scale multiplies x by β, and β = 0 overwrites whatever was there.
func scale(x []float64, beta float64) {
	switch beta {
	case 0:
		clear(x)
	case 1:
	default:
		for i := range x {
			x[i] *= beta
		}
	}
}
