package vector

import (
	"math"
	"testing"
)

func FuzzTranscendental(f *testing.F) {
	for _, x := range []float64{0, 1, -1, 0.3466, 18.2, -36.7, 709.78, -745.1, 1e-310, math.Inf(1), math.NaN()} {
		f.Add(x)
	}
	f.Fuzz(func(t *testing.T, x float64) {
		each(t, func(t *testing.T) {
			near(t, x)
			near(t, float32(x))
		})
	})
}

// near holds the functions of x against the truth.
func near[F Float](t *testing.T, x F) {
	for _, c := range transcendentals[F]() {
		var y [1]F
		c.f(y[:], []F{x})
		if x != x {
			if y[0] == y[0] {
				t.Errorf("%s(NaN) = %v", c.name, y[0])
			}
			continue
		}
		if off := c.truth(x).off(float64(y[0])); !(off <= c.bound()) {
			t.Errorf("%s(%v) = %v is %.3f ulp off", c.name, x, y[0], off)
		}
	}
}
