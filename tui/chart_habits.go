package tui

import (
	"slices"
	"strconv"
)

// AxisNames are what preferences call the x axes.
var AxisNames = []string{Epochs: "epoch", Seconds: "seconds", Equivalents: "equivalents"}

var _ ChartPrefs = (*Controls)(nil)

func (cv *Controls) ChartPrefs() (xAxis, smoothing string) {
	if cv.half > 0 {
		smoothing = strconv.FormatFloat(cv.half, 'g', -1, 64)
	}
	return AxisNames[cv.by], smoothing
}

func (cv *Controls) SetChartPrefs(xAxis, smoothing string) {
	if i := slices.Index(AxisNames, xAxis); i >= 0 {
		cv.by = Axis(i)
	}
	if half, err := strconv.ParseFloat(smoothing, 64); err == nil && half > 0 && half < 1e9 {
		cv.half = half
	}
}
