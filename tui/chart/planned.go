package chart

import (
	"math"

	"newtop/tui/style"
)

// drawPlan draws a dot in every second column of cells.
func drawPlan(c *Canvas, g *style.GlyphSet, p *Plot, a Area) {
	plan := p.plan()
	every := 2 * g.DotsX
	for i := range max(len(plan)-1, 0) {
		from, to := plan[i], plan[i+1]
		if !p.placed(from.Y) || !p.placed(to.Y) || to.X < a.Left || from.X > a.Right {
			continue
		}
		x0, x1 := a.DotX(g, from.X), a.DotX(g, to.X)
		for x := max(x0, 0); x <= min(x1, a.W*g.DotsX-1); x++ {
			if x%every != 0 {
				continue
			}
			share := 0.0
			if x1 > x0 {
				share = float64(x-x0) / float64(x1-x0)
			}
			y := math.Round((1-share)*float64(a.DotY(g, from.Y)) + share*float64(a.DotY(g, to.Y)))
			c.Dot(a, g, x, int(y))
		}
	}
	c.Flush(a, g, p.Planned.Token, '.')
}
