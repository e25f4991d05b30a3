package krylov

import (
	"math"
	"math/rand/v2"

	"newtop/internal/vector"
)

// secular solves the trust-region problem of a symmetric tridiagonal matrix,
//
//	minimize ½ hᵀTh − γh₁ over ‖h‖ ≤ R
//
// after Moré & Sorensen 1983, as Gould, Lucidi, Roma & Toint 1999 (§5) do it for such matrices. Its solutions have
// (T + λI)h = γe₁ with T + λI positive semidefinite, and λ = 0 or ‖h‖ = R.
//
//	T  k × k, its diagonal α and beside it β · θ₁ and θ_k its ends
//	T + λI = LDLᵀ, L with ones on its diagonal and l below it
//	φ(λ) = 1/‖h(λ)‖ − 1/R, which increases right of −θ₁ and is concave: from where ‖h‖ ≥ R Newton's iteration
//	climbs to the root and never passes it (Conn, Gould & Toint 2000, §7.3.3)
type secular struct {
	h      []float64 // the solution
	lambda float64   // its λ

	d, l, y, ends []float64
}

// maxNewton bounds the iterations, of which a problem takes about five.
const maxNewton = 100

// solve reports whether all numbers were finite. Then ‖h‖ is R up to rounding, or below it and λ = 0.
func (s *secular) solve(alpha, beta []float64, gamma, radius float64) bool {
	first, last, ok := s.spectrum(alpha, beta)
	s.lambda = max(0, -first, gamma/radius-last) // ‖h(λ)‖ ≥ γ/(θ_k + λ), so that it is R or more here
	if !ok || !s.factorizeBeyond(alpha, beta, max(math.Abs(first), math.Abs(last))) {
		return false
	}
	length := s.substitute(gamma)
	for i := 0; length > radius && i < maxNewton; i++ {
		next := s.lambda + s.newton(length, radius)
		if !(next > s.lambda) {
			break
		}
		s.lambda = next
		if !s.factorize(alpha, beta) {
			return false
		}
		length = s.substitute(gamma)
	}
	switch {
	case !vector.Finite(length):
		return false
	case s.lambda == 0 && length <= radius:
		return true
	case math.Abs(length-radius) > 1e-10*radius:
		length = s.alongLeftmost(length, radius)
	}
	vector.Scale(s.h, radius/length, s.h)
	return vector.Finite(length)
}

// spectrum returns the ends of T's spectrum.
func (s *secular) spectrum(alpha, beta []float64) (first, last float64, ok bool) {
	k := len(alpha)
	for _, v := range []*[]float64{&s.h, &s.d, &s.l, &s.y, &s.ends} {
		if cap(*v) < k {
			*v = make([]float64, k, 2*k)
		}
		*v = (*v)[:k]
	}
	copy(s.ends, alpha)
	copy(s.l, beta)
	for _, v := range [...][]float64{alpha, beta} {
		if !vector.Finite(vector.Norm(v)) {
			return 0, 0, false
		}
	}
	ok = diagonalize(s.ends, s.l[:k-1])
	return s.ends[0], s.ends[k-1], ok
}

// factorizeBeyond factorizes T + λI, with a larger λ where rounding of numbers of T's size makes the matrix indefinite.
func (s *secular) factorizeBeyond(alpha, beta []float64, size float64) bool {
	for more := 4 * size * 0x1p-52; !s.factorize(alpha, beta); more *= 4 {
		if s.lambda += more; !vector.Finite(s.lambda) || more == 0 {
			return false
		}
	}
	return true
}

// factorize reports whether T + λI is positive definite.
func (s *secular) factorize(alpha, beta []float64) bool {
	for i, a := range alpha {
		s.d[i] = a + s.lambda
		if i > 0 {
			s.l[i-1] = beta[i-1] / s.d[i-1]
			s.d[i] -= beta[i-1] * s.l[i-1]
		}
		if !(s.d[i] > 0) {
			return false
		}
	}
	return true
}

// substitute stores h(λ) and returns its norm.
func (s *secular) substitute(gamma float64) float64 {
	clear(s.h)
	s.h[0] = gamma
	s.invert(s.h)
	return vector.Norm(s.h)
}

// invert replaces v by (T + λI)⁻¹v.
func (s *secular) invert(v []float64) {
	for i := 1; i < len(v); i++ {
		v[i] -= s.l[i-1] * v[i-1]
	}
	for i := len(v) - 1; i >= 0; i-- {
		v[i] /= s.d[i]
		if i+1 < len(v) {
			v[i] -= s.l[i] * v[i+1]
		}
	}
}

// newton returns −φ/φ' = (‖h‖/R − 1) / wᵀ(T + λI)⁻¹w with w = h/‖h‖; the divisor is Σ y_i²/d_i where Ly = w.
func (s *secular) newton(length, radius float64) float64 {
	sum := 0.0
	for i := range s.y {
		s.y[i] = s.h[i] / length
		if i > 0 {
			s.y[i] -= s.l[i-1] * s.y[i-1]
		}
		sum += s.y[i] * (s.y[i] / s.d[i])
	}
	return (length/radius - 1) / sum
}

// alongLeftmost is the hard case [Moré & Sorensen 1983, §3]: λ is −θ₁ to rounding and h is too short, or λ next to it
// is not told well enough from −θ₁ for the length of h. What lacks lies in the leftmost eigenvector u: it adds the
// lesser τu that makes ‖h‖ = R, where there is one, and returns the norm.
func (s *secular) alongLeftmost(length, radius float64) float64 {
	u := s.y
	randomTo(u, rand.New(rand.NewPCG(1, 0x676c7472)))
	for range 3 { // of inverse iteration, next to a pole
		s.invert(u)
		vector.Scale(u, 1/vector.Norm(u), u)
	}
	hu := vector.Dot(s.h, u)
	rest := (radius - length) * (radius + length) // R² − ‖h‖²
	if square := hu*hu + rest; square >= 0 && rest != 0 {
		vector.Axpy(s.h, rest/(hu+math.Copysign(math.Sqrt(square), hu)), u)
	}
	return vector.Norm(s.h)
}
