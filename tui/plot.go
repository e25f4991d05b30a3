package tui

import (
	"math"
)

// plotCurve is one line of a plot.
type plotCurve struct {
	name   string
	tok    token
	series *series
	dashed bool
	alarm  bool // a value that is not finite is bad news, not one that the method does not have
	mark   rune // stands for its dots in ASCII
}

// plot says what a chart shows; its zero value is a linear chart scaled to its data.
type plot struct {
	curves  []plotCurve
	log     bool
	zero    bool                 // the linear axis starts at zero
	whole   bool                 // x are whole numbers
	label   func(float64) string // of the y axis; nil for plain numbers
	value   func(float64) string // of the legend; nil for plain numbers
	best    bool                 // less is better: the legend says what was least
	name    string               // of the y axis, in the corner where there is room
	margin  int                  // the least width of the y axis, to align charts
	noX     bool                 // a chart beneath has the labels of x
	rules   []float64            // y of guide lines
	marks   []plotMark           // x of events
	clip    [2]float64           // bounds of y, when the second is above the first
	show    [2]float64           // y that are within the axis whatever the data, likewise
	limit   float64              // an x that the axis ends at or before, if the data do; 0 for none
	closed  bool                 // no more points will come
	legend  bool
	waiting string // what to say while there is nothing to draw
}

// epochPlot is a plot of curves over the epochs of the run.
func epochPlot(h *history, curves ...plotCurve) plot {
	return plot{curves: curves, whole: true, marks: h.marks(), limit: float64(h.status.EpochLimit), closed: h.over()}
}

// plotMark is something that happened at an x.
type plotMark struct {
	x    float64
	text string
}

// draw returns the plot as exactly h rows of w columns. Axes appear when there is room for them.
func (c *chart) draw(v *view, p plot, w, h int) []string {
	c.resize(w, h)
	if w < 1 || h < 1 {
		return nil
	}
	a, ok := p.scale()
	if !ok {
		c.write(max(0, (w-cells(p.waiting))/2), (h-1)/2, p.waiting, tokMuted)
		return c.text(v.th)
	}
	ticks, labels := p.yTicks(a, h)
	gutter := p.gutter(labels, w, h)
	bottom := 0
	switch {
	case p.noX:
	case h >= 10 && w >= 24:
		bottom = 2
	case h >= 4 && w >= 24:
		bottom = 1
	}
	a.x, a.y, a.w, a.h = gutter, 0, w-gutter, h-bottom
	c.rules(v, p, a)
	for _, k := range p.curves {
		c.curve(a, v.gl, k.series, k.tok, k.mark, k.dashed)
	}
	c.markNames(v, p, a)
	for _, k := range p.curves {
		if k.alarm {
			c.holes(a, v.gl, k.series)
		}
	}
	if gutter > 0 {
		c.axes(a, bottom == 2)
		c.yLabels(v, a, ticks, labels)
	}
	if bottom > 0 {
		c.xLabels(v, p, a, a.h+bottom-1)
		if cells(p.name) < gutter {
			c.write(0, h-1, p.name, tokMuted)
		}
	}
	if p.legend {
		c.legend(v, p, a)
	}
	return c.text(v.th)
}

// scale finds the ranges of both axes; false when there is nothing to draw.
func (p *plot) scale() (area, bool) {
	a := area{left: math.Inf(1), right: math.Inf(-1), low: math.Inf(1), high: math.Inf(-1), log: p.log}
	for _, k := range p.curves {
		low, high, ok := k.series.bounds(p.log)
		if !ok {
			continue
		}
		a.low, a.high = math.Min(a.low, low), math.Max(a.high, high)
		first, last, _ := k.series.ends()
		a.left, a.right = math.Min(a.left, first), math.Max(a.right, last)
	}
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
	if p.log {
		a.low, a.high = math.Log10(a.low), math.Log10(a.high)
	} else if p.zero {
		a.low = math.Min(a.low, 0)
	}
	a.low, a.high = widen(a.low, a.high, p.log)
	a.low, a.high = p.settle(a.low, a.high)
	if !p.closed {
		a.right = p.ahead(a.right)
	}
	return a, true
}

// settle moves the ends of the y axis outwards to coarse values, so that a new minimum does not move
// every dot of the picture.
func (p *plot) settle(low, high float64) (float64, float64) {
	step := 0.125
	if !p.log {
		step = nice((high - low) / 16)
	}
	if p.log && high-low < 1 {
		step = 0.03125
	}
	return math.Floor(low/step+1e-9) * step, math.Ceil(high/step-1e-9) * step
}

// ahead leaves up to an eighth of the x axis free for what will come, so that the picture grows into it
// instead of being squeezed with every point; a known end is not passed.
func (p *plot) ahead(last float64) float64 {
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

// gutter is how many columns the y axis takes.
func (p *plot) gutter(labels []string, w, h int) int {
	if w < 24 || h < 3 {
		return 0
	}
	widest := 0
	for _, s := range labels {
		widest = max(widest, cells(s))
	}
	return max(widest+1, p.margin)
}

// axis is the width of the y axis that the plot would draw.
func (p *plot) axis(w, h int) int {
	a, ok := p.scale()
	if !ok {
		return 0
	}
	_, labels := p.yTicks(a, h)
	return p.gutter(labels, w, h)
}

func (p *plot) yTicks(a area, h int) (at []float64, labels []string) {
	if p.log {
		at = decades(a.low, a.high, max(2, (h-1)/2))
	} else {
		at = steps(a.low, a.high, max(2, (h+1)/3))
	}
	label := p.label
	if label == nil {
		label = tick
	}
	labels = make([]string, len(at))
	for i, v := range at {
		labels[i] = label(v)
	}
	return at, labels
}

func (c *chart) yLabels(v *view, a area, ticks []float64, labels []string) {
	taken := -1
	for i := len(ticks) - 1; i >= 0; i-- {
		row := a.row(v.gl, ticks[i])
		if row < a.y || row >= a.y+a.h || row == taken {
			continue
		}
		taken = row
		c.write(a.x-1-cells(labels[i]), row, labels[i], tokMuted)
		c.set(a.x-1, row, '┤', tokGrid)
	}
}

// rules draws guide lines and the marks of events under the curves.
func (c *chart) rules(v *view, p plot, a area) {
	for _, y := range p.rules {
		if row := a.row(v.gl, y); (!a.log || y > 0) && a.dotY(v.gl, y) >= 0 && row >= a.y && row < a.y+a.h {
			for x := a.x; x < a.x+a.w; x++ {
				c.set(x, row, '╌', tokGrid)
			}
		}
	}
	for _, m := range p.marks {
		if m.x < a.left || m.x > a.right || a.right <= a.left {
			continue
		}
		x := a.cellX(v.gl, m.x)
		for y := a.y; y < a.y+a.h; y++ {
			c.set(x, y, '┊', tokAccent)
		}
	}
}

// markNames writes what the marks are, over the curves: a name cut in two would read as another.
func (c *chart) markNames(v *view, p plot, a area) {
	for _, m := range p.marks {
		x := a.cellX(v.gl, m.x) + 1
		if m.text != "" && a.h >= 6 && m.x >= a.left && m.x <= a.right && a.right > a.left && x+cells(m.text) < a.x+a.w {
			c.write(x, a.y+a.h-1, m.text, tokMuted)
		}
	}
}

// xLabels writes the ends of the x axis, the last one always, and what fits between them.
func (c *chart) xLabels(v *view, p plot, a area, row int) {
	put := func(x float64, s string) (from, to int) {
		from = a.cellX(v.gl, x) - (cells(s)-1)/2
		from = max(a.x, min(from, a.x+a.w-cells(s)))
		return from, from + cells(s)
	}
	last := p.last()
	s := tick(last)
	if p.whole {
		s = count(int(last))
	}
	from, end := put(last, s)
	c.write(from, row, s, tokMuted)
	if a.right <= a.left {
		return
	}
	limit, used := from-2, a.x-1
	for _, x := range steps(a.left, a.right, max(2, a.w/10)) {
		if p.whole && x != math.Trunc(x) {
			continue
		}
		s := tick(x)
		if from, to := put(x, s); (to <= limit || from >= end+2) && from > used {
			c.write(from, row, s, tokMuted)
			used = to + 1
		}
	}
}

// last is the newest x.
func (p *plot) last() float64 {
	last := math.Inf(-1)
	for _, k := range p.curves {
		if _, x, ok := k.series.ends(); ok {
			last = math.Max(last, x)
		}
	}
	return last
}

// legend names the curves, with their current and best values, in the top right corner: the emptiest
// for quantities that training drives down.
func (c *chart) legend(v *view, p plot, a area) {
	value := p.value
	if value == nil {
		value = number
	}
	rows := make([]string, 0, len(p.curves))
	toks := make([]token, 0, len(p.curves))
	w := 0
	for _, k := range p.curves {
		if k.series.empty() {
			continue
		}
		line := "─── "
		if k.dashed {
			line = "╌╌╌ "
		}
		if v.gl.ascii {
			line = string([]rune{k.mark, k.mark, k.mark, ' '})
		}
		s := line + k.name + "  now " + value(k.series.last())
		if p.best {
			s += "  best " + value(k.series.min) + " at " + count(int(k.series.minAt))
		}
		rows, toks = append(rows, s), append(toks, k.tok)
		w = max(w, cells(s))
	}
	x := a.x + a.w - w - 1
	if x < a.x+2 || len(rows) > a.h-2 {
		return
	}
	for i, s := range rows {
		c.write(x, a.y+i, s+spaces(w-cells(s)), toks[i])
	}
}
