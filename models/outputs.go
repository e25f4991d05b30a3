package models

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"newtop/models/reduce"
)

// MeasureOutputs returns how well given outputs u match the targets t, both rows × Outputs, by the network's
// loss. The outputs may come from anywhere, as those of a committee do: they are taken as they are, so that
// with cross-entropy a zero where the target is not gives an infinite loss.
func (n *Network) MeasureOutputs(u, t *mat.Dense) Evaluation {
	rows, _ := u.Dims()
	n.checkMatrix("MeasureOutputs", "u", u, rows, n.Outputs())
	n.checkMatrix("MeasureOutputs", "t", t, rows, n.Outputs())
	s := n.newScratch(min(rows, reduce.BlockRows))
	last := n.last()
	var sum tally
	for first := 0; first < rows; first += reduce.BlockRows {
		s.setRows(min(reduce.BlockRows, rows-first))
		gather(s.own.u[last], u.RawMatrix(), first, s.rows)
		gather(s.targets, t.RawMatrix(), first, s.rows)
		part := tally{wrong: s.countWrong(s.own.u[last])}
		for i, u := range s.own.u[last] {
			r := u - s.targets[i]
			part.squared += r * r
			if n.arch.Loss == CrossEntropy {
				part.loss += n.crossEntropy(u, s.targets[i])
			}
		}
		if n.arch.Loss == SquaredError {
			part.loss = part.squared / 2
		}
		sum.add(part)
	}
	return Evaluation{Rows: rows, Outputs: n.Outputs(), Wrong: sum.wrong,
		Loss: sum.loss / float64(rows), SquaredError: sum.squared}
}

// RowLoss returns the loss of one row of outputs u for the targets t, of which MeasureOutputs takes the mean.
func (n *Network) RowLoss(u, t []float64) float64 {
	if len(u) != n.Outputs() || len(t) != n.Outputs() {
		panic("models: RowLoss of a row of another length")
	}
	loss := 0.0
	for i, u := range u {
		if n.arch.Loss == CrossEntropy {
			loss += n.crossEntropy(u, t[i])
		} else {
			loss += (u - t[i]) * (u - t[i]) / 2
		}
	}
	return loss
}

// crossEntropy is one output's part of the loss for a probability u and its target t.
func (n *Network) crossEntropy(u, t float64) float64 {
	loss := minusLog(t, u)
	if n.activation(n.last()) != Softmax { // every output is a class of its own
		loss += minusLog(1-t, 1-u)
	}
	return loss
}

// minusLog returns −t·log u, with 0·log 0 = 0.
func minusLog(t, u float64) float64 {
	if t == 0 {
		return 0
	}
	return -t * math.Log(u)
}
