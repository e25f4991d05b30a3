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
	"newtop/trainer/trajectory"
)

// backlogInterval is how often a run that waits reports how many events wait for the disk.
const backlogInterval = 100 * time.Millisecond

// controller carries out the commands of viewers, at once or once the method has let go of the weights.
type controller struct {
	loop        *loop
	phase       event.Phase
	pauseAfter  span                 // pause again after this
	interrupted bool                 // the outer iteration in progress must be given up
	nextMethod  *optim.Info          // the method that must take over; nil: none
	rewindTo    *trajectory.Snapshot // what the run must go back to; nil: nothing
	holding     bool                 // at the end of the run, for commands
}

// span says after what a run pauses again.
type span uint8

const (
	freely span = iota
	oneEpoch
	oneUnit
)

// watch is every method's Monitor: it publishes the inner unit and takes the commands that came
// meanwhile.
func (c *controller) watch(in optim.Inner) error {
	l := c.loop
	l.unit, l.units = in.Iteration.Number, in.Total
	if math.IsNaN(in.Loss) && l.race == nil {
		l.out.Publish(l.nets.InnerEvent(in.Block, &in.Iteration))
	} else if l.out.StatusPulse.Expired.Load() {
		l.out.Publish(nil)
	}
	if c.pauseAfter == oneUnit {
		c.pause()
	}
	l.model.receivePrinted()
	c.checkTime()
	return c.safepoint()
}

// checkTime ends a run whose time is over in the middle of its outer iteration.
func (c *controller) checkTime() {
	if c.loop.expired() {
		c.loop.endReason, c.interrupted = event.ReasonTime, true
	}
}

// safepoint answers waiting commands, and waits for more while the run is paused. It returns
// optim.ErrInterrupted when the outer iteration must be given up, and the context's error.
func (c *controller) safepoint() error {
	l := c.loop
	for {
		var err error
		switch {
		case c.interrupted, c.holding && c.phase != event.Ended:
			return optim.ErrInterrupted
		case l.analyst.SpectrumRequested:
			l.settle()
			l.analyst.ComputeSpectrum()
			err = l.ctx.Err()
		case len(l.analyst.Requested) > 0:
			l.settle()
			_ = l.analyst.Analyse()
			err = l.ctx.Err()
		case l.race != l.heldRace:
			if l.heldRace != nil {
				return nil
			}
			l.settle()
			err = l.race.compete()
		case c.phase == event.Paused, c.phase == event.Ended:
			l.settle()
			l.offer(false)
			l.clocks.Training.Stop()
			l.clocks.Active.Stop()
			var written <-chan time.Time
			if r := l.session.reporter; r != nil && r.Recording().Backlog > 0 { // which the last status reports
				written = time.After(backlogInterval)
			}
			var printed <-chan time.Time
			if l.work.External() != nil {
				l.model.receivePrinted()
				printed = time.After(printPause)
			}
			select {
			case q := <-l.session.requests:
				c.reply(q)
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
			if l.session.waiting.Load() == 0 { // a select takes as long as a row of a small net
				return l.ctx.Err()
			}
			var replied bool
			if replied, err = c.poll(); err == nil && !replied {
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
func (c *controller) poll() (replied bool, err error) {
	l := c.loop
	for {
		select {
		case q := <-l.session.requests:
			c.reply(q)
			return true, nil
		case <-l.ctx.Done():
			return false, l.ctx.Err()
		default:
			if l.session.waiting.Load() == 0 {
				return false, nil
			}
			runtime.Gosched()
		}
	}
}

// pollDuring replies to the commands that came while an analysis is computed. A changed setting makes an
// inner solve begin again, but is no reason to give those up.
func (c *controller) pollDuring() error {
	l := c.loop
	for {
		if l.analyst.Abandoned {
			l.analyst.Abandoned = false
			return optim.ErrInterrupted
		}
		c.checkTime()
		// what comes next is for the method that takes over
		if c.interrupted && (l.endReason != "" || c.nextMethod != nil || c.rewindTo != nil) {
			return optim.ErrInterrupted
		}
		if replied, err := c.poll(); err != nil || !replied {
			return err
		}
	}
}

func (c *controller) reply(q request) {
	l := c.loop
	l.settle()
	if save, ok := q.command.(event.Save); ok {
		l.saver.save(save.File, c.phase == event.Ended, q.answer)
		return
	}
	err := c.handle(q.command)
	if err == nil {
		l.out.Publish(nil)
	}
	q.answer <- err
}

// handleEarly carries out a command that comes before the run began.
func (c *controller) handleEarly(command event.Command) error {
	switch command := command.(type) {
	case event.Stop:
		c.loop.endReason = event.ReasonStopped
	case event.Pause:
		c.phase = event.Preparing
		c.pauseAfter = freely
		if command.On {
			c.phase = event.Paused
		}
	default:
		return event.Refuse("the data are still being prepared")
	}
	return nil
}

// handle carries a command out, or notes what has to happen once the method has let go of the weights.
func (c *controller) handle(command event.Command) error {
	l := c.loop
	if err := l.race.allows(command); err != nil {
		return err
	}
	switch command := command.(type) {
	case event.Pause:
		if command.On && c.phase == event.Ended {
			return nil
		}
		if command.On && c.phase == event.Running && l.analyst.Computing == "spectrum" {
			l.analyst.Abandoned = true // who pauses has the machine at rest
		}
		return c.resume(freely, command.On)
	case event.StepEpoch:
		return c.resume(oneEpoch, false)
	case event.StepInner:
		return c.resume(oneUnit, false)
	case event.Stop:
		l.endReason = cmp.Or(l.endReason, event.ReasonStopped)
		c.interrupted = true
	case event.Spectrum, event.Slice, event.ShowErrors:
		return l.analyst.Request(command)
	case event.ShowWeights:
		return l.analyst.ShowWeights(command.To, command.From)
	case event.Rewind:
		back, err := l.history.Find(command.Epoch)
		if err != nil {
			return err
		}
		l.reopen()
		c.rewindTo, c.interrupted = back, true
	case event.Race:
		return startRace(l, command)
	case event.Pick:
		return l.race.pick(command.Racer)
	case written:
		l.saver.saved(command)
	case event.Seek, event.Speed:
		return event.Refuse("the run is trained here: expected a recorded one to seek through")
	case event.Switch:
		return c.switchTo(command.Optimizer)
	case event.Set:
		if limit, ok := limitOf(command.Key); ok {
			return l.limits.change(limit, command.Value)
		}
		return c.changeSetting(command.Key, func(s *optim.Settings) error {
			return s.SetText(command.Key, command.Value)
		})
	case event.Scale:
		key := l.nets.Info.Primary
		if key == "" {
			return event.Refuse("%s has no rate or radius", l.nets.Info.Name)
		}
		return c.changeSetting(key, func(s *optim.Settings) error { return scale(s, key, command.Factor) })
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
	return s.Set(key, next)
}

// switchTo notes which method has to take over.
func (c *controller) switchTo(name string) error {
	l := c.loop
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
	c.nextMethod, c.interrupted = info, true
	return nil
}

// applyPending goes back to an earlier epoch and hands the weights to another method, if commands have asked for that.
// Work and time continue counting.
func (c *controller) applyPending() {
	l, t := c.loop, c.loop.nets
	c.interrupted, l.checkpoints.midEpoch = false, t.Turn > 0
	if c.rewindTo != nil {
		from := t.Epoch
		t.Rewind(c.rewindTo)
		c.rewindTo = nil
		l.analyst.Forget()
		l.history.ForgetAfter(t.Epoch)
		l.out.Publish(event.RewindEvent{Epoch: from, To: t.Epoch})
		l.checkpoints.markAltered()
	}
	if c.nextMethod != nil {
		from := t.Info.Name
		t.SwitchTo(c.nextMethod)
		c.nextMethod = nil
		l.out.Publish(event.SwitchEvent{Epoch: t.Epoch, From: from, To: t.Info.Name})
		l.checkpoints.markAltered()
	}
}

// changeSetting changes a hyperparameter, for every member of a committee or for none. A method whose step is one
// whole starts its outer iteration again, so that the change takes effect now; one that goes through batches
// reads it before the next batch, and the size of its batches before the next epoch.
func (c *controller) changeSetting(key string, put func(*optim.Settings) error) error {
	l, t := c.loop, c.loop.nets
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
		c.interrupted = true
	}
	l.out.Publish(event.SettingEvent{Epoch: t.Epoch, Key: key, Value: value})
	l.checkpoints.markAltered()
	return nil
}

// resume makes the run pause, or continue for so long.
func (c *controller) resume(single span, pause bool) error {
	l := c.loop
	if err := l.checkSound(); err != nil {
		return err
	}
	l.reopen()
	c.pauseAfter, c.phase = single, event.Running
	if pause {
		c.phase = event.Paused
	}
	return nil
}

func (c *controller) pause() { c.pauseAfter, c.phase = freely, event.Paused; c.loop.out.Publish(nil) }
