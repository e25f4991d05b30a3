package trainer

import (
	"cmp"
	"context"

	"newtop/trainer/objective"
	"newtop/trainer/optim"
)

// checkpointer takes checkpoints of a run for the recorders that keep them, and makes a run what one says. What decides how
// a run goes on is carried into a checkpoint, and back, by the same functions.
type checkpointer struct {
	out     *publisher // to whose recorders
	nets    *trajectory
	clocks  *clocks
	analyst *analyst
	print   *objective.Fingerprint // nil if nobody keeps checkpoints
	// news says that no recorder was asked yet about the run as it is, altered that it is so by hand.
	news, altered bool
	// within says that the run stands in an outer iteration, which may have been cut short.
	within bool
}

// begin makes the run what a checkpoint says, if there is one, once that is known to be of the same data and network.
func (c *checkpointer) begin(from *Checkpoint) error {
	if from == nil && !c.wanted() {
		return nil
	}
	place, ctx := c.nets.place, c.out.ctx
	var digests func(test bool) []byte
	if place.team != nil {
		digests = place.team.Digests
	}
	c.print = objective.TakeFingerprint(place.problem, digests)
	if from == nil {
		return nil
	}
	select {
	case <-c.print.Done():
	case <-ctx.Done():
		return ctx.Err()
	}
	err := agree(ctx, place.problem, from.Fingerprint, c.print)
	if err == nil {
		err = c.restore(from)
	}
	if err == nil {
		err = place.suits(c.nets.info, c.nets.chosen())
	}
	if err != nil {
		return cmp.Or(ctx.Err(), error(&PrepareError{Err: err}))
	}
	return nil
}

// agree returns a *CheckpointError unless an expected fingerprint is that of the problem, which f is too.
func agree(ctx context.Context, p *objective.Problem, expected string, f *objective.Fingerprint) error {
	what, err := p.Differs(ctx, expected, f)
	if err == nil && what != "" {
		err = &CheckpointError{Reason: what}
	}
	return err
}

// wanted reports whether any recorder keeps checkpoints.
func (c *checkpointer) wanted() bool {
	for _, rec := range c.out.recordings {
		if rec.keeper != nil {
			return true
		}
	}
	return false
}

// moved says that the run is another one than before.
func (c *checkpointer) moved() {
	c.news = true
	for _, rec := range c.out.recordings {
		rec.kept = false
	}
}

// alter says that it was made so by hand.
func (c *checkpointer) alter() {
	c.moved()
	c.altered = true
}

// offer hands a checkpoint to the recorders that want one, if the run is between two outer iterations and is not as
// they were offered it before.
func (c *checkpointer) offer(end bool) {
	if c.within || !(c.news || end) {
		return
	}
	var taken *Checkpoint
	for _, rec := range c.out.recordings {
		if rec.keeper == nil || rec.kept || !rec.keeper.Due(end) && !c.altered {
			continue
		}
		if taken == nil {
			taken = c.capture()
		}
		rec.put(c.out.ctx, entry{checkpoint: taken, print: c.print})
		rec.kept = true
	}
	c.news, c.altered = false, false
}

// forget ends the computation of a fingerprint that nobody waits for.
func (c *checkpointer) forget() {
	if c.print != nil {
		c.print.Stop()
		c.print.Wait()
	}
}

// capture returns a checkpoint of the run, which must be between two outer iterations. It only copies.
func (c *checkpointer) capture() *Checkpoint {
	k := optim.NewArchive()
	c.archive(k)
	taken := &Checkpoint{Epoch: c.nets.epoch}
	taken.vectors, taken.numbers, taken.texts = k.Content()
	return taken
}

// restore makes the run what it was when the checkpoint was taken. Only what viewers are shown is lost: the last step,
// and the weights of earlier epochs. It returns a *CheckpointError for one that is not of such a run.
func (c *checkpointer) restore(from *Checkpoint) error {
	k := from.archive()
	c.archive(k)
	if err := k.Err(); err != nil {
		return &CheckpointError{Reason: err.Error()}
	}
	if c.nets.epoch != from.Epoch {
		return spoilt("of epoch %d in one place and %d in another", from.Epoch, c.nets.epoch)
	}
	return nil
}

func (c *checkpointer) archive(k *optim.Archive) {
	k.Count("epoch", &c.nets.epoch, optim.MostCount)
	c.nets.archiveMethod(k)
	archiveMetrics(k.In("first"), &c.nets.first)
	archiveMetrics(k.In("last"), &c.nets.last)
	archiveMetrics(k.In("best"), &c.nets.best)
	c.clocks.archive(k)
	c.analyst.archive(k.In("spectrum"))
	c.nets.archiveMembers(k)
}
