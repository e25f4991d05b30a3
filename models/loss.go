package models

import (
	"math"
	"slices"

	"newtop/internal/vector"
)

// Evaluation is how well a network does on some rows.
type Evaluation struct {
	Rows    int
	Outputs int
	// Wrong counts the rows whose largest output is not where the largest target is (the first one of
	// equals), or is not a number. It is 0 where there is only one output.
	Wrong        int
	Loss         float64 // E, the mean loss
	SquaredError float64 // Σ ‖u − t‖² over the rows
}

// Error returns the fraction of wrong rows.
func (e Evaluation) Error() float64 { return float64(e.Wrong) / float64(e.Rows) }

// RMSE returns the root of the mean over rows and outputs of squared residuals.
func (e Evaluation) RMSE() float64 {
	return math.Sqrt(e.SquaredError / (float64(e.Rows) * float64(e.Outputs)))
}

// tally is an Evaluation under way; loss is a sum.
type tally struct {
	wrong         int
	loss, squared float64
}

func (t *tally) add(o tally) {
	t.wrong += o.wrong
	t.loss += o.loss
	t.squared += o.squared
}

// tallySize is how many numbers a tally makes.
const tallySize = 3

// storeTo stores the tally in dst as numbers, of which sums are sums of tallies: fewer rows than 2⁵³ are wrong.
func (t *tally) storeTo(dst []float64) { dst[0], dst[1], dst[2] = t.loss, t.squared, float64(t.wrong) }

// tallyOf returns the tally of numbers that storeTo stored, or sums of them.
func tallyOf(x []float64) tally { return tally{loss: x[0], squared: x[1], wrong: int(x[2])} }

// finish turns the net inputs of the output layer into outputs.
func (s *scratch) finish(tp *tape) { s.activate(tp, s.last()) }

// loss turns the net inputs v of the output layer into outputs, measures them against s.targets, and leaves u − t in
// δ^L.
func (s *scratch) loss(tp *tape) tally {
	last := s.last()
	var sum tally
	switch {
	case !s.fused(last):
		s.activate(tp, last)
	case s.activation(last) == Softmax:
		sum.loss = s.softmaxLoss(tp.u[last], tp.kept[last])
	default:
		sum.loss = s.sigmoidLoss(tp.u[last])
	}
	sum.squared = vector.Residual(tp.delta[last], tp.u[last], s.targets)
	if !s.fused(last) {
		sum.loss = sum.squared / 2
	}
	sum.wrong = s.countWrong(tp.u[last])
	return sum
}

// softmaxLoss returns Σ_p Σ_k t_k (log Σ_i e^v_i − v_k), turns v into probabilities and stores the sum
// of each row's targets. Logits are taken relative to the largest, so the loss is finite wherever the logits are.
func (s *scratch) softmaxLoss(v, targetSum []float64) float64 {
	top, total, hit := s.ra, s.rb, s.rc
	vector.ColumnMax(top, v)
	vector.ColumnSums(targetSum, s.targets)
	vector.ColumnDots(hit, s.targets, v)
	vector.ColumnSoftmax(total, top, v)
	loss := 0.0
	for j, sum := range total {
		if targetSum[j] != 0 {
			loss += targetSum[j]*math.Log(sum) - (hit[j] - targetSum[j]*top[j])
		}
	}
	return loss
}

// sigmoidLoss returns Σ_p Σ_k log(1 + e^v_k) − t_k v_k, which is −Σ t log u + (1−t) log(1−u), and turns v
// into probabilities. With x = |v|, and 1 − t for t where v > 0, a term is log(1 + e^−x) + t·x: two
// numbers of one sign, so that a certain and right output costs e^−x and not what rounding leaves of v.
func (s *scratch) sigmoidLoss(v []float64) float64 {
	loss := 0.0
	for i, x := range v {
		t, far := s.targets[i], math.Abs(x)
		value, u := softplus(-far)
		if x > 0 {
			t, u = 1-t, 1-u
		}
		if t != 0 {
			value += t * far
		}
		loss += value
		v[i] = u
	}
	return loss
}

// countWrong uses s.ra, s.rb and s.rc.
func (s *scratch) countWrong(u []float64) int {
	if s.Outputs() == 1 {
		return 0
	}
	best, want := s.ra, s.rb
	vector.ColumnArgMax(best, s.rc, u)
	vector.ColumnArgMax(want, s.rc, s.targets)
	wrong := 0
	for j, best := range best {
		if best != want[j] { // a NaN among the outputs is no number of a node
			wrong++
		}
	}
	return wrong
}

// outputDelta turns u − t, which loss left in δ^L, into δ^L. With squared error it is ε^L. With cross-entropy the
// activation's derivative cancels: δ^L = (Σt)u − t after softmax and u − t after sigmoid.
func (s *scratch) outputDelta(tp *tape) {
	last := s.last()
	if !s.fused(last) {
		s.pullKeep(tp, last)
		return
	}
	if s.activation(last) != Softmax {
		return
	}
	sums := tp.kept[last]
	if !slices.ContainsFunc(sums, func(sum float64) bool { return sum != 1 }) {
		return
	}
	u, delta := tp.u[last], tp.delta[last]
	for i := 0; i < len(u); i += s.rows {
		for j, sum := range sums {
			delta[i+j] = sum*u[i+j] - s.targets[i+j]
		}
	}
}

// outputCurvature stores in γ^L what the loss makes of the outputs' derivative Ru^L: Rε^L = Ru^L for
// squared error, and for cross-entropy γ^L itself, (Σt)Ru^L after softmax and Ru^L after sigmoid.
func (s *scratch) outputCurvature(tp *tape) {
	last := s.last()
	gamma := s.gamma[last]
	copy(gamma, s.ru[last])
	if s.fused(last) && s.activation(last) == Softmax {
		for i := 0; i < len(gamma); i += s.rows {
			node := gamma[i : i+s.rows]
			vector.Mul(node, node, tp.kept[last])
		}
	}
}
