package tui

import (
	"math"
	"slices"
	"sort"
)

// Axis is what a chart has along x.
type Axis uint8

const (
	Epochs Axis = iota
	Seconds
	Equivalents
	AxisCount
)

// Position is a place along x on every axis: a run counts epochs, seconds and gradient equivalents at once.
type Position [AxisCount]float64

// Bounds of a series' memory, whatever the run's length: 72 bytes a bucket, 32 a point of the tail, which has
// up to twice as many as it must. They are less than 600 kB a curve.
const (
	MaxBuckets = 4096
	keptTail   = 4096
	keptOld    = 1024
)

// Bucket stands for one or more neighbouring points.
type Bucket struct {
	x0       float64  // epoch of its first point
	x1       Position // of its last point
	min, max float64  // over its finite values; NaN if it has none
	last     float64  // its last finite value; NaN if it has none
	sum      float64  // of its finite values
	n        int32    // how many of them
	holes    bool     // whether a value was NaN or infinite
}

// sample is one point.
type sample struct {
	at Position
	y  float64 // NaN for what is not finite
}

func (p sample) bucket() Bucket {
	b := Bucket{x0: p.at[Epochs], x1: p.at, min: p.y, max: p.y, last: p.y, holes: math.IsNaN(p.y)}
	if !b.holes {
		b.sum, b.n = p.y, 1
	}
	return b
}

// Series is a curve of any length in bounded memory. Points are appended in the order of x. When it is
// full, neighbours are merged in pairs and each bucket then stands for twice as many points; a minimum
// or maximum is never lost. The newest points stay apart as well, to look at closely.
type Series struct {
	buckets []Bucket
	tail    []sample // the newest points, once a bucket stands for several
	close   []Bucket // the two together, once they were looked at
	closeAt int      // points there were then
	old     []Bucket // what a run left behind when it went back, with holes between the branches
	each    int      // points a full bucket has
	filled  int      // points the last bucket has
	points  int      // points appended in all
	first   Position
	min     float64
	minAt   float64
	holes   bool
}

// add appends a point of a curve that is over one axis only, whatever that is.
func (s *Series) add(x, y float64) { s.put(Position{x}, y) }

// put appends a point. A y that is not finite makes a hole that charts mark. Seconds and equivalents that are
// missing or fall are those of the point before.
func (s *Series) put(at Position, y float64) {
	if s.each == 0 {
		s.each = 1
	}
	if n := len(s.buckets); n > 0 {
		for k, before := range s.buckets[n-1].x1[1:] {
			if !(at[k+1] >= before) || math.IsInf(at[k+1], 0) {
				at[k+1] = before
			}
		}
	} else {
		for k, x := range at[1:] {
			if math.IsNaN(x) || math.IsInf(x, 0) {
				at[k+1] = 0
			}
		}
		s.first = at
	}
	if s.filled == s.each || len(s.buckets) == 0 {
		if len(s.buckets) == MaxBuckets {
			s.halve()
		} else {
			s.filled = 0
		}
	}
	s.points++
	finite := !math.IsNaN(y) && !math.IsInf(y, 0)
	if !finite {
		y = math.NaN()
		s.holes = true
	} else if s.points == 1 || math.IsNaN(s.min) || y < s.min {
		s.min, s.minAt = y, at[Epochs]
	}
	if s.points == 1 && !finite {
		s.min = math.NaN()
	}
	p := sample{at, y}
	if s.filled == 0 {
		s.buckets = append(s.buckets, p.bucket())
	} else {
		n := len(s.buckets) - 1
		s.buckets[n] = join(s.buckets[n], p.bucket())
	}
	s.filled++
	if s.each > 1 {
		s.tail = Newest(append(s.tail, p), keptTail)
	}
}

// halve merges neighbours in place and leaves the last bucket full or open as it must be.
func (s *Series) halve() {
	if s.each == 1 {
		s.tail = make([]sample, 0, 2*keptTail)
		for i := max(0, len(s.buckets)-keptTail); i < len(s.buckets); i++ {
			s.tail = append(s.tail, sample{s.buckets[i].x1, s.buckets[i].last})
		}
	}
	n := len(s.buckets) / 2
	for i := range n {
		s.buckets[i] = join(s.buckets[2*i], s.buckets[2*i+1])
	}
	s.buckets = s.buckets[:n]
	s.each *= 2
	s.filled = 0
}

// join returns the bucket of a's points followed by b's.
func join(a, b Bucket) Bucket {
	j := Bucket{x0: a.x0, x1: b.x1, min: Lesser(a.min, b.min), max: -Lesser(-a.max, -b.max), last: b.last,
		sum: a.sum + b.sum, n: a.n + b.n, holes: a.holes || b.holes}
	if math.IsNaN(j.last) {
		j.last = a.last
	}
	return j
}

// Lesser is the minimum of two numbers of which either may be missing.
func Lesser(a, b float64) float64 {
	if math.IsNaN(a) || b < a {
		return b
	}
	return a
}

// cut moves the points after an epoch to those that were left behind. Of a bucket that goes on beyond it, the
// part up to there can't be told apart and stays whole.
func (s *Series) cut(epoch float64) {
	n := sort.Search(len(s.buckets), func(i int) bool { return s.buckets[i].x0 > epoch })
	if n == len(s.buckets) && (n == 0 || s.buckets[n-1].x1[Epochs] <= epoch) {
		return
	}
	if n < len(s.buckets) {
		gap := sample{s.buckets[n].x1, math.NaN()}.bucket()
		s.old = append(append(s.old, gap), s.buckets[max(0, n-1):]...)
		s.old = slices.Clone(s.old[max(0, len(s.old)-keptOld):])
	}
	s.buckets = s.buckets[:n]
	m := sort.Search(len(s.tail), func(i int) bool { return s.tail[i].at[Epochs] > epoch })
	s.tail = s.tail[:m]
	s.points, s.filled, s.holes, s.min, s.close = 0, s.each, false, math.NaN(), nil
	if n == 0 {
		s.filled = 0
		return
	}
	if m > 0 {
		s.buckets[n-1].x1 = s.tail[m-1].at
	} else {
		s.buckets[n-1].x1[Epochs] = math.Min(s.buckets[n-1].x1[Epochs], epoch)
	}
	for i := range s.buckets {
		b := &s.buckets[i]
		s.points += int(b.n)
		s.holes = s.holes || b.holes
		if b.min < s.min || math.IsNaN(s.min) && !math.IsNaN(b.min) {
			s.min, s.minAt = b.min, b.x1[Epochs]
		}
	}
}

// fine returns the buckets with the newest points one by one. The result is good until the series changes.
func (s *Series) fine() []Bucket {
	if len(s.tail) == 0 {
		return s.buckets
	}
	if s.closeAt == s.points && len(s.close) > 0 {
		return s.close
	}
	from := s.tail[0].at
	n := sort.Search(len(s.buckets), func(i int) bool { return s.buckets[i].x1[Epochs] >= from[Epochs] })
	s.close, s.closeAt = append(s.close[:0], s.buckets[:n]...), s.points
	if n < len(s.buckets) && s.buckets[n].x0 < from[Epochs] {
		b := s.buckets[n]
		b.x1 = from
		s.close = append(s.close, b)
	}
	for _, p := range s.tail {
		s.close = append(s.close, p.bucket())
	}
	return s.close
}

// Visible returns the buckets within an interval of an axis and the nearest one on either side.
func Visible(b []Bucket, by Axis, left, right float64) []Bucket {
	from := sort.Search(len(b), func(i int) bool { return b[i].x1[by] >= left })
	to := sort.Search(len(b), func(i int) bool { return b[i].x1[by] > right })
	return b[max(0, from-1):min(len(b), max(to, from)+1)]
}

// last returns the newest finite value, NaN if there is none.
func (s *Series) last() float64 {
	for i := len(s.buckets) - 1; i >= 0; i-- {
		if v := s.buckets[i].last; !math.IsNaN(v) {
			return v
		}
	}
	return math.NaN()
}

// empty reports whether there is no finite value to draw.
func (s *Series) empty() bool { return math.IsNaN(s.last()) }

// ends returns the first and the last epoch, and false for a series without points.
func (s *Series) ends() (first, last float64, ok bool) {
	from, to, ok := s.extent()
	return from[Epochs], to[Epochs], ok
}

// extent returns the first and the last place, and false for a series without points.
func (s *Series) extent() (first, last Position, ok bool) {
	if len(s.buckets) == 0 {
		return first, last, false
	}
	return s.first, s.buckets[len(s.buckets)-1].x1, true
}

// bounds returns the least and the greatest value, above zero only if asked.
func (s *Series) bounds(positive bool) (low, high float64, ok bool) {
	return extremes(s.buckets, positive)
}

func extremes(buckets []Bucket, positive bool) (low, high float64, ok bool) {
	low, high = math.Inf(1), math.Inf(-1)
	for i := range buckets {
		b := &buckets[i]
		if b.max > high {
			high = b.max
		}
		switch {
		case positive && b.min <= 0:
			if b.max > 0 && b.max < low {
				low = b.max
			}
		case b.min < low:
			low = b.min
		}
	}
	ok = low <= high && (!positive || high > 0)
	return low, high, ok
}

// Newest drops the oldest half of a list that reached twice its bound, so that dropping costs little.
func Newest[T any](list []T, n int) []T {
	if len(list) < 2*n {
		return list
	}
	return append(list[:0], list[len(list)-n:]...)
}
