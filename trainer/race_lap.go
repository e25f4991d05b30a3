package trainer

import (
	"errors"
	"slices"

	"newtop/trainer/event"
	"newtop/trainer/objective"
	"newtop/trainer/optim"
	"newtop/trainer/trajectory"
)

// compete holds the race until it is picked from or abandoned. It returns optim.ErrInterrupted when the outer
// iteration of the run that waits for it must be given up, and the errors of safepoint.
func (c *race) compete() error {
	l := c.loop
	stepping, unit, units, own := l.stepping, l.unit, l.units, l.nets.Objective
	l.clocks.Training.Stop()
	l.heldRace, l.stepping, l.unit, l.units = c, false, 0, 0
	before := l.clocks.Training.Elapsed()
	err := c.laps()
	if l.race == c {
		c.abandon()
	}
	l.heldRace, l.stepping, l.unit, l.units = nil, stepping, unit, units
	l.clocks.Training.Stop()
	switch {
	case c.picked != nil:
		own.Close()
		if l.nets.Objective == c.Objective {
			c.load(c.picked)
		}
		l.control.interrupted = true
	case l.endReason == "":
		c.Objective.Close()
		l.control.interrupted = false
		l.nets.Started += l.clocks.Training.Elapsed() - before
	}
	if err == nil && l.control.interrupted {
		err = optim.ErrInterrupted
		l.unit, l.units = 0, 0
	}
	l.out.Publish(nil)
	return err
}

// load makes the race's objective keep what it kept of a racer.
func (c *race) load(p *racer) { p.cache.Load(c.Objective, p.Members[0].Weights, c.blocks(p)) }

// laps goes through laps as long as the race is on. Its error is not that of a lap that was given up.
func (c *race) laps() error {
	l := c.loop
	for l.race == c {
		if err := l.out.FirstError(); err != nil {
			return err
		}
		err := l.control.safepoint()
		if err == nil && l.race == c {
			err = c.lap()
		}
		if errors.Is(err, optim.ErrInterrupted) {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// next returns whose lap is next: of those that continue the first that has spent the least of its budget.
func (c *race) next() *racer {
	var next *racer
	for _, p := range c.racers {
		if p.ended == "" && (next == nil || c.share(p) < c.share(next)) {
			next = p
		}
	}
	return next
}

// share returns how much of its budget a racer has spent; without a budget, its gradient equivalents.
func (c *race) share(p *racer) float64 {
	equivalents, seconds := float64(c.event.Equivalents), float64(c.event.Seconds)
	if equivalents == 0 && seconds == 0 {
		return p.spent.Equivalents
	}
	share := 0.0
	if equivalents > 0 {
		share = p.spent.Equivalents / equivalents
	}
	if seconds > 0 {
		share = max(share, p.seconds/seconds)
	}
	return share
}

func (c *race) bounded() bool { return c.event.Equivalents > 0 || c.event.Seconds > 0 }

// lap does one outer iteration of the racer whose turn it is. One that is picked in the middle of its lap ends it as
// an outer iteration of the run.
func (c *race) lap() error {
	l, p := c.loop, c.next()
	c.load(p)
	c.turn, p.Started = p, l.clocks.Training.Elapsed()
	err := l.step(&p.Trajectory, p.Members[0])
	c.turn = nil
	seconds := (l.clocks.Training.Elapsed() - p.Started).Seconds()
	p.seconds += seconds
	if c.picked == nil || l.nets.Objective == c.Objective { // else another race within the lap has closed it
		p.cache.Save(c.Objective, c.blocks(p))
	}
	if c.picked == nil {
		p.spent.Add(c.Objective.Spent)
		l.nets.Objective.Spent.Add(c.Objective.Spent)
		*c.Objective.Spent = objective.Work{}
	}
	if l.race != c {
		return c.endLapAfterRace(p, err)
	}
	if err := c.endLap(p, err); err != nil {
		return err
	}
	p.Last.Seconds = event.Float(seconds)
	l.out.Publish(event.LapEvent{Racer: slices.Index(c.racers, p), Ended: p.ended, Lap: p.Last})
	l.control.checkTime()
	switch {
	case c.next() == nil:
		c.over = true
		e := c.event
		e.State = "over"
		l.out.Publish(e)
		l.control.pause()
	case l.control.pauseAfter == oneEpoch:
		l.control.pause()
	}
	return nil
}

// endLapAfterRace deals with a lap during which the race came to its end. It counts if its racer was picked.
func (c *race) endLapAfterRace(p *racer, err error) error {
	switch {
	case c.picked != p:
		return c.loop.ctx.Err()
	case err != nil:
		return c.loop.cutShort(p.Members[0], err)
	}
	return c.loop.endEpoch()
}

// endLap settles what came of a lap whose step returned err, and whether it was the racer's last. The error is that of
// a lap that was given up.
func (c *race) endLap(p *racer, err error) error {
	var broken *optim.NotFiniteError
	reason, stalled := p.Stalled()
	switch {
	case errors.As(err, &broken):
		p.ended, p.diverged = "diverged: "+broken.Error(), true
	case err != nil:
		return err
	case stalled:
		p.ended = "stalled: " + reason
	default:
		p.Epoch++
		trajectory.ExtendTrails(p.Members)
		if reason := p.CheckConvergence(); reason != "" {
			p.ended, p.diverged = "diverged: "+reason, true
		} else if c.bounded() && c.share(p) >= 1 {
			p.ended = "budget"
		}
	}
	p.describe()
	if p.Work.Better(&p.Last, &p.Best) {
		p.SetBest(&p.Last)
		p.Best.Epoch = c.loop.nets.Epoch + p.Epoch
	}
	return nil
}
