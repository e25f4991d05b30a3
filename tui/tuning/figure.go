package tuning

import (
	"math"

	"newtop/internal/figure"
	"newtop/internal/format"
	"newtop/trainer/tune"
	"newtop/tui/layout"
	"newtop/tui/style"
)

// pictureOf is what the picture of a pane shows, and what its file is called; nil for nothing.
func pictureOf(m *model, id layout.ID) (f *figure.Chart, name string) {
	f = &figure.Chart{Title: "tune " + style.Clean(m.leaderboard.Name) + ", " + style.Clean(m.leaderboard.Data)}
	if id < tunePanes {
		f.LogY = logarithmic(m, id, id != tuneCurves && timed(m))
	}
	switch id {
	case tuneProgress:
		name, f.X, f.Y = "found", m.charts.along().Name()+" of the search", valueName(m)
		best := figure.Curve{Name: "best so far", Color: style.OnPaper(style.Text)}
		for _, b := range bestSoFar(m, false).Buckets {
			best.Points = append(best.Points, figure.Point{X: b.X1[m.charts.along()], Y: shownOf(m, b.Last)})
		}
		f.Curves = append(pictureDots(m, func(t *tune.Trial) float64 { return endedAt(m, t) }), best)
	case tuneSlice:
		d := slicedDim(m)
		if d == nil {
			return nil, ""
		}
		name, f.X, f.Y = "over-"+d.key, style.Clean(d.key), valueName(m)
		f.LogX, f.Names = d.log, d.names
		f.Curves = pictureDots(m, d.position)
	case tuneCurves:
		name, f.X, f.Y = "curves", m.charts.along().Name(), m.measure()
		f.Curves = pictureCurves(m)
	default:
		return nil, ""
	}
	if f.Empty() {
		return nil, ""
	}
	return f, name
}

// pictureDots are the listed trials by group at places along x.
func pictureDots(m *model, place func(*tune.Trial) float64) []figure.Curve {
	groups := []figure.Curve{{Name: "trials", Color: style.OnPaper(style.Accent), Dots: true}}
	if m.lead >= 0 {
		groups = groups[:0]
		for i, s := range m.dims[m.lead].names {
			groups = append(groups, figure.Curve{Name: style.Clean(s), Color: style.OnPaper(style.RacerToken(i)),
				Dots: true})
		}
	}
	for _, i := range m.rows {
		t := &m.leaderboard.Trials[i]
		x, y, g := place(t), valueOf(m, t), max(0, m.group(t))
		if format.Finite(x) && format.Finite(y) && g < len(groups) && t.State != tune.Diverged &&
			t.State != tune.Failed {
			groups[g].Points = append(groups[g].Points, figure.Point{X: x, Y: shownOf(m, y)})
		}
	}
	return groups
}

// pictureCurves are the learning curves, the selected one last.
func pictureCurves(m *model) (out []figure.Curve) {
	curve := func(t *tune.Trial, tok style.Token, name string) {
		c := figure.Curve{Name: name, Color: style.OnPaper(tok)}
		for _, q := range t.Curve {
			x := q.Seconds
			if m.charts.work {
				x = q.Equivalents
			}
			if !math.IsNaN(x) {
				c.Points = append(c.Points, figure.Point{X: x, Y: m.shown(float64(q.Value))})
			}
		}
		out = append(out, c)
	}
	for _, i := range m.rows[:min(len(m.rows), maxCurves)] {
		if t := &m.leaderboard.Trials[i]; t.Number != m.number {
			curve(t, style.Grid, "")
		}
	}
	if t := selected(m); t != nil {
		curve(t, style.Train, "trial "+format.Count(t.Number))
	}
	return out
}

// shownOf is a value of the charts as it is written.
func shownOf(m *model, v float64) float64 {
	if timed(m) {
		return v
	}
	return m.shown(v)
}
