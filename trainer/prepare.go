package trainer

import (
	"cmp"
	"fmt"

	"newtop/models"
	"newtop/trainer/optim"
)

// prepare loads the data and binds everything to it, answering commands meanwhile.
func (r *run) prepare() error {
	type outcome struct {
		problem *Problem
		err     error
	}
	prepared := make(chan outcome, 1) // with room, so that an abandoned loader ends by itself
	go func() {
		var o outcome
		o.err = guard(func() (err error) {
			o.problem, err = r.config.Prepare()
			return err
		})
		prepared <- o
	}()
	for r.problem == nil {
		select {
		case o := <-prepared:
			if o.err != nil {
				return &PrepareError{Err: o.err}
			}
			r.problem = o.problem
		case q := <-r.requests:
			q.answer <- r.early(q.command)
			if r.end != "" {
				return nil
			}
			r.publish(nil)
		case <-r.ctx.Done():
			return r.ctx.Err()
		}
	}
	return r.bind()
}

// bind puts together what the run works on.
func (r *run) bind() error {
	network, test := r.problem.Network, &r.problem.Test
	r.pool = models.NewPool(r.config.Threads)
	r.binding = r.bound(&work{})
	if test.Rows() > 0 {
		// Only forward passes are asked of the test rows, and those keep nothing.
		r.test = network.Bind(test.Inputs, test.Targets, models.Options{Pool: r.pool, Memory: 1})
	}
	if err := r.offers(r.info); err != nil {
		return &PrepareError{Err: fmt.Errorf("%s: %w", r.info.Name, err)}
	}
	if !r.config.sets(limitKey) {
		r.config.fit(r.settings, r.problem.Data)
	}
	for i := range max(1, r.config.Committee) {
		r.members = append(r.members, r.newMember(r.config.Seed+uint64(i)))
	}
	return nil
}

// bound returns the training rows bound anew, with what is spent on them charged to an account.
func (r *run) bound(spent *work) binding {
	network, train := r.problem.Network, &r.problem.Train
	o := newObjective(network, train.Inputs, train.Targets, models.Options{Pool: r.pool, Memory: r.config.Memory})
	o.spent = spent
	b := binding{objective: o, target: o}
	if network.ExpertDim() < network.Dim() && r.config.GateTraining != "joint" {
		b.steady = newSteady(o)
		b.target = b.steady
	}
	return b
}

// offers returns an error unless the run has what a method needs. A matrix is assembled of all weights, those
// of gates included, even where the method is shown a part of it.
func (r *run) offers(info *optim.Info) error {
	return cmp.Or(optim.Offers(r.target, info.Needs), optim.Offers(r.objective, info.Needs&optim.NeedsMatrix))
}

// early answers a command that comes before the run began.
func (r *run) early(c Command) error {
	switch c := c.(type) {
	case Stop:
		r.end = ReasonStopped
	case Pause:
		r.phase = Preparing
		r.single = freely
		if c.On {
			r.phase = Paused
		}
	default:
		return refuse("the data are still being prepared")
	}
	return nil
}
