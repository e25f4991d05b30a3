package tui

import (
	"newtop/tui/chart"
	"newtop/tui/history"
)

// EpochPlot is a plot of curves over the epochs of the run.
func EpochPlot(h *history.History, curves ...chart.Curve) chart.Plot {
	limit := h.Status.EpochLimit
	if r := h.Status.Replay; r != nil && !r.Live && r.Last > 0 {
		limit = r.Last
	}
	return chart.Plot{Curves: curves, Whole: true, Marks: h.Curves.Marks(), AllMarks: h.Curves.AllMarks, Limit: float64(limit), Closed: h.Over()}
}
