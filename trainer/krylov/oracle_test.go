package krylov

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
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

// rescaled returns M^-½HM^-½ and M^-½g.
func rescaled(h *dense, g, m []float64) (*dense, []float64) {
	n := len(g)
	a, b := mat.NewSymDense(n, nil), make([]float64, n)
	root := func(i int) float64 {
		if m == nil {
			return 1
		}
		return math.Sqrt(m[i])
	}
	for i := range n {
		b[i] = g[i] / root(i)
		for j := i; j < n; j++ {
			a.SetSym(i, j, h.a.At(i, j)/root(i)/root(j))
		}
	}
	return &dense{a: a}, b
}

// regionMinimum returns the least value of ½sᵀHs + gᵀs over ‖s‖_M ≤ R and its λ by the conditions of Moré & Sorensen 1983 on the
// eigenvalues of M^-½HM^-½, the hard case included: there h(−θ₁) is too short without the leftmost eigenspace, and what
// lacks to R along it counts with θ₁.
func regionMinimum(t *testing.T, d *dense, g, m []float64, radius float64) (value, lambda float64) {
	t.Helper()
	n := len(g)
	a, b := rescaled(d, g, m)
	var e mat.EigenSym
	if !e.Factorize(a.a, true) {
		t.Fatal("no eigenvalues")
	}
	theta := e.Values(nil)
	var q mat.Dense
	e.VectorsTo(&q)
	part := make([]float64, n) // of b along the eigenvectors
	for k := range n {
		for i := range n {
			part[k] += q.At(i, k) * b[i]
		}
		if math.Abs(part[k]) < 1e-15*normM(nil, b) {
			part[k] = 0
		}
	}
	// Beyond −θ₁ by so much the denominators keep their digits however close λ is.
	length := func(beyond float64) float64 {
		sum := 0.0
		for k := range n {
			if part[k] != 0 {
				x := part[k] / (theta[k] - theta[0] + beyond)
				sum += x * x
			}
		}
		return math.Sqrt(sum)
	}
	beyond := max(0, theta[0])
	inside := length(beyond) <= radius
	if !inside {
		low, high := beyond, beyond+1
		for length(high) > radius {
			high *= 2
		}
		for middle := low + (high-low)/2; low < middle && middle < high; middle = low + (high-low)/2 {
			if length(middle) > radius {
				low = middle
			} else {
				high = middle
			}
		}
		beyond = high
	}
	for k := range n {
		if part[k] != 0 {
			x := -part[k] / (theta[k] - theta[0] + beyond)
			value += part[k]*x + theta[k]*x*x/2
		}
	}
	if inside && theta[0] < 0 {
		value += theta[0] * (radius*radius - length(0)*length(0)) / 2
	}
	return value, beyond - theta[0]
}

// krylovModel is the model on the space of b = M^-½g, Ab, …, A^(k−1)b with A = M^-½HM^-½, by Gram–Schmidt: q(M^-½Qy) with Q an
// orthonormal basis.
func krylovModel(h *dense, g, m []float64, k int) (*dense, []float64) {
	n := len(g)
	a, v := rescaled(h, g, m)
	b := slices.Clone(v)
	var basis [][]float64
	for range k {
		for range 3 {
			for _, q := range basis {
				floats.AddScaled(v, -dot(q, v), q)
			}
		}
		q := floats.ScaleTo(make([]float64, n), 1/normM(nil, v), v)
		basis = append(basis, q)
		a.MulVecTo(v, q)
	}
	small, bs := mat.NewSymDense(k, nil), make([]float64, k)
	aq := make([]float64, n)
	for i, q := range basis {
		bs[i] = dot(q, b)
		a.MulVecTo(aq, q)
		for j := i; j < k; j++ {
			small.SetSym(i, j, dot(basis[j], aq))
		}
	}
	return &dense{a: small}, bs
}

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s = %.17g, want %.17g within %.1g", what, got, want, tolerance)
	}
}
