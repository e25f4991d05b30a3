package bench

import (
	"math"
	"testing"
)

// Three methods on three splits: the second is 0.02 behind the first, give or take 0.01/√3; the third 0.1, always.
func TestTablesCompare(t *testing.T) {
	r := TableResult{Methods: []TableMethod{
		{Name: "a", Scores: []float64{0.1, 0.2, 0.3}},
		{Name: "b", Scores: []float64{0.11, 0.22, 0.33}},
		{Name: "c", Scores: []float64{0.2, 0.3, 0.4}},
	}}
	r.compare()
	for i, want := range []struct{ mean, behind, spread float64 }{{0.2, 0, 0}, {0.22, 0.02, 0.01 / math.Sqrt(3)}, {0.3, 0.1, 0}} {
		m := r.Methods[i]
		for _, c := range [][2]float64{{m.Mean, want.mean}, {float64(m.Behind), want.behind}, {float64(m.Spread), want.spread}} {
			if math.Abs(c[0]-c[1]) > 1e-12 {
				t.Errorf("%s: %+v, expected %+v", m.Name, m, want)
			}
		}
		if m.WithinOne() != (m.Name == "a") {
			t.Errorf("%s is within one standard error: %v", m.Name, m.WithinOne())
		}
	}
	if m := r.Of("b"); m.Text(true) != "22.0 ± 6.4" || r.Of("d") != nil {
		t.Errorf("b has %s", m.Text(true))
	}
	one := TableMethod{Mean: 54.321, Scores: []float64{54.321}}
	if got := one.Text(false); got != "54.32" {
		t.Errorf("one split is written as %s", got)
	}
}
