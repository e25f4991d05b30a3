package trainer

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"newtop/trainer/event"
	"newtop/trainer/objective"
	"newtop/trainer/optim"
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
	event  event.RaceEvent // that began it
	racers []*racer
	binding
	turn   *racer // whose lap is under way; nil between laps
	picked *racer
	over   bool        // all have ended
	before event.Phase // of the run when it was asked for
}

// racer is one of them. What it has spent is counted since the race began.
type racer struct {
	info       *optim.Info
	member     *member
	cache      objective.Cache
	laps       int
	spent      objective.Work
	seconds    float64
	last, best event.EpochEvent
	ended      string // why it goes on no more; empty while it does
	lost       bool   // it diverged
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

// beginRace looks at all racers before anything changes, and lines them up.
func (r *run) beginRace(c event.Race) error {
	switch n := len(c.Racers); {
	case len(r.members) > 1:
		return event.Refuse("a committee can't race")
	case n < fewestRacers || n > mostRacers:
		return event.Refuse("a race of %d: expected %d to %d racers", n, fewestRacers, mostRacers)
	case !amount(c.Equivalents):
		return event.Refuse("a budget of %v gradient equivalents: expected a number ≥ 0", c.Equivalents)
	case !amount(c.Seconds):
		return event.Refuse("a budget of %v seconds: expected a number ≥ 0", c.Seconds)
	}
	next := &race{before: r.phase, event: event.RaceEvent{
		Epoch: r.epoch, State: "begun", Equivalents: event.Float(c.Equivalents), Seconds: event.Float(c.Seconds), Picked: -1,
	}}
	for _, entry := range c.Racers {
		p, err := r.enter(&entry, next.event.Racers)
		if err != nil {
			return err
		}
		next.event.Racers = append(next.event.Racers, entry)
		next.racers = append(next.racers, p)
	}
	r.lineUp(next)
	r.race, r.single, r.phase = next, freely, event.Running
	r.publish(next.event)
	for i, p := range next.racers {
		r.publish(event.LapEvent{Racer: i, Lap: p.last})
	}
	return nil
}

// amount reports whether v can be so much of something.
func amount(v float64) bool { return v >= 0 && !math.IsInf(v, 0) }

// enter settles the method and the settings of one racer. The current method begins with the settings that it has,
// another with those that it would take over with.
func (r *run) enter(entry *event.Racer, before []event.Racer) (*racer, error) {
	entry.Name = cmp.Or(entry.Name, entry.Optimizer)
	entry.Set = slices.Clone(entry.Set)
	if slices.ContainsFunc(before, func(other event.Racer) bool { return other.Name == entry.Name }) {
		return nil, event.Refuse("two racers are called %s: expected different names", entry.Name)
	}
	info, err := methods.Lookup(entry.Optimizer)
	if err != nil {
		return nil, event.Refuse("racer %s: %v", entry.Name, err)
	}
	if err := r.offers(info); err != nil {
		return nil, event.Refuse("racer %s: %s: %v", entry.Name, info.Name, err)
	}
	settings := r.chosen().Clone()
	if info != r.info {
		settings = r.defaults(info)
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
	if err := r.suits(info, settings); err != nil {
		return nil, event.Refuse("racer %s: %s", entry.Name, r.text(err))
	}
	return &racer{info: info, member: &member{settings: settings}}, nil
}

// lineUp gives every racer the weights of now, the random numbers to come and what the run knows of the weights. A
// method whose step is one whole has not moved the weights before it is over.
func (r *run) lineUp(c *race) {
	c.binding = r.bound(&objective.Work{})
	from := r.members[0]
	w := from.weights
	if r.stepping && !r.batched() {
		w = from.previous
	}
	for _, p := range c.racers {
		m := r.unset(c.binding, p.info, p.member.settings)
		m.seed, m.rate, m.bearable = from.seed, from.rate, from.bearable
		*m.source = *from.source
		copy(m.weights, w)
		copy(m.previous, w)
		m.report = still
		m.report.Accepted = true
		if !r.stepping {
			copy(m.state.Gradient, from.state.Gradient)
			m.state.Loss, m.state.Evaluated = from.state.Loss, from.state.Evaluated
			r.objective.Save(&p.cache, c.blocks(m.settings))
		}
		p.member = m
	}
	if r.stepping {
		for _, p := range c.racers {
			c.objective.Save(&p.cache, 1)
		}
	}
	r.figure(c.racers[0].member)
	for _, p := range c.racers {
		p.member.figures = c.racers[0].member.figures
		p.member.begin(p.info)
		r.describe(p)
		p.best = p.last
		p.best.Epoch = r.epoch
	}
}

// blocks returns how many parts of the rows a method with these settings goes through.
func (c *race) blocks(s *optim.Settings) int {
	if !trust.Blocks.In(s) {
		return 1
	}
	return min(trust.Blocks.Of(s), c.objective.Rows())
}

// pick ends the race. The run goes on as if the racer had been it since the race began, or as it was before.
func (r *run) pick(i int) error {
	c := r.race
	switch {
	case c == nil:
		return event.Refuse("there is no race to pick from")
	case i == -1:
		r.abandon()
		return nil
	case i < -1 || i >= len(c.racers):
		return event.Refuse("racer %d: expected 0 to %d, or -1 for none", i, len(c.racers)-1)
	case c.racers[i].lost:
		return event.Refuse("%s has %s; expected another racer, or none", c.event.Racers[i].Name, c.racers[i].ended)
	}
	c.picked = c.racers[i]
	r.leave("picked", i)
	if c.turn == c.picked {
		r.held = nil // its lap is an outer iteration of the run now
	}
	r.adopt(c, c.picked)
	return nil
}

// abandon ends the race without a winner.
func (r *run) abandon() { r.leave("abandoned", -1) }

// leave ends the race. The lap under way is given up, but for that of a racer who was picked.
func (r *run) leave(state string, picked int) {
	c := r.race
	r.race = nil
	if c.over {
		r.phase, r.single = c.before, freely
	}
	if c.turn != nil && c.turn != c.picked {
		r.giveUp = true
	}
	e := c.event
	e.State, e.Picked = state, picked
	r.publish(e)
	r.alter()
}

// adopt makes a racer the run. The figures of a lap under way are still to come.
func (r *run) adopt(c *race, p *racer) {
	from := r.info.Name
	c.objective.Spent.Add(r.objective.Spent)
	r.binding, r.members, r.info = c.binding, []*member{p.member}, p.info
	if p.info.Name != from {
		r.publish(event.SwitchEvent{Epoch: r.epoch, From: from, To: p.info.Name})
	}
	if p.laps == 0 {
		r.refresh()
		return
	}
	r.epoch += p.laps
	e := p.last
	e.Epoch, e.Elapsed = r.epoch, event.Float(r.training.elapsed().Seconds())
	tell(r.objective.Spent, &e)
	r.last = e
	if better(&p.best, &r.best) {
		r.best = p.best
	}
	w := p.member.weights
	if c.turn == p {
		w = p.member.previous
	}
	r.kept.add(kept{weights: [][]float64{slices.Clone(w)}, last: r.last, best: r.best}, r.keepRoom())
	r.publish(e)
	if r.limit(&e); r.end != "" {
		r.giveUp = true
	}
}
