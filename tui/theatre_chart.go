package tui

import (
	"math"

	"newtop/internal/format"
	"newtop/tui/style"
)

// Multiple is one of the small charts that stand side by side, all with the same iterations along x.
type Multiple struct {
	symbol, name string
	value        []style.Part // at the iteration that is looked at
	Token        style.Token  // of the line
	x, y         []float64    // points; a y that is not finite is left out
	log          bool
	zero         bool    // the linear axis has zero
	rule         float64 // y of a guide line, NaN for none
	ruleName     string
	signs        bool         // y is drawn by its size, each point as its sign
	extra        MultipleMark // a point apart
}

// MultipleMark is one character at a place of a chart. The zero value is none.
type MultipleMark struct {
	Rune  rune
	Token style.Token
	x, y  float64
}

// MultipleAxis is what the multiples have in common along x.
type MultipleAxis struct {
	left, right float64
	cursor      float64 // the iteration that is looked at
	margin      int     // the width of the y axis
	labels      bool    // whether x is labelled
}

// draw returns a heading and the chart beneath it: h rows, none wider than w.
func (m *Multiple) draw(v *style.Pen, c *Canvas, x MultipleAxis, w, h int) []string {
	l := v.Line(w)
	l.Put(m.Token, m.symbol).Put(style.Text, " ")
	for _, p := range m.value {
		l.Group(p)
	}
	if m.name != "" {
		l.Group(style.Muted.Of("  " + m.name))
	}
	c.resize(w, h-1)
	if h >= 2 && w >= 2 {
		m.paint(v, c, x, w, h-1)
	}
	return append([]string{l.Full()}, c.Rows(v)...)
}

func (m *Multiple) paint(v *style.Pen, c *Canvas, x MultipleAxis, w, h int) {
	a, ok := m.area(x)
	if !ok {
		c.write(max(0, (w-style.Cells("not told"))/2), (h-1)/2, "not told", style.Muted)
		return
	}
	ticks, labels := m.ticks(a, h)
	a.x, a.h = x.margin, h
	if x.labels && h >= 4 {
		a.h--
	}
	a.w = w - a.x
	m.guide(v, c, a, x)
	m.line(v, c, a)
	m.points(v, c, a)
	if a.x > 0 {
		multipleTicks(v, c, a, ticks, labels)
	}
	if x.labels && h >= 4 {
		multipleLabels(v, c, a, x, h-1)
	}
}

// size is what is drawn of a value.
func (m *Multiple) size(y float64) float64 {
	if m.signs {
		return math.Abs(y)
	}
	return y
}

// area finds the range of y; false when there is nothing to draw.
func (m *Multiple) area(x MultipleAxis) (Area, bool) {
	a := Area{left: x.left, right: x.right, low: math.Inf(1), high: math.Inf(-1), log: m.log}
	use := func(y float64) {
		if y = m.size(y); format.Finite(y) && (!m.log || y > 0) {
			a.low, a.high = min(a.low, y), max(a.high, y)
		}
	}
	use(m.rule)
	use(m.extra.y)
	for _, y := range m.y {
		use(y)
	}
	if a.low > a.high {
		return a, false
	}
	if m.zero {
		a.low, a.high = math.Min(a.low, 0), math.Max(a.high, 0)
	}
	step := 0.25
	if m.log {
		a.low, a.high = math.Log10(a.low), math.Log10(a.high)
	}
	if a.high-a.low <= 1e-9*math.Max(math.Abs(a.low), math.Abs(a.high)) || a.high == a.low {
		by := 0.5
		if !m.log && a.low != 0 {
			by = math.Abs(a.low) / 2
		}
		a.low, a.high = a.low-by, a.high+by
	}
	if !m.log {
		step = Nice((a.high - a.low) / 16)
	}
	if low, high := math.Floor(a.low/step+1e-9)*step, math.Ceil(a.high/step-1e-9)*step; format.Finite(low) && format.Finite(high) {
		a.low, a.high = low, high
	}
	return a, true
}

func (m *Multiple) ticks(a Area, h int) (at []float64, labels []string) {
	if m.log {
		at = Decades(a.low, a.high, max(2, (h-1)/2))
	} else {
		at = Steps(a.low, a.high, max(2, (h+1)/3))
	}
	for _, y := range at {
		labels = append(labels, format.Tick(y))
	}
	return at, labels
}

// margin is how many columns the y axis needs, in a chart of w columns and h rows with its heading.
func (m *Multiple) margin(x MultipleAxis, w, h int) int {
	a, ok := m.area(x)
	if !ok || w < 24 {
		return 0
	}
	_, labels := m.ticks(a, h-1)
	widest := 0
	for _, s := range labels {
		widest = max(widest, style.Cells(s)+1)
	}
	return min(widest, w/2)
}

// guide draws the rule and the iteration that is looked at.
func (m *Multiple) guide(v *style.Pen, c *Canvas, a Area, x MultipleAxis) {
	if row := a.row(v.Glyphs, m.rule); format.Finite(m.rule) && row >= a.y && row < a.y+a.h {
		for i := a.x; i < a.x+a.w; i++ {
			c.set(i, row, '╌', style.Grid)
		}
		c.write(a.x+a.w-style.Cells(m.ruleName), row, m.ruleName, style.Muted)
	}
	if x.cursor >= a.left && x.cursor <= a.right {
		for y := a.y; y < a.y+a.h; y++ {
			c.set(a.cellX(v.Glyphs, x.cursor), y, '┊', style.Focus)
		}
	}
}

// line joins the points; of many in one column the least and the greatest are joined.
func (m *Multiple) line(v *style.Pen, c *Canvas, a Area) {
	mark := '*'
	if m.signs && m.sparse(v, a) {
		return
	}
	px, py, before := 0, 0, false
	for i, y := range m.y {
		y = m.size(y)
		if !format.Finite(y) || a.log && y <= 0 {
			before = false
			continue
		}
		x, y := a.dotX(v.Glyphs, m.x[i]), a.dotY(v.Glyphs, y)
		if before {
			c.segment(a, v.Glyphs, px, py, x, y, false)
		} else {
			c.dot(a, v.Glyphs, x, y)
		}
		px, py, before = x, y, true
	}
	c.flush(a, v.Glyphs, m.Token, mark)
}

// sparse reports whether the points stand far enough apart for a character each.
func (m *Multiple) sparse(v *style.Pen, a Area) bool {
	return a.cellX(v.Glyphs, a.left+1)-a.x >= 3
}

// points marks each iteration where there is room, and what must be seen in any case.
func (m *Multiple) points(v *style.Pen, c *Canvas, a Area) {
	sparse := m.sparse(v, a)
	for i, y := range m.y {
		size := m.size(y)
		if !format.Finite(y) {
			continue
		}
		r, t := '●', m.Token
		if m.signs {
			r = '+'
			if y <= 0 {
				r, t = '−', style.NegativeCurvature
			}
		}
		if !sparse && r != '−' || a.log && size == 0 {
			continue
		}
		c.set(a.cellX(v.Glyphs, m.x[i]), a.row(v.Glyphs, size), r, t)
	}
	if m.extra.Rune != 0 && format.Finite(m.extra.y) && (!a.log || m.extra.y > 0) {
		c.set(a.cellX(v.Glyphs, m.extra.x), a.row(v.Glyphs, m.extra.y), m.extra.Rune, m.extra.Token)
	}
}

// multipleTicks labels y.
func multipleTicks(v *style.Pen, c *Canvas, a Area, ticks []float64, labels []string) {
	for y := a.y; y < a.y+a.h; y++ {
		c.set(a.x-1, y, '│', style.Grid)
	}
	taken := -1
	for i := len(ticks) - 1; i >= 0; i-- {
		row := a.row(v.Glyphs, ticks[i])
		if row < a.y || row >= a.y+a.h || row == taken || style.Cells(labels[i]) > a.x-1 {
			continue
		}
		taken = row
		c.write(a.x-1-style.Cells(labels[i]), row, labels[i], style.Muted)
		c.set(a.x-1, row, '┤', style.Grid)
	}
}

// multipleLabels writes iterations under a chart, the one that is looked at first.
func multipleLabels(v *style.Pen, c *Canvas, a Area, x MultipleAxis, row int) {
	used := make([]bool, c.w)
	put := func(at float64, t style.Token) {
		s := format.Tick(at)
		from := a.cellX(v.Glyphs, at) - (style.Cells(s)-1)/2
		from = max(a.x, min(from, a.x+a.w-style.Cells(s)))
		for i := max(from-1, 0); i < min(from+style.Cells(s)+1, c.w); i++ {
			if used[i] {
				return
			}
		}
		for i := max(from, 0); i < min(from+style.Cells(s), c.w); i++ {
			used[i] = true
		}
		c.write(from, row, s, t)
	}
	if x.cursor >= a.left && x.cursor <= a.right {
		put(x.cursor, style.Focus)
	}
	for _, at := range Steps(a.left, a.right, max(2, a.w/8)) {
		if at == math.Trunc(at) {
			put(at, style.Muted)
		}
	}
}
