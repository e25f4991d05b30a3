package trainer

import (
	"errors"
	"slices"

	"newtop/trainer/event"
	"newtop/trainer/objective"
	"newtop/trainer/optim"
)

// compete holds the race until it is picked from or abandoned. It returns optim.ErrInterrupted when the outer
// iteration of the run that waits for it must be given up, and the errors of attend.
func (r *run) compete() error {
	c := r.race
	stepping, unit, units, began := r.stepping, r.unit, r.units, r.began
	r.training.stop()
	r.held, r.stepping, r.unit, r.units = c, false, 0, 0
	before, own := r.training.elapsed(), r.objective
	err := r.laps(c)
	if r.race == c {
		r.abandon()
	}
	r.held, r.stepping, r.unit, r.units = nil, stepping, unit, units
	r.training.stop()
	switch {
	case c.picked != nil:
		own.Close()
		p := c.picked
		c.objective.Load(&p.cache, p.member.weights, c.blocks(p.member.settings))
		r.giveUp = true
	case r.end == "":
		c.objective.Close()
		r.giveUp = false
		r.began = began + r.training.elapsed() - before
	}
	if err == nil && r.giveUp {
		err = optim.ErrInterrupted
		r.unit, r.units = 0, 0
	}
	r.publish(nil)
	return err
}

// laps goes through laps as long as the race is on. Its error is not that of a lap that was given up.
func (r *run) laps(c *race) error {
	for r.race == c {
		if err := r.failedRecording(); err != nil {
			return err
		}
		err := r.attend()
		if err == nil && r.race == c {
			err = r.lap(c)
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

// next returns whose lap is next: of those that go on the first that has spent the least of its budget.
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
func (r *run) lap(c *race) error {
	p := c.next()
	m := p.member
	c.objective.Load(&p.cache, m.weights, c.blocks(m.settings))
	start := r.training.elapsed()
	c.turn, r.began = p, start
	err := r.step(m)
	c.turn = nil
	seconds := (r.training.elapsed() - start).Seconds()
	p.seconds += seconds
	c.objective.Save(&p.cache, c.blocks(m.settings))
	if c.picked == nil {
		p.spent.Add(c.objective.Spent)
		r.objective.Spent.Add(c.objective.Spent)
		*c.objective.Spent = objective.Work{}
	}
	if r.race != c {
		return r.turnedOver(c, p, err)
	}
	if err := r.judge(c, p, err); err != nil {
		return err
	}
	p.last.Seconds = event.Float(seconds)
	r.publish(event.LapEvent{Racer: slices.Index(c.racers, p), Ended: p.ended, Lap: p.last})
	if r.expired() {
		r.end, r.giveUp = event.ReasonTime, true
	}
	switch {
	case c.next() == nil:
		c.over = true
		e := c.event
		e.State = "over"
		r.publish(e)
		r.pause()
	case r.single == oneEpoch:
		r.pause()
	}
	return nil
}

// turnedOver deals with a lap during which the race came to its end. It counts if its racer was picked.
func (r *run) turnedOver(c *race, p *racer, err error) error {
	switch {
	case c.picked != p:
		return r.ctx.Err()
	case err != nil:
		return r.cutShort(p.member, err)
	}
	return r.conclude()
}

// judge settles what came of a lap whose step returned err, and whether it was the racer's last. The error is that of
// a lap that was given up.
func (r *run) judge(c *race, p *racer, err error) error {
	var broken *optim.NotFiniteError
	switch {
	case errors.As(err, &broken):
		p.ended, p.lost = "diverged: "+broken.Error(), true
	case err != nil:
		return err
	case p.member.stalled != "":
		p.ended = "stalled: " + p.member.stalled
	default:
		p.laps++
		if why := r.seenAs(p, func() string { return r.lost(p.member) }); why != "" {
			p.ended, p.lost = "diverged: "+why, true
		} else if c.bounded() && c.share(p) >= 1 {
			p.ended = "budget"
		}
	}
	r.describe(p)
	if better(&p.last, &p.best) {
		p.best = p.last
		p.best.Epoch = r.epoch + p.laps
	}
	return nil
}

// seenAs lets f look at a racer as if it were the run.
func (r *run) seenAs(p *racer, f func() string) string {
	members, info, epoch := r.members, r.info, r.epoch
	r.members, r.info, r.epoch = []*member{p.member}, p.info, p.laps
	defer func() { r.members, r.info, r.epoch = members, info, epoch }()
	return f()
}

// describe makes the racer's last figures those of now.
func (r *run) describe(p *racer) {
	r.seenAs(p, func() string {
		p.last = r.measure()
		return ""
	})
	tell(&p.spent, &p.last)
	p.last.Seconds, p.last.Elapsed = 0, event.Float(p.seconds)
}

// tell writes what was spent into an event.
func tell(w *objective.Work, e *event.EpochEvent) {
	e.Gradients, e.Products, e.Losses = event.Float(w.Gradients), event.Float(w.Products), event.Float(w.Losses)
	e.GradientEquivalents = event.Float(w.Equivalents)
}
