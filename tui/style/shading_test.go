package style

import (
	"image/color"
	"strconv"
	"strings"
	"testing"

	"github.com/charmbracelet/colorprofile"
)

// TestRampsRise: every ramp gets steadily lighter or darker, so that shades and signs show without hue, with 256 colours as the
// terminal's writer chooses them, too.
func TestRampsRise(t *testing.T) {
	for _, profile := range []colorprofile.Profile{colorprofile.TrueColor, colorprofile.ANSI256} {
		grey := func(parameters string) float64 {
			var c rgb
			for k, n := range strings.Split(parameters, ";") {
				c[k], _ = strconv.ParseFloat(n, 64)
			}
			r, g, b, _ := profile.Convert(color.RGBA{R: uint8(c[0]), G: uint8(c[1]), B: uint8(c[2]), A: 255}).RGBA()
			return rgb{float64(r >> 8), float64(g >> 8), float64(b >> 8)}.luminance()
		}
		for _, dark := range []bool{false, true} {
			s := newShading(dark, profile, false)
			for k := range rampCount {
				up, different := 1.0, map[string]bool{}
				if grey(s.shade[k][shades-1]) < grey(s.shade[k][0]) {
					up = -1
				}
				for i := range shades {
					different[s.shade[k][i]] = true
					step := 1.0
					if i > 0 {
						step = up * (grey(s.shade[k][i]) - grey(s.shade[k][i-1]))
					}
					if step < 0 || step == 0 && profile == colorprofile.TrueColor {
						t.Errorf("%v, dark %v, ramp %d: shade %d, %s, after %s", profile, dark, k, i, s.shade[k][i], s.shade[k][i-1])
					}
				}
				if len(different) < 12 {
					t.Errorf("%v, dark %v, ramp %d has %d shades", profile, dark, k, len(different))
				}
			}
		}
	}
}
