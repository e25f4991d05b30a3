package chart

import (
	"math"

	"newtop/internal/format"
)

// scale finds the ranges of both axes; false when there is nothing to draw.
func (p *Plot) scale() (Area, bool) {
	a := Area{Left: math.Inf(1), Right: math.Inf(-1), Low: math.Inf(1), High: math.Inf(-1), log: p.Log, By: p.By,
		logX: p.LogX, down: p.Y.Complement}
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
		a.Low, a.High = withoutOutliers(p, a)
	}
	if p.Log {
		a.Low, a.High = math.Log10(a.Low), math.Log10(a.High)
	} else if p.Y.Zero && !p.user.outliers {
		a.Low = math.Min(a.Low, 0)
	}
	a.Low, a.High = widen(a.Low, a.High, p.Log)
	a.Low, a.High = RoundOutward(a.Low, a.High, p.coarse(a.High-a.Low))
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
		right = p.planEnd(Ahead(p.By, right, p.Limit))
	}
	if p.Window[1] > p.Window[0] {
		left, right = p.Window[0], p.Window[1]
	}
	if p.LogX {
		return math.Log10(left), math.Log10(right)
	}
	return left, right
}

// dotReach widens a range of x, the axis' logarithm not taken, by the dots.
func (p *Plot) dotReach(left, right float64) (float64, float64) {
	for i := range p.Dots {
		d := &p.Dots[i]
		if p.placed(d.Y) && format.Finite(d.X) && (d.X > 0 || !p.LogX) {
			left, right = math.Min(left, d.X), math.Max(right, d.X)
		}
	}
	return left, right
}

// dotSpan widens a range of y by the dots.
func (p *Plot) dotSpan(low, high float64) (float64, float64) {
	for i := range p.Dots {
		if y := p.Dots[i].Y; p.placed(y) {
			low, high = math.Min(low, y), math.Max(high, y)
		}
	}
	return low, high
}

// planEnd is the last x of a plot that shows all of the run.
func (p *Plot) planEnd(right float64) float64 {
	if plan := p.plan(); len(plan) > 0 {
		return math.Max(right, plan[len(plan)-1].X)
	}
	return right
}

// planSpan widens the range of y by what of the plan is within an area. A logarithmic axis follows a plan that ends at
// 0 to a thousandth of its highest value.
func (p *Plot) planSpan(a *Area) {
	const decades = 1e3
	low, high := math.Inf(1), math.Inf(-1)
	for _, q := range p.plan() {
		if p.placed(q.Y) && q.X >= a.Left && q.X <= a.Right {
			low, high = math.Min(low, q.Y), math.Max(high, q.Y)
		}
	}
	if p.Log {
		low = math.Max(low, high/decades)
	}
	if low <= high {
		a.Low, a.High = math.Min(a.Low, low), math.Max(a.High, high)
	}
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

// RoundOutward moves the ends of an axis outwards to coarse values, so that a new minimum does not move every dot of
// the picture.
func RoundOutward(low, high, step float64) (float64, float64) {
	if from, to := math.Floor(low/step+1e-9)*step, math.Ceil(high/step-1e-9)*step; format.Finite(from) &&
		format.Finite(to) {
		return from, to
	}
	return low, high
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

// Ahead is where an x axis ends whose latest point is the last, with an epoch that the run ends at or before; 0 for
// none. It leaves up to an eighth of the axis free for what will come, so that the picture grows into it instead of
// being squeezed with every point; a known end is not passed.
func Ahead(by Axis, last, limit float64) float64 {
	if by != Epochs {
		if last <= 0 {
			return last
		}
		return math.Pow(1.125, math.Ceil(math.Log(last)/math.Log(1.125)))
	}
	right := 10.0
	for right < last {
		right = math.Ceil(right * 1.125)
	}
	if limit >= last && limit > 0 {
		right = math.Min(right, limit)
	}
	return right
}
