package tui

import (
	"slices"
	"strconv"
)

// axisNames are what preferences call the x axes.
var axisNames = []string{xEpoch: "epoch", xSeconds: "seconds", xEquivalents: "equivalents"}

var _ chartHabits = (*chartView)(nil)

func (cv *chartView) habits() (xAxis, smoothing string) {
	if cv.half > 0 {
		smoothing = strconv.FormatFloat(cv.half, 'g', -1, 64)
	}
	return axisNames[cv.by], smoothing
}

func (cv *chartView) adopt(xAxis, smoothing string) {
	if i := slices.Index(axisNames, xAxis); i >= 0 {
		cv.by = axis(i)
	}
	if half, err := strconv.ParseFloat(smoothing, 64); err == nil && half > 0 && half < 1e9 {
		cv.half = half
	}
}
