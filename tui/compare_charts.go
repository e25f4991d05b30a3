package tui

import (
	"math"

	"github.com/charmbracelet/x/ansi"

	"newtop/internal/format"
	"newtop/tui/layout"
	"newtop/tui/style"
)

// compareCharts are one or two quantities over the runs. The keys of a zoomed chart work on all of them.
type compareCharts struct {
	view    Controls
	charts  [2]Canvas
	shown   []int  // indices into comparedQuantities of what some run has
	at      int    // of shown: the one at the left
	pair    bool   // two are drawn
	flipped []bool // of comparedQuantities: drawn on the scale that is not usual
}

// pairWidth is the least width of two charts side by side.
const pairWidth = 100

// quantity is what the chart at the left or at the right shows.
func (c *compareCharts) quantity(side int) int { return c.shown[(c.at+side)%len(c.shown)] }

// sides is how many charts are on the screen.
func (c *compareCharts) sides() int {
	if c.pair {
		return 2
	}
	return 1
}

// next goes on to the quantities after those on the screen, or back to those before. Of an odd number the last one
// stands beside the first.
func (c *compareCharts) next(by int) {
	if len(c.shown) == 0 {
		return
	}
	each := c.sides()
	n := (len(c.shown) + each - 1) / each
	c.at = ((c.at/each+by)%n + n) % n * each
}

// draw fills a rectangle of the screen.
func (c *compareCharts) draw(m *comparison, r layout.Rect, framed bool) []string {
	c.view.begin()
	c.pair = r.W >= pairWidth && !m.zoomed && len(c.shown) > 1
	if len(c.shown) == 0 {
		return style.Block([]string{"", m.Line(r.W).To(2).Put(style.Muted, "no run has an epoch to show").Full()}, r.W, r.H)
	}
	keys := m.zoomed && r.H >= 8
	if keys {
		r.H--
	}
	left := r
	if c.pair {
		left.W = r.W / 2
	}
	rows := c.one(m, 0, left, framed)
	if c.pair {
		right := layout.Rect{X: left.X + left.W, Y: r.Y, W: r.W - left.W, H: r.H}
		for i, row := range c.one(m, 1, right, framed) {
			rows[i] += row
		}
	}
	if keys {
		rows = append(rows, " "+c.view.KeyLine(&m.Pen, r.W-1))
	}
	return rows
}

// one draws a chart with its title.
func (c *compareCharts) one(m *comparison, side int, r layout.Rect, framed bool) []string {
	k := c.quantity(side)
	p := c.plot(m, k)
	if len(p.curves) == 0 {
		text := m.Line(r.W).To(2).Put(style.Muted, "no run that is shown has a "+comparedQuantities[k].name).Full()
		return style.Block([]string{"", text}, r.W, r.H)
	}
	if c.view.fresh {
		c.view.fresh = false
		c.view.main = p.furthest(c.view.by)
		c.view.advance()
	}
	title := c.title(&p, k, r.W-6)
	if framed {
		return style.Block(withFrame(&m.Pen, style.Border, title, c.show(m, side, p, layout.Rect{X: r.X + 2, Y: r.Y + 1, W: r.W - 4, H: r.H - 2}), r.W), r.W, r.H)
	}
	l := m.Line(r.W).Put(style.Text, " ")
	for _, t := range title {
		l.Put(t.Token, t.Text)
	}
	return style.Block(append([]string{l.Full()}, c.show(m, side, p, layout.Rect{X: r.X, Y: r.Y + 1, W: r.W - 1, H: r.H - 1})...), r.W, r.H)
}

// show draws a chart as the user has set it and remembers where, for the mouse. The table is its legend, if it is in
// sight.
func (c *compareCharts) show(m *comparison, side int, p Plot, r layout.Rect) []string {
	c.view.dress(&p)
	p.legend, p.told = m.zoomed, !m.zoomed
	rows := c.charts[side].draw(&m.Pen, p, r.W, r.H)
	a := c.charts[side].drawn
	a.x, a.y = a.x+r.X, a.y+r.Y
	c.view.shown = append(c.view.shown, Viewport{a, m.Glyphs})
	return rows
}

// furthest is the curve that reaches furthest along an axis: the keys move along it.
func (p *Plot) furthest(by Axis) *Series {
	best := p.curves[0].series
	_, most, _ := best.extent()
	for i := range p.curves {
		if _, last, ok := p.curves[i].series.extent(); ok && last[by] > most[by] {
			best, most = p.curves[i].series, last
		}
	}
	return best
}

// plot says what the chart of a quantity shows: the runs that have it and are not hidden, the selected one over the
// others.
func (c *compareCharts) plot(m *comparison, k int) Plot {
	q := &comparedQuantities[k]
	p := Plot{log: q.log != c.flipped[k], whole: true, closed: true, waiting: "no value above zero: y shows a linear scale"}
	if q.percent {
		p.value, p.label = format.Percent, format.Percent
		if !p.log {
			p.label = func(v float64) string { return format.Tick(format.Round(100*v, 4)) + "%" }
		}
	}
	add := func(i int) {
		r := &m.runs[i]
		if r.hidden || r.series[k].empty() {
			return
		}
		ink := style.RacerToken(i)
		if m.faded && i != m.at {
			ink = style.Grid
		}
		letter := style.RacerLetter(i)
		p.curves = append(p.curves, Curve{name: letter + " " + ansi.Truncate(r.label, 16, "…"), Token: ink, series: &r.series[k],
			dashed: i%2 == 1, alarm: q.alarm, mark: rune(letter[0]), tag: letter})
	}
	for i := range m.runs {
		if i != m.at {
			add(i)
		}
	}
	add(m.at)
	if some := c.within(p.curves); len(some) > 0 {
		p.curves = some
	}
	if selected := &m.runs[m.at]; !selected.hidden {
		p.marks = selected.marks(c.view.by)
	}
	if m.target >= 0 && q.name == m.runs[0].measure.Name() {
		p.rules = []float64{m.targets[m.target]}
	}
	return p
}

// within returns the curves that have a point in the part of x that is shown: the others would stretch y for nothing.
func (c *compareCharts) within(curves []Curve) (some []Curve) {
	cv := &c.view
	if !cv.zoomed() {
		return curves
	}
	for _, k := range curves {
		if first, last, ok := k.series.extent(); ok && first[cv.by] <= cv.window[1] && last[cv.by] >= cv.window[0] {
			some = append(some, k)
		}
	}
	return some
}

// title names a chart, its axes and how it is smoothed, as far as there is room.
func (c *compareCharts) title(p *Plot, k, room int) []style.Part {
	parts := []style.Part{style.Strong.Of(comparedQuantities[k].name)}
	var rest []string
	rest = append(rest, "by "+c.view.by.Words())
	if c.view.half > 0 {
		rest = append(rest, "smoothed "+format.Tick(c.view.half))
	}
	if p.log {
		rest = append(rest, "log")
	}
	if c.view.logX {
		rest = append(rest, "log x")
	}
	for _, s := range rest {
		if style.Width(parts)+style.Cells(s)+2 <= room {
			parts = append(parts, style.Muted.Of("  "+s))
		}
	}
	return parts
}

// here is the value of a quantity that a run has at the cursor, or had last before it; empty for none.
func (c *compareCharts) here(r *comparedRun, k int) string {
	at := c.view.cursor[c.view.by]
	value := math.NaN()
	for _, b := range Visible(r.series[k].fine(), c.view.by, at, at) {
		if b.x1[c.view.by] <= at*(1+1e-12) && b.n > 0 {
			value = b.last
		}
	}
	switch {
	case math.IsNaN(value):
		return ""
	case comparedQuantities[k].percent:
		return format.Percent(value)
	}
	return format.Number(value)
}
