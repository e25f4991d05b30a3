package main

import (
	"math"
	"math/big"
)

// interpolate returns the n coefficients, lowest power first, of the polynomial that equals f at the n Chebyshev
// nodes of [lo, hi], rounded to float64: the minimax polynomial but for a small factor in its error.
func interpolate(f func(x *big.Float) *big.Float, lo, hi float64, n int) []float64 {
	x, d := make([]*big.Float, n), make([]*big.Float, n)
	for i := range x {
		node := math.Cos(math.Pi * (float64(i) + 0.5) / float64(n))
		x[i] = exact((lo+hi)/2 + (hi-lo)/2*node)
		d[i] = f(x[i])
	}
	// Newton's divided differences: f = d₀ + (x − x₀)(d₁ + (x − x₁)(d₂ + …)).
	for k := 1; k < n; k++ {
		for i := n - 1; i >= k; i-- {
			d[i] = quotient(difference(d[i], d[i-1]), difference(x[i], x[i-k]))
		}
	}
	c := make([]*big.Float, n)
	for i := range c {
		c[i] = exact(0)
	}
	for k := n - 1; k >= 0; k-- { // c ← d_k + (x − x_k)c
		for i := n - 1; i > 0; i-- {
			c[i] = difference(c[i-1], product(x[k], c[i]))
		}
		c[0] = difference(d[k], product(x[k], c[0]))
	}
	rounded := make([]float64, n)
	for i := range c {
		rounded[i], _ = c[i].Float64()
	}
	return rounded
}

// series returns x ↦ Σ_k a(k)x^k, summed until the terms vanish; |x| must be well below 1.
func series(a func(k int) *big.Float) func(x *big.Float) *big.Float {
	return func(x *big.Float) *big.Float {
		sum, power := exact(0), exact(1)
		for k := range 120 {
			sum = sum.Add(sum, product(a(k), power))
			power = product(power, x)
		}
		return sum
	}
}

// exponential has the n coefficients of Q in e^r = 1 + r + r²Q(r), |r| ≤ ½ log 2.
func exponential(n int) []float64 {
	q := series(func(k int) *big.Float { return quotient(exact(1), factorial(k+2)) })
	return interpolate(q, -math.Ln2/2, math.Ln2/2, n)
}

// hyperbolic has the n coefficients of T in tanh r = r + rzT(z), z = r², |r| ≤ ¼ log 2.
func hyperbolic(n int) []float64 {
	sinh := series(func(k int) *big.Float { return quotient(exact(1), factorial(2*k+1)) }) // of √z, over √z
	cosh := series(func(k int) *big.Float { return quotient(exact(1), factorial(2*k)) })
	t := func(z *big.Float) *big.Float { return quotient(difference(quotient(sinh(z), cosh(z)), exact(1)), z) }
	return interpolate(t, 0, math.Ln2*math.Ln2/16, n)
}

// logarithm has the n coefficients of R in log((1 + s)/(1 − s)) = 2s + s·z·R(z), z = s², |s| ≤ 1/5.
func logarithm(n int) []float64 {
	r := series(func(k int) *big.Float { return quotient(exact(2), exact(float64(2*k+3))) })
	return interpolate(r, 0, 0.04, n)
}

// ln2 is log 2 in two parts, the first without the low bits, so that its product with a small integer is exact.
func ln2(low uint64) (hi, lo float64) {
	log2 := exact(0)
	for k := 1; k < 300; k++ { // Σ 1/(k·2^k)
		log2.Add(log2, quotient(exact(math.Ldexp(1, -k)), exact(float64(k))))
	}
	hi = math.Float64frombits(math.Float64bits(math.Ln2) &^ low)
	lo, _ = difference(log2, exact(hi)).Float64()
	return hi, lo
}

const precision = 320

func exact(v float64) *big.Float            { return new(big.Float).SetPrec(precision).SetFloat64(v) }
func product(a, b *big.Float) *big.Float    { return new(big.Float).SetPrec(precision).Mul(a, b) }
func quotient(a, b *big.Float) *big.Float   { return new(big.Float).SetPrec(precision).Quo(a, b) }
func difference(a, b *big.Float) *big.Float { return new(big.Float).SetPrec(precision).Sub(a, b) }

func factorial(n int) *big.Float {
	f := exact(1)
	for i := 2; i <= n; i++ {
		f = product(f, exact(float64(i)))
	}
	return f
}
