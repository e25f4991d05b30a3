package chart

import (
	"math"
	"slices"

	"newtop/tui/style"
)

// missing counts what a y axis leaves out.
type missing struct {
	above, below int
	more         bool // some of them stand for several points
}

// withoutOutliers returns a range that leaves out only what lies far from most values: beyond the 5 % and 95 %
// quantiles by more than a fifth of the way between them.
func withoutOutliers(p *Plot, a Area) (low, high float64) {
	var ys []float64
	const enough = 2048
	for i := range p.Curves {
		items := inside(a, p.within(a, p.items(&p.Curves[i])))
		for j := 0; j < len(items); j += 1 + len(items)/enough {
			for _, y := range [2]float64{items[j].Min, items[j].Max} {
				if t := a.up(y); !math.IsNaN(t) && !math.IsInf(t, 0) {
					ys = append(ys, t)
				}
			}
		}
	}
	if len(ys) == 0 {
		return a.Low, a.High
	}
	slices.Sort(ys)
	q := func(part float64) float64 { return ys[int(math.Round(part*float64(len(ys)-1)))] }
	from, to := q(0.05), q(0.95)
	spare := (to - from) / 5
	low, high = math.Max(a.up(a.Low), from-spare), math.Min(a.up(a.High), to+spare)
	if a.log {
		low, high = math.Pow(10, low), math.Pow(10, high)
	}
	return low, high
}

// drawEdges points at where the values lie that the y axis leaves out, and counts them.
func drawEdges(c *Canvas, v *style.Pen, p *Plot, a Area) (m missing) {
	low, high := a.span()
	for i := range p.Curves {
		items := p.within(a, p.items(&p.Curves[i]))
		for j := range items {
			b := &items[j]
			x, above, below := b.X1[a.By], b.Max > high, a.below(b.Min, low)
			if a.down {
				above, below = below, above
			}
			if !above && !below || !a.has(x) {
				continue
			}
			m.more = m.more || b.N > 1
			if above {
				m.above++
				c.Set(a.CellX(v.Glyphs, x), a.Y, '▴', style.Warn)
			} else {
				m.below++
			}
			if below {
				c.Set(a.CellX(v.Glyphs, x), a.Y+a.H-1, '▾', style.Warn)
			}
		}
	}
	return m
}
