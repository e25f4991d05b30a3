package chart

import (
	"math"
	"testing"
)

// TestFitted enlarges and reduces: nothing great is lost, and what is left out stays so.
func TestFitted(t *testing.T) {
	r := Raster{4, 2, []float64{1, 2, -9, 4, 3, 2, 1, math.NaN()}}
	for _, c := range []struct {
		w, h int
		most bool
		want []float64
	}{
		{2, 1, true, []float64{3, -9}},
		{2, 1, false, []float64{2, -4.0 / 3}},
		{4, 2, true, r.Values},
		{8, 2, false, []float64{1, 1, 2, 2, -9, -9, 4, 4, 3, 3, 2, 2, 1, 1, math.NaN(), math.NaN()}},
	} {
		got := r.Fitted(c.w, c.h, c.most)
		for i := range c.want {
			if math.Float64bits(got.Values[i]) != math.Float64bits(c.want[i]) && math.Abs(got.Values[i]-c.want[i]) > 1e-12 {
				t.Errorf("%d×%d: %v, expected %v", c.w, c.h, got.Values, c.want)
				break
			}
		}
	}
	apart := Raster{2, 1, []float64{math.Inf(1), 3}}
	if got := apart.Fitted(1, 1, true); got.Values[0] != 3 {
		t.Errorf("%v is lost beside what is left out", got.Values)
	}
}
