package style

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
