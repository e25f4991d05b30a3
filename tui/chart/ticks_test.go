package chart

import (
	"math"
	"reflect"
	"slices"
	"testing"

	"newtop/internal/format"
)

func TestSteps(t *testing.T) {
	for _, c := range []struct {
		low, high float64
		n         int
		want      []float64
	}{
		{0, 10, 5, []float64{0, 5, 10}},
		{0, 10, 6, []float64{0, 2, 4, 6, 8, 10}},
		{0, 0.93, 3, []float64{0, 0.5}},
		{-0.5, 1.5, 4, []float64{0, 1}},
		{3, 3, 4, nil},
		{0, math.Inf(1), 4, nil},
		{17, 231, 4, []float64{100, 200}},
	} {
		got := Steps(c.low, c.high, c.n)
		if len(got) != len(c.want) {
			t.Errorf("%v…%v in %d: %v, want %v", c.low, c.high, c.n, got, c.want)
			continue
		}
		for i := range got {
			if math.Abs(got[i]-c.want[i]) > 1e-9 {
				t.Errorf("%v…%v in %d: %v, want %v", c.low, c.high, c.n, got, c.want)
			}
		}
	}
}

func TestDecades(t *testing.T) {
	for _, c := range []struct {
		low, high float64
		n         int
		want      []float64
	}{
		{-2, 1, 4, []float64{0.01, 0.1, 1, 10}},
		{-1, 0, 4, []float64{0.1, 0.2, 0.5, 1}},
		{-9, 3, 4, []float64{1e-8, 1e-4, 1}},
		{-2, 0, 2, []float64{0.01, 1}},
		{-1.3, -0.8, 4, []float64{0.1, 0.15}},
		{0.05, 0.2, 3, []float64{1.2, 1.4}},
		{-0.1, 0.55, 2, []float64{1, 3}},
		{-0.3, 1.1, 3, []float64{1, 3, 10}},
		{-1, 0.6, 2, []float64{0.1, 1}},
	} {
		got := Decades(c.low, c.high, c.n)
		for i := range got {
			got[i] = format.Round(got[i], 12)
		}
		if !reflect.DeepEqual(got, c.want) && !slices.Equal(got, c.want) {
			t.Errorf("10^%v…10^%v in %d: %v, want %v", c.low, c.high, c.n, got, c.want)
		}
	}
}

// TestSymlog: the symmetric logarithm has an inverse, keeps order and the sign.
func TestSymlog(t *testing.T) {
	s := Symlog{Unit: 0.01}
	for i, x := range []float64{-200, -1, -0.01, 0, 1e-5, 0.3, 4000} {
		if y := s.Back(s.Up(x)); math.Abs(y-x) > 1e-9*math.Abs(x) {
			t.Errorf("%g came back as %g", x, y)
		}
		if i > 0 && s.Up(x) < s.Up(x-1) {
			t.Errorf("not monotone at %g", x)
		}
	}
}
