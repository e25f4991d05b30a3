package event

import (
	"math"
	"testing"
)

func TestFactorFigures(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		name    string
		f       FactorMetrics
		want    float64
		low, up float64
	}{
		{"plain", FactorMetrics{Size: 3, Eigenvalues: []Float{8, 4, 2}, Damping: Absent}, 4, 2, 8},
		{"estimates out of order", FactorMetrics{Size: 3, Eigenvalues: []Float{4, 8, 2}, Damping: Absent}, 4, 2, 8},
		{"damped", FactorMetrics{Size: 3, Eigenvalues: []Float{8, 4, 0}, Damping: 2}, 5, 0, 8},
		{"damped, below 0 by rounding", FactorMetrics{Size: 3, Eigenvalues: []Float{8, 4, -1e-18}, Damping: 2}, 5, -1e-18, 8},
		{"one number", FactorMetrics{Size: 1, Eigenvalues: []Float{3}, Damping: Absent}, 1, 3, 3},
		{"singular", FactorMetrics{Size: 26, Eigenvalues: []Float{3.6e-4, 4.5e-5, 1.04e-19}, Damping: Absent}, inf, 1.04e-19, 3.6e-4},
		{"singular, below 0", FactorMetrics{Size: 2, Eigenvalues: []Float{1, -1e-20}, Damping: 0}, inf, -1e-20, 1},
		{"zeros", FactorMetrics{Size: 2, Eigenvalues: []Float{0, 0}, Damping: Absent}, nan, 0, 0},
		{"zeros, damped", FactorMetrics{Size: 2, Eigenvalues: []Float{0, 0}, Damping: 1}, 1, 0, 0},
		{"some not finite", FactorMetrics{Size: 3, Eigenvalues: []Float{NotFinite, 4, Float(inf), 2, Absent}, Damping: NotFinite}, 2, 2, 4},
		{"left out", FactorMetrics{Size: 785, Damping: Absent}, nan, inf, -inf},
		{"left out, damped", FactorMetrics{Size: 785, Damping: 1}, nan, inf, -inf},
		{"too large", FactorMetrics{Size: 2, Eigenvalues: []Float{Float(math.MaxFloat64), 1}, Damping: Float(math.MaxFloat64)}, nan, 1, math.MaxFloat64},
	} {
		if got := c.f.Condition(); got != c.want && !(math.IsNaN(got) && math.IsNaN(c.want)) {
			t.Errorf("%s: condition %g, want %g", c.name, got, c.want)
		}
		if low, up, ok := c.f.Extremes(); low != c.low || up != c.up || ok != (c.low <= c.up) {
			t.Errorf("%s: extremes %g and %g (%v), want %g and %g", c.name, low, up, ok, c.low, c.up)
		}
	}
}
