package tui

import (
	"math"
	"slices"

	"github.com/charmbracelet/x/ansi"

	"newtop/internal/format"
	"newtop/tui/style"
)

// Dot is a point of a plot that no line joins, at an x of the axis that is shown. One whose y has no place on the
// axis stands in a lane over it.
type Dot struct {
	x, y  float64
	r     rune
	Token style.Token
}

// placed reports whether a y has a place on the axis.
func (p *Plot) placed(y float64) bool { return format.Finite(y) && (y > 0 || !p.log) }

// lane is how many of h rows are for the dots that have no place on the axis.
func (p *Plot) lane(h int) int {
	const least = 5
	if h < least || !slices.ContainsFunc(p.dots, func(d Dot) bool { return format.Finite(d.x) && !p.placed(d.y) }) {
		return 0
	}
	return 1
}

// dotReach widens a range of x, the axis' logarithm not taken, by the dots.
func (p *Plot) dotReach(left, right float64) (float64, float64) {
	for i := range p.dots {
		d := &p.dots[i]
		if p.placed(d.y) && format.Finite(d.x) && (d.x > 0 || !p.logX) {
			left, right = math.Min(left, d.x), math.Max(right, d.x)
		}
	}
	return left, right
}

// dotSpan widens a range of y by the dots.
func (p *Plot) dotSpan(low, high float64) (float64, float64) {
	for i := range p.dots {
		if y := p.dots[i].y; p.placed(y) {
			low, high = math.Min(low, y), math.Max(high, y)
		}
	}
	return low, high
}

// points draws the dots over the curves; of several in one cell the last one shows.
func (c *Canvas) points(v *style.Pen, p Plot, a Area) {
	if a.y > 0 && a.x > style.Cells(p.above) {
		c.write(a.x-1-style.Cells(p.above), 0, p.above, style.Muted)
	}
	for i := range p.dots {
		if x, y, ok := p.dotCell(v.Glyphs, &a, &p.dots[i]); ok {
			c.set(x, y, p.dots[i].r, p.dots[i].Token)
		}
	}
}

// dotCell is the cell that a dot stands in; false if it lies outside, or in a lane for which there is no room.
func (p *Plot) dotCell(g *style.GlyphSet, a *Area, d *Dot) (x, y int, ok bool) {
	if !format.Finite(d.x) || p.logX && d.x <= 0 || a.right > a.left && !a.has(d.x) {
		return 0, 0, false
	}
	x, y = a.cellX(g, d.x), 0
	if p.placed(d.y) {
		y = a.row(g, d.y)
		return x, y, a.covers(x, y)
	}
	return x, y, a.y > 0 && x >= a.x && x < a.x+a.w
}

// nameLabels writes the names of the x 0, 1, 2, …
func (c *Canvas) nameLabels(v *style.Pen, p Plot, a Area, row int) {
	room := a.w/len(p.names) - 1
	if room < 1 {
		return
	}
	for i, s := range p.names {
		s = ansi.Truncate(s, room, "…")
		n := style.Cells(s)
		x := a.cellX(v.Glyphs, float64(i)) - (n-1)/2
		c.write(max(a.x, min(x, a.x+a.w-n)), row, s, style.Muted)
	}
}
