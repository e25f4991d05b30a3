package chart

import (
	"math"
	"slices"
	"testing"

	"github.com/charmbracelet/colorprofile"

	"newtop/trainer/event"
	"newtop/tui/style"
)

// curveOf is a curve of points (x, y), with seconds of 2x.
func curveOf(points ...float64) *Series {
	s := &Series{}
	for i := 0; i < len(points); i += 2 {
		s.Append(Position{points[i], 2 * points[i]}, points[i+1])
	}
	return s
}

func TestMean(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for name, c := range map[string]struct {
		of     []*Series
		spread Spread
		want   [][4]float64 // x, mean, ends of the band
		broken bool
	}{
		"deviation":     {[]*Series{curveOf(0, 1, 1, 2), curveOf(0, 3, 1, 2), curveOf(0, 5, 1, 2)}, Deviation, [][4]float64{{0, 3, 1, 5}, {1, 2, 2, 2}}, false},
		"range":         {[]*Series{curveOf(0, 1), curveOf(0, 3), curveOf(0, 8)}, Range, [][4]float64{{0, 4, 1, 8}}, false},
		"none":          {[]*Series{curveOf(0, 1), curveOf(0, 3)}, NoBand, [][4]float64{{0, 2, 2, 2}}, false},
		"between":       {[]*Series{curveOf(0, 0, 1, 1, 2, 2), curveOf(0, 0, 2, 4)}, Range, [][4]float64{{0, 0, 0, 0}, {1, 1.5, 1, 2}, {2, 3, 2, 4}}, false},
		"one goes on":   {[]*Series{curveOf(0, 1), curveOf(0, 3, 1, 5)}, Deviation, [][4]float64{{0, 2, 2 - math.Sqrt2, 2 + math.Sqrt2}, {1, 3, 3 - 2*math.Sqrt2, 3 + 2*math.Sqrt2}}, false},
		"all over":      {[]*Series{curveOf(0, 1), curveOf(0, 1), curveOf(0, 1, 1, 4)}, Range, [][4]float64{{0, 1, 1, 1}, {1, 2, 1, 4}}, false},
		"fewer than ½":  {[]*Series{curveOf(0, 1), curveOf(0, 1), curveOf(0, 1, 1, 5)}, NoBand, [][4]float64{{0, 1, 1, 1}}, false},
		"later begun":   {[]*Series{curveOf(1, 4, 2, 4), curveOf(0, 2, 1, 2, 2, 2)}, Range, [][4]float64{{0, 2, 2, 2}, {1, 3, 2, 4}, {2, 3, 2, 4}}, false},
		"not finite":    {[]*Series{curveOf(0, inf), curveOf(0, 3), curveOf(0, 5)}, Range, [][4]float64{{0, 4, 3, 5}}, true},
		"nothing told":  {[]*Series{curveOf(0, float64(event.Absent)), curveOf(0, 3)}, Range, [][4]float64{{0, 3, 3, 3}}, false},
		"none finite":   {[]*Series{curveOf(0, inf), curveOf(0, inf)}, Range, [][4]float64{{0, nan, nan, nan}}, true},
		"no curves":     {nil, Range, nil, false},
		"empty members": {[]*Series{{}, {}}, Range, nil, false},
	} {
		m := Mean(c.of, c.spread, name == "all over")
		if len(m.Buckets) != len(c.want) {
			t.Errorf("%s: %d points, not %d", name, len(m.Buckets), len(c.want))
			continue
		}
		for i, w := range c.want {
			b := &m.Buckets[i]
			for k, got := range [...]float64{b.X1[Epochs], b.Last, b.Min, b.Max} {
				if math.Abs(got-w[k]) > 1e-12 || (got != got) != (w[k] != w[k]) {
					t.Errorf("%s: point %d has %v, %v in %v to %v, not %v", name, i, b.X1, b.Last, b.Min, b.Max, w)
					break
				}
			}
			if b.X1[Seconds] != 2*w[0] {
				t.Errorf("%s: %v seconds at %v", name, b.X1[Seconds], w[0])
			}
		}
		if m.Broken() != c.broken {
			t.Errorf("%s: broken is %v", name, m.Broken())
		}
	}
}

func TestOver(t *testing.T) {
	y, tokens := curveOf(0, 9, 1, 8, 2, 7, 3, 6), curveOf(1, 10, 2, 10, 3, 30)
	got := Over(y, func(epoch float64) float64 { return tokens.At(Epochs, epoch) })
	var points []float64
	for _, b := range got.Buckets {
		points = append(points, b.X1[Epochs], b.Min, b.Max, b.Last)
	}
	if want := []float64{10, 7, 8, 7, 30, 6, 6, 6}; !slices.Equal(points, want) || got.Last() != 6 {
		t.Errorf("%v, not %v", points, want)
	}
	if tokens.Fell() || !y.Fell() || tokens.Flat() || !curveOf(0, 1, 5, 1).Flat() {
		t.Error("tokens never fall, and move")
	}
}

// TestBand: the shade of a band is what lies between its ends, and the mean is drawn over it.
func TestBand(t *testing.T) {
	var low, high Series
	for x := range 40 {
		low.Add(float64(x), 1)
		high.Add(float64(x), 3)
	}
	m := Mean([]*Series{&low, &high}, Range, false)
	for g := style.GlyphsBraille; g < style.GlyphsCount; g++ {
		pen := style.Pen{Palette: style.ThemeDark.Palette(true, colorprofile.TrueColor, false), Glyphs: g.Set(nil)}
		var c Canvas
		c.Draw(&pen, Plot{Curves: []Curve{{Series: &m, Mark: '*'}}, Closed: true}, 20, 9)
		shaded, lines := 0, 0
		for y := range 9 {
			switch cell := c.At(10, y); {
			case cell.band:
				shaded++
			case cell.R != 0:
				lines++
			}
		}
		if shaded < 4 || lines != 1 {
			t.Errorf("%v: %d cells of the band and %d of the mean in a column", g, shaded, lines)
		}
	}
}
