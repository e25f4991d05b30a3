package vector

import (
	"flag"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"newtop/internal/kernel"
)

const oracleBits = 240

func oracle(v float64) *big.Float { return new(big.Float).SetPrec(oracleBits).SetFloat64(v) }

// bigExp is e^x: the Taylor series of e^(x/2³⁰), squared thirty times.
func bigExp(x float64) *big.Float {
	y := oracle(x)
	y.SetMantExp(y, -30)
	sum, term := oracle(1), oracle(1)
	for i := 1; i < 12; i++ {
		term.Mul(term, y)
		term.Quo(term, oracle(float64(i)))
		sum.Add(sum, term)
	}
	for range 30 {
		sum.Mul(sum, sum)
	}
	return sum
}

// bigLog1p is log(1 + e) = 2 artanh(e/(2 + e)), 0 ≤ e ≤ 1.
func bigLog1p(e *big.Float) *big.Float {
	s := oracle(2)
	s.Quo(e, s.Add(s, e))
	z := oracle(0)
	z.Mul(s, s)
	sum, power := oracle(0), oracle(0)
	power.Add(s, s)
	for i := 0; i < 54 && power.Sign() != 0; i++ {
		term := oracle(float64(2*i + 1))
		sum.Add(sum, term.Quo(power, term))
		power.Mul(power, z)
	}
	return sum
}

// bigTanh is tanh x: its series where the quotient would lose its digits.
func bigTanh(x float64) *big.Float {
	if math.Abs(x) < 0x1p-40 {
		cube := oracle(x)
		cube.Mul(cube, oracle(x)).Mul(cube, oracle(x)).Quo(cube, oracle(3))
		return cube.Sub(oracle(x), cube)
	}
	if math.Abs(x) > 100 {
		return oracle(math.Copysign(1, x))
	}
	e := bigExp(2 * x)
	n, d := oracle(0), oracle(1)
	return n.Quo(n.Sub(e, oracle(1)), d.Add(d, e))
}

func bigSigmoid(x float64) *big.Float {
	e := bigExp(x)
	d := oracle(1)
	return e.Quo(e, d.Add(d, e))
}

func bigSoftplus(x float64) *big.Float {
	l := bigLog1p(bigExp(-math.Abs(x)))
	if x > 0 {
		l.Add(l, oracle(x))
	}
	return l
}

// truth is a number beyond double precision: nearest + rest·ulp.
type truth struct{ nearest, rest, ulp float64 }

func newTruth(b *big.Float) truth {
	nearest, _ := b.Float64()
	if math.IsInf(nearest, 0) {
		return truth{nearest, 0, 1}
	}
	_, exponent := math.Frexp(nearest)
	ulp := math.Ldexp(1, max(exponent-53, -1074))
	if nearest == 0 {
		ulp = 0x1p-1074
	}
	d := oracle(nearest)
	rest, _ := d.Quo(d.Sub(b, d), oracle(ulp)).Float64()
	return truth{nearest, rest, ulp}
}

// off returns how far v is from t in units of the last place.
func (t truth) off(v float64) float64 {
	if v == t.nearest {
		return math.Abs(t.rest)
	}
	return math.Abs((v-t.nearest)/t.ulp - t.rest)
}

// arguments are random numbers of all sizes, n of each kind, and the neighbours of the points where the code
// changes its way.
func arguments(n int) []float64 {
	rng := rand.New(rand.NewPCG(3, 4))
	var x []float64
	for range n {
		sign := float64(1 - 2*rng.IntN(2))
		x = append(x,
			sign*math.Ldexp(1+rng.Float64(), rng.IntN(1085)-1075),
			sign*math.Ldexp(1+rng.Float64(), rng.IntN(16)-10),
			sign*rng.Float64(), sign*20*rng.Float64(), sign*750*rng.Float64())
	}
	near := []float64{0, 1, 20, 40, 708.39, 709.782712893384, 710, 745.1332191019411, 745.13, 746, 900 * math.Ln2, math.MaxFloat64}
	for k := 0; k < 1100; k += 1 + k/40 {
		near = append(near, (float64(k)+0.5)*math.Ln2/2)
	}
	for _, v := range near {
		for _, v := range []float64{v, -v} {
			x = append(x, math.Nextafter(v, math.Inf(-1)), v, math.Nextafter(v, math.Inf(1)))
		}
	}
	return x
}

// transcendental is a function of one number with its bounds in units of the last place, for assembly and Go.
type transcendental struct {
	name              string
	f                 func(dst, x []float64)
	big               func(x float64) *big.Float
	assembly, generic float64
}

// truth is the value at x, not a NaN. From 10⁴ on all is settled, and the series are not made for it.
func (f transcendental) truth(x float64) truth {
	if x > 1e4 && f.name == "Softplus" {
		return newTruth(oracle(x))
	}
	return newTruth(f.big(max(-1e4, min(x, 1e4))))
}

// bound is the one of the kernel that runs.
func (f transcendental) bound() float64 {
	if active == kernel.Generic {
		return f.generic
	}
	return f.assembly
}

var transcendentals = []transcendental{
	{"Exp", Exp, bigExp, 1.1, 1},
	{"Tanh", Tanh, bigTanh, 1.9, 1.5},
	{"Sigmoid", Sigmoid, bigSigmoid, 1.6, 1.5},
	{"Softplus", func(dst, x []float64) { Softplus(dst, make([]float64, len(x)), x) }, bigSoftplus, 1.4, 1.6},
	{"Softplus's slope", func(dst, x []float64) { Softplus(make([]float64, len(x)), dst, x) }, bigSigmoid, 1.2, 1.5},
}

var points = flag.Int("points", 500, "how many random arguments of each kind TestAccuracy takes")

func TestAccuracy(t *testing.T) {
	x := arguments(*points)
	got := make([]float64, len(x))
	for _, f := range transcendentals {
		want := make([]truth, len(x))
		for i, v := range x {
			want[i] = f.truth(v)
		}
		each(t, func(t *testing.T) {
			f.f(got, x)
			worst, at := 0.0, 0.0
			for i, w := range want {
				if off := w.off(got[i]); !(off <= worst) {
					worst, at = off, x[i]
				}
			}
			t.Logf("%s: %.3f ulp at %v", f.name, worst, at)
			if !(worst <= f.bound()) {
				t.Errorf("%s(%v) is %.3f ulp off", f.name, at, worst)
			}
		})
	}
}

func TestSpecialValues(t *testing.T) {
	inf, nan, zero := math.Inf(1), math.NaN(), math.Copysign(0, -1)
	const tiny = math.SmallestNonzeroFloat64
	each(t, func(t *testing.T) {
		for _, c := range []struct {
			name    string
			f       func(dst, x []float64)
			x, want []float64
		}{
			{"Exp", Exp,
				[]float64{0, zero, inf, -inf, nan, tiny, -tiny, 709.782712893384, 709.7827128933841, -745.1332191019411, -745.1332191019412, math.MaxFloat64, -math.MaxFloat64},
				[]float64{1, 1, inf, 0, nan, 1, 1, 1.7976931348622732e308, inf, tiny, 0, inf, 0}},
			{"Tanh", Tanh,
				[]float64{0, zero, inf, -inf, nan, tiny, -tiny, 0x1p-1022, 1e-300, 0x1p-30, 19.1, -19.1, math.MaxFloat64, -math.MaxFloat64},
				[]float64{0, zero, 1, -1, nan, tiny, -tiny, 0x1p-1022, 1e-300, 0x1p-30, 1, -1, 1, -1}},
			{"Sigmoid", Sigmoid,
				[]float64{0, zero, inf, -inf, nan, tiny, 38, -745.1332191019411, -745.1332191019412, math.MaxFloat64, -math.MaxFloat64},
				[]float64{0.5, 0.5, 1, 0, nan, 0.5, 1, tiny, 0, 1, 0}},
			{"Softplus", transcendentals[3].f,
				[]float64{0, zero, inf, -inf, nan, 37, -745.1332191019411, -745.1332191019412, math.MaxFloat64, -math.MaxFloat64},
				[]float64{math.Ln2, math.Ln2, inf, 0, nan, 37, tiny, 0, math.MaxFloat64, 0}},
			{"ReLU", ReLU, []float64{0, zero, inf, -inf, nan, tiny, -tiny}, []float64{0, 0, inf, 0, nan, tiny, 0}},
		} {
			got := make([]float64, len(c.x))
			c.f(got, c.x)
			for i, w := range c.want {
				if !same(got[i], w) {
					t.Errorf("%s(%v) = %v, want %v", c.name, c.x[i], got[i], w)
				}
			}
		}
	})
}

func TestMonotone(t *testing.T) {
	const n = 20000
	x, y := make([]float64, n), make([]float64, n)
	each(t, func(t *testing.T) {
		for _, f := range transcendentals {
			for _, from := range []float64{-745.2, -708.5, -36.8, -19.1, -0.4, 0.1, 18.3, 18.7, 36.7, 39.99, 709.7} {
				v := from // steps of a few units of the last place would be non-monotone by rounding
				for i := range x {
					x[i] = v
					v += math.Max(math.Abs(v)*0x1p-44, 0x1p-46)
				}
				f.f(y, x)
				for i := 1; i < n; i++ {
					if y[i] < y[i-1] {
						t.Fatalf("%s falls from %v to %v at %v", f.name, y[i-1], y[i], x[i])
					}
				}
			}
		}
	})
}
