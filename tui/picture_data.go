package tui

import (
	"math"
	"strings"

	"newtop/tui/chart"
	"newtop/tui/style"
)

// runFigure completes what a pane draws over the epochs of the run; nil if it has no data that a chart can show.
func runFigure(h *History, f figure) *figure {
	f.x, f.marks = "epoch", h.Curves.Marks()
	if h.Run != nil {
		f.title = strings.Join(RunWords(h.Run)[:min(2, len(RunWords(h.Run)))], " ") + ": " + f.title
	}
	for _, c := range f.curves {
		if len(c.points) > 0 {
			return &f
		}
	}
	return nil
}

// pointsOf returns a series' points, of a merged bucket its least and greatest value.
func pointsOf(s *chart.Series) figurePoints {
	var out figurePoints
	for _, b := range s.Buckets {
		if math.IsNaN(b.Last) {
			continue
		}
		x0, x1 := b.X0, b.X1[chart.Epochs]
		if x0 != x1 {
			out = append(out, figurePoint{X: x0, Y: b.Min}, figurePoint{X: (x0 + x1) / 2, Y: b.Max})
		}
		out = append(out, figurePoint{X: x1, Y: b.Last})
	}
	return out
}

// trainAndTest are the curves of one quantity over the rows of either set.
func trainAndTest(train, test *chart.Series) []figureCurve {
	return []figureCurve{
		{name: "training rows", tok: style.Train, points: pointsOf(train)},
		{name: "test rows", tok: style.Test, dashed: true, points: pointsOf(test)},
	}
}
