package trainer

import (
	"cmp"
	"math"
	"sync/atomic"
	"time"

	"newtop/trainer/event"
	"newtop/trainer/krylov"
	"newtop/trainer/optim"
	"newtop/trainer/optim/methods"
)

// statusInterval is the least time between two status snapshots of a method that goes through batches:
// often enough for an eye, too seldom to cost anything.
const statusInterval = 50 * time.Millisecond

// watch is the method's Monitor: it publishes the inner unit and takes the commands that came
// meanwhile.
func (r *run) watch(in optim.Inner) error {
	r.unit, r.units = in.Iteration.Number, in.Total
	if math.IsNaN(in.Loss) && r.race == nil {
		r.publish(r.innerEvent(in.Block, in.Iteration))
	} else if r.shown.over.Load() {
		r.publish(nil)
	}
	if r.single == oneUnit {
		r.pause()
	}
	if r.expired() {
		r.end, r.giveUp = event.ReasonTime, true
	}
	return r.attend()
}

// pulse tells when some time has passed without looking at a clock, which takes as long as a row of a small net.
// One goroutine restarts and stops it.
type pulse struct {
	over  atomic.Bool
	timer *time.Timer
}

func (p *pulse) restart(after time.Duration) {
	p.over.Store(false)
	if p.timer == nil {
		p.timer = time.AfterFunc(after, func() { p.over.Store(true) })
		return
	}
	p.timer.Reset(after)
}

func (p *pulse) stop() {
	if p.timer != nil {
		p.timer.Stop()
	}
}

func (r *run) innerEvent(block int, it krylov.Iteration) event.InnerEvent {
	return event.InnerEvent{
		Epoch:     r.epoch + 1,
		Block:     block,
		Member:    r.turn,
		Iteration: it.Number,
		Residual:  relative(it.Residual, it.Gradient),
		StepNorm:  event.Float(it.StepNorm),
		Radius:    event.Float(it.Radius),
		Curvature: event.Float(it.Curvature),
		Model:     event.Float(it.Model),
	}
}

// attend answers waiting commands, and waits for more while the run is paused. It returns
// optim.ErrInterrupted when the outer iteration must be given up, and the context's error.
func (r *run) attend() error {
	for {
		if r.giveUp {
			return optim.ErrInterrupted
		}
		if r.spectrum {
			if err := r.computeSpectrum(); err != nil {
				return err
			}
			continue
		}
		if len(r.asked) > 0 {
			if err := r.look(); err != nil {
				return err
			}
			continue
		}
		if r.race != r.held {
			if r.held != nil {
				return nil
			}
			if err := r.compete(); err != nil {
				return err
			}
			continue
		}
		if r.phase == event.Paused {
			r.offer(false)
			r.training.stop()
			r.active.stop()
			select {
			case q := <-r.requests:
				r.answer(q)
			case <-r.ctx.Done():
				return r.ctx.Err()
			}
			continue
		}
		r.active.start()
		if r.stepping {
			r.training.start()
		}
		if r.asking.Load() == 0 { // a select takes as long as a row of a small net
			return r.ctx.Err()
		}
		select {
		case q := <-r.requests:
			r.answer(q)
		case <-r.ctx.Done():
			return r.ctx.Err()
		default:
			return nil
		}
	}
}

func (r *run) answer(q request) {
	if c, ok := q.command.(event.Save); ok {
		r.save(c.File, q.answer)
		return
	}
	err := r.obey(q.command)
	if err == nil {
		r.publish(nil)
	}
	q.answer <- err
}

// obey carries a command out, or notes what has to happen once the method has let go of the weights.
func (r *run) obey(c event.Command) error {
	if err := r.race.allows(c); err != nil {
		return err
	}
	switch c := c.(type) {
	case event.Pause:
		r.single = freely
		r.phase = event.Running
		if c.On {
			r.phase = event.Paused
		}
	case event.StepEpoch:
		r.single, r.phase = oneEpoch, event.Running
	case event.StepInner:
		r.single, r.phase = oneUnit, event.Running
	case event.Stop:
		if r.end == "" {
			r.end = event.ReasonStopped
		}
		r.giveUp = true
	case event.Spectrum:
		if r.computing == "spectrum" {
			return event.Refuse("a spectrum is being computed already")
		}
		r.spectrum = true
	case event.Slice, event.ShowErrors:
		return r.ask(c)
	case event.ShowWeights:
		return r.showWeights(c.To, c.From)
	case event.Rewind:
		return r.rewindTo(c.Epoch)
	case event.Race:
		return r.beginRace(c)
	case event.Pick:
		return r.pick(c.Racer)
	case wrote:
		r.saved(c)
	case event.Seek, event.Speed:
		return event.Refuse("the run is trained here: expected a recorded one to seek through")
	case event.Switch:
		return r.switchTo(c.Optimizer)
	case event.Set:
		return r.set(c.Key, func(s *optim.Settings) error { return s.PutText(c.Key, c.Value) })
	case event.Scale:
		if r.info.Primary == "" {
			return event.Refuse("%s has no rate or radius", r.info.Name)
		}
		key := r.info.Primary
		return r.set(key, func(s *optim.Settings) error { return s.Put(key, s.Get(key)*c.Factor) })
	}
	return nil
}

func (r *run) switchTo(name string) error {
	info, err := methods.Lookup(name)
	if err != nil {
		return &event.CommandError{Reason: r.text(err)}
	}
	if err := r.offers(info); err != nil {
		return event.Refuse("%s: %v", name, err)
	}
	if err := r.suits(info, r.defaults(info)); err != nil {
		return &event.CommandError{Reason: r.text(err)}
	}
	r.next, r.giveUp = info, true
	return nil
}

// takeOver hands the weights to the optimizer that was asked for, as the last one left them.
func (r *run) takeOver() {
	r.giveUp, r.within = false, r.turn > 0
	r.goBack()
	if r.next == nil {
		return
	}
	from := r.info.Name
	r.info, r.next = r.next, nil
	r.settings = r.defaults(r.info)
	for _, m := range r.members {
		m.settings = r.settings.Clone()
		m.state.Settings = m.settings
		m.begin(r.info)
	}
	r.publish(event.SwitchEvent{Epoch: r.epoch, From: from, To: r.info.Name})
	r.alter()
}

// defaults returns the settings that a method begins with when it takes over.
func (r *run) defaults(info *optim.Info) *optim.Settings {
	settings := optim.NewSettings(info.Parameters)
	// A number of rows or blocks that this method refuses is left at the method's own default.
	_ = r.config.putSizes(info, settings)
	r.config.fit(settings, r.problem.Data)
	return settings
}

// set changes a hyperparameter, for every member of a committee or for none. A method whose step is one
// whole starts its outer iteration again, so that the change takes effect now; one that goes through batches
// reads it before the next batch, and the size of its batches before the next epoch.
func (r *run) set(key string, put func(*optim.Settings) error) error {
	for _, m := range r.members {
		settings := m.settings.Clone()
		if err := cmp.Or(put(settings), r.suits(r.info, settings)); err != nil {
			return &event.CommandError{Reason: r.of(m) + r.text(err)}
		}
	}
	for _, m := range r.members {
		if err := put(m.settings); err != nil {
			panic("trainer: " + err.Error())
		}
		m.above, m.stalled = 0, ""
	}
	settings := r.chosen()
	i := 0
	parameters := settings.Parameters()
	for parameters[i].Key != key {
		i++
	}
	var value any = settings.Get(key)
	if parameters[i].Choices != nil {
		value = settings.Choice(key)
	}
	if r.stepping && !r.batched() {
		r.giveUp = true
	}
	r.publish(event.SettingEvent{Epoch: r.epoch, Key: key, Value: value})
	r.alter()
	return nil
}

func (r *run) pause() { r.single, r.phase = freely, event.Paused; r.publish(nil) }
