package chart

import (
	"math"
	"sort"

	"newtop/internal/format"
	"newtop/trainer/event"
	"newtop/tui/style"
)

// drawCurve draws buckets into the area. Those that share a column of dots are gathered first: the column then
// runs from the least to the greatest of their values, and is joined to the one before.
func drawCurve(c *Canvas, a Area, g *style.GlyphSet, items []Bucket, k stroke) {
	var col, prev dotColumn
	end := func() { prev = drawColumn(c, &a, g, &col, prev, k.dashed) }
	stop := func() {
		end()
		col, prev = dotColumn{}, dotColumn{}
	}
	for i := range items {
		b := &items[i]
		if math.IsNaN(b.Last) || a.log && b.Max <= 0 || a.logX && b.X1[a.By] <= 0 {
			stop()
			continue
		}
		if x := a.across(b.X1[a.By]); x < a.Left || x > a.Right {
			if cut, ok := a.entry(items, i); ok {
				b = &cut
			} else {
				stop()
				continue
			}
		}
		low, high := b.Min, b.Max
		if k.mean {
			low, high = b.Last, b.Last
		}
		if x := a.DotX(g, b.X1[a.By]); !col.used || x != col.x {
			end()
			col = dotColumn{used: true, x: x, low: low, high: high}
		}
		col.low, col.high, col.last = Lesser(low, col.low), -Lesser(-high, -col.high), b.Last
		if b.flaws != 0 {
			stop()
		}
	}
	end()
	if k.thick {
		c.thicken(a, g)
	}
	c.Flush(a, g, k.tok, k.mark)
}

// DrawPath joins n points as a curve is drawn; one that has no place on the axes makes a gap. In ASCII the dots are
// marks.
func DrawPath(c *Canvas, g *style.GlyphSet, a Area, t style.Token, mark rune, dashed bool, n int,
	at func(i int) (x, y float64)) {
	c.soft = c.soft[:0]
	for i := range n {
		x, y := at(i)
		if !format.Finite(x) || !format.Finite(y) {
			y = float64(event.Absent)
		}
		c.soft = append(c.soft, sample{Position{x}, y}.bucket())
	}
	drawCurve(c, a, g, c.soft, stroke{tok: t, mark: mark, dashed: dashed})
}

// entry returns the point where the way from a bucket outside to its neighbour inside crosses the area's edge.
func (a Area) entry(items []Bucket, i int) (Bucket, bool) {
	b, side, next := items[i], a.Left, i+1
	if a.across(b.X1[a.By]) > a.Right {
		side, next = a.Right, i-1
	}
	if next < 0 || next >= len(items) {
		return b, false
	}
	n := &items[next]
	x0, x1, y0, y1 := a.across(b.X1[a.By]), a.across(n.X1[a.By]), a.up(b.Last), a.up(n.Last)
	y := y0 + (y1-y0)*(side-x0)/(x1-x0)
	if math.IsNaN(y) || math.IsInf(y, 0) || b.flaws|n.flaws != 0 || (x0 < side) == (x1 < side) {
		return b, false
	}
	if a.log {
		y = math.Pow(10, y)
	}
	b.X1[a.By] = a.back(side)
	b.Min, b.Max, b.Last = y, y, y
	return b, true
}

// dotColumn is what a curve has in one column of dots, and the dot where it leaves.
type dotColumn struct {
	used            bool
	x, y            int
	low, high, last float64
}

// drawColumn marks a column's dots and the way to it from the one before, and returns it.
func drawColumn(c *Canvas, a *Area, g *style.GlyphSet, col *dotColumn, prev dotColumn, dashed bool) dotColumn {
	if !col.used {
		return prev
	}
	if a.log && col.low <= 0 {
		col.low = math.Pow(10, a.Low)
	}
	if a.log && col.last <= 0 {
		col.last = col.low
	}
	top, bottom := a.DotY(g, col.high), a.DotY(g, col.low)
	if a.down {
		top, bottom = bottom, top
	}
	col.y = a.DotY(g, col.last)
	if dashed && prev.used && col.x-prev.x == 1 && !gapless(col.x) {
		return *col // dashes show where there is a point in each column, too
	}
	if prev.used {
		entry := max(top, min(prev.y, bottom))
		c.Segment(*a, g, prev.x, prev.y, col.x, entry, dashed && col.x-prev.x > 1)
	}
	for y := max(top, 0); y <= min(bottom, a.H*g.DotsY-1); y++ {
		c.Dot(*a, g, col.x, y)
	}
	return *col
}

// drawBroken marks the x of values that were told and are not finite: at the upper edge, and −Inf at the lower.
func drawBroken(c *Canvas, a Area, g *style.GlyphSet, items []Bucket) {
	for i := range items {
		x, f := items[i].X1[a.By], items[i].flaws
		if f&broken == 0 || !a.has(x) && a.Right > a.Left {
			continue
		}
		if f&above != 0 {
			c.Set(a.CellX(g, x), a.Y, '×', style.NotFinite)
		}
		if f&below != 0 {
			c.Set(a.CellX(g, x), a.Y+a.H-1, '×', style.NotFinite)
		}
	}
}

// newerThan returns the buckets of the latest epochs.
func newerThan(items []Bucket, epochs float64) []Bucket {
	if len(items) == 0 {
		return nil
	}
	from := items[len(items)-1].X1[Epochs] - epochs
	return items[sort.Search(len(items), func(i int) bool { return items[i].X1[Epochs] >= from }):]
}

// smooth returns the exponential average of buckets with a half-life in epochs: each counts for its mean, and
// half as much with every half-life that it lies back. It is weighted so that its beginning is not drawn towards zero.
func smooth(out, items []Bucket, half float64) []Bucket {
	out = out[:0]
	sum, weight, at := 0.0, 0.0, math.NaN()
	for i := range items {
		b := items[i]
		if b.N > 0 {
			if fade := math.Exp2(-(b.X1[Epochs] - at) / half); fade < 1 {
				sum, weight = sum*fade, weight*fade
			}
			at = b.X1[Epochs]
			mean := b.Sum / float64(b.N)
			sum, weight = sum+mean, weight+1
			if b.Last = sum / weight; math.Abs(b.Last-mean) < 1e-12*math.Abs(mean) {
				b.Last = mean // a constant stays one, whatever the rounding
			}
			b.Min, b.Max = b.Last, b.Last
		}
		out = append(out, b)
	}
	return out
}
