package chart

import (
	"math"

	"newtop/internal/format"
	"newtop/tui/style"
)

// Multiple is one of the small charts that stand side by side, all with the same iterations along x.
type Multiple struct {
	Symbol, Name string
	Value        []style.Part // at the iteration that is looked at
	Token        style.Token  // of the line
	X, Y         []float64    // points; a y that is not finite is left out
	Log          bool
	Zero         bool    // the linear axis has zero
	Rule         float64 // y of a guide line, NaN for none
	RuleName     string
	Signs        bool         // y is drawn by its size, each point as its sign
	Extra        MultipleMark // a point apart
}

// MultipleMark is one character at a place of a chart. The zero value is none.
type MultipleMark struct {
	Rune  rune
	Token style.Token
	X, Y  float64
}

// MultipleAxis is what the multiples have in common along x.
type MultipleAxis struct {
	Left, Right float64
	Cursor      float64 // the iteration that is looked at
	Margin      int     // the width of the y axis
	Labels      bool    // whether x is labelled
}

// Draw returns a heading and the chart beneath it: h rows, none wider than w.
func (m *Multiple) Draw(v *style.Pen, c *Canvas, x MultipleAxis, w, h int) []string {
	l := v.Line(w)
	l.Put(m.Token, m.Symbol).Put(style.Text, " ")
	for _, p := range m.Value {
		l.Group(p)
	}
	if m.Name != "" {
		l.Group(style.Muted.Of("  " + m.Name))
	}
	c.Resize(w, h-1)
	if h >= 2 && w >= 2 {
		m.paint(v, c, x, w, h-1)
	}
	return append([]string{l.Full()}, c.Rows(v)...)
}

func (m *Multiple) paint(v *style.Pen, c *Canvas, x MultipleAxis, w, h int) {
	a, ok := m.area(x)
	if !ok {
		c.Write(max(0, (w-style.Cells("not told"))/2), (h-1)/2, "not told", style.Muted)
		return
	}
	ticks, labels := m.ticks(a, h)
	a.X, a.H = x.Margin, h
	if x.Labels && h >= 4 {
		a.H--
	}
	a.W = w - a.X
	m.guide(v, c, a, x)
	m.line(v, c, a)
	m.points(v, c, a)
	if a.X > 0 {
		MultipleTicks(v, c, a, ticks, labels)
	}
	if x.Labels && h >= 4 {
		multipleLabels(v, c, a, x, h-1)
	}
}

// size is what is drawn of a value.
func (m *Multiple) size(y float64) float64 {
	if m.Signs {
		return math.Abs(y)
	}
	return y
}

// area finds the range of y; false when there is nothing to draw.
func (m *Multiple) area(x MultipleAxis) (Area, bool) {
	a := Area{Left: x.Left, Right: x.Right, Low: math.Inf(1), High: math.Inf(-1), log: m.Log}
	use := func(y float64) {
		if y = m.size(y); format.Finite(y) && (!m.Log || y > 0) {
			a.Low, a.High = min(a.Low, y), max(a.High, y)
		}
	}
	use(m.Rule)
	use(m.Extra.Y)
	for _, y := range m.Y {
		use(y)
	}
	if a.Low > a.High {
		return a, false
	}
	if m.Zero {
		a.Low, a.High = math.Min(a.Low, 0), math.Max(a.High, 0)
	}
	step := 0.25
	if m.Log {
		a.Low, a.High = math.Log10(a.Low), math.Log10(a.High)
	}
	if a.High-a.Low <= 1e-9*math.Max(math.Abs(a.Low), math.Abs(a.High)) || a.High == a.Low {
		by := 0.5
		if !m.Log && a.Low != 0 {
			by = math.Abs(a.Low) / 2
		}
		a.Low, a.High = a.Low-by, a.High+by
	}
	if !m.Log {
		step = Nice((a.High - a.Low) / 16)
	}
	if low, high := math.Floor(a.Low/step+1e-9)*step, math.Ceil(a.High/step-1e-9)*step; format.Finite(low) && format.Finite(high) {
		a.Low, a.High = low, high
	}
	return a, true
}

func (m *Multiple) ticks(a Area, h int) (at []float64, labels []string) {
	if m.Log {
		at = Decades(a.Low, a.High, max(2, (h-1)/2))
	} else {
		at = Steps(a.Low, a.High, max(2, (h+1)/3))
	}
	for _, y := range at {
		labels = append(labels, format.Tick(y))
	}
	return at, labels
}

// Margin is how many columns the y axis needs, in a chart of w columns and h rows with its heading.
func (m *Multiple) Margin(x MultipleAxis, w, h int) int {
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
	if row := a.Row(v.Glyphs, m.Rule); format.Finite(m.Rule) && row >= a.Y && row < a.Y+a.H {
		for i := a.X; i < a.X+a.W; i++ {
			c.Set(i, row, '╌', style.Grid)
		}
		c.Write(a.X+a.W-style.Cells(m.RuleName), row, m.RuleName, style.Muted)
	}
	if x.Cursor >= a.Left && x.Cursor <= a.Right {
		for y := a.Y; y < a.Y+a.H; y++ {
			c.Set(a.CellX(v.Glyphs, x.Cursor), y, '┊', style.Focus)
		}
	}
}

// line joins the points; of many in one column the least and the greatest are joined.
func (m *Multiple) line(v *style.Pen, c *Canvas, a Area) {
	mark := '*'
	if m.Signs && m.sparse(v, a) {
		return
	}
	px, py, before := 0, 0, false
	for i, y := range m.Y {
		y = m.size(y)
		if !format.Finite(y) || a.log && y <= 0 {
			before = false
			continue
		}
		x, y := a.DotX(v.Glyphs, m.X[i]), a.DotY(v.Glyphs, y)
		if before {
			c.Segment(a, v.Glyphs, px, py, x, y, false)
		} else {
			c.Dot(a, v.Glyphs, x, y)
		}
		px, py, before = x, y, true
	}
	c.Flush(a, v.Glyphs, m.Token, mark)
}

// sparse reports whether the points stand far enough apart for a character each.
func (m *Multiple) sparse(v *style.Pen, a Area) bool {
	return a.CellX(v.Glyphs, a.Left+1)-a.X >= 3
}

// points marks each iteration where there is room, and what must be seen in any case.
func (m *Multiple) points(v *style.Pen, c *Canvas, a Area) {
	sparse := m.sparse(v, a)
	for i, y := range m.Y {
		size := m.size(y)
		if !format.Finite(y) {
			continue
		}
		r, t := '●', m.Token
		if m.Signs {
			r = '+'
			if y <= 0 {
				r, t = '−', style.NegativeCurvature
			}
		}
		if !sparse && r != '−' || a.log && size == 0 {
			continue
		}
		c.Set(a.CellX(v.Glyphs, m.X[i]), a.Row(v.Glyphs, size), r, t)
	}
	if m.Extra.Rune != 0 && format.Finite(m.Extra.Y) && (!a.log || m.Extra.Y > 0) {
		c.Set(a.CellX(v.Glyphs, m.Extra.X), a.Row(v.Glyphs, m.Extra.Y), m.Extra.Rune, m.Extra.Token)
	}
}

// MultipleTicks labels y.
func MultipleTicks(v *style.Pen, c *Canvas, a Area, ticks []float64, labels []string) {
	for y := a.Y; y < a.Y+a.H; y++ {
		c.Set(a.X-1, y, '│', style.Grid)
	}
	taken := -1
	for i := len(ticks) - 1; i >= 0; i-- {
		row := a.Row(v.Glyphs, ticks[i])
		if row < a.Y || row >= a.Y+a.H || row == taken || style.Cells(labels[i]) > a.X-1 {
			continue
		}
		taken = row
		c.Write(a.X-1-style.Cells(labels[i]), row, labels[i], style.Muted)
		c.Set(a.X-1, row, '┤', style.Grid)
	}
}

// multipleLabels writes iterations under a chart, the one that is looked at first.
func multipleLabels(v *style.Pen, c *Canvas, a Area, x MultipleAxis, row int) {
	used := make([]bool, c.W)
	put := func(at float64, t style.Token) {
		s := format.Tick(at)
		from := a.CellX(v.Glyphs, at) - (style.Cells(s)-1)/2
		from = max(a.X, min(from, a.X+a.W-style.Cells(s)))
		for i := max(from-1, 0); i < min(from+style.Cells(s)+1, c.W); i++ {
			if used[i] {
				return
			}
		}
		for i := max(from, 0); i < min(from+style.Cells(s), c.W); i++ {
			used[i] = true
		}
		c.Write(from, row, s, t)
	}
	if x.Cursor >= a.Left && x.Cursor <= a.Right {
		put(x.Cursor, style.Focus)
	}
	for _, at := range Steps(a.Left, a.Right, max(2, a.W/8)) {
		if at == math.Trunc(at) {
			put(at, style.Muted)
		}
	}
}
