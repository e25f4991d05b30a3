package models

import (
	"math"
	"testing"
)

// TestSlopes holds f′ and f″ = (f″/f′)·f′ against the textbook derivatives in v, and at the ends of
// the range against their limits.
func TestSlopes(t *testing.T) {
	for a := range Softmax {
		for v := -20.0; v <= 20; v += 0.37 {
			f, f1, f2 := naiveScalar(a, v)
			u, kept, d, q := []float64{v}, []float64{0}, []float64{0}, []float64{0}
			a.value(u, kept)
			if a == Softplus {
				d[0] = kept[0]
			} else {
				a.slope(d, u)
			}
			a.bend(q, u, d)
			got, want := []float64{u[0], d[0], q[0] * d[0]}, []float64{f, f1, f2}
			wantNear(t, a.String(), got, want, 4e-15)
			if a.curved() != (f2 != 0 || a == Tanh || a == Sigmoid || a == Softplus) {
				t.Errorf("%v: curved %v, f″ = %g", a, a.curved(), f2)
			}
		}
	}
	for _, c := range []struct {
		a       Activation
		v, u, d float64
	}{
		{Sigmoid, 800, 1, 0}, {Sigmoid, -800, 0, 0}, {Tanh, 800, 1, 0}, {Tanh, -800, -1, 0},
		{Softplus, 800, 800, 1}, {Softplus, -800, 0, 0}, {ReLU, 0, 0, 0}, {ReLU, 1e-300, 1e-300, 1},
		{Softplus, -40, math.Exp(-40), math.Exp(-40)},
	} {
		u, d := []float64{c.v}, []float64{0}
		c.a.value(u, d)
		if c.a != Softplus {
			c.a.slope(d, u)
		}
		if math.Abs(u[0]-c.u) > 1e-15*math.Abs(c.u) || math.Abs(d[0]-c.d) > 1e-15*c.d {
			t.Errorf("%v(%g) = %g with slope %g, expected %g and %g", c.a, c.v, u[0], d[0], c.u, c.d)
		}
	}
}

func TestSoftmax(t *testing.T) {
	v := []float64{0, 1000, math.Log(3), 1000, 0, -1000} // three nodes, two rows
	top, sum := make([]float64, 2), make([]float64, 2)
	softmax(v, top, sum)
	wantNear(t, "softmax", v, []float64{0.2, 0.5, 0.6, 0.5, 0.2, 0}, 1e-15)
	wantNear(t, "largest", top, []float64{math.Log(3), 1000}, 0)
}
