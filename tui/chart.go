package tui

import (
	"image/color"
	"math"
	"unicode/utf8"

	"charm.land/lipgloss/v2"
	"github.com/NimbleMarkets/ntcharts/v2/canvas"
	"github.com/NimbleMarkets/ntcharts/v2/canvas/graph"
	"github.com/NimbleMarkets/ntcharts/v2/canvas/runes"
	"github.com/charmbracelet/x/ansi"
)

// chart is a drawing area that is kept from frame to frame. ntcharts would keep every point, allocate a
// whole canvas to clear one and style each cell apart: here points come thinned (see series), cells are
// cleared in place, and a row is written with one change of style a run.
type chart struct {
	cv   canvas.Model
	dots []uint8 // of the curve being drawn, one byte a cell
	w, h int
}

// tokenColor carries a token through ntcharts' cells, which know only Lip Gloss styles.
type tokenColor token

// RGBA is never looked at: text() reads the token back and asks the theme.
func (tokenColor) RGBA() (r, g, b, a uint32) { return 0, 0, 0, 0xffff }

var cellStyles = func() (s [tokenCount]lipgloss.Style) {
	for t := range s {
		s[t] = lipgloss.NewStyle().Foreground(color.Color(tokenColor(t)))
	}
	return s
}()

func (c *chart) resize(w, h int) {
	w, h = max(w, 0), max(h, 0)
	if c.w != w || c.h != h || c.dots == nil {
		c.cv = canvas.New(w, h)
		c.dots = make([]uint8, w*h+1)
		c.w, c.h = w, h
		return
	}
	c.cv.Fill(canvas.Cell{})
}

func (c *chart) set(x, y int, r rune, t token) {
	c.cv.SetCell(canvas.Point{X: x, Y: y}, canvas.NewCellWithStyle(r, cellStyles[t]))
}

// write sets text from a cell on. A canvas has one character a cell: wide ones become question marks.
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

// text writes the canvas as rows, each exactly w columns wide.
func (c *chart) text(th *theme) []string {
	rows := make([]string, c.h)
	run := make([]rune, 0, c.w)
	for y := range rows {
		l := th.line(c.w)
		now := tokText
		run = run[:0]
		for x := range c.w {
			cell := c.cv.Cell(canvas.Point{X: x, Y: y})
			t, r := now, cell.Rune
			if r == 0 {
				r = ' '
			} else if k, ok := cell.Style.GetForeground().(tokenColor); ok {
				t = token(k)
			}
			if t != now {
				l.run(now, string(run), len(run))
				run, now = run[:0], t
			}
			run = append(run, r)
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
	return int(math.Round((v - a.left) / (a.right - a.left) * float64(a.w*g.dotsX-1)))
}

func (a area) dotY(g *glyphs, v float64) int {
	if a.log {
		v = math.Log10(v)
	}
	top := a.h*g.dotsY - 1
	if a.high <= a.low {
		return top / 2
	}
	d := math.Round((a.high - v) / (a.high - a.low) * float64(top))
	return int(math.Max(-1, math.Min(d, float64(top+1)))) // outside stays outside
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

// brailleBit gives the bit of Unicode's braille block for dot (row, column), row-major.
var brailleBit = [8]rune{0x01, 0x08, 0x02, 0x10, 0x04, 0x20, 0x40, 0x80}

// quadrants has the block characters for 2 × 2 dots, row-major.
var quadrants = []rune(" ▘▝▀▖▌▞▛▗▚▐▜▄▙▟█")

// flush draws the collected dots in a token's ink (mark stands for a dot in ASCII) and forgets them.
func (c *chart) flush(a area, g *glyphs, t token, mark rune) {
	for i, mask := range c.dots[:a.w*a.h] {
		if mask == 0 {
			continue
		}
		c.dots[i] = 0
		at := canvas.Point{X: a.x + i%a.w, Y: a.y + i/a.w}
		switch {
		case g.ascii:
			c.set(at.X, at.Y, mark, t)
		case g.dotsY == 2:
			c.set(at.X, at.Y, quadrants[mask&15], t)
		default:
			r := rune(runes.BrailleBlockOffset)
			for bit, value := range brailleBit {
				if mask>>bit&1 == 1 {
					r |= value
				}
			}
			graph.DrawBrailleRune(&c.cv, at, r, cellStyles[t])
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
	if bottom {
		graph.DrawXYAxis(&c.cv, canvas.Point{X: a.x - 1, Y: a.y + a.h}, cellStyles[tokGrid])
		return
	}
	graph.DrawVerticalLineUp(&c.cv, canvas.Point{X: a.x - 1, Y: a.y + a.h - 1}, cellStyles[tokGrid])
}
