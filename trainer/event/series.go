package event

import (
	"math"
	"slices"
	"sort"
)

// Point is a value of a metric at the epoch that it belongs to.
type Point struct {
	X int
	V Float
}

// Series is all that a run has told of a metric, by its epochs.
type Series struct {
	Key    string        // a quantity's or a figure's, as in a CutEvent
	Of     string        // the key of the quantity that this is as its writer logged it; empty for all others
	Info   *QuantityInfo // nil for a figure
	Points []Point       // X ascends
}

// cut drops the points from an epoch on.
func (s *Series) cut(from int) {
	s.Points = s.Points[:sort.Search(len(s.Points), func(i int) bool { return s.Points[i].X >= from })]
}

// Collection makes series of a run's events, but for those of its times: values that were told late stand at their
// epochs, and what the run went back behind, or what was cut, is gone. Another run begins it anew. The zero Collection
// is empty.
type Collection struct {
	Run     RunEvent
	Series  []*Series   // in the order in which the run told them first
	Machine *Collection // of the metrics of its machine, by seconds since the run began; nil: none
	by      map[string]*Series
}

// See takes the next event.
func (c *Collection) See(e Event) {
	switch e := e.(type) {
	case RunEvent:
		if e.ID != c.Run.ID {
			*c = Collection{}
		}
		c.Run = e
	case EpochEvent:
		for q := range QuantityCount {
			if v := *q.Of(&e); !v.Absent() && q != Elapsed && q != Seconds {
				c.add(q.Info().Key, "", e.Epoch, v)
			}
		}
		for i := range e.Metrics {
			if m := &e.Metrics[i]; !m.Value.Absent() {
				c.add(m.Key, m.Note().Of, m.At(e.Epoch), m.Value)
			}
		}
	case MachineEvent:
		if c.Machine == nil {
			c.Machine = &Collection{}
		}
		for i := range e.Metrics {
			c.Machine.add(e.Metrics[i].Key, "", int(math.Round(float64(e.Elapsed))), e.Metrics[i].Value)
		}
	case RewindEvent:
		for _, s := range c.Series {
			s.cut(e.To + 1)
		}
	case CutEvent:
		if s := c.by[e.Metric]; s != nil {
			s.cut(e.From)
		}
	}
}

func (c *Collection) add(key, of string, x int, v Float) {
	s := c.by[key]
	if s == nil {
		s = &Series{Key: key, Of: of}
		if q, known := quantityOf[key]; known {
			s.Info = q.Info()
		}
		if c.by == nil {
			c.by = map[string]*Series{}
		}
		c.by[key] = s
		c.Series = append(c.Series, s)
	}
	if n := len(s.Points); n > 0 && x <= s.Points[n-1].X {
		s.cut(x)
	}
	s.Points = append(s.Points, Point{x, v})
}

// Range returns the least and the greatest of the finite values, nil where there are none, and how many are not finite.
func (s *Series) Range() (least, greatest *Point, broken int) {
	for i := range s.Points {
		p := &s.Points[i]
		switch {
		case !p.V.Finite():
			broken++
		case least == nil:
			least, greatest = p, p
		case p.V < least.V:
			least = p
		case p.V > greatest.V:
			greatest = p
		}
	}
	return least, greatest, broken
}

// Last is the newest point of a series, which must have one.
func (s *Series) Last() Point { return s.Points[len(s.Points)-1] }

// Epochs is how many epochs have a point of any series: those of the longest, and what others have beside.
func (c *Collection) Epochs() int {
	var longest []Point
	for _, s := range c.Series {
		if len(s.Points) > len(longest) {
			longest = s.Points
		}
	}
	beside := map[int]bool{}
	for _, s := range c.Series {
		at := 0
		for i := range s.Points {
			x := s.Points[i].X
			for at < len(longest) && longest[at].X < x {
				at++
			}
			if at == len(longest) || longest[at].X != x {
				beside[x] = true
			}
		}
	}
	return len(longest) + len(beside)
}

// Told lists the series that have points: of an error as its writer logged it, as an accuracy, that one.
func (c *Collection) Told() []*Series {
	dropped := map[string]bool{}
	for _, s := range c.Series {
		if q := c.by[s.Of]; s.Of != "" && q != nil && q.Info != nil && q.Info.Share && len(s.Points) > 0 {
			dropped[s.Of] = true
		} else if s.Of != "" {
			dropped[s.Key] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(c.Series), func(s *Series) bool {
		return len(s.Points) == 0 ||
			dropped[s.Key]
	})
}
