package trainer

import (
	"cmp"
	"context"
	"time"

	"newtop/trainer/event"
	"newtop/trainer/objective"
)

// Resume returns a session that goes on from a checkpoint to the bits of a run that was never stopped. The
// configuration is the one that the run began with, but for what may differ: Epochs, TimeLimit, TargetLoss,
// TargetError, Threads, Memory, Save and the spectra's. Viewers see history, the run's events up to the checkpoint,
// which are not recorded again; its RunEvent keeps its ID. A nil checkpoint begins the run from its start.
//
// Whether checkpoint and configuration fit together is seen when the data are there: Run returns a *PrepareError that
// wraps a *CheckpointError if they do not, and the recorders see nothing. A run that had reached its limit, and has no
// other one now, ends at once.
func Resume(c Config, from *Checkpoint, history []event.Event, recorders ...Recorder) (*Session, error) {
	s, err := New(c, recorders...)
	if err != nil {
		return nil, err
	}
	s.resumed, s.from = true, from
	past := make([]event.Event, 0, len(history))
	for _, e := range history {
		switch e := e.(type) {
		case event.RunEvent:
			s.id, s.begun = e.ID, e.Time
		case event.DoneEvent: // this session will have another one
			continue
		}
		past = append(past, e)
	}
	status := event.Status{Optimizer: s.info.Name, EpochLimit: c.Epochs}
	if from != nil {
		status.Epoch = from.Epoch
	}
	s.hub.PublishAll(past, status)
	return s, nil
}

// takeUp makes the run what its checkpoint says, if it has one, once that is known to be of the same data and network.
func (r *run) takeUp() error {
	if r.from == nil && !r.keeps() {
		return nil
	}
	var digests func(test bool) []byte
	if r.team != nil {
		digests = r.team.Digests
	}
	r.print = objective.TakeFingerprint(r.problem, digests)
	if r.from == nil {
		return nil
	}
	select {
	case <-r.print.Done():
	case <-r.ctx.Done():
		return r.ctx.Err()
	}
	err := agree(r.ctx, r.problem, r.from.Fingerprint, r.print)
	if err == nil {
		err = r.restore(r.from)
	}
	if err == nil {
		err = r.suits(r.info, r.chosen())
	}
	if err != nil {
		return cmp.Or(r.ctx.Err(), error(&PrepareError{Err: err}))
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

// comeBack shows the run as it goes on.
func (r *run) comeBack() {
	r.keep()
	r.publish(event.ResumeEvent{Epoch: r.epoch, Time: time.Now().UTC().Truncate(time.Millisecond)})
	if r.epoch > 0 { // the starting weights are held against no limit
		r.limit(&r.last)
	}
}

// keeping is what a run knows of the checkpoints that are kept of it.
type keeping struct {
	print *objective.Fingerprint // nil if none are
	// news says that no recorder was asked yet about the run as it is, altered that it is so by hand.
	news, altered bool
	// within says that the run stands in an outer iteration, which may have been cut short.
	within bool
}

// keeps reports whether any recorder keeps checkpoints.
func (r *run) keeps() bool {
	for _, rec := range r.recordings {
		if rec.keeper != nil {
			return true
		}
	}
	return false
}

// moved says that the run is another one than before.
func (r *run) moved() {
	r.news = true
	for _, rec := range r.recordings {
		rec.kept = false
	}
}

// alter says that it was made so by hand.
func (r *run) alter() {
	r.moved()
	r.altered = true
}

// offer hands a checkpoint to the recorders that want one, if the run is between two outer iterations and is not as
// they were offered it before.
func (r *run) offer(end bool) {
	if r.stepping || r.within || r.race != nil || r.held != nil || !(r.news || end) {
		return
	}
	var c *Checkpoint
	for _, rec := range r.recordings {
		if rec.keeper == nil || rec.kept || !rec.keeper.Due(end) && !r.altered {
			continue
		}
		if c == nil {
			c = r.capture()
		}
		rec.put(r.ctx, entry{checkpoint: c, print: r.print})
		rec.kept = true
	}
	r.news, r.altered = false, false
}

// forget ends the computation of a fingerprint that nobody waits for.
func (r *run) forget() {
	if r.print != nil {
		r.print.Stop()
		r.print.Wait()
	}
}
