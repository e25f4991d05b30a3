package stream

import (
	"math"

	"newtop/trainer/event"
)

// curve is a tag with where its values go.
type curve struct {
	key     string
	place   event.Place
	percent bool  // an accuracy from 0 to 100
	any     bool  // whether it has a value
	step    int   // of the newest
	raw     int64 // the same as it was written
	apart   bool  // whether that went to another step, as it counts them otherwise
	at      int   // where its figure stood in the epoch before
}

// field returns where the values go in an epoch, nil for a figure.
func (c *curve) field(e *event.EpochEvent) *event.Float {
	if !c.place.Known {
		return nil
	}
	return c.place.Quantity.Of(e)
}

// put sets the value in the epoch.
func (c *curve) put(e *event.EpochEvent, v float64) {
	f := c.field(e)
	if f != nil && c.place.Quantity.Info().Share && !c.place.Accuracy && (v < 0 || v > 1) { // no share of the rows
		c.place, f = event.Place{}, nil
	}
	if f != nil {
		if c.place.Accuracy {
			c.percent = c.percent || v > 1 && v <= 100
			if c.percent {
				v /= 100
			}
			v = math.Max(0, 1-v)
		}
		*f = event.Told(v)
		return
	}
	if f := c.figure(e); f != nil {
		f.Value = event.Told(v)
		return
	}
	c.at = len(e.Figures)
	e.Figures = append(e.Figures, event.Figure{Key: c.key, Value: event.Told(v)})
}

// has reports whether the epoch has a value of the curve.
func (c *curve) has(e *event.EpochEvent) bool {
	if f := c.field(e); f != nil {
		return !f.Absent()
	}
	return c.figure(e) != nil
}

// figure is the curve's figure in an epoch, nil if it has none. Programs tell their numbers in the same order, so that
// the place in the epoch before is tried first.
func (c *curve) figure(e *event.EpochEvent) *event.Figure {
	if c.at < len(e.Figures) && e.Figures[c.at].Key == c.key {
		return &e.Figures[c.at]
	}
	for i := range e.Figures {
		if e.Figures[i].Key == c.key {
			c.at = i
			return &e.Figures[i]
		}
	}
	return nil
}
