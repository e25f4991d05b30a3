// Package chart draws curves of any length in cells: series, plots with axes, a cursor and zoom, rasters in shades, and
// what a user has set on them. It is the only package that imports ntcharts.
package chart

import (
	"math"
	"slices"

	"newtop/internal/format"
	"newtop/tui/style"
)

// Curve is one line of a plot.
type Curve struct {
	Name   string
	Token  style.Token
	Series *Series
	Dashed bool
	Thick  bool   // two dots high, to stand out among others
	Mark   rune   // stands for its dots in ASCII
	Tag    string // written at its newest point, to tell many curves apart
}

func (k *Curve) stroke() stroke { return stroke{k.Token, k.Mark, k.Dashed, k.Thick} }

// Plot says what a chart shows; its zero value is a linear chart scaled to its data.
type Plot struct {
	Curves   []Curve
	Dots     []Dot
	Planned  Planned
	Y        YAxis
	Log      bool
	Whole    bool                 // epochs are whole numbers
	Value    func(float64) string // of the legend; nil for plain numbers
	Best     bool                 // less is better: the legend says what was least
	NoX      bool                 // a chart beneath has the labels of x
	Rules    []float64            // y of guide lines
	Marks    []Mark               // x of events
	AllMarks func(Axis) []Mark    // along another axis, the minor ones too; nil: marks are all there are
	Above    string               // what the dots are that have no place on the y axis
	Names    []string             // what the x 0, 1, 2, … stand for, where they are no numbers
	Limit    float64              // an epoch that the axis ends at or before, if the data do; 0 for none
	Closed   bool                 // no more points will come
	Legend   bool
	Signs    bool     // the legend says which curve is which, and no values
	Note     []string // what the curves tell, for the legend, ever shorter
	Unit     bool     // the last label of x has the unit
	Counted  string   // what the run counts along x, "step"; "" is "epoch"
	Waiting  string   // what to say while there is nothing to draw

	By     Axis
	LogX   bool
	Window [2]float64 // the part of x to show, when the second is above the first
	Span   [2]float64 // what the x axis has whatever the data, likewise, so that plots beside each other share theirs
	Detail bool       // there is room and leisure: the newest points one by one, units, small ticks
	Told   bool       // a table tells the values at the cursor, and no box beside it
	small  bool       // it is one of many: few buckets are enough
	user   view
}

// YAxis is how a plot scales and labels y.
type YAxis struct {
	Zero   bool       // a linear axis starts at zero
	Clip   [2]float64 // bounds, when the second is above the first
	Show   [2]float64 // what is within the axis whatever the data, likewise
	Unit   string     // of its labels, as format.AxisLabels takes it
	Name   string     // in the corner where there is room
	Margin int        // its least width, to align charts
}

// view is what only the controls of a zoomed chart set.
type view struct {
	half     float64   // half-life in epochs that curves are smoothed with; 0 for not at all
	outliers bool      // the y axis leaves out what lies far from most values
	cursor   *Position // where the values are told; nil for nowhere
}

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

// Draw returns the plot as exactly h rows of w columns. Axes appear when there is room for them.
func (c *Canvas) Draw(v *style.Pen, p Plot, w, h int) []string {
	c.Resize(w, h)
	c.Drawn = Area{}
	if w < 1 || h < 1 {
		return nil
	}
	a, ok := p.scale()
	if !ok {
		words, ink := p.Waiting, style.Muted
		if slices.ContainsFunc(p.Curves, func(k Curve) bool { return k.Series.Broken() }) {
			words, ink = "× nothing that is finite", style.NotFinite
		}
		c.Write(max(0, (w-style.Cells(words))/2), (h-1)/2, words, ink)
		return c.Rows(v)
	}
	ticks, labels := yTicks(&a, h, p.Y.Unit)
	bottom := 0
	switch {
	case p.NoX:
	case h >= 10 && w >= 24:
		bottom = 2
	case h >= 4 && w >= 24:
		bottom = 1
	}
	top := p.lane(h - bottom)
	gutter := p.gutter(labels, w, h)
	if top > 0 && gutter > 0 {
		gutter = p.gutter(append(labels, p.Above), w, h)
	}
	a.X, a.Y, a.W, a.H = gutter, top, w-gutter, h-bottom-top
	c.Drawn = a
	drawRules(c, v, &p, a)
	drawPlan(c, v.Glyphs, &p, a)
	missing := drawCurves(c, v, &p, a)
	drawPoints(c, v, &p, a)
	drawTags(c, v, &p, a)
	const few = 8 // curves whose newest values leave something of them to see
	if p.user.half > 0 && !p.small && len(p.Curves) <= few {
		drawNewest(c, v, &p, a)
	}
	if gutter > 0 {
		DrawYAxis(c, a, tickRows(v.Glyphs, &a, ticks), labels)
		if p.Detail && p.Log {
			drawSmallTicks(c, v.Glyphs, a)
		}
		if bottom == 2 {
			drawXAxis(c, a)
		}
	}
	if bottom > 0 {
		drawXLabels(c, v, &p, a, h-1)
		if style.Cells(p.Y.Name) < gutter {
			c.Write(0, h-1, p.Y.Name, style.Muted)
		}
	}
	drawCursor(c, v, &p, a)
	if p.Legend {
		drawLegend(c, v, &p, a, missing)
	}
	drawMarkNames(c, v, &p, a)
	drawValues(c, v, &p, a)
	return c.Rows(v)
}

// drawCurves draws the curves, what was left behind under them and what is missing over them.
func drawCurves(c *Canvas, v *style.Pen, p *Plot, a Area) missing {
	if c.pair = len(p.Curves) == 2; c.pair {
		c.first = p.Curves[0].stroke()
		defer func() { c.pair = false }()
	}
	for i := range p.Curves {
		k := &p.Curves[i]
		drawCurve(c, a, v.Glyphs, k.Series.Old, stroke{style.Grid, '.', k.Dashed, false})
	}
	for i := range p.Curves {
		k := &p.Curves[i]
		raw := k.stroke()
		if p.user.half > 0 {
			raw = stroke{style.Muted, '.', false, false}
		}
		drawCurve(c, a, v.Glyphs, p.within(a, p.items(k)), raw)
	}
	for i := range p.Curves {
		if k := &p.Curves[i]; p.user.half > 0 {
			c.soft = smooth(c.soft, p.items(k), p.user.half)
			drawCurve(c, a, v.Glyphs, p.within(a, c.soft), k.stroke())
			drawCurve(c, a, v.Glyphs, p.within(a, newerThan(p.items(k), p.user.half)),
				stroke{k.Token, k.Mark, false, k.Thick})
		}
	}
	for i := range p.Curves {
		if k := &p.Curves[i]; k.Series.flaws&broken != 0 {
			drawBroken(c, a, v.Glyphs, p.items(k))
		}
	}
	if p.user.outliers {
		return drawEdges(c, v, p, a)
	}
	return missing{}
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

// Mark is something that happened at an x.
type Mark struct {
	X    float64
	Text string
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
