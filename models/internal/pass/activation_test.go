package pass

import (
	"math"
	"testing"
)

// TestSlopes holds f′ and f″ = (f″/f′)·f′ against the textbook derivatives in v, and at the ends of
// the range against their limits.
func TestSlopes(t *testing.T) {
	slopes[float64](t, 4e-15)
	slopes[float32](t, 4e-15*0x1p29)
	for _, c := range []struct {
		a       Activation
		v, u, d float64
	}{
		{Sigmoid, 800, 1, 0}, {Sigmoid, -800, 0, 0}, {Tanh, 800, 1, 0}, {Tanh, -800, -1, 0},
		{Softplus, 800, 800, 1}, {Softplus, -800, 0, 0}, {ReLU, 0, 0, 0}, {ReLU, 1e-300, 1e-300, 1},
		{Softplus, -40, math.Exp(-40), math.Exp(-40)},
	} {
		u, kept, d := []float64{c.v}, []float64{0}, []float64{1}
		value(c.a, u, kept)
		slope(c.a, d, u, kept, d)
		if math.Abs(u[0]-c.u) > 1e-15*math.Abs(c.u) || math.Abs(d[0]-c.d) > 1e-15*c.d {
			t.Errorf("%d(%g) = %g with slope %g, expected %g and %g", c.a, c.v, u[0], d[0], c.u, c.d)
		}
	}
}

func slopes[F Float](t *testing.T, bound float64) {
	for a := range Softmax {
		for v := -20.0; v <= 20; v += 0.37 {
			v := float64(F(v))
			f, f1, f2 := textbook(a, v)
			u, kept, d, bent, one := []F{F(v)}, []F{0}, []F{1}, []F{0}, []F{1}
			value(a, u, kept)
			slope(a, d, u, kept, d)
			bend(a, bent, u, kept, one, d)
			got, want := []F{u[0], d[0], bent[0]}, []float64{f, f1, f2}
			for i, w := range want {
				if !(math.Abs(float64(got[i])-w) <= bound*max(1, math.Abs(f), math.Abs(f1), math.Abs(f2))) {
					t.Errorf("activation %d at %g, derivative %d: %.17g, expected %.17g", a, v, i, got[i], w)
				}
			}
			if a.curved() != (f2 != 0 || a == Tanh || a == Sigmoid || a == Softplus) {
				t.Errorf("%d: curved %v, f″ = %g", a, a.curved(), f2)
			}
		}
	}
}

// textbook returns f, f′ and f″ at v.
func textbook(a Activation, v float64) (f, f1, f2 float64) {
	switch a {
	case Identity:
		return v, 1, 0
	case Sigmoid:
		s := 1 / (1 + math.Exp(-v))
		d := math.Exp(-v) / math.Pow(1+math.Exp(-v), 2)
		return s, d, d * (math.Exp(-v) - 1) / (math.Exp(-v) + 1)
	case Tanh:
		d := 1 / math.Pow(math.Cosh(v), 2)
		return math.Tanh(v), d, -2 * math.Sinh(v) / math.Pow(math.Cosh(v), 3)
	case Softplus:
		return math.Log(1 + math.Exp(v)), 1 / (1 + math.Exp(-v)), math.Exp(-v) / math.Pow(1+math.Exp(-v), 2)
	case ReLU:
		if v > 0 {
			return v, 1, 0
		}
		return 0, 0, 0
	}
	panic("not elementwise")
}
