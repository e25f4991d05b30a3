package stream

import (
	"math"

	"newtop/trainer/event"
)

// curve is a tag with where its values go.
type curve struct {
	key     string
	tag     event.Tag
	percent bool  // an accuracy from 0 to 100
	any     bool  // whether it has a value
	step    int   // of the newest
	raw     int64 // the same as it was written
	apart   bool  // whether that went to another step, as it counts them otherwise
	at      int   // where its figure stands in the step under way
	serial  int   // of the newest step that has a value
}

// field returns where the values go in an epoch, nil for a figure.
func (c *curve) field(e *event.EpochEvent) *event.Float {
	if !c.tag.Known {
		return nil
	}
	return c.tag.Quantity.Of(e)
}

// set sets the value in the epoch of the step under way, which is that of a serial number.
func (c *curve) set(e *event.EpochEvent, serial int, v float64) {
	again := c.serial == serial
	c.serial = serial
	f := c.field(e)
	if f != nil && c.tag.Quantity.Info().Share && !c.tag.Accuracy && (v < 0 || v > 1) { // no share of the rows
		c.tag, f, again = event.Tag{}, nil, false
	}
	switch {
	case f != nil && c.tag.Accuracy:
		c.percent = c.percent || v > 1 && v <= 100
		if c.percent {
			v /= 100
		}
		*f = event.ValueOf(math.Max(0, 1-v))
	case f != nil:
		*f = event.ValueOf(v)
	case again:
		e.Metrics[c.at].Value = event.ValueOf(v)
	default:
		c.at = len(e.Metrics)
		e.Metrics = append(e.Metrics, event.Metric{Key: c.key, Value: event.ValueOf(v)})
	}
}
