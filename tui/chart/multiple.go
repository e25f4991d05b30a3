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
	Signs        bool // y is drawn by its size, each point as its sign
	Extra        Dot  // a point apart; a Y of NaN is none
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
	l.Write(m.Token, m.Symbol).Write(style.Text, " ")
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
	a.Place(c, v.Glyphs, w, h, x.Margin, x.Labels)
	m.guide(v, c, a, x)
	if !m.Signs || !m.sparse(v, a) {
		DrawPath(c, v.Glyphs, a, m.Token, '*', false, len(m.Y),
			func(i int) (x, y float64) { return m.X[i], m.size(m.Y[i]) })
	}
	m.points(v, c, a)
	if a.H < h {
		x.labels(v, c, a, h-1)
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
	if m.Log {
		a.Low, a.High = math.Log10(a.Low), math.Log10(a.High)
	}
	a.Low, a.High = widen(a.Low, a.High, m.Log)
	step := 0.25
	if !m.Log {
		step = Nice((a.High - a.Low) / 16)
	}
	a.Low, a.High = RoundOutward(a.Low, a.High, step)
	return a, true
}

// Margin is how many columns the y axis needs, in a chart of w columns and h rows with its heading.
func (m *Multiple) Margin(x MultipleAxis, w, h int) int {
	a, ok := m.area(x)
	if !ok {
		return 0
	}
	return YMargin(&a, w, h-1)
}

// guide draws the rule and the iteration that is looked at.
func (m *Multiple) guide(v *style.Pen, c *Canvas, a Area, x MultipleAxis) {
	if row, ok := DrawRule(c, v.Glyphs, a, m.Rule); ok {
		c.Write(a.X+a.W-style.Cells(m.RuleName), row, m.RuleName, style.Muted)
	}
	DrawUpright(c, v.Glyphs, a, x.Cursor, style.Focus)
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
		if (sparse || r == '−') && !(a.log && size == 0) {
			DrawDot(c, v.Glyphs, a, Dot{m.X[i], size, r, t})
		}
	}
	if format.Finite(m.Extra.Y) && (!a.log || m.Extra.Y > 0) {
		DrawDot(c, v.Glyphs, a, m.Extra)
	}
}

// labels writes iterations under a chart, the one that is looked at first.
func (x *MultipleAxis) labels(v *style.Pen, c *Canvas, a Area, row int) {
	put := func(at float64, t style.Token) {
		DrawLabel(c, a, a.CellX(v.Glyphs, at), row, format.Tick(at), t)
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
