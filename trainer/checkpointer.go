package trainer

import (
	"cmp"
	"context"
	"time"

	"newtop/trainer/event"
	"newtop/trainer/objective"
	"newtop/trainer/optim"
)

// checkpointer takes checkpoints of a run for the recorders that keep them, and makes a run what one says. What decides
// how a run goes on is carried into a checkpoint, and back, by the same functions.
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
	// the run before that outer iteration; nil before the first, and where a race has changed the run within it
	held  *held
	spare *held // whose room the next one may take
}

// held is the run between two outer iterations, in case that it ends within the next.
type held struct {
	archive    *optim.Archive
	checkpoint *Checkpoint
	last, best event.EpochEvent
	weights    [][]float64 // of the best epoch
	given      bool        // a recorder has it
}

// begin makes the run what a checkpoint says, if there is one, once that is known to be of the same data and network.
func (c *checkpointer) begin(from *Checkpoint) error {
	if from == nil && !c.wanted() {
		return nil
	}
	place, ctx := c.nets.place, c.out.ctx
	c.print = objective.TakeFingerprint(place.problem)
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

// hold holds the run as it is between two outer iterations.
func (c *checkpointer) hold() {
	if c.within {
		return
	}
	h := cmp.Or(c.held, c.spare)
	if h == nil || h.given {
		h = &held{archive: optim.NewArchive()}
	}
	h.archive.Clear()
	h.checkpoint = c.captureIn(h.archive)
	h.last, h.best, h.weights = c.nets.last, c.nets.best, c.nets.bestWeights
	c.held, c.spare = h, nil
	for _, rec := range c.out.recordings {
		rec.behind = 0
	}
}

// release forgets what is held, as the run is another one since.
func (c *checkpointer) release() {
	if c.held != nil {
		c.held, c.spare = nil, c.held
	}
}

// goBack makes the nets what they were before the outer iteration that the run ended in. What was spent since stays
// spent.
func (c *checkpointer) goBack() {
	h := c.held
	if h == nil {
		return
	}
	weights, err := h.checkpoint.Weights(c.nets.place.problem.Dim())
	if err != nil {
		panic("trainer: " + err.Error())
	}
	for i, m := range c.nets.members {
		copy(m.weights, weights[i])
		m.state.Evaluated = false
	}
	c.nets.epoch, c.nets.last, c.nets.best, c.nets.bestWeights = h.checkpoint.Epoch, h.last, h.best, h.weights
}

// offerHeld hands the recorders the run as it was before the outer iteration that it ended in.
func (c *checkpointer) offerHeld() {
	h := c.held
	if h == nil {
		return
	}
	for _, rec := range c.out.recordings {
		if rec.keeper == nil || rec.kept || !rec.keeper.Due(true) {
			continue
		}
		taken := *h.checkpoint
		taken.Behind = rec.behind
		rec.put(c.out.ctx, entry{checkpoint: &taken, print: c.print})
		rec.kept, h.given = true, true
	}
}

// printGrace is how long a cancelled run waits for its fingerprint, without which it can't be gone on with: less than
// most systems leave a program that they have told to end.
const printGrace = 8 * time.Second

// await waits for the fingerprint, for which recorders do before they take what comes behind a checkpoint.
func (c *checkpointer) await() {
	if c.print == nil {
		return
	}
	select {
	case <-c.print.Done():
		return
	case <-c.out.ctx.Done():
	}
	select {
	case <-c.print.Done():
	case <-time.After(printGrace):
		c.print.Stop()
	}
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
	return c.captureIn(optim.NewArchive())
}

func (c *checkpointer) captureIn(k *optim.Archive) *Checkpoint {
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
	if _, told := from.numbers[unitKey]; !told {
		c.nets.inUnits()
	}
	return nil
}

// unitKey is where a checkpoint has what its RMSEs were multiplied by to be in the units of the data. Those of before
// have none, and theirs are in standard deviations.
const unitKey = "rmse unit"

func (c *checkpointer) archive(k *optim.Archive) {
	k.Count("epoch", &c.nets.epoch, optim.MaxCount)
	c.nets.archiveMethod(k)
	archiveMetrics(k.In("first"), &c.nets.first)
	archiveMetrics(k.In("last"), &c.nets.last)
	archiveMetrics(k.In("best"), &c.nets.best)
	c.nets.archiveBest(k)
	c.clocks.archive(k)
	c.analyst.archive(k.In("spectrum"))
	c.nets.archiveMembers(k)
	if !k.Restoring() {
		unit, _ := c.nets.place.problem.Data.TargetUnit()
		k.Number(unitKey, &unit)
	}
}
