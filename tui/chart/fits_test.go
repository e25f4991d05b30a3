package chart

import "testing"

// TestFitsLog: a logarithmic axis is for values above zero; values below it are left out only by choice, and never all.
func TestFitsLog(t *testing.T) {
	for _, test := range []struct {
		name       string
		values     [][]float64
		itself, by bool // by itself; by the user's choice
	}{
		{"nothing yet", [][]float64{{}}, true, true},
		{"above zero", [][]float64{{1, 2}, {3}}, true, true},
		{"down to zero", [][]float64{{1, 0}}, true, true},
		{"zero alone", [][]float64{{0, 0}}, false, false},
		{"below zero", [][]float64{{-1, -2}}, false, false},
		{"both", [][]float64{{1, 2}, {-1}}, false, true},
	} {
		var curves []Curve
		for _, values := range test.values {
			s := new(Series)
			for i, v := range values {
				s.Add(float64(i), v)
			}
			curves = append(curves, Curve{Series: s})
		}
		if a, b := FitsLog(curves, false), FitsLog(curves, true); a != test.itself || b != test.by {
			t.Errorf("%s: by itself %v, by choice %v", test.name, a, b)
		}
	}
}
