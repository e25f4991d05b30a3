package tui

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
		if !(b.max > high || a.below(b.min, low)) || !a.has(b.x1[a.By]) {
			continue
		}
		m.more = m.more || b.n > 1
		if b.max > high {
			m.above++
		} else {
			m.below++
		}
	}
}

// below reports whether a value that the axis could show lies under its end.
func (a *Area) below(y, low float64) bool { return y < low && (!a.log || y > 0) }

// most returns a range that leaves out only what lies far from most values: beyond the 5 % and 95 % quantiles by
// more than a fifth of the way between them.
func (p *Plot) most(a Area) (low, high float64) {
	var ys []float64
	const enough = 2048
	for i := range p.curves {
		items := inside(a, p.within(a, p.items(&p.curves[i])))
		for j := 0; j < len(items); j += 1 + len(items)/enough {
			for _, y := range [2]float64{items[j].min, items[j].max} {
				if t := a.up(y); !math.IsNaN(t) && !math.IsInf(t, 0) {
					ys = append(ys, t)
				}
			}
		}
	}
	if len(ys) == 0 {
		return a.low, a.high
	}
	slices.Sort(ys)
	q := func(part float64) float64 { return ys[int(math.Round(part*float64(len(ys)-1)))] }
	from, to := q(0.05), q(0.95)
	spare := (to - from) / 5
	low, high = math.Max(a.up(a.low), from-spare), math.Min(a.up(a.high), to+spare)
	if a.log {
		low, high = math.Pow(10, low), math.Pow(10, high)
	}
	return low, high
}

// edges points at where the values lie that the y axis leaves out.
func (c *Canvas) edges(v *style.Pen, p Plot, a Area) {
	low, high := a.span()
	for i := range p.curves {
		items := p.within(a, p.items(&p.curves[i]))
		for j := range items {
			b := &items[j]
			x := b.x1[a.By]
			if b.max > high && a.has(x) {
				c.set(a.cellX(v.Glyphs, x), a.y, '▴', style.Warn)
			}
			if a.below(b.min, low) && a.has(x) {
				c.set(a.cellX(v.Glyphs, x), a.y+a.h-1, '▾', style.Warn)
			}
		}
	}
}
