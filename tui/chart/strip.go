package chart

import (
	"math"

	"github.com/NimbleMarkets/ntcharts/v2/canvas/runes"

	"newtop/internal/format"
	"newtop/tui/style"
)

// Strip shows where values stand on a logarithmic line of w columns, negative ones mirrored at the left of zero, in
// three rows: those that share a column with others, the line, and labels. It is nil when it is too narrow or there is
// nothing but zero.
func Strip(v *style.Pen, values []float64, plus, minus style.Token, w int) []string {
	least, most, negative := math.Inf(1), 0.0, false
	for _, x := range values {
		if size := math.Abs(x); size > 0 {
			least, most = math.Min(least, size), math.Max(most, size)
		}
		negative = negative || x < 0
	}
	if most == 0 || w < 24 {
		return nil
	}
	zero := -1 // of positive ones alone the line has no zero
	if negative {
		zero = w / 2
	}
	a := Area{X: zero + 1, W: w - 1 - zero, Left: math.Floor(math.Log10(least)), Right: math.Ceil(math.Log10(most)),
		logX: true}
	if a.Right == a.Left {
		a.Right++
	}
	column := func(x float64) int {
		if x == 0 {
			return zero
		}
		at := int(math.Round(a.Column(math.Abs(x)))) - zero
		if x < 0 {
			at = -at
		}
		return zero + at
	}
	var c Canvas
	c.Resize(w, 3)
	for x := range w {
		c.Set(x, 1, runes.LineHorizontal, style.Grid)
	}
	c.Set(zero, 1, runes.LineHorizontalVertical, style.Grid)
	c.Write(zero, 2, "0", style.Muted)
	var ticks []float64
	for e := a.Left; e <= a.Right; e += math.Max(1, math.Ceil((a.Right-a.Left)*7/float64(max(a.W, 1)))) {
		if ticks = append(ticks, math.Pow(10, e)); negative {
			ticks = append(ticks, -math.Pow(10, e))
		}
	}
	labels := format.AxisLabels(ticks, "")
	for _, x := range ticks {
		if DrawLabel(&c, Area{W: w}, column(x), 2, labels.Of(x), style.Muted) {
			c.Set(column(x), 1, runes.LineHorizontalUp, style.Grid)
		}
	}
	for _, x := range values {
		at, y := column(x), 1
		if g := c.At(at, 1); g != nil && (g.R == '●' || g.R == '○') {
			y = 0 // two in a column stand one above the other
		}
		if x < 0 {
			c.Set(at, y, '○', minus)
		} else {
			c.Set(at, y, '●', plus)
		}
	}
	return c.Rows(v)
}
