package metrics

import (
	"newtop/tui/chart"
	"newtop/tui/history"
)

// over is what the charts have along x in place of epochs: a metric that never falls, as tokens or episodes.
type over struct {
	name  string // "" for epochs
	lines map[overKey]*overLine
}

// overKey is a curve, of a history.
type overKey struct {
	h  *history.History
	at int // of the run's figures; below 0: ^at of the quantities
}

// overLine is a curve over a metric, and of what that was made.
type overLine struct {
	gen  uint64 // of the history
	name string
	line chart.Series
}

// line is what is drawn of a history's curve: along the share of its log from 0 to 100, so that one of 30 steps and one
// of 500,000 take the same room.
func (o *over) line(h *history.History, k *curve) *chart.Series {
	y := k.of(h)
	if o.name == "" || k.own(h) != "" {
		return y
	}
	key, gen := overKey{h, k.at}, h.Gen.Epoch+h.Gen.Run
	if l := o.lines[key]; l != nil && l.gen == gen && l.name == o.name {
		return &l.line
	}
	x := &chart.Series{}
	for i := range h.Curves.Metrics {
		if m := &h.Curves.Metrics[i]; m.Symbol == o.name {
			x = &m.Series
		}
	}
	place := func(epoch float64) float64 { return x.At(chart.Epochs, epoch) }
	if o.name == shareOfLog {
		first, last := h.Curves.Extent()
		place = func(epoch float64) float64 { return 100 * (epoch - first) / max(last-first, 1) }
	}
	if o.lines == nil || len(o.lines) > 4096 {
		o.lines = map[overKey]*overLine{}
	}
	o.lines[key] = &overLine{gen, o.name, chart.Over(y, place)}
	return &o.lines[key].line
}

// shareOfLog is the x of several runs that have nothing else in common.
const shareOfLog = "% of the log"

// Axes are the metrics that can be x: of each run that has them they never fall, and they do not say how good it is. Of
// several runs the share of the log is the first.
func Axes(g *Grid) (out []string) {
	if g.catalog == nil {
		return nil
	}
	if len(g.runs) > 1 {
		out = append(out, shareOfLog)
	}
next:
	for i := range g.catalog.all {
		m := &g.catalog.all[i]
		if m.main() || m.own != "" {
			continue
		}
		for k := range m.curves {
			if s := m.curves[k].series(g.runs); m.curves[k].at < 0 || s.Flat() || s.Fell() {
				continue next
			}
		}
		out = append(out, m.name)
	}
	return out
}

// SetOver has the charts have a metric along x; "" for epochs.
func SetOver(g *Grid, name string) {
	g.over = over{name: name}
	g.By, g.Window, g.On, g.Half = chart.Epochs, [2]float64{}, false, 0
	g.changes++
}

// turnAxis changes to the next x: epochs, seconds and work, as far as the runs have them, and then metrics.
func turnAxis(g *Grid) bool {
	axes := Axes(g)
	if g.over.name == "" {
		if before := g.By; !g.Controls.HandleKey("x") || g.By > before || len(axes) == 0 {
			return true
		}
		SetOver(g, axes[0])
		return true
	}
	next := ""
	for i, name := range axes[:max(len(axes)-1, 0)] {
		if name == g.over.name {
			next = axes[i+1]
		}
	}
	SetOver(g, next)
	return true
}

// apart reports whether a metric has an x of its own now: along seconds and work all have their places.
func apart(g *Grid, m *metric) bool {
	return m.own != "" && (g.By == chart.Epochs || m.curves[0].kind == machine)
}

// XName is what the charts have along x.
func XName(g *Grid) string {
	if g.over.name != "" {
		return g.over.name
	}
	return g.Axis().Counting(g.counted())
}

// Chosen is what the user chose of the metrics: x, the filter, which are pinned and which is selected.
func Chosen(g *Grid) (x, filter string, pinned []string, chosen string) {
	return g.over.name, g.filter.Text, g.pinned, g.chosen
}

// Choose has the grid show what Chosen told of another.
func Choose(g *Grid, filter string, pinned []string, chosen string) {
	g.filter.Text, g.pinned, g.chosen = filter, pinned, chosen
	g.narrow()
}
