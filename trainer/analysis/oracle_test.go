package analysis

import (
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"newtop/trainer/objective"
)

// quadratic is ½wᵀHw + gᵀw + loss at w = 0, a linearization as far as a probe asks.
type quadratic struct {
	objective.Linearization
	h        *mat.SymDense
	g        []float64
	loss     float64
	products int
	wrong    bool // which product is asked for: the other one must not be
}

func (q *quadratic) Dim() int                       { return len(q.g) }
func (q *quadratic) Rows() int                      { return 7 }
func (q *quadratic) Loss() float64                  { return q.loss }
func (q *quadratic) GradientTo(dst []float64)       { copy(dst, q.g) }
func (q *quadratic) HessianTo(dst, v []float64)     { q.product(dst, v, false) }
func (q *quadratic) GaussNewtonTo(dst, v []float64) { q.product(dst, v, true) }

func (q *quadratic) product(dst, v []float64, wrong bool) {
	if wrong != q.wrong {
		panic("the other matrix was asked for")
	}
	q.products++
	mat.NewVecDense(len(dst), dst).MulVec(q.h, mat.NewVecDense(len(v), v))
}

// newQuadratic has a random matrix, indefinite or with the given eigenvalues' sign, and a random gradient.
func newQuadratic(seed uint64, n int, definite bool) *quadratic {
	rng := rand.New(rand.NewPCG(seed, 3))
	a := mat.NewDense(n, n, normal(rng, n*n))
	h := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			v := a.At(i, j) + a.At(j, i)
			if definite {
				v = mat.Dot(a.RowView(i), a.RowView(j)) / float64(n)
				if i == j {
					v += 0.1
				}
			}
			h.SetSym(i, j, v)
		}
	}
	return &quadratic{h: h, g: normal(rng, n), loss: 3}
}

func normal(rng *rand.Rand, n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = rng.NormFloat64()
	}
	return v
}

// oracle is a dense matrix's eigenvalues, upwards, and their vectors in columns.
func oracle(t *testing.T, h mat.Symmetric) ([]float64, *mat.Dense) {
	t.Helper()
	var e mat.EigenSym
	if !e.Factorize(h, true) {
		t.Fatal("no eigenvalues")
	}
	var v mat.Dense
	e.VectorsTo(&v)
	return e.Values(nil), &v
}

func bend(h mat.Symmetric, v []float64) float64 {
	x := mat.NewVecDense(len(v), v)
	return mat.Inner(x, h, x) / mat.Dot(x, x)
}

func corner(h mat.Symmetric, b ProbeBlock) *mat.SymDense {
	s := mat.NewSymDense(b.To-b.From, nil)
	for i := range b.To - b.From {
		for j := range i + 1 {
			s.SetSym(i, j, h.At(b.From+i, b.From+j))
		}
	}
	return s
}

// newtonStep minimizes the model over the smallest Krylov space of g where ‖g + Hs‖ ≤ 0.1‖g‖, by a dense solve in an
// orthonormal basis of it.
func newtonStep(t *testing.T, h mat.Symmetric, g []float64) (norm, decrease, residual float64) {
	t.Helper()
	n := len(g)
	powers := mat.NewDense(n, n, nil)
	v := mat.NewVecDense(n, append([]float64(nil), g...))
	for m := 1; m <= n; m++ {
		v.ScaleVec(1/mat.Norm(v, 2), v)
		powers.SetCol(m-1, v.RawVector().Data)
		var qr mat.QR
		qr.Factorize(powers.Slice(0, n, 0, m))
		var full, left, small mat.Dense
		qr.QTo(&full)
		q := full.Slice(0, n, 0, m)
		left.Mul(q.T(), h)
		small.Mul(&left, q)
		var right, y, s, r mat.VecDense
		right.MulVec(q.T(), mat.NewVecDense(n, g))
		right.ScaleVec(-1, &right)
		if err := y.SolveVec(&small, &right); err != nil {
			t.Fatal(err)
		}
		s.MulVec(q, &y)
		r.MulVec(h, &s)
		decrease = -(mat.Dot(&s, mat.NewVecDense(n, g)) + mat.Dot(&s, &r)/2)
		r.AddVec(&r, mat.NewVecDense(n, g))
		if residual = mat.Norm(&r, 2) / floats.Norm(g, 2); residual <= 0.1 {
			return mat.Norm(&s, 2), decrease, residual
		}
		v.MulVec(h, v)
	}
	t.Fatal("no step")
	return 0, 0, 0
}
