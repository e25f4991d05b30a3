package tui

import (
	"math"
	"strconv"

	"newtop/internal/format"
	"newtop/trainer/event"
	"newtop/tui/chart"
)

// regression reports whether the run's rows are judged by root mean squares and not by error fractions.
func (h *history) regression() bool { return h.Run != nil && h.Measure.Train() != event.Error }

// over reports whether the run has ended.
func (h *history) over() bool { return h.Done != nil || h.Status.Phase == event.Ended }

// primary is the setting that + and − scale, nil if there is none.
func (h *history) primary() *event.Setting {
	for i := range h.Status.Settings {
		if s := &h.Status.Settings[i]; s.Primary {
			return s
		}
	}
	return nil
}

// steering is what a method is steered by, and so what tells how it is doing.
type steering uint8

const (
	byRadius  steering = iota // a trust region
	byRate                    // a learning rate
	byFigures                 // numbers of its own
)

// steering tells it from what + and − scale, and where nothing can be scaled from the newest epoch.
func (h *history) steering() steering {
	s := h.primary()
	switch {
	case s != nil && s.Key == "radius":
		return byRadius
	case s != nil && s.Key == "rate":
		return byRate
	case s != nil:
		return byFigures
	case h.Latest.Epoch == 0 && !h.external() || h.Epochs > 0 && !math.IsNaN(float64(h.Latest.Radius)):
		return byRadius
	case h.Epochs > 0 && !math.IsNaN(float64(h.Latest.Rate)):
		return byRate
	}
	return byFigures
}

// solveless reports whether the current method has no inner solves: what its newest epoch had, and before
// its first one what it is steered by.
func solveless(h *history) bool {
	if h.Latest.Epoch > 0 && (h.Latest.Optimizer == h.Status.Optimizer || h.Status.Optimizer == "") {
		return len(h.Latest.Inner) == 0
	}
	return h.steering() != byRadius
}

// nextRadius is the radius that the next epoch begins with, if it is not that of the last.
func nextRadius(h *history) (r float64, ok bool) {
	s, now := h.primary(), float64(h.Latest.Radius)
	if s == nil || s.Key != "radius" || h.offline() || h.Latest.Epoch == 0 {
		return 0, false
	}
	r, err := strconv.ParseFloat(s.Text, 64)
	return r, err == nil && format.Number(r) != format.Number(now)
}

// watched reports whether the run is trained elsewhere, or was: nobody answers what it does not tell.
func (h *history) watched() bool { return h.Status.Replay != nil }

// offline reports whether a question would have no answer: the run is over, or only its record is here.
func (h *history) offline() bool { return h.over() || h.watched() }

// unasked reports whether nobody answers what this screen asks: there is no answer, or no right to ask.
func (h *history) unasked() bool { return h.offline() || h.Viewer }

// loading is how much of a record has been read, and whether more is being read.
func (h *history) loading() (share float64, ok bool) {
	r := h.Status.Replay
	if r == nil || !reading(r) {
		return 0, false
	}
	return r.Loading, true
}

func reading(r *event.Replay) bool { return r != nil && r.Loading > 0 && r.Loading < 1 }

// external reports whether the run is told by another program, which may tell little.
func (h *history) external() bool { return h.Run != nil && h.Run.External() }

// metricsOnly reports whether the run is told by its figures alone.
func (h *history) metricsOnly() bool {
	return h.external() && len(h.Solves.Bars) == 0 && len(h.Steps.solves) == 0 && len(h.Spectra) == 0
}

// hasVerdict reports whether an epoch says anything about its step: other programs do not.
func (h *history) hasVerdict(e *event.EpochEvent) bool {
	return e.Epoch > 0 && (!h.external() || !math.IsNaN(float64(e.Rho)))
}

// missing reports whether another program tells no values of a curve at all.
func (h *history) missing(s *chart.Series) bool {
	return h.external() && s.Empty() && h.Diverged == nil
}

// noLosses reports whether another program tells nothing but figures of its own.
func noLosses(h *history) bool {
	c := &h.Curves
	return h.missing(&c.Loss) && h.missing(&c.TestLoss) && h.missing(&c.Metric) && h.missing(&c.TestMetric)
}

// metricName names what the run's rows are judged by beside the loss.
func metricName(h *history) string {
	if h.regression() && !(h.missing(&h.Curves.Metric) && h.missing(&h.Curves.TestMetric)) {
		return "RMSE"
	}
	return "error"
}
