package chart

import (
	"math/bits"
	"unicode/utf8"

	"github.com/NimbleMarkets/ntcharts/v2/canvas"
	"github.com/NimbleMarkets/ntcharts/v2/canvas/graph"
	"github.com/NimbleMarkets/ntcharts/v2/canvas/runes"
	"github.com/charmbracelet/x/ansi"

	"newtop/tui/style"
)

// Canvas is a drawing area that is kept from frame to frame. Lines, bars and runes are ntcharts'. Its canvas is
// not: a cell there carries a whole Lip Gloss style, 656 bytes where 16 are enough, and its charts
// keep every point and style each cell apart. Here points come thinned (see series) and a row is written
// with one change of style a run.
type Canvas struct {
	W, h   int
	cells  []glyph
	dots   []uint8 // of the curve being drawn, one byte a cell of its area
	Drawn  Area    // what was drawn last; no width if that was only a text
	soft   []Bucket
	blocks Blocks

	faint  uint64   // those in the colour of the grid, which are behind all others
	curves []stroke // that are drawn in turn,
	curve  int      // which of them is being drawn; −1 for none
}

// glyph is a cell. Its zero value is empty.
type glyph struct {
	R     rune
	color style.Token
	lit   uint8  // which dots show, if that is what it is made of
	band  bool   // it is the shade of a band, under a curve
	of    uint64 // which of the first curves have dots in it
}

// Resize empties the canvas and gives it a size.
func (c *Canvas) Resize(w, h int) {
	w, h = max(w, 0), max(h, 0)
	if c.W != w || c.h != h {
		*c = Canvas{W: w, h: h, cells: make([]glyph, w*h), dots: make([]uint8, w*h), soft: c.soft, blocks: c.blocks}
		return
	}
	clear(c.cells)
}

// At returns a cell, nil outside.
func (c *Canvas) At(x, y int) *glyph {
	if x < 0 || y < 0 || x >= c.W || y >= c.h {
		return nil
	}
	return &c.cells[y*c.W+x]
}

// Set sets a cell; one outside is left out.
func (c *Canvas) Set(x, y int, r rune, t style.Token) {
	if g := c.At(x, y); g != nil {
		*g = glyph{R: r, color: t}
	}
}

// Write sets text from a cell on, one character a cell: wide ones become question marks.
func (c *Canvas) Write(x, y int, s string, t style.Token) {
	narrow := style.Cells(s) == utf8.RuneCountInString(s)
	for _, r := range s {
		if !narrow && ansi.StringWidth(string(r)) != 1 {
			r = '?'
		}
		c.Set(x, y, r, t)
		x++
	}
}

// Rows writes the cells as rows, each exactly w columns wide.
func (c *Canvas) Rows(v *style.Pen) []string {
	rows := make([]string, c.h)
	run := make([]rune, 0, c.W)
	for y := range rows {
		l := v.Line(c.W)
		now := style.Text
		run = run[:0]
		for _, g := range c.cells[y*c.W : (y+1)*c.W] {
			if g.R == 0 {
				g.R, g.color = ' ', now
				if now.Reversed() {
					g.color = style.Text
				}
			}
			if g.color != now {
				l.Run(now, string(run), len(run))
				run, now = run[:0], g.color
			}
			run = append(run, g.R)
		}
		l.Run(now, string(run), len(run))
		rows[y] = l.Full()
	}
	return rows
}

// Dot marks one dot of the curve being drawn.
func (c *Canvas) Dot(a Area, g *style.GlyphSet, x, y int) {
	if x < 0 || y < 0 || x >= a.W*g.DotsX || y >= a.H*g.DotsY {
		return
	}
	c.dots[y/g.DotsY*a.W+x/g.DotsX] |= 1 << (y%g.DotsY*g.DotsX + x%g.DotsX)
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

// Flush draws the collected dots in a token's ink (mark stands for a dot in ASCII) and forgets them. Dots of an earlier
// curve in the same cell stay, in the new ink; of curves that are drawn in turn, those that meet share the
// cells among them, so that none hides the others but the faint ones.
func (c *Canvas) Flush(a Area, g *style.GlyphSet, t style.Token, mark rune) {
	own := uint64(0)
	if c.curve >= 0 && c.curve < len(c.curves) {
		own = 1 << c.curve // 0 for the 65th and later ones
	}
	for i, mask := range c.dots[:a.W*a.H] {
		if mask == 0 {
			continue
		}
		c.dots[i] = 0
		cell := c.At(a.X+i%a.W, a.Y+i/a.W)
		if cell == nil {
			continue
		}
		now := glyph{R: mark, color: t, of: own}
		if own != 0 {
			if now.of |= cell.of; now.of&^c.faint != 0 {
				now.of &^= c.faint
			}
			if n := bits.OnesCount64(now.of); n > 1 {
				k := &c.curves[nthBit(now.of, i%a.W%n)]
				now.R, now.color = k.mark, k.tok
			}
		}
		if !g.ASCII {
			now.lit = mask | cell.lit
			now.R = braille[now.lit]
			if g.DotsY == 2 {
				now.R = style.Quadrants[now.lit&15]
			}
		}
		*cell = now
	}
}

// nthBit is the place of the n-th bit that is set, from 0.
func nthBit(set uint64, n int) int {
	for range n {
		set &= set - 1
	}
	return bits.TrailingZeros64(set)
}

// thicken marks the dots under those of the curve being drawn. Letters have one dot a cell, and stay as they are.
func (c *Canvas) thicken(a Area, g *style.GlyphSet) {
	if g.DotsY < 2 {
		return
	}
	row := g.DotsX * (g.DotsY - 1) // bits of a cell above its last row
	for i := a.W*a.H - 1; i >= 0; i-- {
		mask := c.dots[i]
		if below := i + a.W; below < a.W*a.H {
			c.dots[below] |= mask >> row
		}
		c.dots[i] = mask | mask<<g.DotsX&(1<<(g.DotsX*g.DotsY)-1)
	}
}

// Segment marks the dots from one point to another. A dashed one leaves gaps along x.
func (c *Canvas) Segment(a Area, g *style.GlyphSet, x0, y0, x1, y1 int, dashed bool) {
	for _, p := range graph.GetLinePoints(canvas.Point{X: x0, Y: y0}, canvas.Point{X: x1, Y: y1}) {
		if !dashed || gapless(p.X) {
			c.Dot(a, g, p.X, p.Y)
		}
	}
}

// gapless is the rhythm of a dashed line: four dots on, two off.
func gapless(x int) bool { return x%6 < 4 }

// drawXAxis draws the line under an area.
func drawXAxis(c *Canvas, a Area) {
	c.Set(a.X-1, a.Y+a.H, runes.LineUpRight, style.Grid)
	for x := a.X; x < a.X+a.W; x++ {
		c.Set(x, a.Y+a.H, runes.LineHorizontal, style.Grid)
	}
}

// stroke is how a curve is drawn.
type stroke struct {
	tok    style.Token
	mark   rune // stands for its dots in ASCII
	dashed bool
	thick  bool
	mean   bool // of buckets only the last value counts
}

// Blocks are bars of block elements, in eighths of a cell. ntcharts draws them on a canvas of its own, which is kept,
// since a cell of it has 664 bytes; only the characters are read back, since its styles are whole Lip Gloss ones. Its
// zero value works.
type Blocks struct {
	canvas canvas.Model
	out    []rune
}
