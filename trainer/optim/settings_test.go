package optim

import (
	"math"
	"testing"
)

func TestRange(t *testing.T) {
	inf := math.Inf(1)
	for _, test := range []struct {
		h       Hyperparameter
		words   string
		allowed []float64
		refused []float64
	}{
		{Hyperparameter{Min: -inf, Max: inf}, "a number", []float64{-1e9, 0, 5}, []float64{math.NaN()}},
		{Hyperparameter{Max: inf, Open: true}, "a number > 0", []float64{1e-300, inf}, []float64{0, -1}},
		{Hyperparameter{Max: inf, Open: true, OpenMax: true}, "a number > 0", []float64{1e300}, []float64{0, inf}},
		{Hyperparameter{Max: 1, OpenMax: true}, "a number ≥ 0 and < 1", []float64{0, 0.9}, []float64{1, -0.1}},
		{Hyperparameter{Min: 1, Max: 3, Integer: true}, "a whole number ≥ 1 and ≤ 3", []float64{1, 2, 3}, []float64{0, 1.5, 4}},
		{Hyperparameter{Min: -inf, Max: 3}, "a number ≤ 3", []float64{-9, 3}, []float64{3.1}},
		{Hyperparameter{Choices: []string{"one", "two"}}, "one or two", []float64{0, 1}, []float64{-1, 0.5, 2}},
	} {
		if got := test.h.Range(); got != test.words {
			t.Errorf("%q, want %q", got, test.words)
		}
		for _, v := range test.allowed {
			if err := test.h.Check(v); err != nil {
				t.Errorf("%s: %v", test.words, err)
			}
		}
		for _, v := range test.refused {
			if test.h.Check(v) == nil {
				t.Errorf("%s: %g was allowed", test.words, v)
			}
		}
	}
}
