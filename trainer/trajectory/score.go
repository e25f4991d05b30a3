package trajectory

import (
	"gonum.org/v1/gonum/mat"

	"newtop/datasets"
	"newtop/trainer/analysis"
	"newtop/trainer/event"
	"newtop/trainer/optim"
)

// Scores returns how well nets with such weights do on a part of the rows, of which there may be none. Where each net
// of a committee has a fold, the validation rows are all training rows, each of the net that is decided by it. poll
// ends it with its error.
func Scores(t *Trajectory, part datasets.Part, weights [][]float64, poll func() error) (event.Scores, error) {
	w, of, row := t.Work, part, 0
	outputsTo := func(dst, x *mat.Dense) { w.OutputsTo(dst, x, weights) }
	if part == datasets.Validation && w.Config.FoldCommittee() {
		net := func(i int) int { return i % len(weights) }
		if j := w.Problem.Joint; j != nil {
			net = func(i int) int { return j.Folds.Of[i] }
		}
		of = datasets.Train
		outputsTo = func(dst, x *mat.Dense) {
			rows, outputs := dst.Dims()
			u := mat.NewDense(rows, outputs, nil)
			for k, v := range weights {
				w.Outputs(k, v).To(u, x)
				for i := range rows {
					if net(row+i) == k {
						dst.SetRow(i, u.RawRowView(i))
					}
				}
			}
			row += rows
		}
	}
	s, err := analysis.Scores(w.Whole(), of, w.Pool.Threads(), outputsTo, poll)
	if of != part {
		s.Split = part.String()
	}
	return s, err
}

// fillScore fills in the score that the run's weights are chosen by, where it is none that all epochs have.
func fillScore(t *Trajectory, e *event.EpochEvent) {
	by := t.Work.Config.Score()
	if by == nil || !by.Outputs {
		return
	}
	for _, part := range []datasets.Part{datasets.Validation, datasets.Test} {
		s, err := Scores(t, part, EffectiveWeights(t.Members), func() error { return nil })
		if err == nil && s.Rows > 0 {
			by.Add(e, &s)
		}
	}
}

// archiveScore carries the best epoch's score.
func archiveScore(t *Trajectory, k *optim.Archive) {
	by := t.Work.Config.Score()
	if by == nil || !by.Outputs {
		return
	}
	v := by.Value(&t.Best, "validation")
	k.Number("best score", &v)
	if k.Restoring() {
		by.Set(&t.Best, "validation", event.Float(v))
	}
}
