package tui

import (
	"math"
	"slices"

	"newtop/trainer"
)

// figureSeries is the curve of a number of a method's own.
type figureSeries struct {
	trainer.Figure
	series series
	whole  bool // all its values so far are whole numbers: it counts something
}

// text writes one of its values.
func (f *figureSeries) text(v float64) string {
	if f.whole && math.Abs(v) < 1e6 {
		return count(int(v))
	}
	return number(v)
}

// own adds the method's own figures. Those of another method begin anew.
func (h *history) own(e *trainer.EpochEvent) {
	if len(e.Figures) == 0 {
		if e.Epoch > 0 && e.Optimizer != h.latest.Optimizer {
			h.figures = nil
		}
		return
	}
	same := slices.EqualFunc(h.figures, e.Figures, func(a figureSeries, b trainer.Figure) bool { return a.Key == b.Key })
	if !same {
		h.figures = make([]figureSeries, len(e.Figures))
		for i := range h.figures {
			h.figures[i].whole = true
		}
	}
	for i, f := range e.Figures {
		f.Symbol, f.Meaning = clean(f.Symbol), clean(f.Meaning)
		if f.Symbol == "" {
			f.Symbol = clean(f.Key)
		}
		h.figures[i].Figure = f
		v := float64(f.Value)
		h.figures[i].whole = h.figures[i].whole && (math.IsNaN(v) || v == math.Trunc(v))
		h.figures[i].series.put(spotOf(e), float64(f.Value))
	}
}

// committee adds the least and the greatest fault among the members of a committee, on the test rows where
// there are some.
func (h *history) committee(e *trainer.EpochEvent) {
	if len(e.Members) == 0 {
		return
	}
	low, high := math.Inf(1), math.Inf(-1)
	for i := range e.Members {
		m := &e.Members[i]
		v, other := float64(m.TestError), float64(m.Error)
		if h.regression() {
			v, other = float64(m.TestRMSE), float64(m.RMSE)
		}
		if math.IsNaN(v) {
			v = other
		}
		low, high = min(low, v), max(high, v)
	}
	h.memberLow.put(spotOf(e), low)
	h.memberHigh.put(spotOf(e), high)
}
