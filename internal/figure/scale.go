package figure

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// scale is an axis: its ends in the units of the data, and how values are written on it.
type scale struct {
	min, max float64
	log      bool
	whole    bool
	each     float64 // what a unit of the labels is in that of the data; 0: 1
	unit     unit
	label    string
	names    []string // of 0, 1, 2, …, in place of numbers; nil: numbers
}

// widen sets the ends a little beyond the values, at zero where that is near.
func (s *scale) widen(low, high float64) {
	const spare = 0.05
	if s.log {
		by := math.Pow(high/low, spare)
		if by-1 < 1e-9 {
			by = 2
		}
		s.min, s.max = low/by, high*by
		return
	}
	by := (high - low) * spare
	if by <= 1e-12*math.Abs(high) {
		by = max(math.Abs(high)/10, 1e-12)
	}
	s.min, s.max = low-by, high+by
	if low >= 0 && low < 0.4*high {
		s.min = 0
	}
}

// share is how far along the axis a value is: 0 at its beginning, 1 at its end.
func (s *scale) share(v float64) float64 {
	if s.log {
		return (math.Log(v) - math.Log(s.min)) / (math.Log(s.max) - math.Log(s.min))
	}
	return (v - s.min) / (s.max - s.min)
}

// tick is a place on an axis.
type tick struct {
	value float64
	label string // empty: a small one
}

func (t *tick) length() float64 {
	if t.label == "" {
		return tickLength / 2.0
	}
	return tickLength
}

// ticks returns about n labelled ticks and, on a logarithmic axis, small ones between them.
func (s *scale) ticks(n int) (out []tick) {
	for i, name := range s.names {
		out = append(out, tick{float64(i), printable(name)})
	}
	if out != nil {
		return out
	}
	each := s.each
	if each == 0 {
		each = 1
	}
	low, high := s.min/each, s.max/each
	if s.log && high > 2*low {
		at, minor := logarithmic(low, high, n)
		for _, v := range at {
			out = append(out, tick{v * each, s.text(v)})
		}
		for _, v := range minor {
			out = append(out, tick{value: v * each})
		}
		return out
	}
	for _, v := range even(low, high, n, s.whole && each == 1) {
		out = append(out, tick{v * each, s.text(v)})
	}
	return out
}

// text writes the value of a tick, in the axis' unit.
func (s *scale) text(v float64) string {
	if s.unit == percent {
		return short(v) + " %"
	}
	return short(v)
}

// short writes a number of few digits: 0.02, 20,000, 1.5M, 1e-5.
func short(v float64) string {
	a := math.Abs(v)
	text := func(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
	v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'g', 10, 64), 64)
	switch {
	case a == 0:
		return "0"
	case a < 1e-3 || a >= 1e12:
		s := strconv.FormatFloat(v, 'e', -1, 64)
		return strings.Replace(strings.Replace(s, "e-0", "e-", 1), "e+", "e", 1)
	case a >= 1e9:
		return text(v/1e9) + "G"
	case a >= 1e6:
		return text(v/1e6) + "M"
	case a >= 1e4 && v == math.Trunc(v):
		s := strconv.FormatFloat(v, 'f', 0, 64)
		return s[:len(s)-3] + "," + s[len(s)-3:]
	}
	return text(v)
}

// even returns the multiples of a 1-2-5 step within an interval, at most n, and at least 2 where that is possible.
func even(low, high float64, n int, whole bool) (out []float64) {
	n = max(n, 2)
	step := math.Pow(10, math.Floor(math.Log10((high-low)/float64(n))))
	for _, m := range [...]float64{1, 2, 5, 10, 20} {
		s := step * m
		if whole && s != math.Trunc(s) {
			continue
		}
		first, last := math.Ceil(low/s-1e-9), math.Floor(high/s+1e-9)
		if last-first+1 > float64(n) {
			continue
		}
		for i := range int(last-first) + 1 { // beside 2⁵³ adding one changes nothing
			out = append(out, (first+float64(i))*s)
		}
		return out
	}
	return out
}

// logarithmic returns labelled ticks at powers of ten, and between them where these are few, and small ticks where
// there is room.
func logarithmic(low, high float64, n int) (at, minor []float64) {
	n = max(n, 2)
	decades := math.Log10(high / low)
	within := func(v float64) bool { return v >= low*(1-1e-9) && v <= high*(1+1e-9) }
	first, last := math.Floor(math.Log10(low)), math.Ceil(math.Log10(high))
	grid := func(mantissas []float64, stride float64) (out []float64) {
		for e := first; e <= last; e++ {
			for _, m := range mantissas {
				if v := m * math.Pow(10, e); within(v) && math.Mod(e, stride) == 0 {
					out = append(out, v)
				}
			}
		}
		return out
	}
	for _, mantissas := range [][]float64{{1, 2, 3, 4, 5, 6, 7, 8, 9}, {1, 2, 3, 5}, {1, 2, 5}, {1, 3}, {1}} {
		if at = grid(mantissas, 1); len(at) <= n {
			break
		}
	}
	for stride := 2.0; len(at) > n; stride++ {
		at = grid([]float64{1}, stride)
	}
	if len(at) < 2 {
		at = even(low, high, n, false)
		return at, nil
	}
	if decades <= 8 {
		minor = slices.DeleteFunc(grid([]float64{1, 2, 3, 4, 5, 6, 7, 8, 9}, 1),
			func(v float64) bool { return slices.Contains(at, v) })
	}
	return at, minor
}
