package trainer

import (
	"cmp"
	"fmt"

	"newtop/models"
	"newtop/models/reduce"
	"newtop/trainer/event"
	"newtop/trainer/objective"
	"newtop/trainer/optim"
	"newtop/trainer/optim/trust"
)

// prepare loads the data and binds everything to it, answering commands meanwhile. A run that ends meanwhile leaves the
// loader behind, but waits for a team, whose other processes must hear of the end.
func (r *run) prepare() error {
	if err := r.load(); err != nil || r.end != "" {
		return err
	}
	return r.bind()
}

func (r *run) load() error {
	type outcome struct {
		config  Config
		problem *objective.Problem
		err     error
	}
	prepared := make(chan outcome, 1) // with room, so that an abandoned loader ends by itself
	o, prepare := outcome{config: r.config}, (*Config).Prepare
	left := func() {}
	if r.team != nil {
		prepare = r.team.Prepare
		left = func() { <-prepared }
	}
	go func() {
		o.err = guard(func() (err error) {
			o.problem, err = prepare(&o.config)
			return err
		})
		prepared <- o
	}()
	for {
		select {
		case o := <-prepared:
			if o.err != nil {
				return &PrepareError{Err: o.err}
			}
			r.config, r.problem = o.config, o.problem
			return nil
		case q := <-r.requests:
			q.answer <- r.early(q.command)
			if r.end != "" {
				left()
				return nil
			}
			r.publish(nil)
		case <-r.ctx.Done():
			left()
			return r.ctx.Err()
		}
	}
}

// bind puts together what the run works on.
func (r *run) bind() error {
	r.pool = reduce.NewPool(r.config.Threads)
	if r.from == nil {
		if err := r.suits(r.info, r.settings); err != nil {
			return &PrepareError{Err: err}
		}
	}
	r.binding = r.bound(&objective.Work{})
	if r.problem.Test.Total() > 0 {
		// Only forward passes are asked of the test rows, and those keep nothing.
		r.test = r.rows().Bind(objective.Rows{Test: true}, models.Options{Pool: r.pool, Memory: 1})
	}
	if r.from == nil { // which has a method of its own
		if err := r.offers(r.info); err != nil {
			return &PrepareError{Err: fmt.Errorf("%s: %w", r.info.Name, err)}
		}
	}
	if !r.config.sets(trust.Limit.Key) {
		r.config.fit(r.settings, r.problem.Data)
	}
	for i := range max(1, r.config.Committee) {
		r.members = append(r.members, r.newMember(r.config.Seed+uint64(i)))
	}
	return nil
}

// rows returns what binds the network to rows.
func (r *run) rows() objective.Binder {
	if r.team != nil {
		return r.team
	}
	return r.problem
}

// bound returns the training rows bound anew, with what is spent on them charged to an account.
func (r *run) bound(spent *objective.Work) binding {
	network := r.problem.Network
	o := objective.Bind(network, r.rows(), objective.Rows{}, spent, models.Options{Pool: r.pool, Memory: r.config.Memory})
	b := binding{objective: o, target: o}
	if network.ExpertDim() < network.Dim() && r.config.GateTraining != "joint" {
		b.fixed = objective.FixGates(o)
		b.target = b.fixed
	}
	return b
}

// offers returns an error unless the run has what a method needs. A matrix is assembled of all weights, those
// of gates included, even where the method is shown a part of it.
func (r *run) offers(info *optim.Info) error {
	return cmp.Or(optim.Offers(r.target, info.Needs), optim.Offers(r.objective, info.Needs&optim.NeedsMatrix))
}

// early answers a command that comes before the run began.
func (r *run) early(c event.Command) error {
	switch c := c.(type) {
	case event.Stop:
		r.end = event.ReasonStopped
	case event.Pause:
		r.phase = event.Preparing
		r.single = freely
		if c.On {
			r.phase = event.Paused
		}
	default:
		return event.Refuse("the data are still being prepared")
	}
	return nil
}
