package chart

import (
	"math"

	"newtop/tui/style"
)

// Spread is what the band around a mean shows.
type Spread uint8

// The spreads, as a key goes round them.
const (
	Deviation Spread = iota // a standard deviation of the sample to either side
	Range                   // from the least to the greatest
	NoBand
	Spreads
)

// String is how a screen calls it.
func (s Spread) String() string { return [...]string{"± σ", "min–max", "no band"}[s] }

// Mean returns the mean of curves at each step of the one with the most points, within a band. Between two of its
// points a curve is a straight line; before its first point it has no value, behind its last one that of the last. The
// mean goes as far as half of the curves do, or as the longest one if all are over. Seconds and equivalents are means,
// too. A value that is not finite is left out, and marked. Of each bucket, Last is the mean, and Min and Max are the
// ends of the band. Nothing can be appended.
func Mean(of []*Series, spread Spread, over bool) Series {
	out := Series{Each: 1, filled: 1, banded: spread != NoBand, min: math.NaN()}
	at, values := make([]int, len(of)), make([]float64, 0, len(of))
	for _, x := range stepsOf(of) {
		b, came := Bucket{X0: x, Min: math.NaN(), Max: math.NaN(), Last: math.NaN()}, 0
		values = values[:0]
		for k, s := range of {
			p, f, ok := valueAt(s, &at[k], x)
			if !ok {
				continue
			}
			if x <= s.Buckets[len(s.Buckets)-1].X1[Epochs] {
				came++
				for axis := range b.X1 {
					b.X1[axis] += (p.at[axis] - b.X1[axis]) / float64(came)
				}
			}
			b.flaws |= f & broken
			if !math.IsNaN(p.y) {
				values = append(values, p.y)
			}
		}
		if 2*came < len(of) && !(over && len(out.Buckets) > 0) {
			continue
		}
		if b.X1[Epochs] = x; len(values) > 0 {
			b.N, b.Last = 1, meanOf(values)
			b.Sum, b.Min, b.Max = b.Last, b.Last, b.Last
			switch {
			case spread == Range:
				b.Min, b.Max = extremesOf(values)
			case spread == Deviation && len(values) > 1:
				d := deviationOf(values, b.Last)
				b.Min, b.Max = b.Last-d, b.Last+d
			}
		}
		take(&out, b)
	}
	return out
}

// take appends a bucket as it is.
func take(s *Series, b Bucket) {
	if n := len(s.Buckets); n > 0 {
		for axis, before := range s.Buckets[n-1].X1[1:] { // of other curves than before
			b.X1[axis+1] = math.Max(b.X1[axis+1], before)
		}
	} else {
		s.first = b.X1
	}
	s.Buckets = append(s.Buckets, b)
	learn(s, b)
}

// learn follows what the latest values are.
func learn(s *Series, b Bucket) {
	s.Points++
	s.flaws |= b.flaws
	s.latest = b.flaws
	s.fell = s.fell || b.N > 0 && s.finite > 0 && b.Last < s.before[1]
	s.moved = s.moved || b.flaws != 0 || b.N > 0 && (b.Min < b.Max || s.finite > 0 && b.Last != s.before[1])
	if b.N > 0 {
		s.before[0], s.before[1] = s.before[1], b.Last
		s.finite = min(s.finite+1, 2)
		if !(s.min <= b.Last) {
			s.min, s.minAt = b.Last, b.X1[Epochs]
		}
	}
}

// stepsOf are the steps of the curve with the most points, and those of others behind its end.
func stepsOf(of []*Series) (out []float64) {
	var long *Series
	for _, s := range of {
		if long == nil || len(s.Buckets) > len(long.Buckets) {
			long = s
		}
	}
	for _, s := range append([]*Series{long}, of...) {
		if s == nil {
			continue
		}
		for i := range s.Buckets {
			if x := s.Buckets[i].X1[Epochs]; len(out) == 0 || x > out[len(out)-1] {
				out = append(out, x)
			}
		}
	}
	return out
}

// valueAt is what a curve has at a step, or had last, from bucket *i on; false where it has not begun. Its y is NaN
// where the value is not finite.
func valueAt(s *Series, i *int, x float64) (p sample, f flaws, ok bool) {
	for *i+1 < len(s.Buckets) && s.Buckets[*i+1].X1[Epochs] <= x {
		*i++
	}
	if *i >= len(s.Buckets) || x < s.Buckets[*i].X1[Epochs] {
		return p, 0, false
	}
	b := &s.Buckets[*i]
	if p = (sample{b.X1, b.Last}); x == b.X1[Epochs] {
		return p, b.flaws, true
	}
	if *i+1 == len(s.Buckets) {
		return p, 0, true
	}
	next := &s.Buckets[*i+1]
	share := (x - b.X1[Epochs]) / (next.X1[Epochs] - b.X1[Epochs])
	for axis := range p.at {
		p.at[axis] += share * (next.X1[axis] - p.at[axis])
	}
	p.y += share * (next.Last - p.y)
	return p, 0, true
}

func meanOf(values []float64) (mean float64) {
	for i, v := range values {
		mean += (v - mean) / float64(i+1)
	}
	return mean
}

// deviationOf is the standard deviation of a sample, by n − 1.
func deviationOf(values []float64, mean float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += (v - mean) * (v - mean)
	}
	return math.Sqrt(sum / float64(len(values)-1))
}

func extremesOf(values []float64) (low, high float64) {
	low, high = values[0], values[0]
	for _, v := range values {
		low, high = math.Min(low, v), math.Max(high, v)
	}
	return low, high
}

// Average is the mean of values and the standard deviation of their sample, 0 for one value; NaN for none.
func Average(values []float64) (mean, deviation float64) {
	switch mean = meanOf(values); len(values) {
	case 0:
		return math.NaN(), 0
	case 1:
		return mean, 0
	}
	return mean, deviationOf(values, mean)
}

// drawBand shades what lies between the ends of a band, for a mean to be drawn over it: every second dot. Where two
// bands share cells, each has every second one.
func drawBand(c *Canvas, a Area, g *style.GlyphSet, items []Bucket, t style.Token) {
	var low, high dot
	for i := range items {
		b := &items[i]
		if b.N == 0 || a.log && b.Max <= 0 || a.logX && b.X1[a.By] <= 0 {
			low, high = dot{}, dot{}
			continue
		}
		x, bottom := a.DotX(g, b.X1[a.By]), a.H*g.DotsY
		if !a.log || b.Min > 0 {
			bottom = a.DotY(g, b.Min)
		}
		from, to := low.to(x, bottom), high.to(x, a.DotY(g, b.Max))
		for ; from.x <= x; from.x, to.x = from.x+1, to.x+1 {
			for y := max(0, int(to.y)); y <= min(int(from.y), a.H*g.DotsY-1); y++ {
				if (from.x+y)%2 == 0 {
					c.Dot(a, g, from.x, y)
				}
			}
			from.y, to.y = from.y+from.slope, to.y+to.slope
		}
		low, high = dot{true, x, float64(bottom), 0}, dot{true, x, float64(a.DotY(g, b.Max)), 0}
	}
	for i, mask := range c.dots[:a.W*a.H] {
		if c.dots[i] = 0; mask == 0 {
			continue
		}
		x, y := i%a.W, i/a.W
		cell := c.At(a.X+x, a.Y+y)
		if cell == nil || cell.band && (x+y)%2 == 0 {
			continue
		}
		switch *cell = (glyph{color: t, band: true}); {
		case g.ASCII:
			cell.R = ':'
		case g.DotsY == 2:
			cell.R = style.Quadrants[mask&15]
		default:
			cell.R = braille[mask]
		}
	}
}

// dot is a place of a band's end, and how much it falls from one column of dots to the next.
type dot struct {
	used     bool
	x        int
	y, slope float64
}

// to is the dot after this one on the way to another: that one, where there was none before.
func (d dot) to(x, y int) dot {
	if !d.used || x <= d.x {
		return dot{true, x, float64(y), 0}
	}
	slope := (float64(y) - d.y) / float64(x-d.x)
	return dot{true, d.x + 1, d.y + slope, slope}
}

// Over returns a curve at other places along x, which never fall: what y has at a step stands where place says, NaN for
// nowhere, and what it has at one place is one bucket.
func Over(y *Series, place func(epoch float64) float64) Series {
	out := Series{Each: 1, filled: 1, banded: y.banded, min: math.NaN()}
	for _, b := range y.Buckets {
		at := place(b.X1[Epochs])
		if math.IsNaN(at) {
			continue
		}
		b.X0, b.X1[Epochs] = at, at
		if n := len(out.Buckets); n > 0 && at <= out.Buckets[n-1].X0 {
			out.Buckets[n-1] = join(out.Buckets[n-1], b)
			learn(&out, b)
			continue
		}
		take(&out, b)
	}
	return out
}
