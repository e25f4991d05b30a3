package chart

import (
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"newtop/internal/format"
	"newtop/tui/style"
)

// lane is how many of h rows are for the dots that have no place on the axis.
func lane(p *Plot, h int) int {
	const least = 5
	if h < least || !slices.ContainsFunc(p.Dots, func(d Dot) bool { return format.Finite(d.X) && !p.placed(d.Y) }) {
		return 0
	}
	return 1
}

// drawPoints draws the dots over the curves; of several in one cell the last one shows.
func drawPoints(c *Canvas, v *style.Pen, p *Plot, a Area) {
	if a.Y > 0 && a.X > style.Cells(p.Above) {
		c.Write(a.X-1-style.Cells(p.Above), 0, p.Above, style.Muted)
	}
	for i := range p.Dots {
		if x, y, ok := p.DotCell(v.Glyphs, &a, &p.Dots[i]); ok {
			c.Set(x, y, p.Dots[i].R, p.Dots[i].Token)
		}
	}
}

// DrawDot sets the cell of a point within an area.
func DrawDot(c *Canvas, g *style.GlyphSet, a Area, d Dot) {
	if x, y := a.CellX(g, d.X), a.Row(g, d.Y); a.Covers(x, y) {
		c.Set(x, y, d.R, d.Token)
	}
}

// drawNames writes the names of the x 0, 1, 2, …
func drawNames(c *Canvas, v *style.Pen, p *Plot, a Area, row int) {
	room := a.W/len(p.Names) - 1
	if room < 1 {
		return
	}
	names := slices.Clone(p.Names)
	if style.Cells(strings.Join(names, " ")) > a.W {
		for i, s := range names {
			names[i] = ansi.Truncate(s, room, "…")
		}
	}
	at, free := make([]int, len(names)), a.X
	for i, s := range names { // as near to its x as the one before it lets it
		at[i] = max(free, a.CellX(v.Glyphs, float64(i))-(style.Cells(s)-1)/2)
		free = at[i] + style.Cells(s) + 1
	}
	free = a.X + a.W
	for i, s := range slices.Backward(names) { // and the one behind it
		at[i] = min(at[i], free-style.Cells(s))
		free = at[i] - 1
		c.Write(at[i], row, s, style.Muted)
	}
}
