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

// TestCutLong cuts a series whose buckets stand for many points, in the tail and before it.
func TestCutLong(t *testing.T) {
	for _, to := range []float64{-1, 0, 7, 5000, 63_000, 99_998, 99_999} {
		var s Series
		for i := range 100_000 {
			s.Append(Position{float64(i), float64(i) / 3, float64(7 * i)}, math.Sin(float64(i)/1000))
		}
		s.Cut(to)
		_, last, ok := s.Ends()
		if ok != (to >= 0) || ok && last != to {
			t.Errorf("cut at %v: ends at %v", to, last)
		}
		for i := range 50_000 {
			s.Append(Position{to + 1 + float64(i), 1e5, 1e6}, 0)
		}
		before := math.Inf(-1)
		for _, b := range s.Fine() {
			if !(b.X1[Epochs] >= before) {
				t.Fatalf("cut at %v: %v follows on %v", to, b.X1[Epochs], before)
			}
			before = b.X1[Epochs]
		}
		if before != to+50_000 || len(s.Old) > MaxOld {
			t.Errorf("cut at %v: goes to %v, %d left behind", to, before, len(s.Old))
		}
	}
}

// TestFineTail: zoomed in, the newest of a million points are there one by one.
func TestFineTail(t *testing.T) {
	var s Series
	for i := range 1_000_000 {
		s.Add(float64(i), float64(i%1000))
	}
	items := s.Fine()
	for i := range TailPoints {
		b := items[len(items)-1-i]
		if want := 999_999 - i; b.X1[Epochs] != float64(want) || b.Last != float64(want%1000) || b.N != 1 {
			t.Fatalf("point %d from the end: %+v", i, b)
		}
	}
	total := 0
	for _, b := range items {
		total += int(b.N)
	}
	if total < 1_000_000 || total > 1_000_000+s.Each {
		t.Errorf("%d points in all", total)
	}
}

// TestPlacesOutsideThePicture: a line to far outside must not have as many dots as it would be long.
func TestPlacesOutsideThePicture(t *testing.T) {
	g := testPen().Glyphs
	a := Area{W: 10, H: 4, Left: 0, Right: 1, Low: 0, High: 1}
	for _, c := range []struct {
		v float64
		x int
	}{{0, 0}, {1, 10*g.DotsX - 1}, {1e15, 10 * g.DotsX}, {-1e300, -1}, {math.NaN(), -1}, {math.Inf(1), 10 * g.DotsX}} {
		if x := a.DotX(g, c.v); x != c.x {
			t.Errorf("x of %v is %d: expected %d", c.v, x, c.x)
		}
	}
	if y := a.DotY(g, math.NaN()); y != -1 {
		t.Errorf("y of NaN is %d", y)
	}
}
