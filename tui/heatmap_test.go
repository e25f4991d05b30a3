package tui

import (
	"math"
	"testing"

	"github.com/charmbracelet/colorprofile"
)

// TestRampsRise: every ramp gets steadily lighter or darker, so that shades and signs show without hue.
func TestRampsRise(t *testing.T) {
	grey := func(colour string) float64 {
		sum, n, k := 0.0, 0.0, 0
		for _, r := range colour + ";" {
			if r != ';' {
				n = 10*n + float64(r-'0')
				continue
			}
			sum += [3]float64{0.2126, 0.7152, 0.0722}[k] * math.Pow(n/255, 2.2)
			n, k = 0, k+1
		}
		return sum
	}
	for _, dark := range []bool{false, true} {
		s := newShading(dark, colorprofile.TrueColor, false)
		for k := range rampCount {
			up := math.Copysign(1, grey(s.shade[k][shades-1])-grey(s.shade[k][0]))
			for i := 1; i < shades; i++ {
				if up*(grey(s.shade[k][i])-grey(s.shade[k][i-1])) <= 0 {
					t.Errorf("dark %v, ramp %d: shade %d, %s, after %s", dark, k, i, s.shade[k][i], s.shade[k][i-1])
				}
			}
		}
	}
}

// TestFitted enlarges and reduces: nothing great is lost, and what is left out stays so.
func TestFitted(t *testing.T) {
	r := raster{4, 2, []float64{1, 2, -9, 4, 3, 2, 1, math.NaN()}}
	for _, c := range []struct {
		w, h int
		most bool
		want []float64
	}{
		{2, 1, true, []float64{3, -9}},
		{2, 1, false, []float64{2, -4.0 / 3}},
		{4, 2, true, r.v},
		{8, 2, false, []float64{1, 1, 2, 2, -9, -9, 4, 4, 3, 3, 2, 2, 1, 1, math.NaN(), math.NaN()}},
	} {
		got := r.fitted(c.w, c.h, c.most)
		for i := range c.want {
			if math.Float64bits(got.v[i]) != math.Float64bits(c.want[i]) && math.Abs(got.v[i]-c.want[i]) > 1e-12 {
				t.Errorf("%d×%d: %v, expected %v", c.w, c.h, got.v, c.want)
				break
			}
		}
	}
	apart := raster{2, 1, []float64{math.Inf(1), 3}}
	if got := apart.fitted(1, 1, true); got.v[0] != 3 {
		t.Errorf("%v is lost beside what is left out", got.v)
	}
}
