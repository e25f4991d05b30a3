// Package chart draws curves of any length in cells: series, plots with axes, a cursor and zoom, rasters in shades, and
// what a user has set on them. It is the only package that imports ntcharts.
package chart

import (
	"math"
	"slices"

	"newtop/internal/format"
	"newtop/tui/style"
)

func (k *Curve) stroke() stroke { return stroke{k.Token, k.Mark, k.Dashed, k.Thick} }

// items are the buckets of a curve that a chart draws.
func (p *Plot) items(k *Curve) []Bucket {
	switch {
	case p.Detail:
		return k.Series.Fine()
	case p.small && !(p.Window[1] > p.Window[0]):
		return k.Series.Coarse()
	}
	return k.Series.Buckets
}

// within returns the buckets that the area shows some of.
func (p *Plot) within(a Area, items []Bucket) []Bucket {
	if p.Window[1] <= p.Window[0] && !p.LogX {
		return items
	}
	return Visible(items, p.By, a.back(a.Left), a.back(a.Right))
}

// inside leaves out the neighbours of what is within.
func inside(a Area, items []Bucket) []Bucket {
	for len(items) > 0 && a.across(items[0].X1[a.By]) < a.Left {
		items = items[1:]
	}
	for len(items) > 0 && a.across(items[len(items)-1].X1[a.By]) > a.Right {
		items = items[:len(items)-1]
	}
	return items
}

// scale finds the ranges of both axes; false when there is nothing to draw.
func (p *Plot) scale() (Area, bool) {
	a := Area{Left: math.Inf(1), Right: math.Inf(-1), Low: math.Inf(1), High: math.Inf(-1), log: p.Log, By: p.By,
		logX: p.LogX}
	a.Left, a.Right = p.reach()
	if a.Left > a.Right {
		return a, false
	}
	for i := range p.Curves {
		k := &p.Curves[i]
		items := p.items(k)
		if p.Detail || p.small {
			if some := inside(a, p.within(a, items)); len(some) > 0 {
				items = some
			}
		}
		low, high, ok := extremes(items, p.Log)
		if !ok {
			continue
		}
		a.Low, a.High = math.Min(a.Low, low), math.Max(a.High, high)
	}
	a.Low, a.High = p.dotSpan(a.Low, a.High)
	p.planSpan(&a)
	if a.Low > a.High {
		return a, false
	}
	if p.Y.Clip[1] > p.Y.Clip[0] {
		a.Low, a.High = math.Max(a.Low, p.Y.Clip[0]), math.Min(a.High, p.Y.Clip[1])
		if a.Low > a.High {
			a.Low, a.High = p.Y.Clip[0], p.Y.Clip[1]
		}
	}
	if p.Y.Show[1] > p.Y.Show[0] {
		a.Low, a.High = math.Min(a.Low, p.Y.Show[0]), math.Max(a.High, p.Y.Show[1])
	}
	if p.user.outliers {
		a.Low, a.High = mostOf(p, a)
	}
	if p.Log {
		a.Low, a.High = math.Log10(a.Low), math.Log10(a.High)
	} else if p.Y.Zero && !p.user.outliers {
		a.Low = math.Min(a.Low, 0)
	}
	a.Low, a.High = widen(a.Low, a.High, p.Log)
	a.Low, a.High = Settled(a.Low, a.High, p.coarse(a.High-a.Low))
	return a, true
}

// reach is the range of x, the logarithms taken; it is empty when no curve has a value to draw.
func (p *Plot) reach() (left, right float64) {
	if p.Span[1] > p.Span[0] && !(p.Window[1] > p.Window[0]) && !p.LogX {
		return p.Span[0], p.Span[1]
	}
	left, right = math.Inf(1), math.Inf(-1)
	old := right
	for i := range p.Curves {
		s := p.Curves[i].Series
		if _, _, ok := s.Bounds(p.Log); !ok {
			continue
		}
		first, last, _ := s.Extent()
		from := first[p.By]
		if p.LogX {
			from = p.positive(&p.Curves[i])
		}
		left, right = math.Min(left, from), math.Max(right, last[p.By])
		if n := len(s.Old); n > 0 {
			old = math.Max(old, s.Old[n-1].X1[p.By])
		}
	}
	if left, right = p.dotReach(left, right); left > right {
		return left, right
	}
	right = math.Max(right, math.Min(old, left+2*(right-left)))
	if !p.Closed {
		right = p.planEnd(p.ahead(right))
	}
	if p.Window[1] > p.Window[0] {
		left, right = p.Window[0], p.Window[1]
	}
	if p.LogX {
		return math.Log10(left), math.Log10(right)
	}
	return left, right
}

// positive returns a curve's first x above zero, +Inf if it has none.
func (p *Plot) positive(k *Curve) float64 {
	items := p.items(k)
	i := slices.IndexFunc(items, func(b Bucket) bool { return b.X1[p.By] > 0 })
	if i < 0 {
		return math.Inf(1)
	}
	return items[i].X1[p.By]
}

// Settled moves the ends of an axis outwards to coarse values, so that a new minimum does not move every dot of the
// picture.
func Settled(low, high, step float64) (float64, float64) {
	if from, to := math.Floor(low/step+1e-9)*step, math.Ceil(high/step-1e-9)*step; format.Finite(from) &&
		format.Finite(to) {
		return from, to
	}
	return low, high
}

// coarse is what the ends of a y axis of an extent are multiples of.
func (p *Plot) coarse(extent float64) float64 {
	switch {
	case !p.Log:
		return Nice(extent / 16)
	case extent < 1:
		return 0.03125
	}
	return 0.125
}

// widen gives a range without extent some, so that a constant is a line in the middle.
func widen(low, high float64, log bool) (float64, float64) {
	if high-low > 1e-9*math.Max(math.Abs(low), math.Abs(high)) && high > low {
		return low, high
	}
	by := math.Abs(low) / 2
	if log || by == 0 {
		by = 0.5
	}
	return low - by, high + by
}

// Furthest is the curve that reaches furthest along an axis: the keys move along it.
func (p *Plot) Furthest(by Axis) *Series {
	best := p.Curves[0].Series
	_, most, _ := best.Extent()
	for i := range p.Curves {
		if _, last, ok := p.Curves[i].Series.Extent(); ok && last[by] > most[by] {
			best, most = p.Curves[i].Series, last
		}
	}
	return best
}

// ScaleWord says in a title that a chart is logarithmic.
func (p *Plot) ScaleWord() style.Part {
	if p.Log {
		return style.Muted.Of("  log")
	}
	return style.Part{}
}

// Add appends a curve that has something to draw.
func (p *Plot) Add(k Curve) {
	if _, _, ok := k.Series.Bounds(p.Log); ok {
		p.Curves = append(p.Curves, k)
	}
}

// text writes one of the plot's values.
func (p *Plot) text(y float64) string {
	if p.Value != nil {
		return p.Value(y)
	}
	return format.Number(y)
}

// Percent writes the values as such.
func (p *Plot) Percent() {
	p.Value, p.Y.Unit = format.Percent, format.PercentUnit
}
