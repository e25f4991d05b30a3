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

// truth is a number beyond a precision: nearest + rest·ulp.
type truth struct{ nearest, rest, ulp float64 }

func newTruth[F Float](b *big.Float) truth {
	nearest, _ := b.Float64()
	if isSingle[F]() {
		single, _ := b.Float32()
		nearest = float64(single)
	}
	if math.IsInf(nearest, 0) {
		return truth{nearest, 0, 1}
	}
	_, exponent := math.Frexp(nearest)
	ulp := math.Ldexp(smallest[F](), max(exponent-lowest[F](), 0))
	if nearest == 0 {
		ulp = smallest[F]()
	}
	d := oracle(nearest)
	rest, _ := d.Quo(d.Sub(b, d), oracle(ulp)).Float64()
	return truth{nearest, rest, ulp}
}

// smallest is the smallest positive number.
func smallest[F Float]() float64 {
	if isSingle[F]() {
		return math.SmallestNonzeroFloat32
	}
	return math.SmallestNonzeroFloat64
}

// lowest is the exponent, as of a number below 1, of those whose last place is the smallest number.
func lowest[F Float]() int {
	if isSingle[F]() {
		return -149 + 24
	}
	return -1074 + 53
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
func arguments[F Float](n int) []F {
	rng := rand.New(rand.NewPCG(3, 4))
	single := isSingle[F]()
	exponents, far := 1075, 750.0
	near := []float64{0, 1, 20, 40, 708.39, 709.782712893384, 710, 745.1332191019411, 745.13, 746, 900 * math.Ln2, math.MaxFloat64}
	if single {
		exponents, far = 150, 105
		near = []float64{0, 1, 10, 20, 87.33, 88.72284, 89, 103.97208, 103.28, 104, 60 * math.Ln2, math.MaxFloat32}
	}
	var x []F
	for range n {
		sign := float64(1 - 2*rng.IntN(2))
		for _, v := range []float64{
			math.Ldexp(1+rng.Float64(), rng.IntN(exponents+10)-exponents), math.Ldexp(1+rng.Float64(), rng.IntN(16)-10),
			rng.Float64(), 20 * rng.Float64(), far * rng.Float64(),
		} {
			x = append(x, F(sign*v))
		}
	}
	for k := 0; float64(k)*math.Ln2 < far; k += 1 + k/40 {
		near = append(near, (float64(k)+0.5)*math.Ln2/2)
	}
	for _, v := range near {
		for _, v := range []float64{v, -v} {
			x = append(x, next(F(v), math.Inf(-1)), F(v), next(F(v), math.Inf(1)))
		}
	}
	return x
}

// next is the number beside x on the way to another.
func next[F Float](x F, to float64) F {
	if isSingle[F]() {
		return F(math.Nextafter32(float32(x), float32(to)))
	}
	return F(math.Nextafter(float64(x), to))
}

// transcendental is a function of one number with its bounds in units of the last place, for assembly and Go.
type transcendental[F Float] struct {
	name              string
	f                 func(dst, x []F)
	big               func(x float64) *big.Float
	assembly, generic float64
}

// truth is the value at x, not a NaN. From 10⁴ on all is settled, and the series are not made for it.
func (f transcendental[F]) truth(x F) truth {
	if x > 1e4 && f.name == "Softplus" {
		return newTruth[F](oracle(float64(x)))
	}
	return newTruth[F](f.big(float64(max(-1e4, min(x, 1e4)))))
}

// bound is the one of the kernel that runs.
func (f transcendental[F]) bound() float64 {
	if active == kernel.Generic {
		return f.generic
	}
	return f.assembly
}

func transcendentals[F Float]() []transcendental[F] {
	return []transcendental[F]{
		{"Exp", Exp[F], bigExp, 1.1, 1},
		{"Tanh", Tanh[F], bigTanh, 1.9, 1.5},
		{"Sigmoid", Sigmoid[F], bigSigmoid, 1.6, 1.5},
		{"Softplus", func(dst, x []F) { Softplus(dst, make([]F, len(x)), x) }, bigSoftplus, 1.4, 1.6},
		{"Softplus's slope", func(dst, x []F) { Softplus(make([]F, len(x)), dst, x) }, bigSigmoid, 1.2, 1.5},
	}
}

var points = flag.Int("points", 200, "how many random arguments of each kind TestAccuracy takes")

func TestAccuracy(t *testing.T) { inBoth(t, testAccuracy[float64], testAccuracy[float32]) }

func testAccuracy[F Float](t *testing.T) {
	x := arguments[F](*points)
	got := make([]F, len(x))
	for _, f := range transcendentals[F]() {
		want := make([]truth, len(x))
		for i, v := range x {
			want[i] = f.truth(v)
		}
		each(t, func(t *testing.T) {
			f.f(got, x)
			worst, at := 0.0, F(0)
			for i, w := range want {
				if off := w.off(float64(got[i])); !(off <= worst) {
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

// special are the values of a function where they are settled.
type special[F Float] struct {
	name    string
	f       func(dst, x []F)
	x, want []float64
}

func TestSpecialValues(t *testing.T) {
	inf, nan, zero := math.Inf(1), math.NaN(), math.Copysign(0, -1)
	const tiny = math.SmallestNonzeroFloat64
	specialValues(t, []special[float64]{
		{"Exp", Exp[float64],
			[]float64{0, zero, inf, -inf, nan, tiny, -tiny, 709.782712893384, 709.7827128933841, -745.1332191019411, -745.1332191019412, math.MaxFloat64, -math.MaxFloat64},
			[]float64{1, 1, inf, 0, nan, 1, 1, 1.7976931348622732e308, inf, tiny, 0, inf, 0}},
		{"Tanh", Tanh[float64],
			[]float64{0, zero, inf, -inf, nan, tiny, -tiny, 0x1p-1022, 1e-300, 0x1p-30, 19.1, -19.1, math.MaxFloat64, -math.MaxFloat64},
			[]float64{0, zero, 1, -1, nan, tiny, -tiny, 0x1p-1022, 1e-300, 0x1p-30, 1, -1, 1, -1}},
		{"Sigmoid", Sigmoid[float64],
			[]float64{0, zero, inf, -inf, nan, tiny, 38, -745.1332191019411, -745.1332191019412, math.MaxFloat64, -math.MaxFloat64},
			[]float64{0.5, 0.5, 1, 0, nan, 0.5, 1, tiny, 0, 1, 0}},
		{"Softplus", transcendentals[float64]()[3].f,
			[]float64{0, zero, inf, -inf, nan, 37, -745.1332191019411, -745.1332191019412, math.MaxFloat64, -math.MaxFloat64},
			[]float64{math.Ln2, math.Ln2, inf, 0, nan, 37, tiny, 0, math.MaxFloat64, 0}},
		{"ReLU", ReLU[float64], []float64{0, zero, inf, -inf, nan, tiny, -tiny}, []float64{0, 0, inf, 0, nan, tiny, 0}},
	})
	const small, largest = math.SmallestNonzeroFloat32, math.MaxFloat32
	ln2 := float64(float32(math.Ln2))
	specialValues(t, []special[float32]{
		{"Exp", Exp[float32],
			[]float64{0, zero, inf, -inf, nan, small, -small, 88.72283, 88.72284, -103.97207, -103.9721, largest, -largest},
			[]float64{1, 1, inf, 0, nan, 1, 1, 3.4027985e38, inf, small, 0, inf, 0}},
		{"Tanh", Tanh[float32],
			[]float64{0, zero, inf, -inf, nan, small, -small, 0x1p-126, 1e-30, 0x1p-14, 9.5, -9.5, largest, -largest},
			[]float64{0, zero, 1, -1, nan, small, -small, 0x1p-126, 1e-30, 0x1p-14, 1, -1, 1, -1}},
		{"Sigmoid", Sigmoid[float32],
			[]float64{0, zero, inf, -inf, nan, small, 18, -103.97207, -103.9721, largest, -largest},
			[]float64{0.5, 0.5, 1, 0, nan, 0.5, 1, small, 0, 1, 0}},
		{"Softplus", transcendentals[float32]()[3].f,
			[]float64{0, zero, inf, -inf, nan, 18, -103.97207, -103.9721, largest, -largest},
			[]float64{ln2, ln2, inf, 0, nan, 18, small, 0, largest, 0}},
		{"ReLU", ReLU[float32], []float64{0, zero, inf, -inf, nan, small, -small}, []float64{0, 0, inf, 0, nan, small, 0}},
	})
}

func specialValues[F Float](t *testing.T, cases []special[F]) {
	each(t, func(t *testing.T) {
		for _, c := range cases {
			x, got := make([]F, len(c.x)), make([]F, len(c.x))
			for i, v := range c.x {
				x[i] = F(v)
			}
			c.f(got, x)
			for i, w := range c.want {
				if !same(got[i], F(w)) {
					t.Errorf("%s(%v) = %v, want %v", c.name, x[i], got[i], F(w))
				}
			}
		}
	})
}

func TestMonotone(t *testing.T) { inBoth(t, testMonotone[float64], testMonotone[float32]) }

func testMonotone[F Float](t *testing.T) {
	const n = 20000
	x, y := make([]F, n), make([]F, n)
	from, step := []float64{-745.2, -708.5, -36.8, -19.1, -0.4, 0.1, 18.3, 18.7, 36.7, 39.99, 709.7}, 0x1p-44
	if isSingle[F]() {
		from, step = []float64{-103.98, -87.4, -17.4, -9.1, -0.4, 0.1, 8.9, 9.05, 16.7, 19.99, 88.7}, 0x1p-15
	}
	each(t, func(t *testing.T) {
		for _, f := range transcendentals[F]() {
			for _, v := range from { // steps of a few units of the last place would be non-monotone by rounding
				for i := range x {
					x[i] = F(v)
					v += math.Max(math.Abs(v)*step, step/4)
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
