package tui

import "math"

// maxBuckets bounds the memory of a series: 40 bytes × 4096 a curve, whatever the run's length.
const maxBuckets = 4096

// bucket stands for one or more neighbouring points.
type bucket struct {
	x0, x1   float64 // of its first and last point
	min, max float64 // over its finite values; NaN if it has none
	last     float64 // its last finite value; NaN if it has none
	holes    bool    // whether a value was NaN or infinite
}

// series is a curve of any length in bounded memory. Points are appended in the order of x. When it is
// full, neighbours are merged in pairs and each bucket then stands for twice as many points; a minimum
// or maximum is never lost.
type series struct {
	buckets []bucket
	each    int // points a full bucket has
	filled  int // points the last bucket has
	points  int // points appended in all
	min     float64
	minAt   float64
	holes   bool
}

// add appends a point. A y that is not finite makes a hole that charts mark.
func (s *series) add(x, y float64) {
	if s.each == 0 {
		s.each = 1
	}
	if s.filled == s.each || len(s.buckets) == 0 {
		if len(s.buckets) == maxBuckets {
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
		s.min, s.minAt = y, x
	}
	if s.points == 1 && !finite {
		s.min = math.NaN()
	}
	b := bucket{x0: x, x1: x, min: y, max: y, last: y, holes: !finite}
	if s.filled == 0 {
		s.buckets = append(s.buckets, b)
	} else {
		n := len(s.buckets) - 1
		s.buckets[n] = join(s.buckets[n], b)
	}
	s.filled++
}

// halve merges neighbours in place and leaves the last bucket full or open as it must be.
func (s *series) halve() {
	n := len(s.buckets) / 2
	for i := range n {
		s.buckets[i] = join(s.buckets[2*i], s.buckets[2*i+1])
	}
	s.buckets = s.buckets[:n]
	s.each *= 2
	s.filled = 0
}

// join returns the bucket of a's points followed by b's.
func join(a, b bucket) bucket {
	j := bucket{x0: a.x0, x1: b.x1, min: lesser(a.min, b.min), max: -lesser(-a.max, -b.max), last: b.last,
		holes: a.holes || b.holes}
	if math.IsNaN(j.last) {
		j.last = a.last
	}
	return j
}

// lesser is the minimum of two numbers of which either may be missing.
func lesser(a, b float64) float64 {
	if math.IsNaN(a) || b < a {
		return b
	}
	return a
}

// last returns the newest finite value, NaN if there is none.
func (s *series) last() float64 {
	for i := len(s.buckets) - 1; i >= 0; i-- {
		if v := s.buckets[i].last; !math.IsNaN(v) {
			return v
		}
	}
	return math.NaN()
}

// empty reports whether there is no finite value to draw.
func (s *series) empty() bool { return math.IsNaN(s.last()) }

// ends returns the first and the last x, and false for a series without points.
func (s *series) ends() (first, last float64, ok bool) {
	if len(s.buckets) == 0 {
		return 0, 0, false
	}
	return s.buckets[0].x0, s.buckets[len(s.buckets)-1].x1, true
}

// bounds returns the least and the greatest value, above zero only if asked.
func (s *series) bounds(positive bool) (low, high float64, ok bool) {
	low, high = math.Inf(1), math.Inf(-1)
	for i := range s.buckets {
		b := &s.buckets[i]
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
