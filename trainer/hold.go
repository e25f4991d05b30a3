package trainer

import (
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

// hold concludes a run that stays, and waits for a command by which it continues. It returns false when there will be
// none, with how the run ended.
func (l *loop) hold(err error) (on bool, _ error) {
	_, apart := errors.AsType[*trajectory.DivergedError](err)
	if !l.session.waitsAtEnd || err != nil && !apart || l.ctx.Err() != nil {
		return false, err
	}
	l.clocks.Active.Stop()
	l.control.holding, l.control.interrupted = true, false
	defer func() { l.control.holding = false }()
	err = l.conclude(err)
	if !apart {
		l.analyst.RequestFinal()
	}
	for l.control.phase == event.Ended {
		e := l.guardModel(l.control.safepoint)
		switch {
		case l.control.phase != event.Ended:
		case l.ctx.Err() != nil, errors.Is(e, optim.ErrInterrupted): // by a Stop
			return false, err
		case e != nil:
			return false, e
		}
	}
	return true, nil
}

// checkSound refuses what would continue with weights that are lost.
func (l *loop) checkSound() error {
	if l.control.phase == event.Ended && l.endReason == event.ReasonDiverged {
		return event.Refuse("the run diverged: expected an earlier epoch to go back to first")
	}
	return nil
}

// reopen makes a run that has ended one that is paused, as a checkpoint of its end would. Where its time was over it
// gets as much again.
func (l *loop) reopen() {
	if l.control.phase != event.Ended {
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
	l.endReason, l.endText, l.concluded, l.control.phase = "", "", false, event.Paused
	l.out.Publish(event.ResumeEvent{Epoch: l.nets.Epoch, Time: time.Now().UTC().Truncate(time.Millisecond)})
	l.limits.extendTime(spent)
	l.checkpoints.markAltered()
}
