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

func (m *missing) count(a Area, items []Bucket) {
	low, high := a.span()
	for i := range items {
		b := &items[i]
		if !(b.Max > high || a.below(b.Min, low)) || !a.has(b.X1[a.By]) {
			continue
		}
		m.more = m.more || b.N > 1
		if b.Max > high {
			m.above++
		} else {
			m.below++
		}
	}
}

// mostOf returns a range that leaves out only what lies far from most values: beyond the 5 % and 95 % quantiles by
// more than a fifth of the way between them.
func mostOf(p *Plot, a Area) (low, high float64) {
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

// drawEdges points at where the values lie that the y axis leaves out.
func drawEdges(c *Canvas, v *style.Pen, p Plot, a Area) {
	low, high := a.span()
	for i := range p.Curves {
		items := p.within(a, p.items(&p.Curves[i]))
		for j := range items {
			b := &items[j]
			x := b.X1[a.By]
			if b.Max > high && a.has(x) {
				c.Set(a.CellX(v.Glyphs, x), a.Y, '▴', style.Warn)
			}
			if a.below(b.Min, low) && a.has(x) {
				c.Set(a.CellX(v.Glyphs, x), a.Y+a.H-1, '▾', style.Warn)
			}
		}
	}
}
