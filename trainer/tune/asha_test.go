package tune

import (
	"math"
	"slices"
	"testing"
)

// climb runs trials with known scores up so many rungs, one after the other, and returns how high each came.
func climb(values []float64, rungs int) (heights []int) {
	var l asha
	heights = make([]int, len(values))
	begun := 0
	for {
		trial, rung, ok := l.next(begun == len(values))
		switch {
		case ok:
			l.leave(trial, rung)
			heights[trial]++
			if rung+1 < rungs {
				l.reach(trial, rung+1, values[trial])
			}
		case begun < len(values):
			l.reach(begun, 0, values[begun])
			begun++
		default:
			return heights
		}
	}
}

// Nine trials with η = 3: by hand, the best three leave the first rung, the best of those the second.
func TestHalvingByHand(t *testing.T) {
	for _, c := range []struct {
		name   string
		values []float64
		want   []int
	}{
		// The third trial makes one of three good enough: 0.1. The sixth: two of six; 0.1 and 0.3. The ninth: 0.1, 0.2, 0.3.
		{"nine", []float64{0.5, 0.1, 0.9, 0.3, 0.7, 0.8, 0.2, 0.6, 0.4}, []int{0, 3, 0, 1, 0, 0, 1, 0, 0}},
		// The first climbs as the best of three; the last one overtakes it on the second rung.
		{"late", []float64{0.5, 0.6, 0.7, 0.1}, []int{1, 0, 0, 3}},
		{"one", []float64{0.5}, []int{3}},
		{"NaN", []float64{math.NaN(), 0.4, math.NaN()}, []int{0, 3, 0}},
		{"all lost", []float64{math.NaN(), math.Inf(1)}, []int{0, 0}},
		{"ties", []float64{1, 1, 1}, []int{3, 0, 0}},
	} {
		if got := climb(c.values, 3); !slices.Equal(got, c.want) {
			t.Errorf("%s: heights %v, expected %v", c.name, got, c.want)
		}
	}
}

func TestSteps(t *testing.T) {
	s := step{equivalents: 9, seconds: 0.1}
	for _, c := range []struct {
		rung                 int
		equivalents, seconds float64
		want                 bool
	}{
		{0, 9, 0.1, true}, {0, 9, 0.09, false}, {0, 8, 0.1, false}, {0, 1, 0.8, true},
		{1, 27, 0.2, false}, {1, 27, 0.301, true}, {2, 80, 1, false}, {2, 81, 1, true},
	} {
		if got := s.up(c.rung).passed(c.equivalents, c.seconds); got != c.want {
			t.Errorf("rung %d, %g equivalents, %g s: %v", c.rung, c.equivalents, c.seconds, got)
		}
	}
	if !(step{equivalents: 9}).passed(9, 0) {
		t.Error("without a budget of seconds they count")
	}
}
