package tui

import (
	"unicode/utf8"

	"github.com/NimbleMarkets/ntcharts/v2/canvas"
	"github.com/NimbleMarkets/ntcharts/v2/canvas/graph"
	"github.com/NimbleMarkets/ntcharts/v2/canvas/runes"
	"github.com/charmbracelet/x/ansi"

	"newtop/tui/style"
)

// Canvas is a drawing area that is kept from frame to frame. Lines and runes are ntcharts'. Its canvas is
// not: a cell there carries a whole Lip Gloss style, 656 bytes where eight are enough, and its charts
// keep every point and style each cell apart. Here points come thinned (see series) and a row is written
// with one change of style a run.
type Canvas struct {
	w, h  int
	cells []glyph
	dots  []uint8 // of the curve being drawn, one byte a cell of its area
	drawn Area    // what was drawn last; no width if that was only a text
	soft  []Bucket
}

// glyph is a cell. Its zero value is empty.
type glyph struct {
	r   rune
	ink style.Token
	lit uint8 // which dots show, if that is what it is made of
}

func (c *Canvas) resize(w, h int) {
	w, h = max(w, 0), max(h, 0)
	if c.w != w || c.h != h {
		*c = Canvas{w: w, h: h, cells: make([]glyph, w*h), dots: make([]uint8, w*h), soft: c.soft}
		return
	}
	clear(c.cells)
}

// at returns a cell, nil outside.
func (c *Canvas) at(x, y int) *glyph {
	if x < 0 || y < 0 || x >= c.w || y >= c.h {
		return nil
	}
	return &c.cells[y*c.w+x]
}

func (c *Canvas) set(x, y int, r rune, t style.Token) {
	if g := c.at(x, y); g != nil {
		*g = glyph{r: r, ink: t}
	}
}

// write sets text from a cell on, one character a cell: wide ones become question marks.
func (c *Canvas) write(x, y int, s string, t style.Token) {
	narrow := style.Cells(s) == utf8.RuneCountInString(s)
	for _, r := range s {
		if !narrow && ansi.StringWidth(string(r)) != 1 {
			r = '?'
		}
		c.set(x, y, r, t)
		x++
	}
}

// Rows writes the cells as rows, each exactly w columns wide.
func (c *Canvas) Rows(v *style.Pen) []string {
	rows := make([]string, c.h)
	run := make([]rune, 0, c.w)
	for y := range rows {
		l := v.Line(c.w)
		now := style.Text
		run = run[:0]
		for _, g := range c.cells[y*c.w : (y+1)*c.w] {
			if g.r == 0 {
				g.r, g.ink = ' ', now
				if now.Reversed() {
					g.ink = style.Text
				}
			}
			if g.ink != now {
				l.Run(now, string(run), len(run))
				run, now = run[:0], g.ink
			}
			run = append(run, g.r)
		}
		l.Run(now, string(run), len(run))
		rows[y] = l.Full()
	}
	return rows
}

// dot marks one dot of the curve being drawn.
func (c *Canvas) dot(a Area, g *style.GlyphSet, x, y int) {
	if x < 0 || y < 0 || x >= a.w*g.DotsX || y >= a.h*g.DotsY {
		return
	}
	c.dots[y/g.DotsY*a.w+x/g.DotsX] |= 1 << (y%g.DotsY*g.DotsX + x%g.DotsX)
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
func (c *Canvas) flush(a Area, g *style.GlyphSet, t style.Token, mark rune) {
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
		case g.ASCII:
			*cell = glyph{r: mark, ink: t}
		case g.DotsY == 2:
			*cell = glyph{quadrants[lit&15], t, lit}
		default:
			*cell = glyph{braille[lit], t, lit}
		}
	}
}

// segment marks the dots from one point to another. A dashed one leaves gaps along x.
func (c *Canvas) segment(a Area, g *style.GlyphSet, x0, y0, x1, y1 int, dashed bool) {
	for _, p := range graph.GetLinePoints(canvas.Point{X: x0, Y: y0}, canvas.Point{X: x1, Y: y1}) {
		if !dashed || gapless(p.X) {
			c.dot(a, g, p.X, p.Y)
		}
	}
}

// gapless is the rhythm of a dashed line: four dots on, two off.
func gapless(x int) bool { return x%6 < 4 }

// axes draws the lines at the left of and under the area.
func (c *Canvas) axes(a Area, bottom bool) {
	for y := a.y; y < a.y+a.h; y++ {
		c.set(a.x-1, y, runes.LineVertical, style.Grid)
	}
	if !bottom {
		return
	}
	c.set(a.x-1, a.y+a.h, runes.LineUpRight, style.Grid)
	for x := a.x; x < a.x+a.w; x++ {
		c.set(x, a.y+a.h, runes.LineHorizontal, style.Grid)
	}
}
