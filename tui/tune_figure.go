package tui

import (
	"math"

	"newtop/internal/format"
	"newtop/trainer/tune"
	"newtop/tui/layout"
	"newtop/tui/style"
)

// figure is what the picture of a pane shows, and what its file is called; nil for nothing.
func (m *tuning) figure(pane layout.ID) (f *figure, name string) {
	f = &figure{title: "tune " + style.Clean(m.board.Name) + ", " + style.Clean(m.board.Data)}
	if pane < tunePanes {
		f.logY = !m.charts.linear[pane]
	}
	switch pane {
	case tuneProgress:
		name, f.x, f.y = "found", m.charts.along().Words()+" of the search", m.valueName()
		best := figureCurve{name: "best so far", tok: style.Text}
		for _, b := range m.bestSoFar(f.logY).Buckets {
			best.points = append(best.points, figurePoint{X: b.X1[m.charts.along()], Y: b.Last})
		}
		f.curves = append(m.figureDots(m.endedAt), best)
	case tuneSlice:
		d := m.sliced()
		if d == nil {
			return nil, ""
		}
		name, f.x, f.y = "over-"+d.key, style.Clean(d.key), m.valueName()
		f.logX, f.names = d.log, d.names
		f.curves = m.figureDots(d.place)
	case tuneCurves:
		name, f.x, f.y = "curves", m.charts.along().Words(), m.measure()
		f.curves = m.figureCurves()
	default:
		return nil, ""
	}
	for _, c := range f.curves {
		if len(f.drawable(c.points)) > 0 {
			return f, name
		}
	}
	return nil, ""
}

// figureDots are the listed trials by group at places along x.
func (m *tuning) figureDots(place func(*tune.Trial) float64) []figureCurve {
	groups := []figureCurve{{name: "trials", tok: style.Accent, dots: true}}
	if m.lead >= 0 {
		groups = groups[:0]
		for i, s := range m.dims[m.lead].names {
			groups = append(groups, figureCurve{name: style.Clean(s), tok: style.RacerToken(i), dots: true})
		}
	}
	for _, i := range m.rows {
		t := &m.board.Trials[i]
		x, y, g := place(t), m.value(t), max(0, m.group(t))
		if format.Finite(x) && format.Finite(y) && g < len(groups) && t.State != tune.Diverged && t.State != tune.Failed {
			groups[g].points = append(groups[g].points, figurePoint{X: x, Y: y})
		}
	}
	return groups
}

// figureCurves are the learning curves, the selected one last.
func (m *tuning) figureCurves() (out []figureCurve) {
	curve := func(t *tune.Trial, tok style.Token, name string) {
		c := figureCurve{name: name, tok: tok}
		for _, q := range t.Curve {
			x := q.Seconds
			if m.charts.work {
				x = q.Equivalents
			}
			if !math.IsNaN(x) {
				c.points = append(c.points, figurePoint{X: x, Y: float64(q.Value)})
			}
		}
		out = append(out, c)
	}
	for _, i := range m.rows[:min(len(m.rows), mostCurves)] {
		if t := &m.board.Trials[i]; t.Number != m.number {
			curve(t, style.Grid, "")
		}
	}
	if t := m.selected(); t != nil {
		curve(t, style.Train, "trial "+format.Count(t.Number))
	}
	return out
}
