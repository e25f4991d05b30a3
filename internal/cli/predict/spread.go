package predict

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// spread is how far a committee's nets are apart for one output: their standard deviation, with n − 1, and the central
// 90 % of them. It is no interval in which the target lies with some probability: it is narrow where all nets are wrong
// alike.
type spread struct{ sd, low, high float64 }

// spreadNames are the columns of a spread, in their order.
var spreadNames = []string{"sd", "q05", "q95"}

// of returns one of spreadNames.
func (s *spread) of(name string) *float64 {
	switch name {
	case "sd":
		return &s.sd
	case "q05":
		return &s.low
	}
	return &s.high
}

// spreadOf returns how far what each net makes of a row is apart, nil for none.
func spreadOf(each []*mat.Dense, row int) []spread {
	if each == nil {
		return nil
	}
	_, outputs := each[0].Dims()
	list := make([]spread, outputs)
	values := make([]float64, len(each))
	for j := range list {
		mean := 0.0
		for k, u := range each {
			values[k] = u.At(row, j)
			mean += values[k] / float64(len(each))
		}
		sum := 0.0
		for _, v := range values {
			sum += (v - mean) * (v - mean)
		}
		slices.Sort(values)
		list[j] = spread{math.Sqrt(sum / float64(len(each)-1)), quantile(values, 0.05), quantile(values, 0.95)}
	}
	return list
}

// quantile interpolates between the two of the sorted values around place p(n − 1), as NumPy and R's type 7 do.
func quantile(sorted []float64, p float64) float64 {
	at := p * float64(len(sorted)-1)
	i := min(int(at), len(sorted)-2)
	return sorted[i] + (at-float64(i))*(sorted[i+1]-sorted[i])
}
