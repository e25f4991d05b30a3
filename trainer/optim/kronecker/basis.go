package kronecker

import (
	"cmp"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"

	"newtop/internal/vector"
)

// eigenTo stores the eigenvalues of a symmetric matrix, d × d numbers of which those on and above the diagonal count,
// in values in descending order, and its eigenvectors as the rows of q. It reports whether it could.
func eigenTo(q, values, f []float64, d int) bool {
	a := blas64.Symmetric{N: d, Stride: d, Uplo: blas.Upper, Data: slices.Clone(f[:d*d])}
	size := make([]float64, 1)
	lapack64.Syev('V', a, values, size, -1)
	work := make([]float64, int(size[0]))
	if !vector.Finite(vector.Norm(f[:d*d])) || !lapack64.Syev('V', a, values, work, len(work)) {
		return false
	}
	slices.Reverse(values)
	for i := range d {
		for j := range d {
			q[i*d+j] = a.Data[j*d+d-1-i]
		}
	}
	return true
}

// eigenCost is how many multiplications eigenTo takes, in d³ (Golub & Van Loan 2013, §8.3.4).
const eigenCost = 4.5

func cube(d int) float64 { return float64(d) * float64(d) * float64(d) }

// descending stores the numbers of values in descending order in order.
func descending(order []int, values []float64) {
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(values[b], values[a]) })
}

// group is how many rows orthonormalize frees of those before by one matrix product.
const group = 24

// orthonormalize makes the d rows of x, d finite numbers each and none of them 0, orthonormal by the method of Gram and
// Schmidt, so that the first k span what they spanned. A row that loses more than half of its length is freed again:
// twice is enough (Parlett 1998, §6.9). One that the rows before leave nothing of becomes another direction. dots has
// room for group × d numbers. It returns how many multiplications that took.
func orthonormalize(x, dots []float64, d int) (spent float64) {
	for first := 0; first < d; first += group {
		last := min(first+group, d)
		for i := first; i < last; i++ {
			row := x[i*d:][:d]
			vector.Scale(row, 1/vector.Norm(row), row)
		}
		if first > 0 {
			rows, before := matrix(x[first*d:], last-first, d, d), matrix(x, first, d, d)
			c := matrix(dots, last-first, first, first)
			blas64.Gemm(blas.NoTrans, blas.Trans, 1, rows, before, 0, c)
			blas64.Gemm(blas.NoTrans, blas.NoTrans, -1, c, before, 1, rows)
			spent += 2 * float64(last-first) * float64(first) * float64(d)
		}
		for i := first; i < last; i++ {
			row := x[i*d:][:d]
			free(row, x[first*d:i*d])
			spent += 2 * float64(i-first) * float64(d)
			if norm := vector.Norm(row); norm >= 0.5 {
				vector.Scale(row, 1/norm, row)
			} else {
				spent += again(x, i, d)
			}
		}
	}
	return spent
}

// free takes the components along orthonormal rows out of v.
func free(v, rows []float64) {
	for d := len(v); len(rows) > 0; rows = rows[d:] {
		vector.Axpy(v, -vector.Dot(v, rows[:d]), rows[:d])
	}
}

// again makes row i orthonormal to those before: itself, or else the first direction of the axes that they leave
// something of.
func again(x []float64, i, d int) (spent float64) {
	row := x[i*d:][:d]
	for axis := 0; ; axis++ {
		for range 3 {
			norm := vector.Norm(row)
			if norm == 0 {
				break
			}
			vector.Scale(row, 1/norm, row)
			free(row, x[:i*d])
			spent += 2 * float64(i) * float64(d)
			if norm = vector.Norm(row); norm >= 0.5 {
				vector.Scale(row, 1/norm, row)
				return spent
			}
		}
		clear(row)
		row[axis] = 1
	}
}
