package chart

import (
	"slices"
	"strconv"
)

// ChartPrefs is what panes with charts remember from run to run.
type ChartPrefs interface {
	// ChartPrefs names the x axis and the smoothing.
	ChartPrefs() (xAxis, smoothing string)
	// SetChartPrefs takes them over; it ignores a name that it does not know.
	SetChartPrefs(xAxis, smoothing string)
}

// AxisNames are what preferences call the x axes.
var AxisNames = []string{Epochs: "epoch", Seconds: "seconds", Equivalents: "equivalents"}

var _ ChartPrefs = (*Controls)(nil)

func (cv *Controls) ChartPrefs() (xAxis, smoothing string) {
	if cv.Half > 0 {
		smoothing = strconv.FormatFloat(cv.Half, 'g', -1, 64)
	}
	return AxisNames[cv.By], smoothing
}

func (cv *Controls) SetChartPrefs(xAxis, smoothing string) {
	if i := slices.Index(AxisNames, xAxis); i >= 0 {
		cv.By = Axis(i)
	}
	if half, err := strconv.ParseFloat(smoothing, 64); err == nil && half > 0 && half < 1e9 {
		cv.Half = half
	}
}
