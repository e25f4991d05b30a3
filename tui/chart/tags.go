package chart

import (
	"math"

	"newtop/tui/style"
)

// drawLatest marks and labels the latest values as they were measured, where the curves that end there are smoothed.
func drawLatest(c *Canvas, v *style.Pen, p *Plot, a Area) {
	for i := range p.Curves {
		k := &p.Curves[i]
		y := k.Series.Last()
		_, end, ok := k.Series.Extent()
		if k.Tag != "" || !ok || !p.placed(y) || !a.has(end[p.By]) {
			continue
		}
		x, row := a.CellX(v.Glyphs, end[p.By]), a.Row(v.Glyphs, y)
		if !a.Covers(x, row) {
			continue
		}
		c.Set(x, row, '●', k.Token)
		text := p.text(y)
		n := style.Cells(text)
		var free [][2]int
		for _, at := range [][2]int{{x + 2, row}, {x - n + 1, row - 1}, {x - n + 1, row + 1}, {x - n - 1, row}} {
			if a.Covers(at[0], at[1]) && at[0]+n <= a.X+a.W {
				free = append(free, at)
			}
		}
		if at, _ := emptiest(c, n, 1, free); len(free) > 0 {
			c.Write(at[0], at[1], text, k.Token)
		}
	}
}

// drawTags writes the curves' tags at their latest points. Of two that would stand in one place the later curve's
// moves aside, to the left, so that none is hidden; words keep a space between them.
func drawTags(c *Canvas, v *style.Pen, p *Plot, a Area) {
	taken := map[[2]int]bool{}
	for i := len(p.Curves) - 1; i >= 0; i-- {
		k := &p.Curves[i]
		y := k.Series.Last()
		_, end, ok := k.Series.Extent()
		if k.Tag == "" || !ok || math.IsNaN(y) || a.log && y <= 0 {
			continue
		}
		n, gap := style.Cells(k.Tag), 0
		if n > 1 {
			gap = 1
		}
		x, row := min(a.CellX(v.Glyphs, end[p.By]), a.X+a.W-n), max(a.Y, min(a.Row(v.Glyphs, y), a.Y+a.H-1))
		free := func() bool {
			for dx := -gap; dx < n+gap; dx++ {
				if taken[[2]int{x + dx, row}] {
					return false
				}
			}
			return true
		}
		for x > a.X && !free() {
			x--
		}
		if x < a.X {
			continue
		}
		for dx := range n {
			taken[[2]int{x + dx, row}] = true
		}
		c.Write(x, row, k.Tag, k.Token)
	}
}
