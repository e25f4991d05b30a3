package analyses

import (
	"fmt"
	"slices"

	"newtop/trainer/event"
	"newtop/tui/style"
)

// share gives the connections that skip layers their rows, the shortest nearest to the graph, several a
// row where they keep clear of each other.
func (d *drawing) share(m *event.ModelInfo) {
	var ends []int // the last column of each row
	for reach := 2; reach < len(m.Layers); reach++ {
		for _, c := range m.Connections {
			from, to := d.column(c.From), d.column(c.To)
			if c.To-c.From != reach || from < 0 || to < 0 {
				continue
			}
			lane := slices.IndexFunc(ends, func(end int) bool { return end < from })
			if lane < 0 {
				lane = len(ends)
				ends, d.lanes = append(ends, 0), append(d.lanes, nil)
			}
			ends[lane] = to
			d.lanes[lane] = append(d.lanes[lane], c)
		}
	}
}

// skips draws the connections that pass over layers as arcs, and says how many it has no row for.
func (p *Topology) skips(m *event.ModelInfo, d drawing, w int) {
	left := 0
	for lane, cs := range d.lanes {
		if lane >= d.arcs {
			left += len(cs)
			continue
		}
		for _, c := range cs {
			a, b := d.x[d.column(c.From)], d.x[d.column(c.To)]
			p.arc(a, b, d.counts+1+lane, weights(m, c, b-a-4), w)
		}
	}
	if left > 0 {
		s := fmt.Sprintf("+%d skips", left)
		p.chart.Write(max(0, w-style.Cells(s)), 0, s, style.Muted)
	}
}

// arc draws one connection with its number of weights.
func (p *Topology) arc(a, b, row int, weights string, w int) {
	p.chart.Set(a, row, '╰', style.Grid)
	for x := a + 1; x < b; x++ {
		p.chart.Set(x, row, '─', style.Grid)
	}
	p.chart.Set(b, row, '╯', style.Grid)
	if s := " " + weights + " "; style.Cells(s) < b-a-1 {
		p.centred((a+b)/2, row, s, style.Muted, w)
	}
}
