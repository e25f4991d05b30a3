package pane

import (
	"math"

	"newtop/tui/chart"
	"newtop/tui/history"
)

// ratesAhead appends the rates that the current method plans from the latest epoch on: to the end of the run, or as far
// as leaves an eighth of the axis to what was. There are none where the rate stays as it is.
func ratesAhead(points []chart.Point, h *history.History) []chart.Point {
	const samples, part = 96, 8
	plan, ok := h.Plan()
	if !ok || h.Over() || h.External() {
		return points
	}
	now := float64(h.Latest.Epoch)
	end := chart.Ahead(chart.Epochs, part*math.Max(now, 1), 0)
	if limit := float64(h.Status.EpochLimit); limit > 0 {
		end = math.Min(end, limit)
	}
	moves, first := false, plan.Rate(now)
	for i := range samples + 1 {
		x := now + (end-now)*float64(i)/samples
		q := chart.Point{X: x, Y: plan.Rate(x)}
		moves = moves || q.Y != first
		points = append(points, q)
	}
	if !moves || !(end > now) {
		return points[:0]
	}
	return points
}
