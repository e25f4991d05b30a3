package bench

import (
	"math"
	"testing"
)

func TestFitIsExactOnPowerLaws(t *testing.T) {
	x := []float64{1000, 2000, 4000, 5000, 64000}
	for _, exponent := range []float64{-1, 0, 0.5, 1, 1.05, 3} {
		y := make([]float64, len(x))
		for i := range x {
			y[i] = 0.037 * math.Pow(x[i], exponent)
		}
		f := fitPower(x, y)
		if math.Abs(f.Exponent-exponent) > 1e-12 || f.StandardError > 1e-12 {
			t.Errorf("the fit of x^%g is %+v", exponent, f)
		}
	}
}

// On x = 1, e, e² and log y = 0, 2, 1 the slope is ½, the residuals are −½, 1, −½, and so the standard error is
// √(1.5/1/2).
func TestFitKnowsItsError(t *testing.T) {
	f := fitPower([]float64{1, math.E, math.E * math.E}, []float64{1, math.E * math.E, math.E})
	if math.Abs(f.Exponent-0.5) > 1e-14 || math.Abs(f.StandardError-math.Sqrt(0.75)) > 1e-14 {
		t.Errorf("the fit is %+v", f)
	}
}

func TestFitRefusesWhatHasNone(t *testing.T) {
	for _, c := range [][2][]float64{
		{{1, 2}, {1, 2}}, {{1, 2, 3}, {1, 2}}, {{0, 1, 2}, {1, 2, 3}}, {{1, 2, 3}, {1, -1, 1}}, {{1, 2, 3}, {1, math.NaN(), 1}},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("took %v", c)
				}
			}()
			fitPower(c[0], c[1])
		}()
	}
}
