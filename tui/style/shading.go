package style

import (
	"math"
	"strconv"

	"github.com/charmbracelet/colorprofile"
)

// Ramp is how values become shades.
type Ramp uint8

const (
	RampHeat  Ramp = iota // from nothing to much
	RampSigns             // from negative over zero to positive, ever lighter, so that the sign shows without hue
	RampImage             // from black to white
	rampCount
)

// shades of a ramp; two of them share a cell.
const shades = 33

// shading holds the colours of the ramps for a background. Without fine colours (rich false) characters stand for
// the shades, one value a cell.
type shading struct {
	rich  bool
	shade [rampCount][shades]string // the parameters of a colour, as an escape sequence has them
	apart string                    // of what is left out of the scale
}

type rgb [3]float64

// stops are the colours that the ramps pass through, on a dark and on a light background.
var stops = [rampCount][2][]rgb{
	RampHeat: {
		{{30, 30, 34}, {38, 62, 104}, {70, 140, 200}, {236, 190, 110}, {255, 248, 225}},
		{{242, 242, 244}, {176, 204, 234}, {70, 130, 195}, {90, 60, 120}, {40, 12, 50}},
	},
	RampSigns: {
		{{8, 34, 130}, {40, 60, 104}, {84, 84, 88}, {190, 150, 90}, {255, 214, 140}},
		{{16, 44, 140}, {80, 100, 150}, {165, 165, 168}, {222, 190, 140}, {255, 222, 160}},
	},
	RampImage: {{{12, 12, 12}, {245, 245, 245}}, {{12, 12, 12}, {245, 245, 245}}},
}

func newShading(dark bool, profile colorprofile.Profile, noColor bool) *shading {
	s := &shading{rich: !noColor && profile >= colorprofile.ANSI256, apart: "188;188;192"}
	ground := 1
	if dark {
		ground, s.apart = 0, "68;84;68"
	}
	for k := range stops {
		list := stops[k][ground]
		for i := range shades {
			at := float64(i) / (shades - 1) * float64(len(list)-1)
			low := min(int(at), len(list)-2)
			text := ""
			for c := range 3 {
				x := list[low][c] + (at-float64(low))*(list[low+1][c]-list[low][c])
				text += ";" + strconv.Itoa(int(math.Round(x)))
			}
			s.shade[k][i] = text[1:]
		}
	}
	return s
}

// Ink is the escape sequence of a foreground and a background; "" leaves that as it is.
func Ink(fore, back string) string {
	if back == "" {
		return "\x1b[38;2;" + fore + "m"
	}
	return "\x1b[38;2;" + fore + ";48;2;" + back + "m"
}

// Shaded reports whether there are colours fine enough for the shades of a ramp; characters stand for them elsewhere.
func (p *Palette) Shaded() bool { return p.shading.rich }

// Shade is the colour of a value that stands at a share, 0…1, of the way through a ramp, as Ink takes it.
func (p *Palette) Shade(r Ramp, share float64) string {
	return p.shading.shade[r][int(math.Round(share*(shades-1)))]
}

// LeftOut is the colour of what is left out of a scale.
func (p *Palette) LeftOut() string { return p.shading.apart }
