package tui

import (
	"math"
	"unicode/utf8"

	"github.com/NimbleMarkets/ntcharts/v2/canvas"
	"github.com/NimbleMarkets/ntcharts/v2/canvas/graph"
	"github.com/NimbleMarkets/ntcharts/v2/canvas/runes"
	"github.com/charmbracelet/x/ansi"
)

// chart is a drawing area that is kept from frame to frame. Lines and runes are ntcharts'. Its canvas is
// not: a cell there carries a whole Lip Gloss style, 656 bytes where eight are enough, and its charts
// keep every point and style each cell apart. Here points come thinned (see series) and a row is written
// with one change of style a run.
type chart struct {
	w, h  int
	cells []glyph
	dots  []uint8 // of the curve being drawn, one byte a cell of its area
}

// glyph is a cell. Its zero value is empty.
type glyph struct {
	r   rune
	ink token
	lit uint8 // which dots show, if that is what it is made of
}

func (c *chart) resize(w, h int) {
	w, h = max(w, 0), max(h, 0)
	if c.w != w || c.h != h {
		*c = chart{w: w, h: h, cells: make([]glyph, w*h), dots: make([]uint8, w*h)}
		return
	}
	clear(c.cells)
}

// at returns a cell, nil outside.
func (c *chart) at(x, y int) *glyph {
	if x < 0 || y < 0 || x >= c.w || y >= c.h {
		return nil
	}
	return &c.cells[y*c.w+x]
}

func (c *chart) set(x, y int, r rune, t token) {
	if g := c.at(x, y); g != nil {
		*g = glyph{r: r, ink: t}
	}
}

// write sets text from a cell on, one character a cell: wide ones become question marks.
func (c *chart) write(x, y int, s string, t token) {
	narrow := cells(s) == utf8.RuneCountInString(s)
	for _, r := range s {
		if !narrow && ansi.StringWidth(string(r)) != 1 {
			r = '?'
		}
		c.set(x, y, r, t)
		x++
	}
}

// text writes the cells as rows, each exactly w columns wide.
func (c *chart) text(th *theme) []string {
	rows := make([]string, c.h)
	run := make([]rune, 0, c.w)
	for y := range rows {
		l := th.line(c.w)
		now := tokText
		run = run[:0]
		for _, g := range c.cells[y*c.w : (y+1)*c.w] {
			if g.r == 0 {
				g.r, g.ink = ' ', now
			}
			if g.ink != now {
				l.run(now, string(run), len(run))
				run, now = run[:0], g.ink
			}
			run = append(run, g.r)
		}
		l.run(now, string(run), len(run))
		rows[y] = l.full()
	}
	return rows
}

// area is the part of a chart that curves are drawn in, and how values map to its dots.
type area struct {
	x, y, w, h int // cells
	left, right,
	low, high float64 // in the units of the axes, logarithms taken
	log bool
}

// dotX and dotY map values to dots; dots count from the top left corner of the area.
func (a area) dotX(g *glyphs, v float64) int {
	if a.right <= a.left {
		return 0
	}
	last := a.w*g.dotsX - 1
	return within((v-a.left)/(a.right-a.left)*float64(last), last)
}

func (a area) dotY(g *glyphs, v float64) int {
	if a.log {
		v = math.Log10(v)
	}
	top := a.h*g.dotsY - 1
	if a.high <= a.low {
		return top / 2
	}
	return within((a.high-v)/(a.high-a.low)*float64(top), top)
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
func (a area) row(g *glyphs, v float64) int { return a.y + a.dotY(g, v)/g.dotsY }

// cellX is the cell column of an x.
func (a area) cellX(g *glyphs, v float64) int { return a.x + a.dotX(g, v)/g.dotsX }

// dot marks one dot of the curve being drawn.
func (c *chart) dot(a area, g *glyphs, x, y int) {
	if x < 0 || y < 0 || x >= a.w*g.dotsX || y >= a.h*g.dotsY {
		return
	}
	c.dots[y/g.dotsY*a.w+x/g.dotsX] |= 1 << (y%g.dotsY*g.dotsX + x%g.dotsX)
}

// braille has the character of each set of 2 × 4 dots, row-major.
var braille = func() (t [256]rune) {
	number := [8]int{0, 3, 1, 4, 2, 5, 6, 7} // Unicode's, less one
	for mask := range t {
		var p runes.PatternDots
		for bit, n := range number {
			p[n] = mask>>bit&1 == 1
		}
		t[mask] = runes.BraillePatternFromPatternDots(p)
	}
	return t
}()

// quadrants has the block characters of 2 × 2 dots, row-major.
var quadrants = []rune(" ▘▝▀▖▌▞▛▗▚▐▜▄▙▟█")

// flush draws the collected dots in a token's ink (mark stands for a dot in ASCII) and forgets them. Dots
// of an earlier curve in the same cell stay, in the new ink.
func (c *chart) flush(a area, g *glyphs, t token, mark rune) {
	for i, mask := range c.dots[:a.w*a.h] {
		if mask == 0 {
			continue
		}
		c.dots[i] = 0
		cell := c.at(a.x+i%a.w, a.y+i/a.w)
		if cell == nil {
			continue
		}
		lit := mask | cell.lit
		switch {
		case g.ascii:
			*cell = glyph{r: mark, ink: t}
		case g.dotsY == 2:
			*cell = glyph{quadrants[lit&15], t, lit}
		default:
			*cell = glyph{braille[lit], t, lit}
		}
	}
}

// segment marks the dots from one point to another. A dashed one leaves gaps along x.
func (c *chart) segment(a area, g *glyphs, x0, y0, x1, y1 int, dashed bool) {
	for _, p := range graph.GetLinePoints(canvas.Point{X: x0, Y: y0}, canvas.Point{X: x1, Y: y1}) {
		if !dashed || gapless(p.X) {
			c.dot(a, g, p.X, p.Y)
		}
	}
}

// gapless is the rhythm of a dashed line: four dots on, two off.
func gapless(x int) bool { return x%6 < 4 }

// curve draws a series into the area. The buckets that share a column of dots are gathered first: the
// column then runs from the least to the greatest of their values, and is joined to the one before.
func (c *chart) curve(a area, g *glyphs, s *series, t token, mark rune, dashed bool) {
	var col, prev dotColumn
	for i := range s.buckets {
		b := &s.buckets[i]
		if math.IsNaN(b.last) || a.log && b.max <= 0 {
			c.column(a, g, col, prev, dashed)
			col, prev = dotColumn{}, dotColumn{}
			continue
		}
		low, last := b.min, b.last
		if a.log && low <= 0 {
			low = math.Pow(10, a.low)
		}
		if a.log && last <= 0 {
			last = low
		}
		x, top, bottom, y := a.dotX(g, b.x1), a.dotY(g, b.max), a.dotY(g, low), a.dotY(g, last)
		if !col.used || x != col.x {
			if col.used {
				prev = c.column(a, g, col, prev, dashed)
			}
			col = dotColumn{used: true, x: x, top: top, bottom: bottom}
		}
		col.top, col.bottom, col.last = min(col.top, top), max(col.bottom, bottom), y
		if b.holes {
			c.column(a, g, col, prev, dashed)
			col, prev = dotColumn{}, dotColumn{}
		}
	}
	c.column(a, g, col, prev, dashed)
	c.flush(a, g, t, mark)
}

// dotColumn is what a curve has in one column of dots.
type dotColumn struct {
	used              bool
	x                 int
	top, bottom, last int
}

// column marks a column's dots and the way to it from the one before, and returns it.
func (c *chart) column(a area, g *glyphs, col, prev dotColumn, dashed bool) dotColumn {
	if !col.used {
		return col
	}
	if prev.used {
		entry := max(col.top, min(prev.last, col.bottom))
		c.segment(a, g, prev.x, prev.last, col.x, entry, dashed && col.x-prev.x > 1)
	}
	for y := max(col.top, 0); y <= min(col.bottom, a.h*g.dotsY-1); y++ {
		c.dot(a, g, col.x, y)
	}
	return col
}

// holes marks the x of values that were not finite, for a curve that should have none.
func (c *chart) holes(a area, g *glyphs, s *series) {
	if !s.holes {
		return
	}
	for i := range s.buckets {
		if s.buckets[i].holes {
			c.set(a.cellX(g, s.buckets[i].x1), a.y, '×', tokNotFinite)
		}
	}
}

// axes draws the lines at the left of and under the area.
func (c *chart) axes(a area, bottom bool) {
	for y := a.y; y < a.y+a.h; y++ {
		c.set(a.x-1, y, runes.LineVertical, tokGrid)
	}
	if !bottom {
		return
	}
	c.set(a.x-1, a.y+a.h, runes.LineUpRight, tokGrid)
	for x := a.x; x < a.x+a.w; x++ {
		c.set(x, a.y+a.h, runes.LineHorizontal, tokGrid)
	}
}
