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
			u, kept, d, bend, one := []float64{v}, []float64{0}, []float64{1}, []float64{0}, []float64{1}
			a.value(u, kept)
			a.push(d, u, kept, d)
			a.curve(bend, u, kept, one, d)
			got, want := []float64{u[0], d[0], bend[0]}, []float64{f, f1, f2}
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
		u, kept, d := []float64{c.v}, []float64{0}, []float64{1}
		c.a.value(u, kept)
		c.a.push(d, u, kept, d)
		if math.Abs(u[0]-c.u) > 1e-15*math.Abs(c.u) || math.Abs(d[0]-c.d) > 1e-15*c.d {
			t.Errorf("%v(%g) = %g with slope %g, expected %g and %g", c.a, c.v, u[0], d[0], c.u, c.d)
		}
	}
}
