package pane

import (
	"math"
	"strings"

	"newtop/internal/figure"
	"newtop/tui/chart"
	"newtop/tui/history"
	"newtop/tui/style"
)

// RunFigure completes what a pane draws over the epochs of the run; nil if it has no data that a chart can show.
func RunFigure(h *history.History, f figure.Chart) *figure.Chart {
	f.X = h.Run.Counted()
	for _, m := range h.Curves.Marks() {
		f.Marks = append(f.Marks, figure.Mark{X: m.X, Text: m.Text})
	}
	if h.Run != nil {
		f.Title = strings.Join(history.RunText(h.Run)[:min(2, len(history.RunText(h.Run)))], " ") + ": " + f.Title
	}
	for _, c := range f.Curves {
		if len(c.Points) > 0 {
			return &f
		}
	}
	return nil
}

// PointsOf returns a series' points, of a merged bucket its least and greatest value.
func PointsOf(s *chart.Series) []figure.Point {
	var out []figure.Point
	for _, b := range s.Buckets {
		if math.IsNaN(b.Last) {
			continue
		}
		x0, x1 := b.X0, b.X1[chart.Epochs]
		if x0 != x1 {
			out = append(out, figure.Point{X: x0, Y: b.Min}, figure.Point{X: (x0 + x1) / 2, Y: b.Max})
		}
		out = append(out, figure.Point{X: x1, Y: b.Last})
	}
	return out
}

// trainAndTest are the curves of one quantity over the rows of each part.
func trainAndTest(train, validation, test *chart.Series) []figure.Curve {
	curves := []figure.Curve{{Name: "training rows", Color: style.OnPaper(style.Train), Points: PointsOf(train)}}
	if !validation.Empty() {
		curves = append(curves, figure.Curve{Name: "validation rows", Color: style.OnPaper(style.Validation),
			Points: PointsOf(validation)})
	}
	return append(curves, figure.Curve{Name: "test rows", Color: style.OnPaper(style.Test), Dashed: true,
		Points: PointsOf(test)})
}

// EpochPlot is a plot of curves over the epochs of the run.
func EpochPlot(h *history.History, curves ...chart.Curve) chart.Plot {
	limit := h.Status.EpochLimit
	if r := h.Status.Replay; r != nil && !r.Live && r.Last > 0 {
		limit = r.Last
	}
	return chart.Plot{Curves: curves, Marks: h.Curves.Marks(), AllMarks: h.Curves.AllMarks, Closed: h.Over(),
		XAxis: chart.XAxis{Whole: true, Counted: h.Run.Counted(), Limit: float64(limit), Unit: true}}
}
