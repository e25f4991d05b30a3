package tui

import "newtop/tui/chart"

// epochPlot is a plot of curves over the epochs of the run.
func epochPlot(h *history, curves ...chart.Curve) chart.Plot {
	limit := h.status.EpochLimit
	if r := h.status.Replay; r != nil && !r.Live && r.Last > 0 {
		limit = r.Last
	}
	return chart.Plot{Curves: curves, Whole: true, Marks: h.marks(), AllMarks: h.allMarks, Limit: float64(limit), Closed: h.over()}
}
