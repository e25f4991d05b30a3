package krylov

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// dense is the operator of a matrix, multiplied in the plainest way. From product number poison on
// (counted from 1) its first entry is NaN.
type dense struct {
	a        *mat.SymDense
	products int
	poison   int
}

func (d *dense) Dim() int { return d.a.SymmetricDim() }

func (d *dense) MulVecTo(dst, v []float64) {
	for i := range dst {
		dst[i] = 0
		for j, x := range v {
			dst[i] += d.a.At(i, j) * x
		}
	}
	if d.products++; d.poison > 0 && d.products >= d.poison {
		dst[0] = math.NaN()
	}
}

// scaling is a diagonal matrix without its zeros.
type scaling []float64

func (s scaling) Dim() int { return len(s) }

func (s scaling) MulVecTo(dst, v []float64) {
	for i, x := range v {
		dst[i] = s[i] * x
	}
}

func diagonal(values ...float64) *dense {
	a := mat.NewSymDense(len(values), nil)
	for i, v := range values {
		a.SetSym(i, i, v)
	}
	return &dense{a: a}
}

// withEigenvalues returns QΛQᵀ for a random orthogonal Q.
func withEigenvalues(seed uint64, values ...float64) *dense {
	n := len(values)
	rng := rand.New(rand.NewPCG(seed, 1))
	var qr mat.QR
	qr.Factorize(mat.NewDense(n, n, normals(rng, n*n)))
	var q mat.Dense
	qr.QTo(&q)
	a := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			sum := 0.0
			for k, v := range values {
				sum += q.At(i, k) * v * q.At(j, k)
			}
			a.SetSym(i, j, sum)
		}
	}
	return &dense{a: a}
}

func normals(rng *rand.Rand, n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = rng.NormFloat64()
	}
	return v
}

func gradient(seed uint64, n int) []float64 { return normals(rand.New(rand.NewPCG(seed, 2)), n) }

// spread returns n values from low to high, evenly spaced on a logarithmic scale.
func spread(n int, low, high float64) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = low * math.Pow(high/low, float64(i)/float64(n-1))
	}
	return v
}

func dot(a, b []float64) float64 {
	sum := 0.0
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}

// quadratic is q(s) by its definition.
func quadratic(d *dense, g, s []float64) float64 {
	hs := make([]float64, len(s))
	(&dense{a: d.a}).MulVecTo(hs, s)
	return dot(g, s) + dot(s, hs)/2
}

func normM(m, s []float64) float64 {
	sum := 0.0
	for i, x := range s {
		w := 1.0
		if m != nil {
			w = m[i]
		}
		sum += w * x * x
	}
	return math.Sqrt(sum)
}

// cauchy is q at the minimizer along −M⁻¹g within the region, by the formula of Conn, Gould & Toint
// 2000, §6.3.2.
func cauchy(d *dense, g, m []float64, radius float64) float64 {
	p := make([]float64, len(g))
	for i := range g {
		p[i] = -g[i]
		if m != nil {
			p[i] /= m[i]
		}
	}
	hp := make([]float64, len(g))
	(&dense{a: d.a}).MulVecTo(hp, p)
	slope, curvature := dot(g, p), dot(p, hp)
	t := radius / normM(m, p)
	if curvature > 0 {
		t = min(t, -slope/curvature)
	}
	return t*slope + t*t*curvature/2
}

// moreSorensen returns the global minimum of q over ‖s‖₂ ≤ R from the eigenvalues of H: the step
// −(H + μI)⁻¹g of the smallest μ ≥ max(0, −λ₁) whose length is at most R, by bisection. Not for the
// hard case.
func moreSorensen(t *testing.T, d *dense, g []float64, radius float64) float64 {
	t.Helper()
	var e mat.EigenSym
	if !e.Factorize(d.a, true) {
		t.Fatal("no eigenvalues")
	}
	lambda := e.Values(nil)
	var q mat.Dense
	e.VectorsTo(&q)
	n := len(g)
	gq := make([]float64, n)
	for k := range n {
		for i := range n {
			gq[k] += q.At(i, k) * g[i]
		}
	}
	length := func(mu float64) float64 {
		sum := 0.0
		for k := range n {
			sum += gq[k] * gq[k] / ((lambda[k] + mu) * (lambda[k] + mu))
		}
		return math.Sqrt(sum)
	}
	mu := 0.0
	if lambda[0] <= 0 || length(0) > radius {
		low, high := max(0, -lambda[0]), max(0, -lambda[0])+1
		for length(high) > radius {
			high *= 2
		}
		for range 200 {
			if mu = low + (high-low)/2; length(mu) > radius {
				low = mu
			} else {
				high = mu
			}
		}
		mu = high
	}
	value := 0.0
	for k := range n {
		s := -gq[k] / (lambda[k] + mu)
		value += gq[k]*s + lambda[k]*s*s/2
	}
	return value
}

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s = %.17g, want %.17g within %.1g", what, got, want, tolerance)
	}
}
