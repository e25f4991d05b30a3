package trainer

import (
	"cmp"
	"errors"
	"time"

	"newtop/trainer/event"
	"newtop/trainer/optim"
	"newtop/trainer/trajectory"
)

// conclude publishes the run's end, once its files are written. It returns how the run, which ended by err, ended.
func (l *loop) conclude(err error) error {
	l.saver.await()
	if l.announced {
		err = l.saver.finish(err)
	}
	l.finish(err)
	l.concluded = true
	return err
}

// hold concludes a run that stays, and waits for a command by which it goes on. It returns false when there will be
// none, with how the run ended.
func (l *loop) hold(err error) (on bool, _ error) {
	_, apart := errors.AsType[*trajectory.DivergedError](err)
	if !l.session.waitsAtEnd || err != nil && !apart || l.ctx.Err() != nil {
		return false, err
	}
	l.clocks.Active.Stop()
	l.holding, l.interrupted = true, false
	defer func() { l.holding = false }()
	err = l.conclude(err)
	if !apart {
		l.analyst.RequestFinal()
	}
	for l.phase == event.Ended {
		e := l.guardModel(l.safepoint)
		switch {
		case l.phase != event.Ended:
		case l.ctx.Err() != nil, errors.Is(e, optim.ErrInterrupted): // by a Stop
			return false, err
		case e != nil:
			return false, e
		}
	}
	return true, nil
}

// checkSound refuses what would go on with weights that are lost.
func (l *loop) checkSound() error {
	if l.phase == event.Ended && l.endReason == event.ReasonDiverged {
		return event.Refuse("the run diverged: expected an earlier epoch to go back to first")
	}
	return nil
}

// reopen makes a run that has ended one that is paused, as a checkpoint of its end would. Where its time was over it
// gets as much again.
func (l *loop) reopen() {
	if l.phase != event.Ended {
		return
	}
	spent := l.clocks.Active.Elapsed()
	if l.checkpoints.midEpoch && l.checkpoints.held != nil {
		if err := l.checkpoints.restore(l.checkpoints.held.checkpoint); err != nil {
			panic("trainer: " + err.Error())
		}
	}
	// what went by counts, or the limit would cut the same iteration again
	l.clocks.Active.Total = max(l.clocks.Active.Total, spent)
	l.analyst.DropFinal()
	for _, m := range l.nets.Members {
		m.Stalled, m.EpochsAbove = "", 0
	}
	l.nets.Turn, l.checkpoints.midEpoch = 0, false
	l.endReason, l.endText, l.concluded, l.phase = "", "", false, event.Paused
	l.out.Publish(event.ResumeEvent{Epoch: l.nets.Epoch, Time: time.Now().UTC().Truncate(time.Millisecond)})
	if c := l.work.Config; c.TimeLimit > 0 && spent >= c.TimeLimit {
		c.TimeLimit = spent + cmp.Or(l.requested.TimeLimit, c.TimeLimit)
		l.publishLimit("time-limit")
	}
	l.checkpoints.markAltered()
}

// extendLimits gives a run that goes on beyond its epochs, or its patience, as many again, and one that has reached a
// target none.
func (l *loop) extendLimits() {
	c := l.work.Config
	if c.Epochs > 0 && l.nets.Epoch >= c.Epochs {
		c.Epochs = l.nets.Epoch + cmp.Or(l.requested.Epochs, c.Epochs)
		l.publishLimit("epochs")
	}
	if l.outOfPatience() {
		c.Patience = l.nets.Epoch - l.nets.Best.Epoch + cmp.Or(max(l.requested.Patience, 0), c.Patience)
		l.publishLimit("patience")
	}
	if l.nets.Last.Epoch == 0 || c.ReachedTarget(&l.nets.Last, l.work.Measure) == "" {
		return
	}
	if c.TargetLoss > 0 && float64(l.nets.Last.Loss) <= c.TargetLoss {
		c.TargetLoss = 0
		l.publishLimit("target-loss")
	}
	if c.TargetError > 0 && l.work.Measure.Value(&l.nets.Last) <= c.TargetError {
		c.TargetError = 0
		l.publishLimit("target-error")
	}
	if c.ReachedTarget(&l.nets.Last, l.work.Measure) != "" {
		c.Until = ""
		l.publishLimit("until")
	}
}

// outOfPatience reports whether the run has had no better epoch for as long as its patience.
func (l *loop) outOfPatience() bool {
	c := l.work.Config
	return c.Patience > 0 && l.work.HasValidation() && l.nets.Epoch-l.nets.Best.Epoch >= c.Patience
}
