package models

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"newtop/models/internal/pass"
	"newtop/models/reduce"
)

// Evaluation is how well a network does on some rows.
type Evaluation struct {
	Rows    int
	Outputs int
	// Misclassified counts the rows whose largest output is not where the largest target is (the first one of equals),
	// or is not a number. It is 0 where there is only one output, and −1 where an external model does not report it.
	Misclassified int
	Loss          float64 // E, the mean loss
	SquaredError  float64 // Σ ‖u − t‖² over the rows
}

// Error returns the fraction of wrong rows.
func (e Evaluation) Error() float64 { return float64(e.Misclassified) / float64(e.Rows) }

// RMSE returns the root of the mean over rows and outputs of squared residuals.
func (e Evaluation) RMSE() float64 {
	return math.Sqrt(e.SquaredError / (float64(e.Rows) * float64(e.Outputs)))
}

// evaluation returns what a tally over that many rows says.
func (n *Network) evaluation(rows int, sum pass.Tally) Evaluation {
	return Evaluation{Rows: rows, Outputs: n.Outputs(), Misclassified: sum.Misclassified,
		Loss: sum.Loss / float64(rows), SquaredError: sum.Squared}
}

// OutputTo stores the outputs at weights w for the rows of x in dst. x is rows × Columns and dst is
// rows × Outputs; they must not overlap.
func (n *Network) OutputTo(dst *mat.Dense, w []float64, x Matrix) {
	n.checkWeights("OutputTo", "w", w)
	rows, _ := x.Dims()
	n.checkMatrix("OutputTo", "x", x, rows, n.Columns())
	n.checkMatrix("OutputTo", "dst", dst, rows, n.Outputs())
	n.eachBlock(rows, func(s *pass.Scratch[float64], first int) {
		tp := &s.Own
		pass.Gather(tp.U[0], gathered(x, first, s.Rows), 0, s.Rows)
		s.Forward(w, tp)
		s.Finish(tp)
		pass.Scatter(doubles(dst), tp.U[s.Last()], first, s.Rows)
	})
}

// MeasureOutputs returns how well given outputs u match the targets t, both rows × Outputs, by the network's
// loss. The outputs may come from anywhere, as those of a committee do: they are taken as they are, so that
// with cross-entropy a zero where the target is not gives an infinite loss.
func (n *Network) MeasureOutputs(u *mat.Dense, t Matrix) Evaluation {
	rows, _ := u.Dims()
	n.checkMatrix("MeasureOutputs", "u", u, rows, n.Outputs())
	n.checkMatrix("MeasureOutputs", "t", t, rows, n.Outputs())
	out, loss := n.output()
	var sum pass.Tally
	n.eachBlock(rows, func(s *pass.Scratch[float64], first int) {
		outputs := s.Own.U[s.Last()]
		pass.Gather(outputs, doubles(u), first, s.Rows)
		pass.Gather(s.Targets, gathered(t, first, s.Rows), 0, s.Rows)
		part := pass.Tally{Misclassified: s.CountMisclassified(&s.Own)}
		for i, u := range outputs {
			r := u - s.Targets[i]
			part.Squared += r * r
			part.Loss += loss.Of(u, s.Targets[i], out)
		}
		sum.Add(part)
	})
	return n.evaluation(rows, sum)
}

// eachBlock calls do for blocks of rows, with the first row of each.
func (n *Network) eachBlock(rows int, do func(s *pass.Scratch[float64], first int)) {
	s := pass.NewScratch[float64](n.net, min(rows, reduce.BlockRows))
	for first := 0; first < rows; first += reduce.BlockRows {
		s.SetRows(min(reduce.BlockRows, rows-first))
		do(s, first)
	}
}

// RowLoss returns the loss of one row of outputs u for the targets t, of which MeasureOutputs takes the mean.
func (n *Network) RowLoss(u, t []float64) float64 {
	if len(u) != n.Outputs() || len(t) != n.Outputs() {
		panic("models: RowLoss of a row of another length")
	}
	out, loss := n.output()
	sum := 0.0
	for i, u := range u {
		sum += loss.Of(u, t[i], out)
	}
	return sum
}

// GateSharesTo stores the mean of every gate's share g_i over the rows of x in dst. x is rows × Columns.
func (n *Network) GateSharesTo(dst, w []float64, x Matrix) {
	n.checkWeights("GateSharesTo", "w", w)
	rows, _ := x.Dims()
	n.checkMatrix("GateSharesTo", "x", x, rows, n.Columns())
	if count := n.net.GateCount(); len(dst) != count {
		panic(fmt.Sprintf("models: GateSharesTo: dst has %d numbers, the network %d gates", len(dst), count))
	}
	if n.net.Mixture == nil {
		return
	}
	clear(dst)
	n.eachBlock(rows, func(s *pass.Scratch[float64], first int) {
		pass.Gather(s.Own.U[0], gathered(x, first, s.Rows), 0, s.Rows)
		s.AddShares(dst, w, &s.Own)
	})
	for i := range dst {
		dst[i] /= float64(rows)
	}
}
