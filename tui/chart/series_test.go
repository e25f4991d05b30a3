package chart

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/charmbracelet/colorprofile"

	"newtop/trainer/event"
	"newtop/tui/style"
)

// TestSeriesKeepsExtremes appends up to a million points and checks every bucket against the points that
// it stands for.
func TestSeriesKeepsExtremes(t *testing.T) {
	for _, n := range []int{1, 2, MaxBuckets, MaxBuckets + 1, 3 * MaxBuckets, 100_003, 1_000_000} {
		r := rand.New(rand.NewPCG(uint64(n), 1))
		points := make([]float64, n)
		var s Series
		for i := range points {
			points[i] = r.NormFloat64()
			if i%1000 == 7 {
				points[i] = [...]float64{float64(event.NotFinite), math.Inf(1), math.Inf(-1)}[i/1000%3]
			}
			s.Add(float64(i), points[i])
		}
		if len(s.Buckets) > MaxBuckets || cap(s.Buckets) > 2*MaxBuckets {
			t.Fatalf("%d points: %d buckets, room for %d", n, len(s.Buckets), cap(s.Buckets))
		}
		next := 0
		for _, b := range s.Buckets {
			if int(b.X0) != next {
				t.Fatalf("%d points: a bucket begins at %v instead of %d", n, b.X0, next)
			}
			low, high, last, flaws := math.Inf(1), math.Inf(-1), math.NaN(), flaws(0)
			for i := int(b.X0); i <= int(b.X1[Epochs]); i++ {
				if points[i]-points[i] != 0 {
					flaws |= flawsOf(points[i])
					continue
				}
				low, high, last = math.Min(low, points[i]), math.Max(high, points[i]), points[i]
			}
			if !math.IsNaN(last) && (b.Min != low || b.Max != high || b.Last != last) || b.flaws != flaws {
				t.Fatalf("%d points: bucket %+v, want min %v max %v last %v flaws %v", n, b, low, high, last, flaws)
			}
			next = int(b.X1[Epochs]) + 1
		}
		if next != n {
			t.Fatalf("%d points: the buckets end at %d", n, next)
		}
		least, at := math.Inf(1), 0.0
		for i, p := range points {
			if p < least && !math.IsInf(p, 0) {
				least, at = p, float64(i)
			}
		}
		if !math.IsInf(least, 1) && (s.min != least || s.minAt != at) {
			t.Fatalf("%d points: least %v at %v, want %v at %v", n, s.min, s.minAt, least, at)
		}
	}
}

// TestSpikeIsDrawn hides one high point among a million and looks for it in the picture.
func TestSpikeIsDrawn(t *testing.T) {
	v := testPen()
	for _, at := range []int{1, 333_333, 999_998} {
		var s Series
		for i := range 1_000_000 {
			y := 0.0
			if i == at {
				y = 1
			}
			s.Add(float64(i), y)
		}
		var c Canvas
		rows := c.Draw(v, Plot{Curves: []Curve{{Series: &s, Token: style.Text, Mark: '*'}}}, 60, 12)
		dots := 0
		for _, r := range rows[0] {
			if r > 0x2800 && r <= 0x28ff {
				dots++
			}
		}
		if dots != 1 {
			t.Errorf("spike at %d: %d marks in the top row\n%s", at, dots, rows)
		}
	}
}

func TestSeriesBounds(t *testing.T) {
	nan, inf := float64(event.NotFinite), math.Inf(1)
	for _, c := range []struct {
		ys       []float64
		positive bool
		low, hi  float64
		ok       bool
		last     float64
	}{
		{nil, false, 0, 0, false, nan},
		{[]float64{nan, inf}, false, 0, 0, false, nan},
		{[]float64{3, nan, -2, inf}, false, -2, 3, true, -2},
		{[]float64{3, 0.5, -2}, true, 0.5, 3, true, -2},
		{[]float64{-3, 0}, true, 0, 0, false, 0},
	} {
		var s Series
		for i, y := range c.ys {
			s.Add(float64(i), y)
		}
		low, hi, ok := s.Bounds(c.positive)
		if ok != c.ok || ok && (low != c.low || hi != c.hi) {
			t.Errorf("%v: %v … %v, %v", c.ys, low, hi, ok)
		}
		if l := s.Last(); l != c.last && !(math.IsNaN(l) && math.IsNaN(c.last)) {
			t.Errorf("%v: last %v", c.ys, l)
		}
	}
}

// testPen draws without colours in braille.
func testPen() *style.Pen {
	return &style.Pen{Palette: style.ThemeAuto.Palette(true, colorprofile.ASCII, true), Glyphs: style.GlyphsBraille.Set(nil)}
}
