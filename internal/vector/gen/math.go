package main

import (
	"math"

	"github.com/mmcloughlin/avo/operand"
)

// Each function of one vector is written once, from the exponential's reduction (Cody & Waite 1980)
//
//	y = k·log 2 + r, |r| ≤ ½ log 2, e^y = 2^k·e^r, e^r = 1 + p, p = r + r²Q(r).
//
// Polynomials and limits are those of the numbers' precision.
type numbers struct {
	mantissa uint64  // bits after the point
	bias     float64 // of exponents
	magic    float64 // adding it to a number leaves its nearest integer k in the low bits
	// From low on down e^x is 0, from high on up infinite; beyond far the logistic function of x, beyond top tanh x is
	// 1.
	low, high, far, top float64
	// lowest is the least power of two that the logistic function works with, so that its parts have all their digits.
	// What is smaller gets the rest of its exponent at the end.
	lowest         float64
	ln2Hi, ln2Lo   float64
	exp, tanh, log []float64 // coefficients
}

var (
	double = numbers{mantissa: 52, bias: 1023, magic: 0x1.8p52, low: -746, high: 710, far: 40, top: 20, lowest: -900,
		exp: exponential(10), tanh: hyperbolic(6), log: logarithm(8)}
	single = numbers{mantissa: 23, bias: 127, magic: 0x1.8p23, low: -104, high: 89, far: 20, top: 10, lowest: -60,
		exp: exponential(6), tanh: hyperbolic(3), log: logarithm(4)}
)

func init() {
	double.ln2Hi, double.ln2Lo = ln2(1<<21 - 1)
	single.ln2Hi, single.ln2Lo = ln2(1<<37 - 1)
}

func (m *operands) numbers() *numbers {
	if m.single {
		return &single
	}
	return &double
}

// biased is magic for exponents: shifted by the mantissa's bits, the sum is 2^k.
func (n *numbers) biased() float64 { return n.magic + n.bias }

type reduced struct {
	bits value // k + magic
	k    value
	p    value // e^r − 1
}

// reduceExp takes y for its own. |y| must not be far above the limits; where y is NaN, p is.
func reduceExp(m *machine, y value) reduced {
	num := m.numbers()
	bits := m.fma(y, m.c(math.Log2E), m.c(num.magic))
	k := m.sub(bits, m.c(num.magic))
	r := y
	m.subProduct(r, k, m.c(num.ln2Hi))
	m.subProduct(r, k, m.c(num.ln2Lo))
	r2 := m.mul(r, r)
	c := num.exp
	q := pair(m, r, c, len(c)-2)
	for i := len(c) - 4; i >= 0; i -= 2 {
		m.timesPlus(q, r2, pair(m, r, c, i))
	}
	m.timesPlus(q, r2, r)
	return reduced{bits, k, q}
}

// pair is c_i + c_{i+1}x: polynomials go through the pairs in powers of x², which shortens the chain.
func pair(m *machine, x value, c []float64, i int) value {
	return m.fma(x, m.c(c[i+1]), m.c(c[i]))
}

// powerOfTwo is 2^n, n in the low bits of an integer, where that is a normal number.
func powerOfTwo(m *machine, n op) value {
	return m.addInteger(m.shiftLeft(n, m.numbers().mantissa), m.c(1))
}

// exp is e^x for every x. The result is rounded once more when it is subnormal.
func exp(m *machine, x value) value {
	num := m.numbers()
	y := m.max(m.c(num.low), m.min(m.c(num.high), x))
	e := reduceExp(m, y)
	h := m.add(e.p, m.c(1))
	if m.wide {
		m.either(m.VSCALEFPD, m.VSCALEFPS)(e.k, h, h)
		return h
	}
	// 2^k overflows before e^x does; two factors of half the exponent do not.
	half := m.vector()
	m.VPSRAD(operand.Imm(1), e.bits, half)
	rest := m.vector()
	m.VPSUBD(half, e.bits, rest)
	return m.mul(m.mul(h, powerOfTwo(m, half)), powerOfTwo(m, rest))
}

// Hyperbolic tangent and logistic function are quotients of the tangent τ of a small number, for with S = 2^k
//
//	e^(2a) = S·(1 + τ)/(1 − τ), a = k·½log 2 + r, τ = tanh r, |r| ≤ ¼ log 2,
//	tanh a = (e^2a − 1)/(e^2a + 1) = ((S − 1) + (S + 1)τ)/((S + 1) + (S − 1)τ),
//	1/(1 + e^−2a) = S(1 + τ)/((S + 1) + (S − 1)τ).
//
// Numerators and denominators are sums of two numbers, the second being what rounding took from the first.

// small returns for y, |y| ≤ 1000/unit, the integer k nearest to y/(unit·log 2), plus biased in bits, and
// t = tanh(r/2unit)·2unit where y = unit·k·log 2 + r. It takes y for its own.
func small(m *machine, y value, unit float64) (bits, t value) {
	num := m.numbers()
	bits = m.fma(y, m.c(math.Log2E/unit), m.c(num.biased()))
	k := m.sub(bits, m.c(num.biased()))
	m.subProduct(y, k, m.c(num.ln2Hi*unit))
	m.subProduct(y, k, m.c(num.ln2Lo*unit))
	z := m.mul(y, y)
	var c []float64
	power := 1.0
	for _, v := range num.tanh {
		power /= 4 * unit * unit
		c = append(c, v*power)
	}
	last := len(c) - 1
	p := m.fma(z, m.c(c[last]), m.c(c[last-1]))
	for i := last - 2; i >= 0; i-- {
		m.timesPlus(p, z, m.c(c[i]))
	}
	m.timesPlus(p, m.mul(y, z), y)
	return bits, p
}

func tanh(m *machine, x value) value {
	num := m.numbers()
	bits, t := small(m, m.max(m.c(-num.top), m.min(m.c(num.top), x)), 0.5)
	scale := m.shiftLeft(bits, num.mantissa)
	less, more := m.sub(scale, m.c(1)), m.add(scale, m.c(1))
	n, d := m.add(less, m.mul(more, t)), m.fma(less, t, more) // a fused n − less might not be exact
	nLow, dLow := m.sub(n, less), m.sub(d, more)
	m.fromProduct(nLow, more, t)
	m.fromProduct(dLow, less, t)
	return signed(m, ratio(m, n, nLow, d, dLow), x)
}

// signed is a, which has the sign of x unless it is 0, with it. It may take a for its own.
func signed(m *machine, a, x value) value {
	if m.wide {
		m.VPTERNLOGQ(operand.Imm(0xf8), m.register(m.c(signBit)), x, a) // a | x & sign
		return a
	}
	return m.or(a, m.and(x, m.c(signBit)))
}

func sigmoid(m *machine, x value) value {
	num := m.numbers()
	bits, t := small(m, m.max(m.c(num.low), m.min(m.c(num.far), x)), 1)
	kept := m.max(bits, m.c(num.biased()+num.lowest))
	scale := m.shiftLeft(kept, num.mantissa)
	h := m.add(t, m.c(2)) // t is 2τ: all is twice as large
	low := m.sub(t, m.sub(h, m.c(2)))
	n, nLow := m.mul(h, scale), m.mul(low, scale)
	less, more := m.sub(scale, m.c(1)), m.fma(scale, m.c(2), m.c(2))
	d := m.fma(less, t, more)
	dLow := m.sub(d, more)
	m.fromProduct(dLow, less, t)
	return m.mul(ratio(m, n, nLow, d, dLow), powerOfTwo(m, m.subInteger(bits, kept)))
}

// ratio is (n + nLow)/(d + dLow). It takes n for its own.
func ratio(m *machine, n, nLow, d, dLow value) value {
	y := m.div(m.c(1), d)
	q := m.mul(n, y)
	m.subProduct(n, q, d)
	rest := m.add(n, nLow)
	m.subProduct(rest, q, dLow)
	m.addProduct(q, rest, y)
	return q
}

// softplus is max(x, 0) + log(1 + e), e = e^−|x|, and its slope e/(1 + e) or 1/(1 + e). The logarithm is that of
// fdlibm's e_log.c with s = f/(2 + f):
//
//	log(1 + f) = f − f²/2 + s(f²/2 + zR(z)), z = s²,
//
// where 1 + f is 1 + e, or its half from e = ½ on; then |s| ≤ 1/5.
func softplus(m *machine, x value) (y, slope value) {
	num := m.numbers()
	r := reduceExp(m, m.max(m.c(num.low), m.or(m.min(m.c(num.far), x), m.c(signBit))))
	h := m.add(r.p, m.c(1))
	low := m.sub(r.p, m.sub(h, m.c(1)))
	kept := m.max(r.bits, m.c(num.magic+num.lowest))
	scale := powerOfTwo(m, kept)
	rest := powerOfTwo(m, m.subInteger(r.bits, kept))
	e, eLow := m.mul(h, scale), m.mul(low, scale)

	d := m.add(e, m.c(1))
	dLow := m.add(m.sub(e, m.sub(d, m.c(1))), eLow)
	n, nLow := m.choose(x, e, m.c(1)), m.choose(x, eLow, m.zero())
	slope = m.mul(ratio(m, n, nLow, d, dLow), rest)

	half := m.c(0.5)
	f := m.where(atLeast, e, half, m.mul(m.sub(e, m.c(1)), half), e)
	fLow := m.where(atLeast, e, half, m.mul(eLow, half), eLow)
	s := m.div(f, m.add(f, m.c(2)))
	z := m.mul(s, s)
	z2 := m.mul(z, z)
	c := num.log
	p := pair(m, z, c, len(c)-2)
	for i := len(c) - 4; i >= 0; i -= 2 {
		m.timesPlus(p, z2, pair(m, z, c, i))
	}
	square := m.mul(m.mul(f, half), f)
	low = m.fma(p, z, square)
	m.timesPlus(low, s, m.nfma(s, fLow, fLow)) // with fLow/(1 + f), nearly
	low = m.sub(low, square)
	base := m.where(atLeast, e, half, m.c(num.ln2Hi), m.zero())
	low = m.add(low, m.where(atLeast, e, half, m.c(num.ln2Lo), m.zero()))
	log := m.mul(m.add(base, m.add(f, low)), rest)
	return m.add(log, m.max(m.zero(), x)), slope
}

// adaptive is num/(√v + ε), the step of AdaGrad, RMSProp and Adam.
//
// With AVX-512 a root and a division of float64 would wait for each other. Newton's iteration on the reciprocal y
// leaves the divider to the root: 14 bits, 28, 56, and a last time for its rounding, so that the quotient corrected by
// the remainder is rounded as a division's (Markstein 1990). There is no such remainder of 0 and of the very small.
// Quotients that might overflow, and denominators far out, which y might not bear, are divided.
func adaptive(m *machine, num, v, epsilon value) value {
	d := m.add(m.sqrt(v), epsilon)
	if !m.wide || m.single {
		return m.div(num, d)
	}
	y := m.vector()
	m.VRCP14PD(d, y)
	for range 3 {
		m.addProduct(y, y, m.nfma(y, d, m.c(1)))
	}
	q := m.mul(num, y)
	plain := m.K()
	m.VCMPPD(operand.Imm(greater), m.register(m.c(0x1p-900)), absolute(m, num), plain)
	m.VFMADD231PD(m.nfma(q, d, num), y, plain, q)

	within, outside := m.K(), m.K()
	m.VCMPPD(operand.Imm(greater), m.register(m.c(0x1p-500)), d, within)
	m.VCMPPD(operand.Imm(less), m.register(m.c(0x1p500)), d, within, within)
	m.VCMPPD(operand.Imm(less), m.register(m.c(0x1p1000)), absolute(m, q), within, within)
	done := m.label("divided")
	m.KORTESTB(within, within)
	m.JCS(operand.LabelRef(done))
	m.KNOTB(within, outside)
	m.VDIVPD(d, num, outside, q)
	m.Label(done)
	return q
}

func absolute(m *machine, x value) value { return m.and(x, m.c(math.Float64frombits(1<<63-1))) }
