package trainer

import (
	"cmp"
	"math"
	"runtime"
	"time"

	"newtop/trainer/event"
	"newtop/trainer/optim"
	"newtop/trainer/optim/methods"
	"newtop/trainer/optim/trust"
)

// backlogInterval is how often a run that waits tells how many events wait for the disk.
const backlogInterval = 100 * time.Millisecond

// watch is every method's Monitor: it publishes the inner unit and takes the commands that came
// meanwhile.
func (l *loop) watch(in optim.Inner) error {
	l.unit, l.units = in.Iteration.Number, in.Total
	if math.IsNaN(in.Loss) && l.race == nil {
		l.out.Publish(l.nets.InnerEvent(in.Block, &in.Iteration))
	} else if l.out.StatusPulse.Expired.Load() {
		l.out.Publish(nil)
	}
	if l.pauseAfter == oneUnit {
		l.pause()
	}
	l.receivePrinted()
	l.checkTime()
	return l.safepoint()
}

// checkTime ends a run whose time is over in the middle of its outer iteration.
func (l *loop) checkTime() {
	if l.expired() {
		l.endReason, l.interrupted = event.ReasonTime, true
	}
}

// safepoint answers waiting commands, and waits for more while the run is paused. It returns
// optim.ErrInterrupted when the outer iteration must be given up, and the context's error.
func (l *loop) safepoint() error {
	for {
		var err error
		switch {
		case l.interrupted, l.holding && l.phase != event.Ended:
			return optim.ErrInterrupted
		case l.analyst.SpectrumRequested:
			l.analyst.ComputeSpectrum()
			err = l.ctx.Err()
		case len(l.analyst.Requested) > 0:
			_ = l.analyst.Analyse()
			err = l.ctx.Err()
		case l.race != l.heldRace:
			if l.heldRace != nil {
				return nil
			}
			err = l.race.compete()
		case l.phase == event.Paused, l.phase == event.Ended:
			l.offer(false)
			l.clocks.Training.Stop()
			l.clocks.Active.Stop()
			var written <-chan time.Time
			if r := l.session.reporter; r != nil && r.Recording().Backlog > 0 { // which the last status tells of
				written = time.After(backlogInterval)
			}
			var printed <-chan time.Time
			if l.work.External() != nil {
				l.receivePrinted()
				printed = time.After(printPause)
			}
			select {
			case q := <-l.session.requests:
				l.reply(q)
			case <-printed:
			case <-written:
				l.out.Publish(nil)
			case <-l.ctx.Done():
				return l.ctx.Err()
			}
		default:
			l.clocks.Active.Start()
			if l.stepping {
				l.clocks.Training.Start()
			}
			if l.session.asking.Load() == 0 { // a select takes as long as a row of a small net
				return l.ctx.Err()
			}
			var replied bool
			if replied, err = l.poll(); err == nil && !replied {
				return nil
			}
		}
		if err != nil {
			return err
		}
	}
}

// poll replies to a command that waits, if there is one: whose caller was counted, but has not come to send it, is
// waited for, so that a command takes effect at the first safepoint after it was given. It returns the context's error.
func (l *loop) poll() (replied bool, err error) {
	for {
		select {
		case q := <-l.session.requests:
			l.reply(q)
			return true, nil
		case <-l.ctx.Done():
			return false, l.ctx.Err()
		default:
			if l.session.asking.Load() == 0 {
				return false, nil
			}
			runtime.Gosched()
		}
	}
}

// pollDuring replies to the commands that came while an analysis is computed. A changed setting makes an
// inner solve begin anew, but is no reason to give those up.
func (l *loop) pollDuring() error {
	for {
		if l.analyst.Abandoned {
			l.analyst.Abandoned = false
			return optim.ErrInterrupted
		}
		l.checkTime()
		// what comes next is for the method that takes over
		if l.interrupted && (l.endReason != "" || l.nextMethod != nil || l.rewindTo != nil) {
			return optim.ErrInterrupted
		}
		if replied, err := l.poll(); err != nil || !replied {
			return err
		}
	}
}

func (l *loop) reply(q request) {
	if c, ok := q.command.(event.Save); ok {
		l.saver.save(c.File, l.phase == event.Ended, q.answer)
		return
	}
	err := l.handle(q.command)
	if err == nil {
		l.out.Publish(nil)
	}
	q.answer <- err
}

// handleEarly carries out a command that comes before the run began.
func (l *loop) handleEarly(c event.Command) error {
	switch c := c.(type) {
	case event.Stop:
		l.endReason = event.ReasonStopped
	case event.Pause:
		l.phase = event.Preparing
		l.pauseAfter = freely
		if c.On {
			l.phase = event.Paused
		}
	default:
		return event.Refuse("the data are still being prepared")
	}
	return nil
}

// handle carries a command out, or notes what has to happen once the method has let go of the weights.
func (l *loop) handle(c event.Command) error {
	if err := l.race.allows(c); err != nil {
		return err
	}
	switch c := c.(type) {
	case event.Pause:
		if c.On && l.phase == event.Ended {
			return nil
		}
		return l.resume(freely, c.On)
	case event.StepEpoch:
		return l.resume(oneEpoch, false)
	case event.StepInner:
		return l.resume(oneUnit, false)
	case event.Stop:
		l.endReason = cmp.Or(l.endReason, event.ReasonStopped)
		l.interrupted = true
	case event.Spectrum, event.Slice, event.ShowErrors:
		return l.analyst.Request(c)
	case event.ShowWeights:
		return l.analyst.ShowWeights(c.To, c.From)
	case event.Rewind:
		back, err := l.history.Find(c.Epoch)
		if err != nil {
			return err
		}
		l.reopen()
		l.rewindTo, l.interrupted = back, true
	case event.Race:
		return beginRace(l, c)
	case event.Pick:
		return l.race.pick(c.Racer)
	case wrote:
		l.saver.saved(c)
	case event.Seek, event.Speed:
		return event.Refuse("the run is trained here: expected a recorded one to seek through")
	case event.Switch:
		return l.switchTo(c.Optimizer)
	case event.Set:
		if limit, ok := limitOf(c.Key); ok {
			return l.setLimit(limit, c.Value)
		}
		return l.changeSetting(c.Key, func(s *optim.Settings) error { return s.PutText(c.Key, c.Value) })
	case event.Scale:
		key := l.nets.Info.Primary
		if key == "" {
			return event.Refuse("%s has no rate or radius", l.nets.Info.Name)
		}
		return l.changeSetting(key, func(s *optim.Settings) error { return scale(s, key, c.Factor) })
	}
	return nil
}

// scale multiplies a setting, a radius up to the largest that the method may choose.
func scale(s *optim.Settings, key string, factor float64) error {
	now := s.Get(key)
	next := now * factor
	if key == trust.Radius.Key && factor > 1 && s.Has(trust.RadiusMax.Key) {
		most := trust.RadiusMax.Of(s)
		if now >= most {
			return event.Refuse("radius %s: expected a larger radius-max than %s first", optim.Format(now),
				optim.Format(most))
		}
		next = min(next, most)
	}
	return s.Put(key, next)
}

// switchTo notes which method has to take over.
func (l *loop) switchTo(name string) error {
	info, err := methods.Lookup(name)
	if err != nil {
		return &event.CommandError{Reason: l.session.errorText(err)}
	}
	if err := l.nets.Offers(info); err != nil {
		return event.Refuse("%s: %v", name, err)
	}
	if err := l.work.CheckMethod(info, l.work.DefaultSettings(info)); err != nil {
		return &event.CommandError{Reason: l.session.errorText(err)}
	}
	if err := l.checkSound(); err != nil {
		return err
	}
	l.reopen()
	l.nextMethod, l.interrupted = info, true
	return nil
}

// applyPending goes back to an earlier epoch and hands the weights to another method, if commands have asked for that.
// Work and time go on counting.
func (l *loop) applyPending() {
	t := l.nets
	l.interrupted, l.checkpoints.midEpoch = false, t.Turn > 0
	if l.rewindTo != nil {
		from := t.Epoch
		t.Rewind(l.rewindTo)
		l.rewindTo = nil
		l.analyst.Proposed.Known = false
		l.history.ForgetAfter(t.Epoch)
		l.out.Publish(event.RewindEvent{Epoch: from, To: t.Epoch})
		l.checkpoints.markAltered()
	}
	if l.nextMethod != nil {
		from := t.Info.Name
		t.SwitchTo(l.nextMethod)
		l.nextMethod = nil
		l.out.Publish(event.SwitchEvent{Epoch: t.Epoch, From: from, To: t.Info.Name})
		l.checkpoints.markAltered()
	}
}

// changeSetting changes a hyperparameter, for every member of a committee or for none. A method whose step is one
// whole starts its outer iteration again, so that the change takes effect now; one that goes through batches
// reads it before the next batch, and the size of its batches before the next epoch.
func (l *loop) changeSetting(key string, put func(*optim.Settings) error) error {
	t := l.nets
	for _, m := range t.Members {
		settings := m.Settings.Clone()
		if err := cmp.Or(put(settings), l.work.CheckMethod(t.Info, settings)); err != nil {
			return &event.CommandError{Reason: t.MemberPrefix(m) + l.session.errorText(err)}
		}
	}
	if err := l.checkSound(); err != nil {
		return err
	}
	l.reopen()
	for _, m := range t.Members {
		if err := put(m.Settings); err != nil {
			panic("trainer: " + err.Error())
		}
		m.EpochsAbove, m.Stalled = 0, ""
	}
	settings := t.CurrentSettings()
	var value any = settings.Get(key)
	for _, p := range settings.Parameters() {
		if p.Key == key && p.Choices != nil {
			value = settings.Choice(key)
		}
	}
	if l.stepping && !t.Batched() {
		l.interrupted = true
	}
	l.out.Publish(event.SettingEvent{Epoch: t.Epoch, Key: key, Value: value})
	l.checkpoints.markAltered()
	return nil
}

// resume makes the run pause, or go on for so long.
func (l *loop) resume(single span, pause bool) error {
	if err := l.checkSound(); err != nil {
		return err
	}
	l.reopen()
	l.pauseAfter, l.phase = single, event.Running
	if pause {
		l.phase = event.Paused
	}
	return nil
}

func (l *loop) pause() { l.pauseAfter, l.phase = freely, event.Paused; l.out.Publish(nil) }
