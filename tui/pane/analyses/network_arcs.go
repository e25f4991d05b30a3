package analyses

import (
	"slices"

	"newtop/trainer/event"
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
