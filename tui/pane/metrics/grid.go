// Package metrics has the browser of a run's metrics, or of several runs': small charts in a grid, a chart a metric,
// that are filtered, sorted, grouped, pinned, paged through and looked at closely, all with one x axis and one cursor.
package metrics

import (
	"slices"

	"newtop/tui/chart"
	"newtop/tui/layout"
)

// Grid is the charts of the metrics of one or more runs. What is selected, pinned and folded goes by name, so that it
// stays when metrics come or the runs change. Its zero value is an empty grid.
type Grid struct {
	chart.Controls
	gallery
	over     over
	division division
	status   []span // keys in the last row, for the mouse

	accuracy    bool // errors are shown as accuracies
	zoomedApart bool // the chart that has all the room has an x of its own

	cells  map[string]*cell
	zoom   chart.Canvas
	target float64
	place  layout.Rect // where the charts stand in what was drawn
	frame  uint64      // counts what was drawn
}

// span is where a key stands in the last row.
type span struct {
	from, to, y int
	keys        []string
}

// Show has the grid show runs, whose order is that of their metrics, too.
func (g *Grid) Show(runs []Run) {
	if !slices.Equal(runs, g.runs) {
		g.runs = slices.Clone(runs)
		g.changes++
	}
	outlines := g.outlines[:0:0]
	for i := range runs {
		outlines = append(outlines, outlineOf(runs[i].H))
	}
	if g.catalog != nil && slices.Equal(outlines, g.outlines) {
		if slices.ContainsFunc(g.catalog.all, func(m metric) bool { return m.flat && m.moves(runs) }) {
			g.arrange()
		}
		return
	}
	g.outlines, g.catalog = outlines, newCatalog(runs, outlines, g.accuracy)
	g.arrange()
}

// SetAccuracy has errors shown as accuracies, or accuracies as errors. What is selected and pinned stays so under its
// other name.
func SetAccuracy(g *Grid, on bool) {
	if g.accuracy == on {
		return
	}
	g.accuracy = on
	if g.catalog == nil {
		return
	}
	before := g.catalog
	g.catalog = newCatalog(g.runs, g.outlines, on)
	for i := range before.all {
		old := &before.all[i]
		for k := range g.catalog.all {
			m := &g.catalog.all[k]
			if old.curves[0].at >= 0 || m.curves[0].at != old.curves[0].at {
				continue
			}
			if g.chosen == old.name {
				g.chosen = m.name
			}
			if at := slices.Index(g.pinned, old.name); at >= 0 {
				g.pinned[at] = m.name
			}
		}
	}
	g.changes++
	g.arrange()
}
