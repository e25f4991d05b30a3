package tui

import (
	"math"
	"slices"

	"newtop/tui/style"
)

// Curve is one line of a plot.
type Curve struct {
	name   string
	Token  style.Token
	series *Series
	dashed bool
	alarm  bool   // a value that is not finite is bad news, not one that the method does not have
	mark   rune   // stands for its dots in ASCII
	tag    string // written at its newest point, to tell many curves apart
}

func (k *Curve) stroke() stroke { return stroke{k.Token, k.mark, k.dashed} }

// Plot says what a chart shows; its zero value is a linear chart scaled to its data.
type Plot struct {
	curves   []Curve
	dots     []Dot
	log      bool
	zero     bool                 // the linear axis starts at zero
	whole    bool                 // epochs are whole numbers
	label    func(float64) string // of the y axis; nil for plain numbers
	value    func(float64) string // of the legend; nil for plain numbers
	best     bool                 // less is better: the legend says what was least
	name     string               // of the y axis, in the corner where there is room
	margin   int                  // the least width of the y axis, to align charts
	noX      bool                 // a chart beneath has the labels of x
	rules    []float64            // y of guide lines
	marks    []Mark               // x of events
	allMarks func(Axis) []Mark    // along another axis, the minor ones too; nil: marks are all there are
	clip     [2]float64           // bounds of y, when the second is above the first
	show     [2]float64           // y that are within the axis whatever the data, likewise
	above    string               // what the dots are that have no place on the y axis
	names    []string             // what the x 0, 1, 2, … stand for, where they are no numbers
	limit    float64              // an epoch that the axis ends at or before, if the data do; 0 for none
	closed   bool                 // no more points will come
	legend   bool
	waiting  string // what to say while there is nothing to draw

	by       Axis
	logX     bool
	window   [2]float64 // the part of x to show, when the second is above the first
	detail   bool       // there is room and leisure: the newest points one by one, units, small ticks
	half     float64    // half-life in epochs that curves are smoothed with; 0 for not at all
	outliers bool       // the y axis leaves out what lies far from most values
	cursor   *Position  // where the values are told; nil for nowhere
	told     bool       // a table tells them, and no box beside the cursor
}

// epochPlot is a plot of curves over the epochs of the run.
func epochPlot(h *history, curves ...Curve) Plot {
	limit := h.status.EpochLimit
	if r := h.status.Replay; r != nil && !r.Live && r.Last > 0 {
		limit = r.Last
	}
	return Plot{curves: curves, whole: true, marks: h.marks(), allMarks: h.allMarks, limit: float64(limit), closed: h.over()}
}

// items are the buckets of a curve that a chart draws.
func (p *Plot) items(k *Curve) []Bucket {
	if p.detail {
		return k.series.fine()
	}
	return k.series.buckets
}

// draw returns the plot as exactly h rows of w columns. Axes appear when there is room for them.
func (c *Canvas) draw(v *style.Pen, p Plot, w, h int) []string {
	c.resize(w, h)
	c.drawn = Area{}
	if w < 1 || h < 1 {
		return nil
	}
	a, ok := p.scale()
	if !ok {
		c.write(max(0, (w-style.Cells(p.waiting))/2), (h-1)/2, p.waiting, style.Muted)
		return c.Rows(v)
	}
	ticks, labels := p.yTicks(a, h)
	bottom := 0
	switch {
	case p.noX:
	case h >= 10 && w >= 24:
		bottom = 2
	case h >= 4 && w >= 24:
		bottom = 1
	}
	top := p.lane(h - bottom)
	gutter := p.gutter(labels, w, h)
	if top > 0 && gutter > 0 {
		gutter = p.gutter(append(labels, p.above), w, h)
	}
	a.x, a.y, a.w, a.h = gutter, top, w-gutter, h-bottom-top
	c.drawn = a
	c.rules(v, p, a)
	missing := c.strokes(v, p, a)
	c.points(v, p, a)
	c.tags(v, p, a)
	if gutter > 0 {
		c.axes(a, bottom == 2)
		c.yLabels(v, p, a, ticks, labels)
	}
	if bottom > 0 {
		c.xLabels(v, p, a, h-1)
		if style.Cells(p.name) < gutter {
			c.write(0, h-1, p.name, style.Muted)
		}
	}
	c.cursorLine(v, p, a)
	if p.legend {
		c.legend(v, p, a, missing)
	}
	c.markNames(v, p, a)
	c.values(v, p, a)
	return c.Rows(v)
}

// strokes draws the curves, what was left behind under them and what is missing over them.
func (c *Canvas) strokes(v *style.Pen, p Plot, a Area) (m missing) {
	for i := range p.curves {
		k := &p.curves[i]
		c.curve(a, v.Glyphs, k.series.old, stroke{style.Grid, '.', k.dashed})
	}
	for i := range p.curves {
		k := &p.curves[i]
		all := p.items(k)
		items := p.within(a, all)
		if p.half == 0 {
			c.curve(a, v.Glyphs, items, k.stroke())
		} else {
			c.curve(a, v.Glyphs, items, stroke{style.Grid, '.', false})
		}
		m.count(a, items)
	}
	if p.half > 0 {
		for i := range p.curves {
			k := &p.curves[i]
			c.soft = smooth(c.soft, p.items(k), p.half)
			c.curve(a, v.Glyphs, p.within(a, c.soft), k.stroke())
		}
	}
	for i := range p.curves {
		if k := &p.curves[i]; k.alarm && k.series.holes {
			c.holes(a, v.Glyphs, p.items(k))
		}
	}
	if p.outliers {
		c.edges(v, p, a)
	}
	return m
}

// within returns the buckets that the area shows some of.
func (p *Plot) within(a Area, items []Bucket) []Bucket {
	if p.window[1] <= p.window[0] && !p.logX {
		return items
	}
	return Visible(items, p.by, a.back(a.left), a.back(a.right))
}

// inside leaves out the neighbours of what is within.
func inside(a Area, items []Bucket) []Bucket {
	for len(items) > 0 && a.across(items[0].x1[a.By]) < a.left {
		items = items[1:]
	}
	for len(items) > 0 && a.across(items[len(items)-1].x1[a.By]) > a.right {
		items = items[:len(items)-1]
	}
	return items
}

// scale finds the ranges of both axes; false when there is nothing to draw.
func (p *Plot) scale() (Area, bool) {
	a := Area{left: math.Inf(1), right: math.Inf(-1), low: math.Inf(1), high: math.Inf(-1), log: p.log, By: p.by, logX: p.logX}
	a.left, a.right = p.reach()
	if a.left > a.right {
		return a, false
	}
	for i := range p.curves {
		k := &p.curves[i]
		items := p.items(k)
		if p.detail {
			if some := inside(a, p.within(a, items)); len(some) > 0 {
				items = some
			}
		}
		low, high, ok := extremes(items, p.log)
		if !ok {
			continue
		}
		a.low, a.high = math.Min(a.low, low), math.Max(a.high, high)
	}
	a.low, a.high = p.dotSpan(a.low, a.high)
	if a.low > a.high {
		return a, false
	}
	if p.clip[1] > p.clip[0] {
		a.low, a.high = math.Max(a.low, p.clip[0]), math.Min(a.high, p.clip[1])
		if a.low > a.high {
			a.low, a.high = p.clip[0], p.clip[1]
		}
	}
	if p.show[1] > p.show[0] {
		a.low, a.high = math.Min(a.low, p.show[0]), math.Max(a.high, p.show[1])
	}
	if p.outliers {
		a.low, a.high = p.most(a)
	}
	if p.log {
		a.low, a.high = math.Log10(a.low), math.Log10(a.high)
	} else if p.zero && !p.outliers {
		a.low = math.Min(a.low, 0)
	}
	a.low, a.high = widen(a.low, a.high, p.log)
	a.low, a.high = p.settle(a.low, a.high)
	return a, true
}

// reach is the range of x, the logarithms taken; it is empty when no curve has a value to draw.
func (p *Plot) reach() (left, right float64) {
	left, right = math.Inf(1), math.Inf(-1)
	old := right
	for i := range p.curves {
		s := p.curves[i].series
		if _, _, ok := s.bounds(p.log); !ok {
			continue
		}
		first, last, _ := s.extent()
		from := first[p.by]
		if p.logX {
			from = p.positive(&p.curves[i])
		}
		left, right = math.Min(left, from), math.Max(right, last[p.by])
		if n := len(s.old); n > 0 {
			old = math.Max(old, s.old[n-1].x1[p.by])
		}
	}
	if left, right = p.dotReach(left, right); left > right {
		return left, right
	}
	right = math.Max(right, math.Min(old, left+2*(right-left)))
	if !p.closed {
		right = p.ahead(right)
	}
	if p.window[1] > p.window[0] {
		left, right = p.window[0], p.window[1]
	}
	if p.logX {
		return math.Log10(left), math.Log10(right)
	}
	return left, right
}

// positive returns a curve's first x above zero, +Inf if it has none.
func (p *Plot) positive(k *Curve) float64 {
	items := p.items(k)
	i := slices.IndexFunc(items, func(b Bucket) bool { return b.x1[p.by] > 0 })
	if i < 0 {
		return math.Inf(1)
	}
	return items[i].x1[p.by]
}

// settle moves the ends of the y axis outwards to coarse values, so that a new minimum does not move
// every dot of the picture.
func (p *Plot) settle(low, high float64) (float64, float64) {
	step := 0.125
	if !p.log {
		step = Nice((high - low) / 16)
	}
	if p.log && high-low < 1 {
		step = 0.03125
	}
	return math.Floor(low/step+1e-9) * step, math.Ceil(high/step-1e-9) * step
}

// ahead leaves up to an eighth of the x axis free for what will come, so that the picture grows into it
// instead of being squeezed with every point; a known end is not passed.
func (p *Plot) ahead(last float64) float64 {
	if p.by != Epochs {
		if last <= 0 {
			return last
		}
		return math.Pow(1.125, math.Ceil(math.Log(last)/math.Log(1.125)))
	}
	right := 10.0
	for right < last {
		right = math.Ceil(right * 1.125)
	}
	if p.limit >= last && p.limit > 0 {
		right = math.Min(right, p.limit)
	}
	return right
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
