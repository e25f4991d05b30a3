package tui

import (
	"math"

	"newtop/internal/format"
	"newtop/tui/style"
)

// cursorLine marks the cursor's column where no curve is, and the newest value of each curve in it.
func (c *Canvas) cursorLine(v *style.Pen, p Plot, a Area) {
	if p.cursor == nil || !a.has(p.cursor[p.by]) {
		return
	}
	x := a.cellX(v.Glyphs, p.cursor[p.by])
	for y := a.y; y < a.y+a.h; y++ {
		if g := c.at(x, y); g.r == 0 || g.lit == 0 && g.r != '×' {
			c.set(x, y, '│', style.Focus)
		}
	}
	for i := range p.curves {
		k := &p.curves[i]
		in := p.inColumn(v.Glyphs, a, x, k)
		if row := a.row(v.Glyphs, in.last); in.n > 0 && a.covers(x, row) && (!a.log || in.last > 0) {
			r := '●'
			if v.Glyphs.ASCII {
				r = k.mark
			}
			c.set(x, row, r, k.Token)
		}
	}
}

// inColumn joins what a curve has in a cell column; its n is 0 for nothing.
func (p *Plot) inColumn(g *style.GlyphSet, a Area, x int, k *Curve) Bucket {
	all := Bucket{min: math.NaN(), max: math.NaN(), last: math.NaN()}
	found := false
	for _, b := range Visible(p.items(k), a.By, a.value(x-1), a.value(x+1)) {
		if !a.has(b.x1[a.By]) || a.cellX(g, b.x1[a.By]) != x {
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

// values is the box beside the cursor. It never covers the cursor's column, and of the places beside it takes
// the one that hides least.
func (c *Canvas) values(v *style.Pen, p Plot, a Area) {
	if p.cursor == nil || p.told || !a.has(p.cursor[p.by]) {
		return
	}
	x := a.cellX(v.Glyphs, p.cursor[p.by])
	for brevity := range 3 {
		rows := p.valueRows(v, a, x, brevity)
		w := 0
		for _, r := range rows {
			w = max(w, style.Width(r))
		}
		w, rows = framedRows(rows, w)
		var at [][2]int
		free := a.h - len(rows)
		for y := a.y; y <= a.y+free; y += max(1, free/8) {
			if left := x - 1 - w; left >= a.x {
				at = append(at, [2]int{left, y})
			}
			if x+2+w <= a.x+a.w {
				at = append(at, [2]int{x + 2, y})
			}
		}
		if len(at) > 0 {
			best, _ := c.emptiest(w, len(rows), at)
			c.block(best, rows, w)
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
func (p *Plot) valueRows(v *style.Pen, a Area, x, brevity int) [][]style.Part {
	first := math.NaN()
	curves := make([][]style.Part, 0, len(p.curves))
	for i := range p.curves {
		k := &p.curves[i]
		in := p.inColumn(v.Glyphs, a, x, k)
		if in.n > 0 || in.holes {
			first = Lesser(first, in.x0)
		}
		name := k.name
		if brevity == 0 {
			name = k.sign(v.Glyphs) + name
		}
		row := []style.Part{k.Token.Of(name + "  ")}
		switch {
		case in.n == 0 && in.holes:
			row = append(row, style.Bad.Of("not finite"))
		case in.n == 0:
			row = append(row, style.Muted.Of("–"))
		case brevity == 2:
			row = append(row, style.Text.Of(p.text(in.last)))
		default:
			row = append(row, style.Text.Of(p.between(&in)))
			if in.holes {
				row = append(row, style.Bad.Of(" × not finite"))
			}
		}
		curves = append(curves, row)
	}
	rows := append([][]style.Part{p.where(first, brevity > 0)}, curves...)
	for _, m := range p.marks {
		if a.has(m.x) && a.cellX(v.Glyphs, m.x) == x && brevity == 0 {
			rows = append(rows, []style.Part{style.Accent.Of("┊ "), style.Text.Of(m.text)})
		}
	}
	return rows
}

// between writes the values of a column of one or more points.
func (p *Plot) between(b *Bucket) string {
	if p.text(b.min) == p.text(b.max) {
		return p.text(b.last)
	}
	return p.text(b.min) + " … " + p.text(b.max)
}

// where writes the place of the cursor on all axes that the run has, the chart's own one first.
func (p *Plot) where(first float64, short bool) []style.Part {
	at := p.cursor
	epochs := "epoch " + format.Count(int(at[Epochs]))
	if first < at[Epochs] {
		epochs = "epochs " + format.Count(int(first)) + "–" + format.Count(int(at[Epochs]))
	}
	all := [AxisCount]string{epochs, format.Span(at[Seconds]), format.Work(at[Equivalents]) + " equivalents"}
	row := []style.Part{style.Strong.Of(all[p.by])}
	for by, s := range all {
		if Axis(by) != p.by && !short && (at[by] > 0 || by == int(Epochs)) {
			row = append(row, style.Muted.Of(" · "+s))
		}
	}
	return row
}
