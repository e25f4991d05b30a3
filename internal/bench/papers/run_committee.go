package papers

import (
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"newtop/datasets"
	"newtop/models"
)

// meanOutputs returns the plain mean of the outputs of nets of one shape on the rows of x, rows × Outputs: the
// committee of [MD, §3].
func meanOutputs(n *models.Network, weights [][]float64, x *mat.Dense) *mat.Dense {
	rows, _ := x.Dims()
	mean, one := mat.NewDense(rows, n.Outputs(), nil), mat.NewDense(rows, n.Outputs(), nil)
	for _, w := range weights {
		n.OutputTo(one, w, x)
		mean.Add(mean, one)
	}
	mean.Scale(1/float64(len(weights)), mean)
	return mean
}

// missedRows returns the rows whose largest mean output of nets is not where the largest target is: bit p%8 of byte p/8
// for row p.
func missedRows(n *models.Network, weights [][]float64, rows *datasets.Split) []byte {
	mean := meanOutputs(n, weights, rows.Inputs)
	bits := make([]byte, (rows.Rows()+7)/8)
	for p := range rows.Rows() {
		if floats.MaxIdx(mean.RawRowView(p)) != floats.MaxIdx(rows.Targets.RawRowView(p)) {
			bits[p/8] |= 1 << (p % 8)
		}
	}
	return bits
}

// missRates returns for each of so many rows the share of sets that have it.
func missRates(sets [][]byte, rows int) []float64 {
	rates := make([]float64, rows)
	for _, bits := range sets {
		for p := range rates {
			rates[p] += float64(bits[p/8]>>(p%8)&1) / float64(len(sets))
		}
	}
	return rates
}
