package event

import (
	"iter"
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
	blocks [][]Point     // X ascends; all but the last have blockPoints
}

// blockPoints is how many points lie together. A series that grows is never copied, but for its first block.
const blockPoints = 1 << 10

// Len is how many points there are.
func (s *Series) Len() int {
	n := len(s.blocks) - 1
	if n < 0 {
		return 0
	}
	return n*blockPoints + len(s.blocks[n])
}

// At returns point i.
func (s *Series) At(i int) Point { return s.blocks[i/blockPoints][i%blockPoints] }

// All goes through the points, X ascending.
func (s *Series) All() iter.Seq[Point] {
	return func(yield func(Point) bool) {
		for _, b := range s.blocks {
			for _, p := range b {
				if !yield(p) {
					return
				}
			}
		}
	}
}

// add appends a point. Those that are not below it are dropped.
func (s *Series) add(x int, v Float) {
	n := len(s.blocks)
	if n > 0 && x <= s.Last().X {
		s.cut(x)
		n = len(s.blocks)
	}
	if n == 0 || len(s.blocks[n-1]) == blockPoints {
		var b []Point
		if n > 0 {
			b = make([]Point, 0, blockPoints)
		}
		s.blocks = append(s.blocks, b)
		n++
	}
	s.blocks[n-1] = append(s.blocks[n-1], Point{x, v})
}

// cut drops the points from an epoch on.
func (s *Series) cut(from int) {
	n := sort.Search(s.Len(), func(i int) bool { return s.At(i).X >= from })
	s.blocks = s.blocks[:(n+blockPoints-1)/blockPoints]
	if last := len(s.blocks) - 1; last >= 0 {
		s.blocks[last] = s.blocks[last][:n-last*blockPoints]
	}
}

// Collection makes series of a run's events, but for those of its times: values that were told late stand at their
// epochs, and what the run went back behind, or what was cut, is gone. Another run begins it anew. The zero Collection
// is empty.
type Collection struct {
	Run     RunEvent
	Series  []*Series   // in the order in which the run told them first
	Machine *Collection // of the metrics of its machine, by seconds since the run began; nil: none
	Began   bool        // something was reported
	Elapsed Float       // seconds of training, as far as they were told
	by      map[string]*Series
	latest  []*Series // where the values of the epoch before went: of its quantities, then of its metrics
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
		c.SeeEpoch(&e)
	case MachineEvent:
		c.Began = true
		if c.Machine == nil {
			c.Machine = &Collection{}
		}
		for i := range e.Metrics {
			m := &e.Metrics[i]
			c.Machine.of(i, m.Key, "").add(int(math.Round(float64(e.Elapsed))), m.Value)
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

// SeeEpoch takes the next epoch, and keeps nothing of it.
func (c *Collection) SeeEpoch(e *EpochEvent) {
	c.Began = true
	if !e.Elapsed.Absent() {
		c.Elapsed = e.Elapsed
	}
	for q := range QuantityCount {
		if v := *q.Of(e); !v.Absent() && q != Elapsed && q != Seconds {
			c.of(int(q), q.Info().Key, "").add(e.Epoch, v)
		}
	}
	for i := range e.Metrics {
		if m := &e.Metrics[i]; !m.Value.Absent() {
			c.of(int(QuantityCount)+i, m.Key, m.Note().Of).add(m.At(e.Epoch), m.Value)
		}
	}
}

// of returns the series of a key, which is rather the one whose value stood at that place of the epoch before.
func (c *Collection) of(place int, key, of string) *Series {
	for len(c.latest) <= place {
		c.latest = append(c.latest, nil)
	}
	s := c.latest[place]
	if s != nil && s.Key == key {
		return s
	}
	if s = c.by[key]; s == nil {
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
	c.latest[place] = s
	return s
}

// Range returns the least and the greatest of the finite values, nil where there are none, and how many are not finite.
func (s *Series) Range() (least, greatest *Point, broken int) {
	for _, b := range s.blocks {
		for i := range b {
			p := &b[i]
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
	}
	return least, greatest, broken
}

// Last is the newest point of a series, which must have one.
func (s *Series) Last() Point { return s.At(s.Len() - 1) }

// Epochs is how many epochs have a point of any series: those of the longest, and what others have beside.
func (c *Collection) Epochs() int {
	longest := &Series{}
	for _, s := range c.Series {
		if s.Len() > longest.Len() {
			longest = s
		}
	}
	beside := map[int]bool{}
	for _, s := range c.Series {
		at, n := 0, longest.Len()
		for p := range s.All() {
			for at < n && longest.At(at).X < p.X {
				at++
			}
			if at == n || longest.At(at).X != p.X {
				beside[p.X] = true
			}
		}
	}
	return longest.Len() + len(beside)
}

// Told lists the series that have points: of an error as its writer logged it, as an accuracy, that one.
func (c *Collection) Told() []*Series {
	dropped := map[string]bool{}
	for _, s := range c.Series {
		if q := c.by[s.Of]; s.Of != "" && q != nil && q.Info != nil && q.Info.Share && s.Len() > 0 {
			dropped[s.Of] = true
		} else if s.Of != "" {
			dropped[s.Key] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(c.Series), func(s *Series) bool {
		return s.Len() == 0 || dropped[s.Key]
	})
}
