package trajectory

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"newtop/models"
	"newtop/trainer/event"
	"newtop/trainer/objective"
	"newtop/trainer/workplace"
)

// A committee [MD §3] is the plain mean of the outputs of nets that were trained independently. By Jensen's
// inequality its squared error, and its cross-entropy, is at most the mean of its members'.

// evaluateMean measures how well the mean output of several nets does. Where each has a fold of its own, no row may be
// decided by nets that were trained on it: the metrics of training and validation rows are then the mean over the nets'
// own rows.
func evaluateMean(w *workplace.Workplace, nets []*Member, e *event.EpochEvent) {
	p := w.Whole()
	data := p.Data
	if w.Config.FoldCommittee() {
		evaluateFolds(w, nets, e)
	} else {
		workplace.TrainMetrics(e, MeanOutputs(w, &p.Train, nets), data)
	}
	if w.Validation != nil {
		workplace.ValidationMetrics(e, MeanOutputs(w, &p.Validation, nets), data)
	}
	if w.Test != nil {
		workplace.TestMetrics(e, MeanOutputs(w, &p.Test, nets), data)
	}
}

// evaluateFolds fills in the means over the rows that each net was trained on, and over those that it is decided by,
// which are each row once.
func evaluateFolds(w *workplace.Workplace, nets []*Member, e *event.EpochEvent) {
	mean := func(rows func(m *Member) int, of event.Quantity, power float64) event.Float {
		sum, n := 0.0, 0
		for _, m := range nets {
			sum += float64(rows(m)) * math.Pow(float64(*of.Of(&m.Metrics)), power)
			n += rows(m)
		}
		return event.ValueOf(math.Pow(sum/float64(n), 1/power))
	}
	trained := func(m *Member) int { return m.Binding.Objective.Rows() }
	held := func(m *Member) int { return m.Binding.Validation.Rows() }
	e.Loss, e.ValidationLoss = mean(trained, event.Loss, 1), mean(held, event.ValidationLoss, 1)
	e.RMSE, e.ValidationRMSE = mean(trained, event.RMSE, 2), mean(held, event.ValidationRMSE, 2)
	e.Error, e.ValidationError = event.Absent, event.Absent
	if w.Problem.Data.Classes != nil {
		e.Error, e.ValidationError = mean(trained, event.Error, 1), mean(held, event.ValidationError, 1)
	}
}

// MeanOutputs evaluates the nets' mean output on the rows of a split of the whole problem, over all of them in their
// order, so that it does not depend on the threads.
func MeanOutputs(w *workplace.Workplace, s *objective.Split, nets []*Member) models.Evaluation {
	network := w.Whole().Network
	u := mat.NewDense(s.Rows(), network.Outputs(), nil)
	w.OutputsTo(u, s.X, EffectiveWeights(nets))
	return network.MeasureOutputs(u, s.T)
}
