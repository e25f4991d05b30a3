package krylov

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/lapack"
	lapackgonum "gonum.org/v1/gonum/lapack/gonum"

	"newtop/internal/vector"
)

var eigen lapackgonum.Implementation

// ritzLimit is the largest tridiagonal that a CG solve keeps. Its leading part has the Ritz values of
// the first Krylov spaces, whose ends settle long before; the cost grows with the square.
const ritzLimit = 300

// tridiagonal collects CG's coefficients as the Lanczos matrix of M^-½HM^-½ (Golub & Van Loan 2013,
// §11.3.5): with α the step lengths and β the conjugation factors, diagonal 1/α_k + β_k/α_{k−1} and
// beside it √β_{k+1}/α_k.
type tridiagonal struct {
	diag, off    []float64
	inverse      float64   // 1/α of the last iteration kept
	cut          bool      // iterations beyond the limit were left out
	bad          bool      // a coefficient overflowed
	rest, beside []float64 // for a part of the matrix
}

func (t *tridiagonal) reset() {
	if t.diag == nil {
		for _, v := range []*[]float64{&t.diag, &t.off, &t.rest, &t.beside} {
			*v = make([]float64, 0, ritzLimit+1)
		}
	}
	*t = tridiagonal{diag: t.diag[:0], off: t.off[:0], rest: t.rest, beside: t.beside}
}

// add appends an iteration by 1/α, which stays finite where α does not, and β. β = 0 begins a new block.
func (t *tridiagonal) add(inverse, beta float64) {
	if len(t.diag) == ritzLimit {
		t.cut = true
		return
	}
	if len(t.diag) > 0 {
		t.off = append(t.off, math.Sqrt(beta)*t.inverse)
	}
	t.diag = append(t.diag, inverse+beta*t.inverse)
	t.inverse = inverse
	t.bad = t.bad || !vector.Finite(t.diag[len(t.diag)-1]) || !vector.Finite(beta)
}

// values returns the eigenvalues in ascending order, without copies, and destroys the matrix for them; nil where there
// are none. At a zero beside the diagonal the process began again.
func (t *tridiagonal) values() []float64 {
	if t.bad {
		return nil
	}
	kept := t.diag[:0]
	for from, to := 0, 0; from < len(t.diag); from = to {
		for to = from + 1; to < len(t.diag) && t.off[to-1] != 0; {
			to++
		}
		var ok bool
		if kept, ok = t.keepOriginals(kept, from, to); !ok {
			return nil
		}
	}
	slices.Sort(kept)
	near := nearness(kept)
	return slices.CompactFunc(kept, func(a, b float64) bool { return math.Abs(b-a) <= near })
}

// nearness is how near eigenvalues of a Lanczos matrix are, in ascending order, that are one of H.
func nearness(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	return 1e-10 * max(math.Abs(values[0]), math.Abs(values[len(values)-1]))
}

// keepOriginals appends the eigenvalues of a block T of the matrix that are no copies, and destroys the block. Rounding
// lets the process find again what it has found, so that T has an eigenvalue of H several times, and others on their
// way there. One that also T without its first row and column has does not depend on where the process began, and is
// such a copy unless T has it several times (Cullum & Willoughby 1985, §4.5).
func (t *tridiagonal) keepOriginals(kept []float64, from, to int) (_ []float64, ok bool) {
	rest, beside := append(t.rest[:0], t.diag[from+1:to]...), append(t.beside[:0], t.off[min(from+1, to-1):to-1]...)
	all := t.diag[from:to]
	if len(rest) > 0 && !diagonalize(rest, beside) || !diagonalize(all, t.off[from:to-1]) {
		return nil, false
	}
	near, before := nearness(all), math.Inf(-1)
	for i, v := range all {
		at, _ := slices.BinarySearch(rest, v-near)
		several := v-before <= near || i+1 < len(all) && all[i+1]-v <= near
		if several || at == len(rest) || rest[at] > v+near {
			kept = append(kept, v)
		}
		before = v
	}
	return kept, true
}

// with returns the values of a solve whose last direction had the given Rayleigh quotient. Where the matrix was cut
// before that iteration the quotient is added, so that the curvature that ended a solve can be seen.
func (t *tridiagonal) with(v []float64, quotient float64) []float64 {
	if t.cut && len(v) > 0 && quotient < v[0] {
		v = slices.Insert(v, 0, quotient)
	}
	return v
}

// diagonalize replaces the diagonal by the eigenvalues in ascending order, and destroys what is beside it. Dsterf is
// the fastest, but gonum 0.17's panics where numbers are so large or small that their squares leave the range.
func diagonalize(diag, off []float64) bool {
	for _, numbers := range [...][]float64{diag, off} {
		for _, v := range numbers {
			if v != 0 && !(math.Abs(v) > 1e-120 && math.Abs(v) < 1e150) {
				return eigen.Dsteqr(lapack.EVCompNone, len(diag), diag, off, nil, 1, nil)
			}
		}
	}
	return eigen.Dsterf(len(diag), diag, off)
}

// eigenvectors returns the eigenvalues of the symmetric tridiagonal matrix in ascending order and its
// eigenvectors as the columns of a row-major square matrix. It modifies neither argument.
func eigenvectors(diag, off []float64) (values, vectors []float64, ok bool) {
	n := len(diag)
	values = append([]float64(nil), diag...)
	beside := append([]float64(nil), off[:n-1]...)
	vectors = make([]float64, n*n)
	ok = eigen.Dsteqr(lapack.EVTridiag, n, values, beside, vectors, n, make([]float64, max(1, 2*n-2)))
	return values, vectors, ok
}

// armedEigenvectors is eigenvectors for a matrix that also has arms[i] at (i, a) and (a, i), a being their number.
func armedEigenvectors(diag, off, arms []float64) (values, vectors []float64, ok bool) {
	n, a := len(diag), len(arms)
	values, vectors = make([]float64, n), make([]float64, n*n)
	for j, d := range diag {
		vectors[j*n+j] = d
		if j > 0 {
			vectors[j*n+j-1] = off[j-1]
		}
	}
	for i, arm := range arms {
		vectors[a*n+i] = arm
	}
	work := make([]float64, 1)
	eigen.Dsyev(lapack.EVCompute, blas.Lower, n, vectors, n, values, work, -1)
	work = make([]float64, int(work[0]))
	ok = eigen.Dsyev(lapack.EVCompute, blas.Lower, n, vectors, n, values, work, len(work))
	return values, vectors, ok
}
