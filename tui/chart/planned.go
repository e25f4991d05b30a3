package chart

import (
	"math"

	"newtop/tui/style"
)

// Planned is what a curve will do after its newest point, as far as that is settled: a dotted line over the epochs to
// come, which widens both axes and has no cursor.
type Planned struct {
	Name   string
	Token  style.Token
	Points []Point
}

// Point is one of a line's.
type Point struct{ X, Y float64 }

// plan is what of the plan is shown: all of it, but along other axes than the epochs, and where x is logarithmic,
// nothing.
func (p *Plot) plan() []Point {
	if p.By != Epochs || p.LogX || p.Closed {
		return nil
	}
	return p.Planned.Points
}

// planEnd is the last x of a plot that shows all of the run.
func (p *Plot) planEnd(right float64) float64 {
	if plan := p.plan(); len(plan) > 0 {
		return math.Max(right, plan[len(plan)-1].X)
	}
	return right
}

// planSpan widens the range of y by what of the plan is within an area. A logarithmic axis follows a plan that ends at
// 0 to a thousandth of its highest value.
func (p *Plot) planSpan(a *Area) {
	const decades = 1e3
	low, high := math.Inf(1), math.Inf(-1)
	for _, q := range p.plan() {
		if p.placed(q.Y) && q.X >= a.Left && q.X <= a.Right {
			low, high = math.Min(low, q.Y), math.Max(high, q.Y)
		}
	}
	if p.Log {
		low = math.Max(low, high/decades)
	}
	if low <= high {
		a.Low, a.High = math.Min(a.Low, low), math.Max(a.High, high)
	}
}

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

// planRow says in the legend what the dotted line is; nil where there is none.
func (p *Plot) planRow(g *style.GlyphSet) []style.Part {
	if len(p.plan()) == 0 {
		return nil
	}
	return []style.Part{p.Planned.Sign(g)}
}

// Sign is a short stretch of the dotted line with its name.
func (k *Planned) Sign(g *style.GlyphSet) style.Part {
	dots := "···"
	if g.ASCII {
		dots = "..."
	}
	return k.Token.Of(dots + " " + k.Name)
}

// ahead leaves up to an eighth of the x axis free for what will come, so that the picture grows into it
// instead of being squeezed with every point; a known end is not passed.
func (p *Plot) ahead(last float64) float64 {
	return Ahead(p.By, last, p.Limit)
}

// Ahead is where an x axis ends whose newest point is the last, with an epoch that the run ends at or before; 0 for
// none.
func Ahead(by Axis, last, limit float64) float64 {
	if by != Epochs {
		if last <= 0 {
			return last
		}
		return math.Pow(1.125, math.Ceil(math.Log(last)/math.Log(1.125)))
	}
	right := 10.0
	for right < last {
		right = math.Ceil(right * 1.125)
	}
	if limit >= last && limit > 0 {
		right = math.Min(right, limit)
	}
	return right
}
