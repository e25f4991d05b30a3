package chart

import (
	"math"
	"slices"

	"github.com/NimbleMarkets/ntcharts/v2/canvas/runes"

	"newtop/internal/format"
	"newtop/tui/style"
)

// gutter is how many columns the y axis takes.
func (p *Plot) gutter(labels []string, w, h int) int {
	if w < 24 || h < 3 {
		return 0
	}
	if gutter := max(widest(labels)+1, p.Y.Margin); w-gutter >= 12 {
		return gutter
	}
	return 0
}

// widest is the width of the widest label.
func widest(labels []string) int {
	n := 0
	for _, s := range labels {
		n = max(n, style.Cells(s))
	}
	return n
}

// Axis is the width of the y axis that the plot would draw.
func (p *Plot) Axis(w, h int) int {
	a, ok := p.scale()
	if !ok {
		return 0
	}
	_, labels := p.ticksY(&a, h)
	return p.gutter(labels, w, h)
}

// ticksY are the ticks of the y axis and their labels: what stands at the floor is less than any tick.
func (p *Plot) ticksY(a *Area, h int) (at []float64, labels []string) {
	at, labels = yTicks(a, h, p.Y.Unit)
	if !p.Log || !(p.Y.Floor > 0) {
		return at, labels
	}
	above, _ := slices.BinarySearch(at, p.Y.Floor)
	return append(slices.Clone(at[above:]), p.Y.Floor), append(slices.Clone(labels[above:]), p.Y.Bottom)
}

// yTicks are the ticks of an area's y axis in a chart of h rows, and their labels.
func yTicks(a *Area, h int, unit string) (at []float64, labels []string) {
	if a.log {
		at = Decades(a.Low, a.High, max(2, (h-1)/2))
	} else {
		at = Steps(a.Low, a.High, max(2, (h+1)/3))
	}
	shown := at
	if a.down {
		shown = make([]float64, len(at))
		for i, y := range at {
			shown[i] = 1 - y
		}
	}
	return at, format.AxisLabels(shown, unit).All(shown)
}

// DrawYAxis draws the line at the left of an area, and labels rows of it from the last to the first: one a row, and
// none that is wider than the axis.
func DrawYAxis(c *Canvas, a Area, rows []int, labels []string) {
	for y := a.Y; y < a.Y+a.H; y++ {
		c.Set(a.X-1, y, runes.LineVertical, style.Grid)
	}
	for i := len(rows) - 1; i >= 0; i-- {
		n, line := style.Cells(labels[i]), c.At(a.X-1, rows[i])
		if rows[i] < a.Y || rows[i] >= a.Y+a.H || n > a.X-1 || line == nil || line.R != runes.LineVertical {
			continue
		}
		c.Write(a.X-1-n, rows[i], labels[i], style.Muted)
		c.Set(a.X-1, rows[i], runes.LineVerticalLeft, style.Grid)
	}
}

// YMargin is how many columns the y axis of an area needs in a chart of w columns and h rows, 0 in one too narrow for
// it.
func YMargin(a *Area, w, h int) int {
	if w < 24 {
		return 0
	}
	_, labels := yTicks(a, h, "")
	return min(widest(labels)+1, w/2)
}

// Place puts an area into w × h cells with its y axis at the left, if that has a margin. If x is labelled and there is
// room, the last row is left for that.
func (a *Area) Place(c *Canvas, g *style.GlyphSet, w, h, margin int, labelled bool) {
	ticks, labels := yTicks(a, h, "")
	a.X, a.Y, a.W, a.H = margin, 0, w-margin, h
	if labelled && h >= 4 {
		a.H--
	}
	if margin > 0 {
		DrawYAxis(c, *a, tickRows(g, a, ticks), labels)
	}
}

// tickRows are the rows of values.
func tickRows(g *style.GlyphSet, a *Area, at []float64) []int {
	rows := make([]int, len(at))
	for i, y := range at {
		rows[i] = a.Row(g, y)
	}
	return rows
}

// drawSmallTicks marks what lies between powers of ten, where there are many rows for each.
func drawSmallTicks(c *Canvas, g *style.GlyphSet, a Area) {
	if float64(a.H) < 8*(a.High-a.Low) {
		return
	}
	for _, y := range Powers(a.Low, a.High, 9*a.H, []float64{1, 2, 3, 4, 5, 6, 7, 8, 9}) {
		if row := a.Row(g, y); row >= a.Y && row < a.Y+a.H && c.At(a.X-1, row).R == runes.LineVertical {
			c.Set(a.X-1, row, runes.LineVerticalRight, style.Grid)
		}
	}
}

// DrawRule draws a guide line at a y within an area, and returns its row; false for one outside.
func DrawRule(c *Canvas, g *style.GlyphSet, a Area, y float64) (row int, ok bool) {
	row = a.Row(g, y)
	if !format.Finite(y) || a.log && y <= 0 || a.DotY(g, y) < 0 || row >= a.Y+a.H {
		return row, false
	}
	for x := a.X; x < a.X+a.W; x++ {
		c.Set(x, row, '╌', style.Grid)
	}
	return row, true
}

// DrawUpright draws a guide line at an x within an area.
func DrawUpright(c *Canvas, g *style.GlyphSet, a Area, x float64, t style.Token) {
	if t := a.across(x); !(t >= a.Left && t <= a.Right) {
		return
	}
	for y := a.Y; y < a.Y+a.H; y++ {
		c.Set(a.CellX(g, x), y, '┊', t)
	}
}

// DrawLabel writes a label under an area, in the middle of a column as far as the area goes, and reports whether it
// found room: it keeps two cells apart from what is before it, and one from what is after.
func DrawLabel(c *Canvas, a Area, column, row int, s string, t style.Token) bool {
	n := style.Cells(s)
	from := max(a.X, min(column-(n-1)/2, a.X+a.W-n))
	for x := from - 2; x <= from+n; x++ {
		if g := c.At(x, row); g != nil && g.R != 0 {
			return false
		}
	}
	c.Write(from, row, s, t)
	return true
}

// drawRules draws guide lines and the marks of events under the curves.
func drawRules(c *Canvas, v *style.Pen, p *Plot, a Area) {
	for _, y := range p.Rules {
		DrawRule(c, v.Glyphs, a, y)
	}
	for _, m := range p.Marks {
		if a.has(m.X) {
			DrawUpright(c, v.Glyphs, a, m.X, style.Accent)
		}
	}
}

// drawMarkNames writes what the marks are, over the curves: a name cut in two would read as another. A chart with
// detail has them on several rows, at its top where they would hide a curve at its bottom; the box at the cursor
// has those that find no room.
func drawMarkNames(c *Canvas, v *style.Pen, p *Plot, a Area) {
	if a.H < 6 {
		return
	}
	rows := []int{a.Y + a.H - 1}
	for k := 1; p.Detail && k <= a.H/8; k++ {
		rows = append(rows, a.Y+a.H-1-k)
	}
	for k := 0; p.Detail && k <= a.H/8; k++ {
		rows = append(rows, a.Y+k)
	}
	ends := map[int]int{}
	for i := len(p.Marks) - 1; i >= 0; i-- { // the latest matter most
		m := p.Marks[i]
		x := a.CellX(v.Glyphs, m.X) + 1
		n := style.Cells(m.Text)
		if m.Text == "" || !a.has(m.X) || x+n >= a.X+a.W {
			continue
		}
		var free [][2]int
		for _, row := range rows {
			if end, ok := ends[row]; !ok || x+n < end {
				free = append(free, [2]int{x, row})
			}
		}
		const bearable = 5
		if at, hidden := emptiest(c, n, 1, free); len(free) > 0 && (!p.Detail || hidden <= bearable) {
			ends[at[1]] = x
			c.Write(x, at[1], m.Text, style.Muted)
		}
	}
}

// drawXLabels writes the ends of the x axis, the latest x always, and what fits between them. The label at the right
// has the unit.
func drawXLabels(c *Canvas, v *style.Pen, p *Plot, a Area, row int) {
	if len(p.Names) > 0 {
		drawNames(c, v, p, a, row)
		return
	}
	latest := p.last()
	if a.Right > a.Left {
		latest = math.Max(a.back(a.Left), math.Min(latest, a.back(a.Right)))
	}
	var at []float64
	if a.Right > a.Left {
		at = p.ticks(a)
	}
	epochs := p.Whole && p.By == Epochs
	if epochs {
		if x := math.Floor(latest + 1e-6); a.has(x) || a.Right <= a.Left { // a logarithm and back may be a little less
			latest = x
		}
		at = slices.DeleteFunc(at, func(x float64) bool { return x != math.Trunc(x) })
	}
	unit := ""
	switch {
	case p.Unit && !p.clocked(a):
		unit = p.unitOf(a.W)
	case p.Unit && latest < 3600:
		unit = " min:s"
	case p.Unit:
		unit = " h:min:s"
	}
	labels := format.AxisLabels(at, "")
	label := func(x float64) string {
		switch {
		case p.clocked(a):
			return format.Clock(x)
		case epochs && x == math.Trunc(x):
			return format.Count(int(x))
		}
		return labels.Of(x)
	}
	said := map[string]bool{}
	put := func(x float64, unit string) {
		s := label(x)
		if !said[s] && DrawLabel(c, a, a.CellX(v.Glyphs, x), row, s+unit, style.Muted) {
			said[s] = true
			if p.Detail && row == a.Y+a.H+1 {
				c.Set(a.CellX(v.Glyphs, x), a.Y+a.H, runes.LineHorizontalDown, style.Grid)
			}
		}
	}
	if k := len(at) - 1; k >= 0 && roomBetween(c, v, a, latest, at[k], label(latest), label(at[k])+unit) {
		put(at[k], unit)
		unit = ""
	}
	if put(latest, unit); unit != "" { // a unit stands behind all numbers
		at = slices.DeleteFunc(at, func(x float64) bool { return x > latest })
	}
	for _, x := range at {
		put(x, "")
	}
}

// roomBetween reports whether the label of a later x, which may end at the right edge, leaves room for that of an x.
func roomBetween(c *Canvas, v *style.Pen, a Area, x, later float64, s, further string) bool {
	return later > x && a.CellX(v.Glyphs, x)+style.Cells(s)/2+2 < min(
		a.CellX(v.Glyphs, later)-(style.Cells(further)-1)/2, a.X+a.W-style.Cells(further))
}

// ticks are the places of the labels within an area.
func (x *XAxis) ticks(a Area) []float64 {
	n := max(2, a.W/10)
	switch {
	case x.LogX:
		return Decades(a.Left, a.Right, n)
	case x.clocked(a):
		return clockSteps(a.Left, a.Right, n)
	}
	return Steps(a.Left, a.Right, n)
}

// clocked reports whether x are written as minutes and hours.
func (x *XAxis) clocked(a Area) bool { return x.By == Seconds && !x.LogX && a.Right >= 100 }

// unitOf follows the last label of an axis of w columns.
func (x *XAxis) unitOf(w int) string {
	const wide = 60
	if x.Over != "" && x.By == Epochs {
		return " " + x.Over
	}
	if w < wide {
		return [AxisCount]string{" " + x.counted() + "s", " s", " equivalents"}[x.By]
	}
	return [AxisCount]string{" " + x.counted() + "s", " s", " gradient equivalents"}[x.By]
}

// spanOf writes a number of epochs.
func (x *XAxis) spanOf(n float64) string {
	if x.Over != "" {
		return format.Tick(n) + " " + x.Over
	}
	if n == 1 {
		return "1 " + x.counted()
	}
	return format.Tick(n) + " " + x.counted() + "s"
}

// Counting names an axis over what a run counts, "" for epochs.
func (by Axis) Counting(counted string) string {
	if by == Epochs && counted != "" {
		return counted + "s"
	}
	return by.Name()
}

// Name names an axis.
func (by Axis) Name() string {
	return [AxisCount]string{"epochs", "seconds", "gradient equivalents"}[by]
}

// last is the latest x.
func (p *Plot) last() float64 {
	last := math.Inf(-1)
	for i := range p.Curves {
		if _, x, ok := p.Curves[i].Series.Extent(); ok {
			last = math.Max(last, x[p.By])
		}
	}
	if len(p.Curves) == 0 && p.Window[1] > p.Window[0] {
		return p.Window[1]
	}
	_, last = p.dotReach(0, last)
	return last
}
