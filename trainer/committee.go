package trainer

import (
	"sync"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"newtop/models"
	"newtop/trainer/event"
)

// A committee [MD §3] is the plain mean of the outputs of nets that were trained independently. By Jensen's
// inequality its squared error, and its cross-entropy, is at most the mean of its members'.

// assemble fills in how well the committee does, and each of its members.
func (r *run) assemble(e *event.EpochEvent) {
	train, test := &r.problem.Train, &r.problem.Test
	r.figures(r.mean(train.Inputs, train.Targets), &e.Loss, &e.Error, &e.RMSE)
	if r.test != nil {
		r.figures(r.mean(test.Inputs, test.Targets), &e.TestLoss, &e.TestError, &e.TestRMSE)
	}
	e.Members = make([]event.MemberFigures, len(r.members))
	for i, m := range r.members {
		f := &m.figures
		e.Members[i] = event.MemberFigures{
			Seed: m.seed, Loss: f.Loss, TestLoss: f.TestLoss, Error: f.Error, TestError: f.TestError,
			RMSE: f.RMSE, TestRMSE: f.TestRMSE,
		}
	}
}

// mean measures the mean of the members' outputs on the rows of x. The evaluation is over all rows in their
// order, so that it does not depend on the threads.
func (r *run) mean(x, t *mat.Dense) models.Evaluation {
	rows, _ := x.Dims()
	network := r.problem.Network
	u := mat.NewDense(rows, network.Outputs(), nil)
	r.outputsTo(u, x)
	return network.MeasureOutputs(u, t)
}

// outputsTo stores the mean of the members' outputs for the rows of x, which each thread has an equal part of, in
// dst.
func (r *run) outputsTo(dst, x *mat.Dense) {
	rows, columns := x.Dims()
	dst.Zero()
	var workers sync.WaitGroup
	const chunk = 256
	threads := r.pool.Threads()
	for worker := range threads {
		workers.Go(func() {
			for from := worker * chunk; from < rows; from += threads * chunk {
				to := min(from+chunk, rows)
				part := dst.Slice(from, to, 0, r.problem.Network.Outputs()).(*mat.Dense)
				r.addOutputs(part, x.Slice(from, to, 0, columns).(*mat.Dense))
			}
		})
	}
	workers.Wait()
}

// addOutputs adds the mean of the members' outputs for the rows of x to dst.
func (r *run) addOutputs(dst, x *mat.Dense) {
	rows, columns := dst.Dims()
	u := mat.NewDense(rows, columns, nil)
	share := 1 / float64(len(r.members))
	for _, m := range r.members {
		r.problem.Network.OutputTo(u, m.weights, x)
		for i := range rows {
			floats.AddScaled(dst.RawRowView(i), share, u.RawRowView(i))
		}
	}
}
