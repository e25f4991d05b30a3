package history

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"

	"newtop/internal/format"
	"newtop/internal/rundiff"
	"newtop/trainer/event"
	"newtop/tui/chart"
)

// Overview is what is known of a run, each as what sort of thing it is, its name and its value: what it was begun with,
// where it runs, what its program summed up, and the latest, least and greatest value of each metric.
func Overview(h *History) (out [][3]string) {
	add := func(kind, name string, value any) {
		if text := fmt.Sprint(value); text != "" {
			out = append(out, [3]string{kind, name, text})
		}
	}
	if r := h.Run; r != nil {
		add("run", "id", r.ID)
		add("run", "program", r.Model.Program)
		if !r.Time.IsZero() {
			add("run", "begun", r.Time.Local().Format("2006-01-02 15:04:05"))
		}
		flat := *r
		flat.Settings = map[string]any{}
		Flatten(flat.Settings, "", r.Settings)
		for _, c := range rundiff.Table([]*event.RunEvent{&flat}) {
			kind, name := "setting", c.Name
			for prefix, of := range map[string]string{"environment/": "machine", "summary/": "summary"} {
				if rest, ok := strings.CutPrefix(name, prefix); ok {
					kind, name = of, rest
				}
			}
			add(kind, name, c.Values[0])
			if n := r.Data.ValidationRows; name == "training rows" && n > 0 {
				add(kind, "validation rows", n)
			}
		}
		kind := func(i int) int { return slices.Index(overviewKinds, out[i][0]) }
		sort.SliceStable(out, func(i, j int) bool { return kind(i) < kind(j) })
	}
	metric := func(name string, s *chart.Series, accuracy bool, text func(float64) string) {
		if low, high, ok := s.Bounds(false); ok {
			if accuracy { // of an error
				low, high = high, low
			}
			add("metric", name, text(s.Last())+"  min "+text(low)+"  max "+text(high))
		}
	}
	c := &h.Curves
	number := format.Number
	if h.Measure.Info().Share {
		number = format.Percent
	}
	name := "error"
	if h.Regression() {
		name = "RMSE"
	}
	train, test := h.Metrics()
	for _, q := range []struct {
		of   event.Quantity
		name string
		s    *chart.Series
		text func(float64) string
	}{
		{event.Loss, "loss", &c.Loss, format.Number}, {event.ValidationLoss, "validation loss", &c.ValidationLoss,
			format.Number},
		{event.TestLoss, "test loss", &c.TestLoss, format.Number}, {train, name, &c.Metric, number},
		{train.Validation(), "validation " + name, &c.ValidationMetric, number},
		{test, "test " + name, &c.TestMetric, number}, {event.Rate, "learning rate", &c.Rate, format.Number},
	} {
		logged, accuracy := c.Logged(q.of)
		if accuracy {
			q.text = func(v float64) string { return format.Percent(1 - v) }
		}
		metric(cmp.Or(logged, q.name), q.s, accuracy, q.text)
	}
	for i := range c.Metrics {
		metric(c.Metrics[i].Symbol, &c.Metrics[i].Series, false, c.Metrics[i].Format)
	}
	return out
}

// overviewKinds are the sorts of what is known, in order.
var overviewKinds = []string{"run", "setting", "machine", "summary"}

// Flatten adds settings by names of which those of parts are joined by dots.
func Flatten(out map[string]any, prefix string, of map[string]any) {
	for _, k := range slices.Sorted(maps.Keys(of)) {
		if inner, ok := of[k].(map[string]any); ok {
			Flatten(out, prefix+k+".", inner)
		} else {
			out[prefix+k] = of[k]
		}
	}
}

// OwnX is what a curve of a quantity is counted by where that is not what the run counts, "" for that.
func OwnX(h *History, s *chart.Series) string {
	if h.Run == nil || len(h.Run.Axes) == 0 {
		return ""
	}
	for of, curve := range (&sequence{History: h}).curves() {
		if x := h.Run.Axes[event.Quantity(of).Info().Key]; x != "" && curve == s {
			return x
		}
	}
	return ""
}
