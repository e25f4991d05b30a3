package compare

import (
	"math"

	"github.com/charmbracelet/x/ansi"

	"newtop/internal/format"
	"newtop/tui/chart"
	"newtop/tui/layout"
	"newtop/tui/style"
	"newtop/tui/widget"
)

// compareCharts are one or two quantities over the runs. The keys of a zoomed chart work on all of them.
type compareCharts struct {
	view    chart.Controls
	charts  [2]chart.Canvas
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
func (c *compareCharts) draw(m *model, r layout.Rect, framed bool) []string {
	c.view.Begin()
	c.pair = r.W >= pairWidth && !m.zoomed && len(c.shown) > 1
	if len(c.shown) == 0 {
		return style.Block([]string{"", m.Line(r.W).To(2).Put(style.Muted, "no run has an epoch to show").Full()}, r.W,
			r.H)
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
func (c *compareCharts) one(m *model, side int, r layout.Rect, framed bool) []string {
	k := c.quantity(side)
	p := c.plot(m, k)
	if len(p.Curves) == 0 {
		text := m.Line(r.W).To(2).Put(style.Muted, "no run that is shown has a "+comparedQuantities[k].Name).Full()
		return style.Block([]string{"", text}, r.W, r.H)
	}
	if c.view.Fresh {
		c.view.Fresh = false
		c.view.Main = p.Furthest(c.view.By)
		c.view.Advance()
	}
	title := c.title(&p, k, r.W-6)
	if framed {
		return style.Block(widget.Framed(&m.Pen, style.Border, title,
			c.show(m, side, p, layout.Rect{X: r.X + 2, Y: r.Y + 1, W: r.W - 4, H: r.H - 2}), r.W), r.W, r.H)
	}
	l := m.Line(r.W).Put(style.Text, " ")
	for _, t := range title {
		l.Put(t.Token, t.Text)
	}
	return style.Block(append([]string{l.Full()}, c.show(m, side, p,
		layout.Rect{X: r.X, Y: r.Y + 1, W: r.W - 1, H: r.H - 1})...), r.W, r.H)
}

// show draws a chart as the user has set it and remembers where, for the mouse. The table is its legend, if it is in
// sight.
func (c *compareCharts) show(m *model, side int, p chart.Plot, r layout.Rect) []string {
	c.view.Dress(&p)
	p.Legend, p.Told = m.zoomed, !m.zoomed
	return c.view.DrawAt(&m.Pen, &c.charts[side], p, r.X, r.Y, r.W, r.H)
}

// plot says what the chart of a quantity shows: the runs that have it and are not hidden, the selected one over the
// others.
func (c *compareCharts) plot(m *model, k int) chart.Plot {
	q := &comparedQuantities[k]
	p := chart.Plot{Log: q.Log != c.flipped[k], Whole: true, Closed: true,
		Waiting: "no value above zero: y shows a linear scale"}
	if q.Share {
		p.Percent()
	}
	add := func(i int) {
		r := &m.runs[i]
		if r.hidden || r.series[k].Empty() {
			return
		}
		ink := style.RacerToken(i)
		if m.faded && i != m.at {
			ink = style.Grid
		}
		letter := style.RacerLetter(i)
		p.Curves = append(p.Curves, chart.Curve{Name: letter + " " + ansi.Truncate(r.label, 16, "…"), Token: ink,
			Series: &r.series[k],
			Dashed: i%2 == 1, Mark: rune(letter[0]), Tag: letter})
	}
	for i := range m.runs {
		if i != m.at {
			add(i)
		}
	}
	add(m.at)
	if some := c.within(p.Curves); len(some) > 0 {
		p.Curves = some
	}
	if selected := &m.runs[m.at]; !selected.hidden {
		p.Marks = selected.marks(c.view.By)
	}
	if m.target >= 0 && q.Name == m.runs[0].measure.Info().Name {
		p.Rules = []float64{m.targets[m.target]}
	}
	return p
}

// within returns the curves that have a point in the part of x that is shown: the others would stretch y for nothing.
func (c *compareCharts) within(curves []chart.Curve) (some []chart.Curve) {
	cv := &c.view
	if !cv.Zoomed() {
		return curves
	}
	for _, k := range curves {
		if first, last, ok := k.Series.Extent(); ok && first[cv.By] <= cv.Window[1] && last[cv.By] >= cv.Window[0] {
			some = append(some, k)
		}
	}
	return some
}

// title names a chart, its axes and how it is smoothed, as far as there is room.
func (c *compareCharts) title(p *chart.Plot, k, room int) []style.Part {
	parts := []style.Part{style.Strong.Of(comparedQuantities[k].Name)}
	var rest []string
	rest = append(rest, "by "+c.view.By.Words())
	if c.view.Half > 0 {
		rest = append(rest, "smoothed "+format.Tick(c.view.Half))
	}
	if p.Log {
		rest = append(rest, "log")
	}
	if c.view.LogX {
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
	at := c.view.Cursor[c.view.By]
	value := math.NaN()
	for _, b := range chart.Visible(r.series[k].Fine(), c.view.By, at, at) {
		if b.X1[c.view.By] <= at*(1+1e-12) && b.N > 0 {
			value = b.Last
		}
	}
	switch {
	case math.IsNaN(value):
		return ""
	case comparedQuantities[k].Share:
		return format.Percent(value)
	}
	return format.Number(value)
}
