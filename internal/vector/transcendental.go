package vector

import "math"

// The errors that follow are the largest met, in units of the last place (ulp) of the true value, by the assembly and
// by the Go code: over 2.5 million arguments of all sizes and the neighbours of the points where the code changes its
// way, by TestAccuracy with -points 500000, and over five million for each of some ranges against double-double
// arithmetic. Results among the subnormal numbers are included, NaN is passed on, infinite arguments have their limits.

// Exp stores e^x, off by 1.09 ulp at most, in Go by 0.93. It overflows where e^x does.
func Exp[F Float](dst, x []F) {
	if fast(len(dst), len(x)) {
		exp(data(dst), data(x), len(dst))
		return
	}
	for i, v := range x[:len(dst)] {
		dst[i] = F(exponential(float64(v)))
	}
}

// Tanh stores tanh x, off by 1.48 ulp at most, between 18 and 19.1, where it becomes 1, by 1.83, in Go by 1.38.
// It is odd, for −0 too.
func Tanh[F Float](dst, x []F) {
	if fast(len(dst), len(x)) {
		tanh(data(dst), data(x), len(dst))
		return
	}
	for i, v := range x[:len(dst)] {
		dst[i] = F(math.Tanh(float64(v)))
	}
}

// Sigmoid stores 1/(1 + e^−x), off by 1.50 ulp at most, in Go by 1.40.
func Sigmoid[F Float](dst, x []F) {
	if fast(len(dst), len(x)) {
		sigmoid(data(dst), data(x), len(dst))
		return
	}
	for i, v := range x[:len(dst)] {
		dst[i] = F(logistic(float64(v)))
	}
}

// Softplus stores log(1 + e^x) in dst, off by 1.27 ulp at most, in Go by 1.53, and its derivative, the sigmoid, in
// slope, off by 1.06 at most, in Go by 1.40.
func Softplus[F Float](dst, slope, x []F) {
	if fast(len(dst), min(len(slope), len(x))) {
		softplus(data(dst), data(slope), data(x), len(dst))
		return
	}
	for i, v := range x[:len(dst)] {
		x := float64(v)
		slope[i] = F(logistic(x))
		dst[i] = F(max(x, 0) + math.Log1p(exponential(-math.Abs(x))))
	}
}

// exponential is e^x.
func exponential(x float64) float64 {
	switch {
	case x > 710:
		return math.Inf(1) + x
	case x < -746:
		return 0
	case x != x:
		return x
	}
	e, _, k := power(x)
	return math.Ldexp(e, k)
}

// logistic is 1/(1 + e^−x). Numerator and denominator are sums of two numbers, the second being what rounding took
// from the first, as in the assembly.
func logistic(x float64) float64 {
	switch {
	case x < -40:
		return exponential(x) // times 1 − e^x, which is 1
	case x > 40:
		return 1
	}
	h, low, k := power(-math.Abs(x))
	scale := math.Float64frombits(uint64(1023+k) << 52)
	e, eLow := h*scale, low*scale
	d := 1 + e
	dLow := e - (d - 1) + eLow
	n, nLow := 1.0, 0.0
	if x < 0 {
		n, nLow = e, eLow
	}
	q := n / d
	return q + (nLow-q*dLow)/d
}

// power returns (e + low)·2^k = e^x as fdlibm's e_exp.c does, which has no low. math.Exp is less exact on amd64, and
// overflows below 709.78 there.
func power(x float64) (e, low float64, k int) {
	const (
		ln2Hi = 0x1.62e42feep-1 // 33 bits: its products with k are exact
		ln2Lo = 0x1.a39ef35793c76p-33
		p1    = 1.66666666666666657415e-01
		p2    = -2.77777777770155933842e-03
		p3    = 6.61375632143793436117e-05
		p4    = -1.65339022054652515390e-06
		p5    = 4.13813679705723846039e-08
	)
	n := math.RoundToEven(x * math.Log2E)
	hi, lo := x-n*ln2Hi, n*ln2Lo
	r := hi - lo
	z := r * r
	c := r - z*(p1+z*(p2+z*(p3+z*(p4+z*p5))))
	rest := hi - (lo - r*c/(2-c)) // e^r − 1
	e = 1 + rest
	return e, rest - (e - 1), int(n)
}
