package chart

import (
	"math"
	"slices"
	"sort"

	"newtop/trainer/event"
	"newtop/tui/style"
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
	TailPoints = 4096
	MaxOld     = 1024
)

// Bucket stands for one or more neighbouring points.
type Bucket struct {
	X0       float64  // epoch of its first point
	X1       Position // of its last point
	Min, Max float64  // over its finite values; NaN if it has none
	Last     float64  // its last finite value; NaN if it has none
	Sum      float64  // of its finite values
	N        int32    // how many of them
	flaws    flaws    // what is not finite
}

// sample is one point.
type sample struct {
	at Position
	y  float64 // Absent for a gap
}

func (p sample) bucket() Bucket {
	b := Bucket{X0: p.at[Epochs], X1: p.at, Min: p.y, Max: p.y, Last: p.y, Sum: p.y, N: 1, flaws: flawsOf(p.y)}
	if b.flaws != 0 {
		nan := math.NaN()
		b.Min, b.Max, b.Last, b.Sum, b.N = nan, nan, nan, 0, 0
	}
	return b
}

// Series is a curve of any length in bounded memory. Points are appended in the order of x. When it is
// full, neighbours are merged in pairs and each bucket then stands for twice as many points; a minimum
// or maximum is never lost. The latest points stay apart as well, to look at closely.
type Series struct {
	Capacity int // buckets, an even number; 0: MaxBuckets
	Buckets  []Bucket
	tail     []sample // the latest points, once a bucket stands for several
	close    []Bucket // the two together, once they were looked at
	closeAt  int      // points there were then
	Old      []Bucket // what a run left behind when it went back, with holes between the branches
	Each     int      // points a full bucket has
	filled   int      // points the last bucket has
	Points   int      // points appended in all
	first    Position
	min      float64
	minAt    float64
	flaws    flaws      // of all buckets
	latest   flaws      // of the latest value that was reported
	before   [2]float64 // the latest two finite values, the latest last
	finite   int        // how many of the two there are
	fell     bool       // a value that was reported is less than the one before
	moved    bool       // not all values that were reported are one
	banded   bool       // a bucket's ends are those of a band around its last value
	coarse   coarse
	changes  int // times that buckets before the last one changed
}

// Add appends a point of a curve that is over one axis only, whatever that is.
func (s *Series) Add(x, y float64) { s.Append(Position{x}, y) }

// Append appends a point. Of a y that is event.Absent nothing is kept: a curve that is told now and then only is joined
// across. One that was told and is not finite breaks the curve, and charts mark it. Seconds and equivalents that are
// missing or fall are those of the point before.
func (s *Series) Append(at Position, y float64) {
	f := flawsOf(y)
	if f == gap {
		return
	}
	s.moved = s.moved || f != 0 || s.finite > 0 && y != s.before[1]
	s.fell = s.fell || f != 0 || s.finite > 0 && y < s.before[1]
	if s.latest = f; f == 0 {
		s.before[0], s.before[1] = s.before[1], y
		s.finite = min(s.finite+1, 2)
	}
	s.appendPoint(at, y)
}

// Gap says that the curve has no value there and is not to be joined across, as that of a quantity which the method
// does not have. Charts do not mark it.
func (s *Series) Gap(at Position) { s.appendPoint(at, float64(event.Absent)) }

func (s *Series) appendPoint(at Position, y float64) {
	if s.Each == 0 {
		s.Each = 1
	}
	if n := len(s.Buckets); n > 0 {
		for k, before := range s.Buckets[n-1].X1[1:] {
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
	if s.filled == s.Each || len(s.Buckets) == 0 {
		if len(s.Buckets) >= s.capacity() {
			s.halve()
		} else {
			s.filled = 0
		}
	}
	s.Points++
	f := flawsOf(y)
	if s.flaws |= f; f != 0 {
		if s.Points == 1 {
			s.min = math.NaN()
		}
	} else if s.Points == 1 || math.IsNaN(s.min) || y < s.min {
		s.min, s.minAt = y, at[Epochs]
	}
	p := sample{at, y}
	if s.filled == 0 {
		s.Buckets = append(s.Buckets, p.bucket())
	} else {
		n := len(s.Buckets) - 1
		s.Buckets[n] = join(s.Buckets[n], p.bucket())
	}
	s.filled++
	if s.Each > 1 {
		s.tail = KeepLast(append(s.tail, p), s.tailLength())
	}
}

// capacity is how many buckets there may be.
func (s *Series) capacity() int {
	if s.Capacity > 0 {
		return s.Capacity
	}
	return MaxBuckets
}

// tailLength is how many of the latest points stay apart at least.
func (s *Series) tailLength() int { return min(s.capacity(), TailPoints) }

// halve merges neighbours in place and leaves the last bucket full or open as it must be.
func (s *Series) halve() {
	if s.Each == 1 {
		retained := s.tailLength()
		s.tail = make([]sample, 0, 2*retained)
		for i := max(0, len(s.Buckets)-retained); i < len(s.Buckets); i++ {
			p := sample{s.Buckets[i].X1, s.Buckets[i].Last}
			if f := s.Buckets[i].flaws; f != 0 {
				p.y = f.value()
			}
			s.tail = append(s.tail, p)
		}
	}
	s.changes++
	n := len(s.Buckets) / 2
	for i := range n {
		s.Buckets[i] = join(s.Buckets[2*i], s.Buckets[2*i+1])
	}
	s.Buckets = s.Buckets[:n]
	s.Each *= 2
	s.filled = 0
}

// join returns the bucket of a's points followed by b's.
func join(a, b Bucket) Bucket {
	j := Bucket{X0: a.X0, X1: b.X1, Min: Lesser(a.Min, b.Min), Max: -Lesser(-a.Max, -b.Max), Last: b.Last,
		Sum: a.Sum + b.Sum, N: a.N + b.N, flaws: a.flaws | b.flaws}
	if math.IsNaN(j.Last) {
		j.Last = a.Last
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

// Cut moves the points after an epoch to those that were left behind. Of a bucket that continues beyond it, the
// part up to there can't be distinguished and stays whole.
func (s *Series) Cut(epoch float64) {
	n := sort.Search(len(s.Buckets), func(i int) bool { return s.Buckets[i].X0 > epoch })
	if n == len(s.Buckets) && (n == 0 || s.Buckets[n-1].X1[Epochs] <= epoch) {
		return
	}
	s.changes++
	if n < len(s.Buckets) {
		between := sample{s.Buckets[n].X1, float64(event.Absent)}.bucket()
		s.Old = append(append(s.Old, between), s.Buckets[max(0, n-1):]...)
		s.Old = slices.Clone(s.Old[max(0, len(s.Old)-MaxOld):])
	}
	s.Buckets = s.Buckets[:n]
	m := sort.Search(len(s.tail), func(i int) bool { return s.tail[i].at[Epochs] > epoch })
	s.tail = s.tail[:m]
	s.Points, s.filled, s.flaws, s.latest, s.min, s.close = 0, s.Each, 0, 0, math.NaN(), nil
	s.finite = 0
	if n == 0 {
		s.filled = 0
		return
	}
	if m > 0 {
		s.Buckets[n-1].X1 = s.tail[m-1].at
	} else {
		s.Buckets[n-1].X1[Epochs] = math.Min(s.Buckets[n-1].X1[Epochs], epoch)
	}
	for i := range s.Buckets {
		b := &s.Buckets[i]
		s.Points += int(b.N)
		s.flaws |= b.flaws
		if b.Min < s.min || math.IsNaN(s.min) && !math.IsNaN(b.Min) {
			s.min, s.minAt = b.Min, b.X1[Epochs]
		}
	}
	s.recount()
}

// Drop takes away the points from an epoch on, without a branch that stays.
func (s *Series) Drop(epoch float64) {
	old := s.Old
	s.Cut(math.Nextafter(epoch, math.Inf(-1)))
	s.Old = old
}

// recount finds the latest values again, as closely as they were kept.
func (s *Series) recount() {
	for i := len(s.tail) - 1; i >= 0 && s.finite == 0; i-- {
		s.recall(s.tail[i].bucket())
	}
	for i := len(s.Buckets) - 1; i >= 0 && s.finite == 0; i-- {
		s.recall(s.Buckets[i])
	}
}

// recall takes a bucket from before those that were recalled.
func (s *Series) recall(b Bucket) {
	if s.latest == 0 {
		s.latest = b.flaws & broken
	}
	if b.N > 0 {
		s.before[1], s.finite = b.Last, 1
	}
}

// Fine returns the buckets with the latest points one by one. The result is good until the series changes.
func (s *Series) Fine() []Bucket {
	if len(s.tail) == 0 {
		return s.Buckets
	}
	if s.closeAt == s.Points && len(s.close) > 0 {
		return s.close
	}
	from := s.tail[0].at
	n := sort.Search(len(s.Buckets), func(i int) bool { return s.Buckets[i].X1[Epochs] >= from[Epochs] })
	s.close, s.closeAt = append(s.close[:0], s.Buckets[:n]...), s.Points
	if n < len(s.Buckets) && s.Buckets[n].X0 < from[Epochs] {
		b := s.Buckets[n]
		b.X1 = from
		s.close = append(s.close, b)
	}
	for _, p := range s.tail {
		s.close = append(s.close, p.bucket())
	}
	return s.close
}

// Visible returns the buckets within an interval of an axis and the nearest one on either side.
func Visible(b []Bucket, by Axis, left, right float64) []Bucket {
	from := sort.Search(len(b), func(i int) bool { return b[i].X1[by] >= left })
	to := sort.Search(len(b), func(i int) bool { return b[i].X1[by] > right })
	return b[max(0, from-1):min(len(b), max(to, from)+1)]
}

// Min returns the least value there was, and its epoch; NaN if there is none.
func (s *Series) Min() (epoch, value float64) {
	if s.Points == 0 {
		return math.NaN(), math.NaN()
	}
	return s.minAt, s.min
}

// Mean returns the mean of the finite values, NaN if there is none.
func (s *Series) Mean() float64 {
	sum, n := 0.0, 0.0
	for i := range s.Buckets {
		sum, n = sum+s.Buckets[i].Sum, n+float64(s.Buckets[i].N)
	}
	return sum / n
}

// Empty reports whether there is no finite value to draw.
func (s *Series) Empty() bool { return math.IsNaN(s.Last()) }

// Ends returns the first and the last epoch, and false for a series without points.
func (s *Series) Ends() (first, last float64, ok bool) {
	from, to, ok := s.Extent()
	return from[Epochs], to[Epochs], ok
}

// Extent returns the first and the last place, and false for a series without points.
func (s *Series) Extent() (first, last Position, ok bool) {
	if len(s.Buckets) == 0 {
		return first, last, false
	}
	return s.first, s.Buckets[len(s.Buckets)-1].X1, true
}

// Bounds returns the least and the greatest value, above zero only if asked.
func (s *Series) Bounds(positive bool) (low, high float64, ok bool) {
	return extremes(s.Buckets, positive)
}

func extremes(buckets []Bucket, positive bool) (low, high float64, ok bool) {
	low, high = math.Inf(1), math.Inf(-1)
	for i := range buckets {
		b := &buckets[i]
		if b.Max > high {
			high = b.Max
		}
		switch {
		case positive && b.Min <= 0:
			for _, y := range [...]float64{b.Max, b.Last} {
				if y > 0 && y < low {
					low = y
				}
			}
		case b.Min < low:
			low = b.Min
		}
	}
	ok = low <= high && (!positive || high > 0)
	return low, high, ok
}

// KeepLast drops the oldest half of a list that reached twice its bound, so that dropping costs little.
func KeepLast[T any](list []T, n int) []T {
	if len(list) < 2*n {
		return list
	}
	return append(list[:0], list[len(list)-n:]...)
}

// Find returns the place of the point nearest to an x, and false if there is none.
func (s *Series) Find(by Axis, x float64) (Position, bool) {
	best, least := Position{}, math.Inf(1)
	near := func(at Position) {
		if d := math.Abs(at[by] - x); d < least {
			best, least = at, d
		}
	}
	for _, b := range Visible(s.Buckets, by, x, x) {
		near(b.X1)
	}
	if n := len(s.tail); n > 0 && x >= s.tail[0].at[by] {
		for i := range s.tail {
			near(s.tail[i].at)
		}
	}
	return best, !math.IsInf(least, 1)
}

// coarse are the buckets of a series merged in groups, as they were when they were looked at.
type coarse struct {
	buckets []Bucket
	each    int // buckets of a group
	done    int // groups that do not change any more
	changes int // of the series then
}

// Flat reports whether there is nothing to see in a picture of the curve: all of its values are one.
func (s *Series) Flat() bool { return !s.moved }

// Fell reports whether a value was less than the one before, or not finite.
func (s *Series) Fell() bool { return s.fell }

// Blank reports whether no value was reported, be it finite or not.
func (s *Series) Blank() bool { return s.Empty() && !s.Broken() }

// Now writes the latest finite value, and a × behind it where one came since that is not finite; nothing where nothing
// was reported.
func (s *Series) Now(color style.Token, text func(float64) string) (parts []style.Part) {
	if !s.Empty() {
		parts = append(parts, color.Of(text(s.Last())))
	}
	if s.Broken() {
		sign := "×"
		if len(parts) > 0 {
			sign = " ×"
		}
		parts = append(parts, style.NotFinite.Of(sign))
	}
	return parts
}

// Broken reports whether the latest value that was told is not finite.
func (s *Series) Broken() bool { return s.latest != 0 }

// Before returns the finite value before the latest one, NaN if there is none.
func (s *Series) Before() float64 {
	if s.finite < 2 {
		return math.NaN()
	}
	return s.before[0]
}

// Last returns the latest finite value, NaN if there is none.
func (s *Series) Last() float64 {
	if s.finite == 0 {
		return math.NaN()
	}
	return s.before[1]
}
