package trainer

import (
	"cmp"
	"errors"
	"time"

	"newtop/trainer/event"
	"newtop/trainer/optim"
)

// conclude publishes the run's end, once its files are written. It returns how the run, which ended by err, ended.
func (l *loop) conclude(err error) error {
	l.saver.await()
	if l.opened {
		err = l.saver.finish(err)
	}
	l.finish(err)
	l.told = true
	return err
}

// hold concludes a run that stays, and waits for a command by which it goes on. It returns false when there will be
// none, with how the run ended.
func (l *loop) hold(err error) (on bool, _ error) {
	_, apart := errors.AsType[*DivergedError](err)
	if !l.session.stays || err != nil && !apart || l.ctx.Err() != nil {
		return false, err
	}
	l.clocks.active.stop()
	l.holding, l.giveUp = true, false
	defer func() { l.holding = false }()
	err = l.conclude(err)
	if !apart {
		l.analyst.part()
	}
	for l.phase == event.Ended {
		e := l.unbroken(l.safepoint)
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

// sound refuses what would go on with weights that are lost.
func (l *loop) sound() error {
	if l.phase == event.Ended && l.end == event.ReasonDiverged {
		return event.Refuse("the run diverged: expected an earlier epoch to go back to first")
	}
	return nil
}

// revive makes a run that has ended one that is paused, as a checkpoint of its end would. Where its time was over it
// gets as much again.
func (l *loop) revive() {
	if l.phase != event.Ended {
		return
	}
	spent := l.clocks.active.elapsed()
	if l.checkpoints.within && l.checkpoints.held != nil {
		if err := l.checkpoints.restore(l.checkpoints.held.checkpoint); err != nil {
			panic("trainer: " + err.Error())
		}
	}
	// what went by counts, or the limit would cut the same iteration again
	l.clocks.active.total = max(l.clocks.active.total, spent)
	l.analyst.resume()
	for _, m := range l.nets.members {
		m.stalled, m.above = "", 0
	}
	l.nets.turn, l.checkpoints.within = 0, false
	l.end, l.why, l.told, l.phase = "", "", false, event.Paused
	l.out.publish(event.ResumeEvent{Epoch: l.nets.epoch, Time: time.Now().UTC().Truncate(time.Millisecond)})
	if c := l.place.config; c.TimeLimit > 0 && spent >= c.TimeLimit {
		c.TimeLimit = spent + cmp.Or(l.asked.TimeLimit, c.TimeLimit)
		l.tellLimit("time-limit")
	}
	l.checkpoints.alter()
}

// extend gives a run that goes on beyond its epochs, or its patience, as many again, and one that has reached a target
// none.
func (l *loop) extend() {
	c := l.place.config
	if c.Epochs > 0 && l.nets.epoch >= c.Epochs {
		c.Epochs = l.nets.epoch + cmp.Or(l.asked.Epochs, c.Epochs)
		l.tellLimit("epochs")
	}
	if l.impatient() {
		c.Patience = l.nets.epoch - l.nets.best.Epoch + cmp.Or(max(l.asked.Patience, 0), c.Patience)
		l.tellLimit("patience")
	}
	if l.nets.last.Epoch == 0 || c.reached(&l.nets.last, l.place.measure) == "" {
		return
	}
	if c.TargetLoss > 0 && float64(l.nets.last.Loss) <= c.TargetLoss {
		c.TargetLoss = 0
		l.tellLimit("target-loss")
	}
	if c.TargetError > 0 && l.place.measure.Value(&l.nets.last) <= c.TargetError {
		c.TargetError = 0
		l.tellLimit("target-error")
	}
	if c.reached(&l.nets.last, l.place.measure) != "" {
		c.Until = ""
		l.tellLimit("until")
	}
}
