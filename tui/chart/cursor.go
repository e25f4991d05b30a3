package chart

import (
	"math"
	"slices"

	"newtop/internal/format"
	"newtop/tui/style"
)

// drawCursor marks the cursor's column where no curve is, and the latest value of each curve in it.
func drawCursor(c *Canvas, v *style.Pen, p *Plot, a Area) {
	if p.user.cursor == nil || !a.has(p.user.cursor[p.By]) {
		return
	}
	x := a.CellX(v.Glyphs, p.user.cursor[p.By])
	for y := a.Y; y < a.Y+a.H; y++ {
		if g := c.At(x, y); g.R == 0 || g.lit == 0 && g.R != '×' {
			c.Set(x, y, '│', style.Focus)
		}
	}
	for i := range p.Curves {
		k := &p.Curves[i]
		in := inColumn(p, v.Glyphs, a, x, k)
		if row := a.Row(v.Glyphs, in.Last); in.N > 0 && a.Covers(x, row) && (!a.log || in.Last > 0) {
			r := '●'
			if v.Glyphs.ASCII {
				r = k.Mark
			}
			c.Set(x, row, r, k.Token)
		}
	}
}

// inColumn joins what a curve has in a cell column; its n is 0 for nothing.
func inColumn(p *Plot, g *style.GlyphSet, a Area, x int, k *Curve) Bucket {
	all := Bucket{Min: math.NaN(), Max: math.NaN(), Last: math.NaN()}
	found := false
	for _, b := range Visible(p.items(k), a.By, a.Value(x-1), a.Value(x+1)) {
		if !a.has(b.X1[a.By]) || a.CellX(g, b.X1[a.By]) != x {
			continue
		}
		if !found {
			all, found = b, true
		} else {
			all = join(all, b)
		}
	}
	return all
}

// drawValues is the box beside the cursor. It never covers the cursor's column, and of the places beside it takes
// the one that hides least.
func drawValues(c *Canvas, v *style.Pen, p *Plot, a Area) {
	if p.user.cursor == nil || p.Tabled || !a.has(p.user.cursor[p.By]) {
		return
	}
	x := a.CellX(v.Glyphs, p.user.cursor[p.By])
	for brevity := range 3 {
		rows := valueRows(p, v, a, x, brevity)
		w, rows := framedRows(rows, widestRow(rows))
		var at [][2]int
		free := a.H - len(rows)
		for y := a.Y; y <= a.Y+free; y += max(1, free/8) {
			if left := x - 1 - w; left >= a.X {
				at = append(at, [2]int{left, y})
			}
			if x+2+w <= a.X+a.W {
				at = append(at, [2]int{x + 2, y})
			}
		}
		if len(at) > 0 {
			best, _ := emptiest(c, w, len(rows), at)
			drawBlock(c, best, rows, w)
			return
		}
	}
}

// framedRows puts a frame around rows of at most w columns.
func framedRows(rows [][]style.Part, w int) (int, [][]style.Part) {
	out := [][]style.Part{{style.Focus.Of("╭" + style.Repeat("─", w+2) + "╮")}}
	for _, r := range rows {
		row := append([]style.Part{style.Focus.Of("│ ")}, r...)
		out = append(out, append(row, style.Focus.Of(style.Spaces(w-style.Width(r))+" │")))
	}
	return w + 4, append(out, []style.Part{style.Focus.Of("╰" + style.Repeat("─", w+2) + "╯")})
}

// valueRows say where the cursor is, what every curve has there and what happened; less the briefer they are.
func valueRows(p *Plot, v *style.Pen, a Area, x, brevity int) [][]style.Part {
	first := math.NaN()
	curves := make([][]style.Part, 0, len(p.Curves))
	for i := range p.Curves {
		k := &p.Curves[i]
		in := inColumn(p, v.Glyphs, a, x, k)
		if in.N > 0 || in.flaws&broken != 0 {
			first = Lesser(first, in.X0)
		}
		name := k.Name
		if brevity == 0 {
			name = k.Sign(v.Glyphs, 3) + " " + name
		}
		row := []style.Part{k.Token.Of(name + "  ")}
		switch {
		case in.N == 0 && in.flaws&broken != 0:
			row = append(row, style.Bad.Of("not finite"))
		case in.N == 0:
			row = append(row, style.Muted.Of("–"))
		case brevity == 2:
			row = append(row, style.Text.Of(p.text(in.Last)))
		default:
			row = append(row, style.Text.Of(between(p, &in)))
			if in.flaws&broken != 0 {
				row = append(row, style.Bad.Of(" × not finite"))
			}
		}
		curves = append(curves, row)
	}
	rows := append([][]style.Part{whereRow(p, first, brevity > 0)}, curves...)
	for _, m := range p.Marks {
		if a.has(m.X) && a.CellX(v.Glyphs, m.X) == x && brevity == 0 {
			rows = append(rows, []style.Part{style.Accent.Of("┊ "), style.Text.Of(m.Text)})
		}
	}
	return rows
}

// between writes the values of a column of one or more points.
func between(p *Plot, b *Bucket) string {
	if p.text(b.Min) == p.text(b.Max) {
		return p.text(b.Last)
	}
	low, high := b.Min, b.Max
	if p.Y.Complement {
		low, high = high, low
	}
	return p.text(low) + " … " + p.text(high)
}

// whereRow writes the place of the cursor on all axes that the run has, the chart's own one first.
func whereRow(p *Plot, first float64, short bool) []style.Part {
	at := p.user.cursor
	epochs := p.counted() + " " + format.Count(int(at[Epochs]))
	if first < at[Epochs] {
		epochs = p.counted() + "s " + format.Count(int(first)) + "–" + format.Count(int(at[Epochs]))
	}
	all := [AxisCount]string{epochs, format.Span(at[Seconds]), format.Work(at[Equivalents]) + " equivalents"}
	row := []style.Part{style.Strong.Of(all[p.By])}
	for by, s := range all {
		if Axis(by) != p.By && !short && (at[by] > 0 || by == int(Epochs)) {
			row = append(row, style.Muted.Of(" · "+s))
		}
	}
	return row
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
		words, color := p.Waiting, style.Muted
		if slices.ContainsFunc(p.Curves, func(k Curve) bool { return k.Series.Broken() }) {
			words, color = "× nothing that is finite", style.NotFinite
		}
		c.Write(max(0, (w-style.Cells(words))/2), (h-1)/2, words, color)
		return c.Rows(v)
	}
	ticks, labels := p.ticksY(&a, h)
	bottom := 0
	switch {
	case p.NoX:
	case h >= 10 && w >= 24:
		bottom = 2
	case h >= 4 && w >= 24:
		bottom = 1
	}
	top := lane(&p, h-bottom)
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
	const few = 8 // curves whose latest values leave something of them to see
	if p.user.half > 0 && !p.small && len(p.Curves) <= few {
		drawLatest(c, v, &p, a)
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
	c.curves, c.curve, c.faint = c.curves[:0], -1, 0
	for i := range p.Curves {
		c.curves = append(c.curves, p.Curves[i].stroke())
		if p.Curves[i].Token == style.Grid {
			c.faint |= 1 << i // 0 for the 65th and later ones
		}
	}
	defer func() { c.curve = -1 }()
	for i := range p.Curves {
		k := &p.Curves[i]
		drawCurve(c, a, v.Glyphs, k.Series.Old, stroke{tok: style.Grid, mark: '.', dashed: k.Dashed})
	}
	for i := range p.Curves {
		if k := &p.Curves[i]; k.Series.banded {
			drawBand(c, a, v.Glyphs, p.within(a, p.items(k)), k.Token)
		}
	}
	for i := range p.Curves {
		k := &p.Curves[i]
		raw := k.stroke()
		if c.curve = i; p.user.half > 0 {
			c.curve = -1
			raw = stroke{tok: style.Muted, mark: '.', mean: k.Series.banded}
		}
		drawCurve(c, a, v.Glyphs, p.within(a, p.items(k)), raw)
	}
	for i := range p.Curves {
		if k := &p.Curves[i]; p.user.half > 0 {
			c.curve = i
			c.soft = smooth(c.soft, p.items(k), p.user.half)
			drawCurve(c, a, v.Glyphs, p.within(a, c.soft), k.stroke())
			drawCurve(c, a, v.Glyphs, p.within(a, newerThan(p.items(k), p.user.half)),
				stroke{tok: k.Token, mark: k.Mark, thick: k.Thick, mean: k.Series.banded})
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
