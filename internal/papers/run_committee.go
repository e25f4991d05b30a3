package papers

import (
	"gonum.org/v1/gonum/mat"

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
