package trainer

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"newtop/trainer/event"
	"newtop/trainer/objective"
	"newtop/trainer/optim/methods"
	"newtop/trainer/optim/trust"
)

// How many can take part in a race.
const (
	fewestRacers = 2
	mostRacers   = 8
)

// race is several methods that go on from the same weights in turn: always the one that has spent the least of its
// budget does an outer iteration. It is held between two inner units of the run, whose own outer iteration waits
// meanwhile and goes on when the race is abandoned: racers have nets of their own, and rows bound apart, whose account
// holds what the lap under way has spent.
type race struct {
	loop   *loop
	event  event.RaceEvent // that began it
	racers []*racer
	binding
	turn   *racer // whose lap is under way; nil between laps
	picked *racer
	over   bool        // all have ended
	before event.Phase // of the run when it was asked for
}

// racer is one of them. Its epochs, and what it has spent, are counted since the race began.
type racer struct {
	trajectory
	cache   objective.Cache // what the race's objective keeps of it between its laps
	spent   objective.Work
	seconds float64
	ended   string // why it goes on no more; empty while it does
	lost    bool   // it diverged
}

// allows refuses what a race that is on leaves no room for.
func (c *race) allows(command event.Command) error {
	if c == nil {
		return nil
	}
	switch p := command.(type) {
	case event.Switch, event.Set, event.Scale, event.Rewind, event.Race:
		return event.Refuse("a race is on: expected one of its racers to be picked, or none, before")
	case event.StepEpoch, event.StepInner:
		if c.over {
			return event.Refuse("the race is over: expected one of its racers to be picked, or none")
		}
	case event.Pause:
		if c.over && !p.On {
			return event.Refuse("the race is over: expected one of its racers to be picked, or none")
		}
	}
	return nil
}

// beginRace looks at all racers before anything changes, and starts them.
func beginRace(l *loop, c event.Race) error {
	switch n := len(c.Racers); {
	case len(l.nets.members) > 1:
		return event.Refuse("a committee can't race")
	case n < fewestRacers || n > mostRacers:
		return event.Refuse("a race of %d: expected %d to %d racers", n, fewestRacers, mostRacers)
	case !amount(c.Equivalents):
		return event.Refuse("a budget of %v gradient equivalents: expected a number ≥ 0", c.Equivalents)
	case !amount(c.Seconds):
		return event.Refuse("a budget of %v seconds: expected a number ≥ 0", c.Seconds)
	}
	next := &race{loop: l, event: event.RaceEvent{
		Epoch: l.nets.epoch, State: "begun", Equivalents: event.Float(c.Equivalents), Seconds: event.Float(c.Seconds),
		Picked: -1,
	}}
	for _, entry := range c.Racers {
		p, err := next.newRacer(&entry)
		if err != nil {
			return err
		}
		next.event.Racers = append(next.event.Racers, entry)
		next.racers = append(next.racers, p)
	}
	if err := l.sound(); err != nil {
		return err
	}
	l.revive()
	next.before = l.phase
	next.startRacers()
	l.race, l.single, l.phase = next, freely, event.Running
	l.out.publish(next.event)
	for i, p := range next.racers {
		l.out.publish(event.LapEvent{Racer: i, Lap: p.last})
	}
	return nil
}

// amount reports whether v can be so much of something.
func amount(v float64) bool { return v >= 0 && !math.IsInf(v, 0) }

// newRacer settles the method and the settings of one racer. The current method begins with the settings that it has,
// another with those that it would take over with.
func (c *race) newRacer(entry *event.Racer) (*racer, error) {
	place, nets := c.loop.place, c.loop.nets
	entry.Name = cmp.Or(entry.Name, entry.Optimizer)
	entry.Set = slices.Clone(entry.Set)
	if slices.ContainsFunc(c.event.Racers, func(other event.Racer) bool { return other.Name == entry.Name }) {
		return nil, event.Refuse("two racers are called %s: expected different names", entry.Name)
	}
	info, err := methods.Lookup(entry.Optimizer)
	if err != nil {
		return nil, event.Refuse("racer %s: %v", entry.Name, err)
	}
	if err := nets.offers(info); err != nil {
		return nil, event.Refuse("racer %s: %s: %v", entry.Name, info.Name, err)
	}
	settings := nets.chosen().Clone()
	if info != nets.info {
		settings = place.defaults(info)
	}
	for _, kv := range entry.Set {
		key, value, ok := strings.Cut(kv, "=")
		if !ok {
			return nil, event.Refuse("racer %s: %s: expected KEY=VALUE", entry.Name, kv)
		}
		if err := settings.PutText(strings.TrimSpace(key), strings.TrimSpace(value)); err != nil {
			return nil, event.Refuse("racer %s: %v", entry.Name, err)
		}
	}
	if err := place.suits(info, settings); err != nil {
		return nil, event.Refuse("racer %s: %s", entry.Name, c.loop.session.text(err))
	}
	return &racer{trajectory: trajectory{place: place, info: info, settings: settings, before: nets.epoch}}, nil
}

// startRacers gives every racer the current weights, the random numbers to come and what the run knows of the weights.
// A method whose step is one whole has not moved the weights before it is over.
func (c *race) startRacers() {
	l, nets := c.loop, c.loop.nets
	c.binding = l.place.bind()
	from := nets.members[0]
	w := from.settled(nets.batched())
	for _, p := range c.racers {
		p.binding = c.binding
		m := p.add(from.seed, p.settings, c.binding)
		m.rate, m.bearable, m.trail = from.rate, from.bearable, from.trail
		*m.source = *from.source
		copy(m.weights, w)
		copy(m.previous, w)
		m.report = still
		m.report.Accepted = true
		if !l.stepping {
			copy(m.state.Gradient, from.state.Gradient)
			m.state.Loss, m.state.Evaluated = from.state.Loss, from.state.Evaluated
			nets.objective.Save(&p.cache, c.blocks(p))
		}
	}
	if l.stepping {
		for _, p := range c.racers {
			c.objective.Save(&p.cache, 1)
		}
	}
	first := c.racers[0].members[0]
	c.racers[0].evaluate(first)
	for _, p := range c.racers {
		p.members[0].metrics = first.metrics
		p.members[0].begin(p.info, p.minimized(first))
		p.describe()
		p.keep(&p.last)
		p.best.Epoch = nets.epoch
	}
}

// describe makes the racer's last metrics those of its current weights.
func (p *racer) describe() { p.last = p.measure(&p.spent, p.seconds) }

// blocks returns how many parts of the rows a racer's method goes through.
func (c *race) blocks(p *racer) int {
	s := p.members[0].settings
	if !trust.Blocks.In(s) {
		return 1
	}
	return min(trust.Blocks.Of(s), c.objective.Rows())
}

// pick ends the race. The run goes on as if the racer had been it since the race began, or as it was before.
func (c *race) pick(i int) error {
	switch {
	case c == nil:
		return event.Refuse("there is no race to pick from")
	case i == -1:
		c.abandon()
		return nil
	case i < -1 || i >= len(c.racers):
		return event.Refuse("racer %d: expected 0 to %d, or -1 for none", i, len(c.racers)-1)
	case c.racers[i].lost:
		return event.Refuse("%s has %s; expected another racer, or none", c.event.Racers[i].Name, c.racers[i].ended)
	}
	c.picked = c.racers[i]
	c.leave("picked", i)
	if c.turn == c.picked {
		c.loop.held = nil // its lap is an outer iteration of the run now
	}
	c.promote(c.picked)
	return nil
}

// abandon ends the race without a winner.
func (c *race) abandon() { c.leave("abandoned", -1) }

// leave ends the race. The lap under way is given up, but for that of a racer who was picked.
func (c *race) leave(state string, picked int) {
	l := c.loop
	l.race = nil
	if c.over || c.before == event.Paused {
		l.phase, l.single = c.before, freely
	}
	if c.turn != nil && c.turn != c.picked {
		l.giveUp = true
	}
	e := c.event
	e.State, e.Picked = state, picked
	l.out.publish(e)
	l.checkpoints.alter()
}

// promote makes a racer the run. The metrics of a lap under way are still to come.
func (c *race) promote(p *racer) {
	l, nets := c.loop, c.loop.nets
	from := nets.info.Name
	c.objective.Spent.Add(nets.objective.Spent)
	l.checkpoints.release()
	nets.binding, nets.members, nets.info, nets.began, nets.since = c.binding, p.members, p.info, p.began, nets.epoch
	if p.info.Name != from {
		l.out.publish(event.SwitchEvent{Epoch: nets.epoch, From: from, To: p.info.Name})
	}
	if p.epoch == 0 {
		nets.refresh()
		return
	}
	nets.epoch += p.epoch
	e := p.last
	e.Epoch, e.Elapsed = nets.epoch, event.Float(l.clocks.training.seconds())
	chargeTo(&e, nets.objective.Spent)
	nets.last = e
	if c.loop.place.measure.Better(&p.best, &nets.best) {
		nets.best, nets.bestWeights = p.best, p.bestWeights
	}
	w := p.members[0].weights
	if c.turn == p {
		w = p.members[0].previous
	}
	l.history.add(snapshot{weights: [][]float64{slices.Clone(w)}, trails: p.trails(), last: nets.last, best: nets.best,
		bestWeights: nets.bestWeights})
	l.out.publish(e)
	if l.limit(&e); l.end != "" {
		l.giveUp = true
	}
}
