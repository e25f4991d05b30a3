package chart

import (
	"math"

	"newtop/tui/style"
)

// Area is the part of a chart that curves are drawn in, and how values map to its dots.
type Area struct {
	X, Y, W, H int // cells
	Left, Right,
	Low, High float64 // in the units of the axes, logarithms taken
	log, logX bool
	down      bool // y grows downwards
	By        Axis
}

// across and up take the logarithms that the axes ask for.
func (a *Area) across(x float64) float64 {
	if a.logX {
		return math.Log10(x)
	}
	return x
}

func (a *Area) up(y float64) float64 {
	if a.log {
		return math.Log10(y)
	}
	return y
}

// back is the inverse of across.
func (a *Area) back(x float64) float64 {
	if a.logX {
		return math.Pow(10, x)
	}
	return x
}

// DotX and dotY map values to dots; dots count from the top left corner of the area.
func (a *Area) DotX(g *style.GlyphSet, v float64) int {
	if a.Right <= a.Left {
		return 0
	}
	last := a.W*g.DotsX - 1
	return within((a.across(v)-a.Left)/(a.Right-a.Left)*float64(last), last)
}

// DotY maps a y to a row of dots.
func (a *Area) DotY(g *style.GlyphSet, v float64) int {
	top := a.H*g.DotsY - 1
	if a.High <= a.Low {
		return top / 2
	}
	part := (a.High - a.up(v)) / (a.High - a.Low)
	if a.down {
		part = 1 - part
	}
	return within(part*float64(top), top)
}

// within rounds a place to one of 0…last, or to the next on the side where it lies outside: a line to it has
// then no more dots than the picture.
func within(place float64, last int) int {
	switch {
	case !(place > -0.5): // also where the axis reaches further than numbers do
		return -1
	case place >= float64(last)+0.5:
		return last + 1
	}
	return int(place + 0.5)
}

// Row is the cell row of a value.
func (a *Area) Row(g *style.GlyphSet, v float64) int { return a.Y + a.DotY(g, v)/g.DotsY }

// CellX is the cell column of an x.
func (a *Area) CellX(g *style.GlyphSet, v float64) int { return a.X + a.DotX(g, v)/g.DotsX }

// Column is the cell column of an x anywhere, outside of the area too.
func (a *Area) Column(x float64) float64 {
	if a.Right <= a.Left {
		return float64(a.X)
	}
	return float64(a.X) + (a.across(x)-a.Left)/(a.Right-a.Left)*float64(a.W-1)
}

// Value is the x in the middle of a cell column.
func (a *Area) Value(column int) float64 {
	return a.back(a.Left + (a.Right-a.Left)*float64(column-a.X)/float64(max(a.W-1, 1)))
}

// has reports whether an x lies within the area.
func (a *Area) has(x float64) bool {
	t := a.across(x)
	return t >= a.Left && t <= a.Right && a.Right > a.Left
}

// Covers reports whether a cell belongs to the area.
func (a *Area) Covers(x, y int) bool { return x >= a.X && x < a.X+a.W && y >= a.Y && y < a.Y+a.H }

// span are the values at the ends of the y axis.
func (a *Area) span() (low, high float64) {
	if a.log {
		return math.Pow(10, a.Low), math.Pow(10, a.High)
	}
	return a.Low, a.High
}

// below reports whether a value that the axis could show lies under its end.
func (a *Area) below(y, low float64) bool { return y < low && (!a.log || y > 0) }
