package pane

import (
	"strconv"

	"newtop/internal/format"
	"newtop/tui/history"
)

// NoSolves reports whether the current method has no inner solves: what its newest epoch had, and before
// its first one what it is steered by.
func NoSolves(h *history.History) bool {
	if h.Latest.Epoch > 0 && (h.Latest.Optimizer == h.Status.Optimizer || h.Status.Optimizer == "") {
		return len(h.Latest.Inner) == 0
	}
	return h.Steering() != history.ByRadius
}

// NextRadius is the radius that the next epoch begins with, if it is not that of the last.
func NextRadius(h *history.History) (r float64, ok bool) {
	s, now := h.Primary(), float64(h.Latest.Radius)
	if s == nil || s.Key != "radius" || h.Offline() || h.Latest.Epoch == 0 {
		return 0, false
	}
	r, err := strconv.ParseFloat(s.Text, 64)
	return r, err == nil && format.Number(r) != format.Number(now)
}

// metricName names what the run's rows are judged by beside the loss.
func metricName(h *history.History) string {
	if h.Regression() && !(h.Missing(&h.Curves.Metric) && h.Missing(&h.Curves.TestMetric)) {
		if h.Run != nil {
			return h.Run.Data.RMSE()
		}
		return "RMSE"
	}
	return "error"
}
