package tui

import (
	"fmt"
	"math"
	"slices"

	"newtop/internal/format"
	"newtop/trainer/event"
	"newtop/tui/chart"
	"newtop/tui/style"
)

// keptMarks bounds how many events the charts can mark.
const keptMarks = 128

// note is an event that the charts over the run mark. Major ones, changes of method and ways back, show on small
// charts too.
type note struct {
	at    chart.Position
	text  string
	major bool
}

// charted are the marks and what belongs to the history's curves besides.
type charted struct {
	now   chart.Position // of the newest epoch
	notes []note
}

// mark notes an event after an epoch.
func (h *history) mark(epoch int, major bool, text string) {
	at := h.now
	at[chart.Epochs] = float64(epoch)
	if s, ok := h.loss.Find(chart.Epochs, at[chart.Epochs]); ok && s[chart.Epochs] <= at[chart.Epochs] {
		at[chart.Seconds], at[chart.Equivalents] = s[chart.Seconds], s[chart.Equivalents]
	}
	h.notes = chart.Newest(append(h.notes, note{at, text, major}), keptMarks)
}

// rewound follows the run back to an epoch.
func (h *history) rewound(to int) {
	h.cut(to)
	h.mark(to, true, "back to "+format.Count(to))
	h.say(to, style.Accent, "back to epoch %s", format.Count(to))
}

// cut takes the curves back to an epoch: what came after it stays as a branch that was left.
func (h *history) cut(to int) {
	for _, s := range h.curves() {
		s.Cut(float64(to))
	}
	after := func(n note) bool { return n.at[chart.Epochs] > float64(to) }
	h.notes = slices.DeleteFunc(h.notes, after)
	h.spectra = slices.DeleteFunc(h.spectra, func(e event.SpectrumEvent) bool { return e.Epoch > to })
	h.latest.Epoch = to
	for i := len(h.entries) - 1; i >= 0; i-- {
		if e := &h.entries[i]; e.text == "" && e.stats.Epoch == to {
			h.latest = e.stats
			break
		}
	}
	h.before = event.EpochEvent{Loss: event.Float(math.NaN()), TestLoss: event.Float(math.NaN())}
	h.solving = false
	h.epochGen++
	h.innerGen++
	h.spectrumGen++
}

// curves are all series over the epochs.
func (h *history) curves() []*chart.Series {
	c := []*chart.Series{&h.loss, &h.testLoss, &h.fault, &h.testFault, &h.radius, &h.rho, &h.rate, &h.gradient, &h.step, &h.seconds,
		&h.memberLow, &h.memberHigh}
	for i := range h.figures {
		c = append(c, &h.figures[i].series)
	}
	return c
}

// spotOf is where an epoch stands on every axis.
func spotOf(e *event.EpochEvent) chart.Position {
	return chart.Position{float64(e.Epoch), float64(e.Elapsed), float64(e.GradientEquivalents)}
}

// setting notes a change of a hyperparameter.
func (h *history) setting(e *event.SettingEvent) {
	text := style.Clean(e.Key) + " = " + style.Clean(fmt.Sprint(e.Value))
	h.say(e.Epoch, style.Accent, "%s", text)
	h.mark(e.Epoch, false, text)
	h.epochGen++
}

// marks returns the major events by epoch.
func (h *history) marks() []chart.Mark { return h.marked(chart.Epochs, false) }

// allMarks returns every event along an axis, for a chart that has room for them.
func (h *history) allMarks(by chart.Axis) []chart.Mark { return h.marked(by, true) }

// marked returns what the charts mark along an axis: only the major events, or all.
func (h *history) marked(by chart.Axis, all bool) []chart.Mark {
	m := make([]chart.Mark, 0, len(h.notes))
	for _, n := range h.notes {
		if all || n.major {
			m = append(m, chart.Mark{X: n.at[by], Text: n.text})
		}
	}
	return m
}
