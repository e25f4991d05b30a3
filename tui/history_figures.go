package tui

import (
	"math"
	"slices"

	"newtop/internal/format"
	"newtop/trainer/event"
	"newtop/tui/chart"
	"newtop/tui/style"
)

// figureSeries is the curve of a number of a method's own.
type figureSeries struct {
	event.Figure
	series chart.Series
	whole  bool // all its values so far are whole numbers: it counts something
}

// text writes one of its values.
func (f *figureSeries) text(v float64) string {
	if f.whole && math.Abs(v) < 1e6 {
		return format.Count(int(v))
	}
	return format.Number(v)
}

// keptFigures bounds the curves of a program that tells figures of its own.
const keptFigures = 64

// own adds the method's own figures. Those of another method begin anew; those of another program stay, which may tell
// some of them now and then only.
func (h *history) own(e *event.EpochEvent) {
	if h.foreign() {
		h.ownForeign(e)
		return
	}
	if len(e.Figures) == 0 {
		if e.Epoch > 0 && e.Optimizer != h.latest.Optimizer {
			h.figures = nil
		}
		return
	}
	same := slices.EqualFunc(h.figures, e.Figures, func(a figureSeries, b event.Figure) bool { return a.Key == b.Key })
	if !same {
		h.figures = make([]figureSeries, len(e.Figures))
		for i := range h.figures {
			h.figures[i].whole = true
		}
	}
	for i, f := range e.Figures {
		h.figures[i].add(f, h.now)
	}
}

func (h *history) ownForeign(e *event.EpochEvent) {
	for i, f := range e.Figures {
		at := i
		if at >= len(h.figures) || h.figures[at].Key != f.Key {
			at = slices.IndexFunc(h.figures, func(k figureSeries) bool { return k.Key == f.Key })
		}
		if math.IsNaN(float64(f.Value)) {
			continue
		}
		if at < 0 {
			if len(h.figures) == keptFigures {
				continue
			}
			at = len(h.figures)
			h.figures = append(h.figures, figureSeries{whole: true})
		}
		h.figures[at].add(f, h.now)
	}
}

// add takes the next value.
func (f *figureSeries) add(now event.Figure, at chart.Position) {
	now.Symbol, now.Meaning = style.Clean(now.Symbol), style.Clean(now.Meaning)
	if now.Symbol == "" {
		now.Symbol = style.Clean(now.Key)
	}
	f.Figure = now
	v := float64(now.Value)
	f.whole = f.whole && (math.IsNaN(v) || v == math.Trunc(v))
	f.series.Put(at, v)
}

// committee adds the least and the greatest fault among the members of a committee, on the test rows where
// there are some.
func (h *history) committee(e *event.EpochEvent) {
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
	h.memberLow.Put(spotOf(e), low)
	h.memberHigh.Put(spotOf(e), high)
}
