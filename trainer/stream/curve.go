package stream

import (
	"math"

	"newtop/trainer/event"
)

// curve is a tag with where its values go.
type curve struct {
	key     string
	tag     event.Tag
	name    string  // in events: its quantity, or what its writer calls it where that is no quantity
	logged  bool    // the events also have what the writer logged
	percent bool    // an accuracy from 0 to 100
	any     bool    // whether it has a value
	first   int     // step
	step    int     // of the newest
	raw     int     // the same as it was written
	value   float64 // the newest
	at      int     // where its figure stands in the step under way
	serial  int     // of the newest step that has a value
}

// field returns where the values go in an epoch, nil for a figure.
func (c *curve) field(e *event.EpochEvent) *event.Float {
	if !c.tag.Known {
		return nil
	}
	return c.tag.Quantity.Of(e)
}

// take gives the curve a tag. What the writer logged is told besides of accuracies, which are the errors that they lack
// of 1, of what is measured on validation rows, which everybody calls otherwise, and of a loss that is not called so.
func (c *curve) take(tag event.Tag) {
	q := tag.Quantity
	c.tag, c.name, c.logged = tag, c.key, false
	switch {
	case tag.Known:
		c.name = q.Info().Key
		c.logged = c.key != c.name && (tag.Accuracy || q == q.Validation() && q != q.Train() ||
			q.Train() == event.Loss && !event.SaysLoss(c.key))
	case event.IsQuantity(c.key):
		c.name += ".2"
	}
}

// set sets the value at a step in the epoch of the step under way, which is that of a serial number.
func (c *curve) set(e *event.EpochEvent, step, serial int, v float64) {
	again := c.any && c.serial == serial && c.step == step
	c.any, c.step, c.serial, c.value = true, step, serial, v
	f := c.field(e)
	if f != nil && c.tag.Quantity.Info().Share && !c.tag.Accuracy && (v < 0 || v > 1) { // no share of the rows
		c.take(event.Tag{})
		f, again = nil, false
	}
	var x *int
	if step != e.Epoch {
		late := step // a copy, so that steps on time need no memory
		x = &late
	}
	if !again {
		c.at = len(e.Metrics)
	}
	at := c.at
	put := func(m event.Metric) {
		if at == len(e.Metrics) {
			e.Metrics = append(e.Metrics, m)
		} else {
			e.Metrics[at] = m
		}
		at++
	}
	if c.logged {
		put(event.Metric{Key: c.key, MetricNote: &event.MetricNote{X: x, Of: c.name}, Value: event.ValueOf(v)})
	}
	if f != nil && c.tag.Accuracy {
		c.percent = c.percent || v > 1 && v <= 100
		if c.percent {
			v /= 100
		}
		v = math.Max(0, 1-v)
	}
	switch {
	case x != nil:
		put(event.LateMetric(c.name, step, event.ValueOf(v)))
	case f != nil:
		*f = event.ValueOf(v)
	default:
		put(event.Metric{Key: c.name, Value: event.ValueOf(v)})
	}
}

// same reports whether two numbers are equal, or both NaN.
func same(a, b float64) bool { return a == b || a != a && b != b }
