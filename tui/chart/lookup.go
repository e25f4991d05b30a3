package chart

import (
	"math"
	"sort"
)

// At returns the latest finite value at an x or before it, NaN if there is none.
func (s *Series) At(by Axis, x float64) float64 {
	if n := len(s.tail); n > 0 && s.tail[0].at[by] <= x {
		for i := sort.Search(n, func(i int) bool { return s.tail[i].at[by] > x }) - 1; i >= 0; i-- {
			if y := s.tail[i].y; !math.IsNaN(y) {
				return y
			}
		}
	}
	for i := sort.Search(len(s.Buckets), func(i int) bool { return s.Buckets[i].X1[by] > x }) - 1; i >= 0; i-- {
		if y := s.Buckets[i].Last; !math.IsNaN(y) {
			return y
		}
	}
	return math.NaN()
}

// Change is how much the value changed over the latest tenth of the epochs, as a share of the larger of both values; 0
// for a curve that has no two of them.
func (s *Series) Change() float64 {
	first, last, ok := s.Ends()
	if !ok {
		return 0
	}
	now, before := s.Last(), s.At(Epochs, last-(last-first)/10)
	largest := math.Max(math.Abs(now), math.Abs(before))
	if share := math.Abs(now-before) / largest; !math.IsNaN(share) {
		return share
	}
	return 0
}

// Version tells pictures of a series apart: those of equal versions are equal.
type Version struct {
	points, old int
	at          Position
	last        float64
}

// Version is that of the series as it is now.
func (s *Series) Version() Version {
	v := Version{points: s.Points, old: len(s.Old)}
	if n := len(s.Buckets); n > 0 {
		if v.at = s.Buckets[n-1].X1; !math.IsNaN(s.Buckets[n-1].Last) {
			v.last = s.Buckets[n-1].Last
		}
	}
	return v
}

// Hash mixes it with others'.
func (v Version) Hash() uint64 {
	const prime = 1099511628211
	h := uint64(v.points)*prime + uint64(v.old)
	for _, x := range [...]float64{v.at[Epochs], v.at[Seconds], v.last} {
		h = h*prime + math.Float64bits(x)
	}
	return h
}
