package trainer

import (
	"cmp"
	"context"
	"time"

	"newtop/trainer/analyst"
	"newtop/trainer/checkpoint"
	"newtop/trainer/event"
	"newtop/trainer/objective"
	"newtop/trainer/optim"
	"newtop/trainer/publish"
	"newtop/trainer/trajectory"
	"newtop/trainer/workplace"
)

// checkpointer takes checkpoints of a run for the recorders that keep them, and makes a run what one says. What decides
// how a run continues is carried into a checkpoint, and back, by the same functions.
type checkpointer struct {
	out         *publish.Publisher // to whose recorders
	nets        *trajectory.Trajectory
	clocks      *trajectory.Clocks
	analyst     *analyst.Analyst
	fingerprint *objective.Fingerprint // nil if nobody keeps checkpoints
	// news says that no recorder was asked yet about the run as it is, altered that it is so by hand.
	changed, altered bool
	// within says that the run stands in an outer iteration, which may have been cut short.
	midEpoch bool
	// the run before that outer iteration; nil before the first, and where a race has changed the run within it
	held  *heldRun
	spare *heldRun // whose room the next one may take
}

// heldRun is the run between two outer iterations, in case that it ends within the next.
type heldRun struct {
	archive    *optim.Archive
	checkpoint *checkpoint.Checkpoint
	last, best event.EpochEvent
	weights    [][]float64 // of the best epoch
	offered    bool        // a recorder has it
}

// start makes the run what a checkpoint says, if there is one, once that is known to be of the same data and network.
func (c *checkpointer) start(from *checkpoint.Checkpoint) error {
	if from == nil && !c.wanted() {
		return nil
	}
	work, ctx := c.nets.Work, c.out.Ctx
	c.fingerprint = objective.StartFingerprint(work.Problem)
	if from == nil {
		return nil
	}
	select {
	case <-c.fingerprint.Done():
	case <-ctx.Done():
		return ctx.Err()
	}
	err := checkFingerprint(ctx, work.Problem, from.Fingerprint, c.fingerprint)
	if err == nil {
		err = c.restore(from)
	}
	if err == nil {
		err = work.CheckMethod(c.nets.Info, c.nets.CurrentSettings())
	}
	if err != nil {
		return cmp.Or(ctx.Err(), error(&PrepareError{Err: err}))
	}
	return nil
}

// checkFingerprint returns a *CheckpointError unless an expected fingerprint is that of the problem, which f is too.
func checkFingerprint(ctx context.Context, p *objective.Problem, expected string, f *objective.Fingerprint) error {
	what, err := f.Differs(ctx, p, expected)
	if err == nil && what != "" {
		err = &checkpoint.CheckpointError{Reason: what}
	}
	return err
}

// wanted reports whether any recorder keeps checkpoints.
func (c *checkpointer) wanted() bool {
	for _, rec := range c.out.Recordings {
		if rec.Keeper != nil {
			return true
		}
	}
	return false
}

// markChanged says that the run is another one than before.
func (c *checkpointer) markChanged() {
	c.changed = true
	for _, rec := range c.out.Recordings {
		rec.Offered = false
	}
}

// markAltered says that it was made so by hand.
func (c *checkpointer) markAltered() {
	c.markChanged()
	c.altered = true
}

// offer hands a checkpoint to the recorders that want one, if the run is between two outer iterations and is not as
// they were offered it before.
func (c *checkpointer) offer(end bool) {
	if c.midEpoch || !(c.changed || end) {
		return
	}
	var taken *checkpoint.Checkpoint
	for _, rec := range c.out.Recordings {
		if rec.Keeper == nil || rec.Offered || !rec.Keeper.Due(end) && !c.altered {
			continue
		}
		if taken == nil {
			taken = c.capture()
		}
		rec.Enqueue(c.out.Ctx, checkpoint.Entry{Checkpoint: taken, Fingerprint: c.fingerprint})
		rec.Offered = true
	}
	c.changed, c.altered = false, false
}

// hold holds the run as it is between two outer iterations.
func (c *checkpointer) hold() {
	if c.midEpoch {
		return
	}
	h := cmp.Or(c.held, c.spare)
	if h == nil || h.offered {
		h = &heldRun{archive: optim.NewArchive()}
	}
	h.archive.Clear()
	h.checkpoint = c.captureIn(h.archive)
	h.last, h.best, h.weights = c.nets.Last, c.nets.Best, c.nets.BestWeights
	c.held, c.spare = h, nil
	for _, rec := range c.out.Recordings {
		rec.Behind = 0
	}
}

// release forgets what is held, as the run is another one since.
func (c *checkpointer) release() {
	if c.held != nil {
		c.held, c.spare = nil, c.held
	}
}

// rollBack makes the nets what they were before the outer iteration that the run ended in. What was spent since stays
// spent.
func (c *checkpointer) rollBack() {
	h := c.held
	if h == nil {
		return
	}
	weights, err := h.checkpoint.Weights(c.nets.Work.Problem.Dim())
	if err != nil {
		panic("trainer: " + err.Error())
	}
	for i, m := range c.nets.Members {
		copy(m.Weights, weights[i])
		m.State.Evaluated = false
	}
	c.nets.Epoch, c.nets.Last, c.nets.Best, c.nets.BestWeights = h.checkpoint.Epoch, h.last, h.best, h.weights
}

// offerHeld hands the recorders the run as it was before the outer iteration that it ended in.
func (c *checkpointer) offerHeld() {
	h := c.held
	if h == nil {
		return
	}
	for _, rec := range c.out.Recordings {
		if rec.Keeper == nil || rec.Offered || !rec.Keeper.Due(true) {
			continue
		}
		taken := *h.checkpoint
		taken.Behind = rec.Behind
		rec.Enqueue(c.out.Ctx, checkpoint.Entry{Checkpoint: &taken, Fingerprint: c.fingerprint})
		rec.Offered, h.offered = true, true
	}
}

// fingerprintGrace is how long a cancelled run waits for its fingerprint, without which it can't be resumed: less
// than most systems leave a program that they have told to end.
const fingerprintGrace = 8 * time.Second

// await waits for the fingerprint, for which recorders do before they take what comes behind a checkpoint.
func (c *checkpointer) await() {
	if c.fingerprint == nil {
		return
	}
	select {
	case <-c.fingerprint.Done():
		return
	case <-c.out.Ctx.Done():
	}
	select {
	case <-c.fingerprint.Done():
	case <-time.After(fingerprintGrace):
		c.fingerprint.Stop()
	}
}

// forget ends the computation of a fingerprint that nobody waits for.
func (c *checkpointer) forget() {
	if c.fingerprint != nil {
		c.fingerprint.Stop()
		c.fingerprint.Wait()
	}
}

// capture returns a checkpoint of the run, which must be between two outer iterations. It only copies.
func (c *checkpointer) capture() *checkpoint.Checkpoint {
	return c.captureIn(optim.NewArchive())
}

func (c *checkpointer) captureIn(k *optim.Archive) *checkpoint.Checkpoint {
	c.archive(k)
	taken := &checkpoint.Checkpoint{Epoch: c.nets.Epoch}
	taken.Vectors, taken.Numbers, taken.Texts = k.Content()
	return taken
}

// restore makes the run what it was when the checkpoint was taken. Only what viewers are shown is lost: the last step,
// and the weights of earlier epochs. It returns a *CheckpointError for one that is not of such a run.
func (c *checkpointer) restore(from *checkpoint.Checkpoint) error {
	k := from.OpenArchive()
	c.archive(k)
	if err := k.Err(); err != nil {
		return &checkpoint.CheckpointError{Reason: err.Error()}
	}
	if c.nets.Epoch != from.Epoch {
		return checkpoint.Damaged("of epoch %d in one place and %d in another", from.Epoch, c.nets.Epoch)
	}
	if _, told := from.Numbers[unitKey]; !told {
		trajectory.ScaleRMSE(c.nets)
	}
	return nil
}

// unitKey is where a checkpoint has what its RMSEs were multiplied by to be in the units of the data. Those of before
// have none, and theirs are in standard deviations.
const unitKey = "rmse unit"

func (c *checkpointer) archive(k *optim.Archive) {
	k.Count("epoch", &c.nets.Epoch, optim.MaxCount)
	trajectory.ArchiveMethod(c.nets, k)
	workplace.ArchiveMetrics(k.In("first"), &c.nets.First)
	workplace.ArchiveMetrics(k.In("last"), &c.nets.Last)
	workplace.ArchiveMetrics(k.In("best"), &c.nets.Best)
	trajectory.ArchiveBest(c.nets, k)
	c.clocks.Archive(k)
	c.analyst.Archive(k.In("spectrum"))
	trajectory.ArchiveMembers(c.nets, k)
	if !k.Restoring() {
		unit, _ := c.nets.Work.Problem.Data.TargetUnit()
		k.Number(unitKey, &unit)
	}
}
