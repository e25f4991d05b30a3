package tui

import (
	"math"

	"newtop/tui/style"
)

// tags writes the curves' tags at their newest points. Of two that would stand in one place the later curve's
// moves aside, to the left, so that none is hidden.
func (c *Canvas) tags(v *style.Pen, p Plot, a Area) {
	taken := map[[2]int]bool{}
	for i := len(p.curves) - 1; i >= 0; i-- {
		k := &p.curves[i]
		y := k.series.last()
		_, end, ok := k.series.extent()
		if k.tag == "" || !ok || math.IsNaN(y) || a.log && y <= 0 {
			continue
		}
		at := [2]int{a.cellX(v.Glyphs, end[p.by]), max(a.y, min(a.row(v.Glyphs, y), a.y+a.h-1))}
		for at[0] > a.x && taken[at] {
			at[0]--
		}
		if at[0] >= a.x && at[0]+style.Cells(k.tag) <= a.x+a.w {
			taken[at] = true
			c.write(at[0], at[1], k.tag, k.Token)
		}
	}
}
