package history

import (
	"math"
	"slices"

	"newtop/tui/chart"
)

// Mean is what several runs are together: the means of their curves at each step, within bands. It is none of a run's
// own, and no Delta is to be applied to it. What it was begun with is the first run's, and it is over when all are.
func Mean(of []*History, spread chart.Spread) *History {
	h := &History{}
	curves, members := make([][]*chart.Series, len(of)), make([]*Curves, len(of))
	over := true
	for i, m := range of {
		curves[i], members[i] = m.Curves.all(), &m.Curves
		if over = over && m.Over(); h.Run == nil && m.Run != nil {
			h.Run, h.Measure, h.Status = m.Run, m.Measure, m.Status
			h.Curves.logged = m.Curves.logged
		}
		if m.Epochs > 0 && (h.Epochs == 0 || m.Latest.Epoch > h.Latest.Epoch) {
			h.Epochs, h.Latest, h.Done = m.Epochs, m.Latest, m.Done
		}
	}
	if !over {
		h.Done = nil
	}
	for i, s := range h.Curves.all() {
		var some []*chart.Series
		for _, c := range curves {
			if _, _, ok := c[i].Extent(); ok {
				some = append(some, c[i])
			}
		}
		if len(some) > 0 {
			*s = chart.Mean(some, spread, over)
		}
	}
	h.Curves.Metrics = meanOf(members, spread, over, func(c *Curves) (out []*MetricSeries) {
		for i := range c.Metrics {
			out = append(out, &c.Metrics[i])
		}
		return out
	})
	for _, m := range meanOf(members, spread, over, func(c *Curves) []*MetricSeries { return c.Machine.Series }) {
		h.Curves.Machine.Series = append(h.Curves.Machine.Series, &m)
	}
	return h
}

// meanOf are the means of metrics that some curves have under the same key, in the order in which those come first.
func meanOf(curves []*Curves, spread chart.Spread, over bool, of func(*Curves) []*MetricSeries) (out []MetricSeries) {
	var keys []string
	some := map[string][]*chart.Series{}
	for _, c := range curves {
		for _, m := range of(c) {
			if some[m.Key] == nil {
				keys = append(keys, m.Key)
				out = append(out, MetricSeries{Key: m.Key, Symbol: m.Symbol, Meaning: m.Meaning, reported: m.reported,
					whole: m.whole})
			}
			some[m.Key] = append(some[m.Key], &m.Series)
		}
	}
	for i, key := range keys {
		m := &out[i]
		m.Series = chart.Mean(some[key], spread, over)
		m.whole = m.whole && !slices.ContainsFunc(m.Series.Buckets, func(b chart.Bucket) bool {
			return b.Last != math.Trunc(b.Last)
		})
	}
	return out
}
