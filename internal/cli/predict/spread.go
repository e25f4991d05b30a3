package predict

import (
	"math"
	"slices"
	"sort"

	"gonum.org/v1/gonum/mat"

	"newtop/models/modelfile"
)

// spread is how far a committee's nets are apart for one output, their standard deviation with n − 1, and a band.
//
// Where each net has rows that it was not trained on, the band is CV+'s (Barber, Candès, Ramdas & Tibshirani 2021,
// "Predictive inference with the jackknife+", section 3): from the quantile of μ_k(x) − R over the nets k and their
// rows' residuals R to that of μ_k(x) + R. Nine targets of ten lie in it where rows are exchangeable; eight are
// certain, but for few rows and what the rows have chosen. Else it is the central 90 % of the nets, narrow where all
// are wrong alike, and no interval for the target.
type spread struct{ sd, low, high float64 }

// miscoverage is α of the band.
const miscoverage = 0.1

// spreadNames returns the columns of a model's spreads, in their order.
func spreadNames(m *modelfile.Model) []string {
	if m.Residuals != nil {
		return []string{"sd", "q05", "q95"}
	}
	return []string{"sd", "nets_q05", "nets_q95"}
}

// of returns column i of spreadNames.
func (s *spread) of(i int) float64 { return []float64{s.sd, s.low, s.high}[i] }

// spreadOf returns how far what each net makes of a row is apart, nil for none.
func spreadOf(m *modelfile.Model, each []*mat.Dense, row int) []spread {
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
		list[j].sd = math.Sqrt(sum / float64(len(each)-1))
		if m.Residuals != nil {
			list[j].low, list[j].high = band(values, m.Residuals, j)
			continue
		}
		slices.Sort(values)
		list[j].low, list[j].high = quantile(values, 0.05), quantile(values, 0.95)
	}
	return list
}

// band returns CV+'s for output j of nets that say values.
func band(values []float64, residuals [][][]float64, j int) (low, high float64) {
	minus := make([]float64, len(values))
	for k, v := range values {
		minus[k] = -v
	}
	return -upper(minus, residuals, j), upper(values, residuals, j)
}

// upper returns number ⌈(1 − α)(n + 1)⌉ of the n sums of a net's value and its residuals, the least first, or the last.
func upper(values []float64, residuals [][][]float64, j int) float64 {
	n, low, high := 0, math.Inf(1), math.Inf(-1)
	for k, v := range values {
		if list := residuals[k][j]; len(list) > 0 {
			n += len(list)
			low, high = min(low, v), max(high, v+list[len(list)-1])
		}
	}
	rank := min(n, int(math.Ceil((1-miscoverage)*float64(n+1))))
	for { // the least number below or at which there are as many
		middle := low + (high-low)/2
		if !(middle > low && middle < high) {
			return high
		}
		count := 0
		for k, v := range values {
			list := residuals[k][j]
			count += sort.Search(len(list), func(i int) bool { return v+list[i] > middle })
		}
		if count >= rank {
			high = middle
		} else {
			low = middle
		}
	}
}

// quantile interpolates between the two of the sorted values around place p(n − 1), as NumPy and R's type 7 do.
func quantile(sorted []float64, p float64) float64 {
	at := p * float64(len(sorted)-1)
	i := min(int(at), len(sorted)-2)
	return sorted[i] + (at-float64(i))*(sorted[i+1]-sorted[i])
}
