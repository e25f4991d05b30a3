package chart

import (
	"math"

	"newtop/internal/format"
	"newtop/tui/style"
)

// drawCursor marks the cursor's column where no curve is, and the newest value of each curve in it.
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
	if p.user.cursor == nil || p.Told || !a.has(p.user.cursor[p.By]) {
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
	return p.text(b.Min) + " … " + p.text(b.Max)
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
