package bench

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// Fit is the exponent e of the power law y = c·xᵉ that is nearest to some points, by least squares on their
// logarithms, and its standard error.
type Fit struct {
	Exponent      float64 `json:"exponent"`
	StandardError float64 `json:"standard_error"`
}

// fitPower fits y(x). It panics unless there are three points or more, all above zero.
func fitPower(x, y []float64) Fit {
	if len(x) != len(y) || len(x) < 3 || !positive(x...) || !positive(y...) {
		panic(fmt.Sprintf("bench: a power law through %v, %v", x, y))
	}
	n := len(x)
	lx, ly := make([]float64, n), make([]float64, n)
	for i := range x {
		lx[i], ly[i] = math.Log(x[i]), math.Log(y[i])
	}
	intercept, slope := stat.LinearRegression(lx, ly, nil, false)
	mean := stat.Mean(lx, nil)
	spread, misfit := 0.0, 0.0
	for i := range lx {
		d, r := lx[i]-mean, ly[i]-intercept-slope*lx[i]
		spread += d * d
		misfit += r * r
	}
	return Fit{Exponent: slope, StandardError: math.Sqrt(misfit / float64(n-2) / spread)}
}

// positive reports whether all are numbers above zero.
func positive(all ...float64) bool {
	return !slices.ContainsFunc(all, func(v float64) bool { return !(v > 0) || math.IsInf(v, 0) })
}
