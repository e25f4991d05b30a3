package main

import (
	"math"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Each function of one vector is written once, from the exponential's reduction (Cody & Waite 1980)
//
//	y = k·log 2 + r, |r| ≤ ½ log 2, e^y = 2^k·e^r, e^r = 1 + p, p = r + r²Q(r).
//
// Adding magic to a number leaves its nearest integer k in the low bits.
const magic = 0x1.8p52

var (
	expCoefficients = exponential()
	logCoefficients = logarithm()
	ln2Hi, ln2Lo    = ln2()
)

type reduced struct {
	bits value // k + magic
	k    value
	p    value // e^r − 1
}

// reduce needs |y| below 1100; y is NaN, p is NaN.
func (m *machine) reduceExp(y value) reduced {
	bits := m.fma(y, m.c(math.Log2E), m.c(magic))
	k := m.sub(bits, m.c(magic))
	r := m.nfma(k, m.c(ln2Hi), y)
	m.VFNMADD231PD(m.c(ln2Lo), k, r)
	r2 := m.mul(r, r)
	c := expCoefficients
	q := m.pair(r, c, len(c)-2)
	for i := len(c) - 4; i >= 0; i -= 2 {
		m.VFMADD213PD(m.pair(r, c, i), r2, q)
	}
	m.VFMADD213PD(r, r2, q)
	return reduced{bits, k, q}
}

// pair is c_i + c_{i+1}x: polynomials go through the pairs in powers of x², which shortens the chain.
func (m *machine) pair(x value, c []float64, i int) value {
	return m.fma(x, m.c(c[i+1]), m.c(c[i]))
}

// powerOfTwo is 2^n, n in the low bits of an integer, −1022 ≤ n ≤ 1023.
func (m *machine) powerOfTwo(n op) value {
	return m.addInteger(m.shiftLeft(n, 52), m.c(1))
}

// exp is e^x for every x. The result is rounded once more when it is subnormal.
func (m *machine) exp(x value) value {
	y := m.max(m.c(-746), m.min(m.c(710), x))
	e := m.reduceExp(y)
	h := m.add(e.p, m.c(1))
	if m.wide {
		m.VSCALEFPD(e.k, h, h)
		return h
	}
	// 2^k overflows before e^x does; two factors of half the exponent do not.
	half := m.vector()
	m.VPSRAD(operand.Imm(1), e.bits, half)
	rest := m.vector()
	m.VPSUBD(half, e.bits, rest)
	return m.mul(m.mul(h, m.powerOfTwo(half)), m.powerOfTwo(rest))
}

// tanh is N/D, N = e^2a − 1 and D = e^2a + 1, with a = −|x|, both in two parts that hold them beyond double
// precision, and the quotient corrected by its remainder.
func (m *machine) tanh(x value) value {
	a := m.max(m.c(-20), m.or(x, m.c(signBit)))
	e := m.reduceExp(m.add(a, a))
	scale := m.powerOfTwo(e.bits)
	n0, d0 := m.sub(scale, m.c(1)), m.add(scale, m.c(1))
	n, d := m.fma(scale, e.p, n0), m.fma(scale, e.p, d0)
	nLow := m.fms(scale, e.p, m.sub(n, n0))
	dLow := m.fms(scale, e.p, m.sub(d, d0))
	t := m.quotient(n, nLow, d, dLow)
	return m.withSign(t, x)
}

// quotient is (n + nLow)/(d + dLow).
func (m *machine) quotient(n, nLow, d, dLow value) value {
	y := m.div(m.c(1), d)
	q := m.mul(n, y)
	rest := m.add(m.nfma(q, d, n), nLow)
	m.VFNMADD231PD(dLow, q, rest)
	m.VFMADD231PD(rest, y, q)
	return q
}

// withSign is |a| with the sign of x.
func (m *machine) withSign(a, x value) value {
	if m.wide {
		d := m.copy(m.c(signBit))
		m.VPTERNLOGQ(operand.Imm(0xca), a, x, d) // d ? x : a
		return d
	}
	sign, size := m.and(x, m.c(signBit)), m.vector()
	m.VANDPD(m.c(math.Float64frombits(1<<63-1)), a, size)
	return m.or(size, sign)
}

// logistic is what Sigmoid and Softplus share, of x cut off where it makes no difference.
type logistic struct {
	x       value
	e, eLow value // e^−|x|, but never less than about lowest, in two parts
	rest    value // times this it is e^−|x|
	sigmoid value
}

// lowest is where e^−|x| is kept, so that its parts have all their digits.
const lowest = -900

func (m *machine) logistic(x value) logistic {
	x = m.min(m.c(40), x)
	r := m.reduceExp(m.max(m.c(-746), m.or(x, m.c(signBit))))
	h := m.add(r.p, m.c(1))
	low := m.sub(r.p, m.sub(h, m.c(1)))

	bits := m.max(r.bits, m.c(magic+lowest))
	scale := m.powerOfTwo(bits)
	rest := m.powerOfTwo(m.subInteger(r.bits, bits))
	e, eLow := m.mul(h, scale), m.mul(low, scale)

	// e/(1 + e) for negative x, 1/(1 + e) otherwise
	d := m.add(e, m.c(1))
	dLow := m.add(m.sub(e, m.sub(d, m.c(1))), eLow)
	n, nLow := m.choose(x, e, m.c(1)), m.choose(x, eLow, m.zero())
	s := m.mul(m.quotient(n, nLow, d, dLow), rest)
	return logistic{x, e, eLow, rest, s}
}

// softplus is max(x, 0) + log(1 + e), e = e^−|x|. The logarithm is that of fdlibm's e_log.c with s = f/(2 + f):
//
//	log(1 + f) = f − f²/2 + s(f²/2 + zR(z)), z = s²,
//
// where 1 + f is 1 + e, or its half from e = ½ on; then |s| ≤ 1/5.
func (m *machine) softplus(x value) (y, slope value) {
	l := m.logistic(x)
	half := m.c(0.5)
	f := m.where(atLeast, l.e, half, m.fms(l.e, m.copy(half), half), l.e)
	fLow := m.where(atLeast, l.e, half, m.mul(l.eLow, half), l.eLow)
	base := m.where(atLeast, l.e, half, m.c(ln2Hi), m.zero())
	baseLow := m.where(atLeast, l.e, half, m.c(ln2Lo), m.zero())

	s := m.div(f, m.add(f, m.c(2)))
	z := m.mul(s, s)
	z2 := m.mul(z, z)
	c := logCoefficients
	r := m.pair(z, c, len(c)-2)
	for i := len(c) - 4; i >= 0; i -= 2 {
		m.VFMADD213PD(m.pair(z, c, i), z2, r)
	}
	square := m.mul(m.mul(f, half), f)
	low := m.fma(r, z, square)
	m.VFMADD213PD(m.nfma(s, fLow, fLow), s, low) // fLow/(1 + f), nearly
	low = m.add(m.sub(low, square), baseLow)
	log := m.mul(m.add(base, m.add(f, low)), l.rest)
	return m.add(log, m.max(m.zero(), x)), l.sigmoid
}

// one applies f to vectors of the single input.
func one(f func(m *machine, x value) value) func(m *machine) func(in []value) []value {
	return func(m *machine) func(in []value) []value {
		return func(in []value) []value { return []value{f(m, in[0])} }
	}
}

// adaptive is num/(√v + ε), the step of AdaGrad, RMSProp and Adam.
func (m *machine) adaptive(num, v, epsilon value) value {
	return m.div(num, m.add(m.sqrt(v), epsilon))
}

var _ reg.Register = reg.RAX
