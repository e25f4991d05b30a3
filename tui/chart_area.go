package tui

import (
	"math"

	"newtop/tui/style"
)

// Area is the part of a chart that curves are drawn in, and how values map to its dots.
type Area struct {
	x, y, w, h int // cells
	left, right,
	low, high float64 // in the units of the axes, logarithms taken
	log, logX bool
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

// dotX and dotY map values to dots; dots count from the top left corner of the area.
func (a *Area) dotX(g *style.GlyphSet, v float64) int {
	if a.right <= a.left {
		return 0
	}
	last := a.w*g.DotsX - 1
	return within((a.across(v)-a.left)/(a.right-a.left)*float64(last), last)
}

func (a *Area) dotY(g *style.GlyphSet, v float64) int {
	top := a.h*g.DotsY - 1
	if a.high <= a.low {
		return top / 2
	}
	return within((a.high-a.up(v))/(a.high-a.low)*float64(top), top)
}

// within rounds a place to one of 0…last, or to the next on the side where it lies outside: a line to it has
// then no more dots than the picture.
func within(place float64, last int) int {
	if math.IsNaN(place) { // the axis reaches further than numbers do
		return -1
	}
	return int(math.Round(math.Max(-1, math.Min(place, float64(last+1)))))
}

// row is the cell row of a value.
func (a *Area) row(g *style.GlyphSet, v float64) int { return a.y + a.dotY(g, v)/g.DotsY }

// cellX is the cell column of an x.
func (a *Area) cellX(g *style.GlyphSet, v float64) int { return a.x + a.dotX(g, v)/g.DotsX }

// column is the cell column of an x anywhere, outside of the area too.
func (a *Area) column(x float64) float64 {
	if a.right <= a.left {
		return float64(a.x)
	}
	return float64(a.x) + (a.across(x)-a.left)/(a.right-a.left)*float64(a.w-1)
}

// value is the x in the middle of a cell column.
func (a *Area) value(column int) float64 {
	return a.back(a.left + (a.right-a.left)*float64(column-a.x)/float64(max(a.w-1, 1)))
}

// has reports whether an x lies within the area.
func (a *Area) has(x float64) bool {
	t := a.across(x)
	return t >= a.left && t <= a.right && a.right > a.left
}

// covers reports whether a cell belongs to the area.
func (a *Area) covers(x, y int) bool { return x >= a.x && x < a.x+a.w && y >= a.y && y < a.y+a.h }

// span are the values at the ends of the y axis.
func (a *Area) span() (low, high float64) {
	if a.log {
		return math.Pow(10, a.low), math.Pow(10, a.high)
	}
	return a.low, a.high
}
