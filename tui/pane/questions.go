package pane

import (
	"cmp"
	"strconv"
	"strings"

	"newtop/internal/format"
	"newtop/trainer/event"
	"newtop/tui/chart"
	"newtop/tui/history"
	"newtop/tui/style"
)

// NoSolves reports whether the current method has no inner solves: what its latest epoch had, and before
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

// LogsAccuracy reports whether a log has accuracies, so that they are shown unless the user wants errors.
func LogsAccuracy(h *history.History) bool {
	for _, q := range classified {
		if _, accuracy := h.Curves.Logged(q); accuracy {
			return true
		}
	}
	return false
}

// classified are the shares of wrongly classified rows.
var classified = [...]event.Quantity{event.Error, event.ValidationError, event.TestError}

// Accurate reports whether errors are shown as accuracies.
func (v *View) Accurate() bool { return v.Accuracy && !v.H.Regression() }

// MetricName names what the run's rows are judged by beside the loss, as its log does.
func (v *View) MetricName() string {
	switch h := v.H; {
	case h.Regression() && !(h.Missing(&h.Curves.Metric) && h.Missing(&h.Curves.ValidationMetric) &&
		h.Missing(&h.Curves.TestMetric)):
		if h.Run != nil {
			return h.Run.Data.RMSE()
		}
		return "RMSE"
	case !v.Accuracy:
		return "error"
	}
	for _, q := range classified {
		if name, accuracy := v.H.Curves.Logged(q); accuracy {
			return Base(name)
		}
	}
	return "accuracy"
}

// LossName names the loss of a run as its log does, which may call it f or nll.
func LossName(h *history.History) string {
	for _, q := range [...]event.Quantity{event.Loss, event.ValidationLoss, event.TestLoss} {
		if name, _ := h.Curves.Logged(q); name != "" && !event.SaysLoss(name) {
			return Base(name)
		}
	}
	return "loss"
}

// Base is a name of a log without the word that says which rows its values are of: train/x, x_val and val_x are all of
// the base x.
func Base(name string) string {
	const between = "/_-.: "
	if i := strings.IndexAny(name, between); i > 0 && i < len(name)-1 && event.IsSplit(name[:i]) {
		name = name[i+1:]
	} else if i := strings.LastIndexAny(name, between); i > 0 && i < len(name)-1 && event.IsSplit(name[i+1:]) {
		name = name[:i]
	}
	return style.Clean(name)
}

// MetricText writes a value of what MetricName names.
func (v *View) MetricText(y float64) string {
	switch {
	case v.H.Regression():
		return format.Number(y)
	case v.Accuracy:
		y = 1 - y
	}
	return format.Percent(y)
}

// Judged names what the run is judged by, with the rows that it is of, and returns what writes its values. The
// validation rows have the name that the place has room for.
func (v *View) Judged(validation string) (name string, text func(float64) string) {
	name, text = v.MetricName(), v.MetricText
	m := v.H.Measure.Quantity
	if m.Train() == event.Loss { // of another program that tells no more
		name, text = LossName(v.H), format.Number
	}
	switch m {
	case m.Train():
	case m.Validation():
		name = validation + " " + name
	case m.Test():
		name = "test " + name
	}
	return name, text
}

// metricAxis has a plot of it write and draw it so.
func (v *View) MetricAxis(p *chart.Plot) {
	p.Value = format.Number
	if !v.H.Regression() {
		p.Percent()
		p.Y.Complement = v.Accuracy
	}
}

// Quantity names a number of an epoch as its log does, and writes one of its values.
func (v *View) Quantity(q event.Quantity, name string, y float64) (string, string) {
	own, accuracy := v.H.Curves.Logged(q)
	switch {
	case !q.Info().Share:
		return cmp.Or(style.Clean(own), name), format.Number(y)
	case !v.Accuracy:
		if accuracy {
			own = ""
		}
		return cmp.Or(style.Clean(own), name), format.Percent(y)
	case !accuracy:
		own = strings.Replace(name, "error", "accuracy", 1)
	}
	return style.Clean(own), format.Percent(1 - y)
}

// Without says why there is nothing of a kind: it is still to come, or the record does not have it.
func (v *View) Without(what string) string {
	if _, loading := v.H.Loading(); loading || !v.H.Watched() || v.H.Epochs == 0 {
		return Waiting(v)
	}
	return "the record has no " + what
}
