package chart

import (
	"math"
	"slices"

	"charm.land/lipgloss/v2"
	"github.com/NimbleMarkets/ntcharts/v2/canvas"
	"github.com/NimbleMarkets/ntcharts/v2/canvas/graph"
	"github.com/NimbleMarkets/ntcharts/v2/canvas/runes"

	"newtop/internal/format"
	"newtop/tui/style"
)

// minHeight is the height of a bar's uppermost cell, below which ntcharts would leave it out.
const minHeight = 1.0 / 8

// Bar returns the cells of one bar from the bottom up, as many as its height begins. They are good until the next call.
func (b *Blocks) Bar(g *style.GlyphSet, height float64) []rune {
	whole, part := math.Modf(height)
	if part > 0 {
		height = whole + max(part, minHeight)
	}
	h := int(math.Ceil(height))
	b.clear(1, h)
	graph.DrawColumnBottomToTop(&b.canvas, canvas.Point{Y: h - 1}, height, lipgloss.Style{})
	for y := h - 1; y >= 0; y-- {
		b.read(g, canvas.Point{Y: y})
	}
	return b.out
}

// Sparkline returns one cell for each height from 0, of which a little shows, to 1; what lies beyond is cut off, and
// NaN is 0. They are good until the next call.
func (b *Blocks) Sparkline(g *style.GlyphSet, heights []float64) []rune {
	b.clear(len(heights), 1)
	for x, y := range heights {
		if !(y > 0) {
			y = 0
		}
		graph.DrawColumnBottomToTop(&b.canvas, canvas.Point{X: x}, minHeight+(1-minHeight)*min(y, 1), lipgloss.Style{})
		b.read(g, canvas.Point{X: x})
	}
	return b.out
}

func (b *Blocks) clear(w, h int) {
	b.out = b.out[:0]
	if w > b.canvas.Width() || h > b.canvas.Height() {
		b.canvas = canvas.New(max(w, b.canvas.Width()), max(h, b.canvas.Height()))
		return
	}
	b.canvas.Fill(canvas.Cell{})
}

// read appends the character of a cell. A glyph set of letters has one for each eighth.
func (b *Blocks) read(g *style.GlyphSet, at canvas.Point) {
	r := b.canvas.Cell(at).Rune
	if g.ASCII {
		r = g.Levels[r-runes.LowerBlockOne+1]
	}
	b.out = append(b.out, r)
}

// DrawBar draws a bar that stands on a row, w columns wide. A cell has the token and the letter, which stands for it in
// ASCII, of its place in the bar, 0 at the bottom; a letter 0 leaves the height's own character.
func DrawBar(c *Canvas, g *style.GlyphSet, x, bottom, w int, height float64, of func(y int) (style.Token, rune)) {
	for y, r := range c.blocks.Bar(g, height) {
		t, letter := of(y)
		if g.ASCII && letter != 0 {
			r = letter
		}
		for dx := range w {
			c.Set(x+dx, bottom-y, r, t)
		}
	}
}

// Histogram draws how many things fell into each of the bins between −most and most as bars of one width, the middle
// marked, over a row of labels.
func Histogram(v *style.Pen, bins []int, most float64, w, h int) []string {
	var c Canvas
	c.Resize(w, h)
	each, top := max(1, w/len(bins)), slices.Max(bins)
	a := Area{W: min(each*len(bins), w), H: h - 1}
	steps := float64(len(v.Glyphs.Levels) - 1)
	for i, n := range bins {
		full := math.Round(float64(n) / float64(max(top, 1)) * float64(a.H) * steps)
		if n > 0 {
			full = max(full, 1)
		}
		DrawBar(&c, v.Glyphs, i*each, a.H-1, each, full/steps, func(int) (style.Token, rune) { return style.Train, 0 })
	}
	for y := range a.H {
		if g := c.At(a.W/2, y); g != nil && g.R == 0 {
			c.Set(a.W/2, y, '┊', style.Grid)
		}
	}
	high := format.Number(most)
	c.Write(0, h-1, format.Number(-most), style.Muted)
	c.Write(a.W/2, h-1, "0", style.Muted)
	c.Write(a.W-style.Cells(high), h-1, high, style.Muted)
	c.Write(0, 0, format.Count(top)+" ┤", style.Muted)
	return c.Rows(v)
}
