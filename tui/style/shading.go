package style

import (
	"image/color"
	"math"
	"sort"
	"strconv"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
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
		var colours [shades]rgb
		for i := range shades {
			at := float64(i) / (shades - 1) * float64(len(list)-1)
			low := min(int(at), len(list)-2)
			for c := range 3 {
				colours[i][c] = math.Round(list[low][c] + (at-float64(low))*(list[low+1][c]-list[low][c]))
			}
		}
		if profile == colorprofile.ANSI256 {
			colours = indexed(colours)
		}
		for i, c := range colours {
			s.shade[k][i] = c.parameters()
		}
	}
	return s
}

// parameters are those of an escape sequence.
func (c rgb) parameters() string {
	return strconv.Itoa(int(c[0])) + ";" + strconv.Itoa(int(c[1])) + ";" + strconv.Itoa(int(c[2]))
}

// luminance is that of a colour of a screen, from 0 to 1.
func (c rgb) luminance() float64 {
	sum := 0.0
	for k, weight := range [3]float64{0.2126, 0.7152, 0.0722} {
		sum += weight * math.Pow(c[k]/255, 2.2)
	}
	return sum
}

// distance is the square of how different two colours look, roughly.
func (c rgb) distance(to rgb) float64 {
	sum := 0.0
	for k, weight := range [3]float64{2, 4, 3} {
		sum += weight * (c[k] - to[k]) * (c[k] - to[k])
	}
	return sum
}

// indexed returns those of the 256 colours that come nearest to the shades of a ramp and rise and fall in luminance as
// it does: the nearest one for each alone is now lighter, now darker than the one before.
func indexed(ramp [shades]rgb) (out [shades]rgb) {
	var all []rgb
	for i := 16; i < 256; i++ { // those before are the user's own
		r, g, b, _ := ansi.IndexedColor(i).RGBA()
		all = append(all, rgb{float64(r >> 8), float64(g >> 8), float64(b >> 8)})
	}
	falls := ramp[shades-1].luminance() < ramp[0].luminance()
	sort.Slice(all, func(i, j int) bool {
		if falls {
			i, j = j, i
		}
		return all[i].luminance() < all[j].luminance()
	})
	// cost is the least sum of distances of ways to a colour, from the colour before that from holds.
	cost := make([]float64, len(all))
	var from [shades][]int
	for i, c := range ramp {
		from[i] = make([]int, len(all))
		best := 0
		next := make([]float64, len(all))
		for j := range all {
			if cost[j] < cost[best] {
				best = j
			}
			from[i][j], next[j] = best, cost[best]+c.distance(all[j])
		}
		cost = next
	}
	at := 0
	for j := range cost {
		if cost[j] < cost[at] {
			at = j
		}
	}
	for i := shades - 1; i >= 0; i-- {
		out[i] = all[at]
		at = from[i][at]
	}
	return out
}

// RGB is a colour as ColorCode takes it.
func RGB(c color.RGBA) string { return rgb{float64(c.R), float64(c.G), float64(c.B)}.parameters() }

// ColorCode is the escape sequence of a foreground and a background; "" leaves that as it is.
func ColorCode(fore, back string) string {
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
