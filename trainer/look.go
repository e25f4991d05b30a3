package trainer

import (
	"slices"

	"newtop/trainer/analysis"
	"newtop/trainer/event"
	"newtop/trainer/objective"
	"newtop/trainer/optim"
)

// looks is what a run keeps for the looks that viewers ask for. They only read the weights: a run has the same
// digits with and without them. What passes through rows has a linearization of its own, is charged to no
// optimizer, and takes no training time.
type looks struct {
	asked    []event.Command // to be computed at the next chance, each of them different
	sliced   bool            // whether a slice was ever asked for
	proposed proposed
	along    objective.Linearization // over all training rows; nil before the first slice
}

// partingRows is how many of the worst rows a run that has ended shows.
const partingRows = 16

// proposed is the last step that a method held against a model, of a mixture with steady gates.
type proposed struct {
	known      bool
	from, step []float64 // of all weights
	event      event.SliceEvent
}

// propose keeps the step that a member has just proposed, if its method does that.
func (r *run) propose(m *member, p *optim.Proposal) {
	k := &r.proposed
	if k.known = p.Step != nil; !k.known {
		return
	}
	if k.step == nil {
		k.from, k.step = make([]float64, len(m.weights)), make([]float64, len(m.weights))
	}
	copy(k.from, m.previous)
	copy(k.from, p.From)
	clear(k.step[copy(k.step, p.Step):])
	k.event = event.SliceEvent{
		Epoch:     r.epoch + 1,
		Member:    r.turn,
		Optimizer: r.info.Name,
		Rho:       event.Float(p.Rho),
		Accepted:  p.Accepted,
	}
}

// ask notes a look for the next chance, at which one that was asked for twice is computed once.
func (r *run) ask(c event.Command) error {
	switch c := c.(type) {
	case event.Slice:
		if !r.proposed.known && r.info.Proposes {
			return event.Refuse("%s has proposed no step yet: expected an outer iteration to end first", r.info.Name)
		}
		if !r.proposed.known {
			return event.Refuse("%s proposes no step by a model of the loss: expected one of %s", r.info.Name, proposers())
		}
		r.sliced = true
	case event.ShowErrors:
		if !c.Train && r.test == nil {
			return event.Refuse("there are no test rows: expected the training rows to be asked for")
		}
		if err := r.problem.Readable(!c.Train); err != nil {
			return event.Refuse("the rows can't be read: %v", err)
		}
	}
	if !slices.Contains(r.asked, c) {
		r.asked = append(r.asked, c)
	}
	return nil
}

// look computes the look that was asked for first and publishes it. Commands are answered meanwhile; one that ends
// the run or its method ends the look too. It returns the context's error.
func (r *run) look() error {
	c := r.asked[0]
	r.asked = slices.Delete(r.asked, 0, 1)
	r.training.stop()
	compute := r.slice
	r.computing = "slice"
	if c, ok := c.(event.ShowErrors); ok {
		compute = func() (event.Event, error) { return r.errors(c) }
		r.computing = "errors"
	}
	e, interrupted := compute()
	r.computing = ""
	if interrupted != nil {
		e = nil
	}
	r.publish(e)
	return r.ctx.Err()
}

// goOn answers commands in the middle of a look, and tells viewers of one that takes longer than an eye would miss.
func (r *run) goOn() error {
	if r.shown.over.Load() {
		r.publish(nil)
	}
	return r.interject()
}

// lookBack shows the viewers of a run that came to its end by itself where the outputs are wrong now, and a slice if
// any was asked for before: afterwards nobody can ask. It returns the context's error.
func (r *run) lookBack() error {
	if r.end == event.ReasonStopped || !r.hub.Watched() {
		return nil
	}
	r.giveUp, r.asked = false, []event.Command{event.ShowErrors{Train: r.test == nil, Worst: partingRows}}
	if r.sliced && r.proposed.known {
		r.asked = append(r.asked, event.Slice{})
	}
	for range len(r.asked) {
		if r.giveUp {
			return nil
		}
		if err := r.look(); err != nil {
			return err
		}
	}
	return nil
}

// showWeights publishes a block of weights as it is now, of a committee the first member's.
func (r *run) showWeights(to, from int) error {
	e, ok := analysis.Weights(r.problem, r.members[0].weights, to, from)
	if !ok {
		return event.Refuse("the net has no weights from layer %d to layer %d", from, to)
	}
	e.Epoch = r.epoch
	r.publish(e)
	return nil
}
