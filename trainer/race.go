package trainer

import (
	"cmp"
	"slices"
	"strings"

	"newtop/trainer/config"
	"newtop/trainer/event"
	"newtop/trainer/objective"
	"newtop/trainer/optim/methods"
	"newtop/trainer/optim/trust"
	"newtop/trainer/trajectory"
	"newtop/trainer/workplace"
)

// How many can take part in a race.
const (
	minRacers = 2
	maxRacers = 8
)

// race is several methods that resume from the same weights in turn: always the one that has spent the least of its
// budget does an outer iteration. It is held between two inner units of the run, whose own outer iteration waits
// meanwhile and continues when the race is abandoned: racers have nets of their own, and rows bound apart, whose
// account holds what the lap in progress has spent.
type race struct {
	loop   *loop
	event  event.RaceEvent // that began it
	racers []*racer
	workplace.Binding
	turn        *racer // whose lap is in progress; nil between laps
	picked      *racer
	over        bool        // all have ended
	phaseBefore event.Phase // of the run when it was asked for
}

// racer is one of them. Its epochs, and what it has spent, are counted since the race began.
type racer struct {
	trajectory.Trajectory
	cache    objective.Cache // what the race's objective keeps of it between its laps
	spent    objective.Work
	seconds  float64
	ended    string // why it continues no more; empty while it does
	diverged bool   // it diverged
}

// allows refuses what a race that is on leaves no room for.
func (c *race) allows(command event.Command) error {
	if c == nil {
		return nil
	}
	switch p := command.(type) {
	case event.Switch, event.Set, event.Scale, event.Rewind, event.Race:
		return event.Refuse("a race is under way: expected a pick of one of its racers, or none, first")
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

// startRace looks at all racers before anything changes, and starts them.
func startRace(l *loop, c event.Race) error {
	switch n := len(c.Racers); {
	case len(l.nets.Members) > 1:
		return event.Refuse("a committee can't race")
	case n < minRacers || n > maxRacers:
		return event.Refuse("a race of %d: expected %d to %d racers", n, minRacers, maxRacers)
	case !config.NonNegative(c.Equivalents):
		return event.Refuse("a budget of %v gradient equivalents: expected a number ≥ 0", c.Equivalents)
	case !config.NonNegative(c.Seconds):
		return event.Refuse("a budget of %v seconds: expected a number ≥ 0", c.Seconds)
	}
	next := &race{loop: l, event: event.RaceEvent{
		Epoch: l.nets.Epoch, State: "begun", Equivalents: event.Float(c.Equivalents), Seconds: event.Float(c.Seconds),
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
	if err := l.checkSound(); err != nil {
		return err
	}
	l.reopen()
	next.phaseBefore = l.control.phase
	next.startRacers()
	l.race, l.control.pauseAfter, l.control.phase = next, freely, event.Running
	l.out.Publish(next.event)
	for i, p := range next.racers {
		l.out.Publish(event.LapEvent{Racer: i, Lap: p.Last})
	}
	return nil
}

// newRacer settles the method and the settings of one racer. The current method begins with the settings that it has,
// another with those that it would take over with.
func (c *race) newRacer(entry *event.Racer) (*racer, error) {
	work, nets := c.loop.work, c.loop.nets
	entry.Name = cmp.Or(entry.Name, entry.Optimizer)
	entry.Set = slices.Clone(entry.Set)
	if slices.ContainsFunc(c.event.Racers, func(other event.Racer) bool { return other.Name == entry.Name }) {
		return nil, event.Refuse("two racers are called %s: expected different names", entry.Name)
	}
	info, err := methods.Lookup(entry.Optimizer)
	if err != nil {
		return nil, event.Refuse("racer %s: %v", entry.Name, err)
	}
	if err := nets.Offers(info); err != nil {
		return nil, event.Refuse("racer %s: %s: %v", entry.Name, info.Name, err)
	}
	settings := nets.CurrentSettings().Clone()
	if info != nets.Info {
		settings = work.DefaultSettings(info)
	}
	for _, kv := range entry.Set {
		key, value, ok := strings.Cut(kv, "=")
		if !ok {
			return nil, event.Refuse("racer %s: %s: expected KEY=VALUE", entry.Name, kv)
		}
		if err := settings.SetText(strings.TrimSpace(key), strings.TrimSpace(value)); err != nil {
			return nil, event.Refuse("racer %s: %v", entry.Name, err)
		}
	}
	if err := work.CheckMethod(info, settings); err != nil {
		return nil, event.Refuse("racer %s: %s", entry.Name, c.loop.session.errorText(err))
	}
	return &racer{Trajectory: trajectory.Trajectory{Work: work, Info: info, Settings: settings, Before: nets.Epoch}},
		nil
}

// startRacers gives every racer the current weights, the random numbers to come and what the run knows of the weights.
// A method whose step is one whole has not moved the weights before it is over.
func (c *race) startRacers() {
	l, nets := c.loop, c.loop.nets
	c.Binding = l.work.Bind()
	from := nets.Members[0]
	w := from.RestingWeights(nets.Batched())
	for _, p := range c.racers {
		p.Binding = c.Binding
		m := p.Add(from.Seed, p.Settings, c.Binding)
		m.Rate, m.ReferenceLoss, m.Trail = from.Rate, from.ReferenceLoss, from.Trail
		*m.Source = *from.Source
		copy(m.Weights, w)
		copy(m.Previous, w)
		m.Report = trajectory.IdleReport
		m.Report.Accepted = true
		if !l.stepping {
			copy(m.State.Gradient, from.State.Gradient)
			m.State.Loss, m.State.Evaluated = from.State.Loss, from.State.Evaluated
			p.cache.Save(nets.Objective, c.blocks(p))
		}
	}
	if l.stepping {
		for _, p := range c.racers {
			p.cache.Save(c.Objective, 1)
		}
	}
	first := c.racers[0].Members[0]
	c.racers[0].Evaluate(first)
	for _, p := range c.racers {
		p.Members[0].Metrics = first.Metrics
		p.Members[0].StartMethod(p.Info, p.Minimized(first))
		p.describe()
		p.SetBest(&p.Last)
		p.Best.Epoch = nets.Epoch
	}
}

// describe makes the racer's last metrics those of its current weights.
func (p *racer) describe() { p.Last = p.Measure(&p.spent, p.seconds) }

// blocks returns how many parts of the rows a racer's method goes through.
func (c *race) blocks(p *racer) int {
	s := p.Members[0].Settings
	if !trust.Blocks.In(s) {
		return 1
	}
	return min(trust.Blocks.Of(s), c.Objective.Rows())
}

// pick ends the race. The run continues as if the racer had been it since the race began, or as it was before.
func (c *race) pick(i int) error {
	switch {
	case c == nil:
		return event.Refuse("there is no race to pick from")
	case i == -1:
		c.abandon()
		return nil
	case i < -1 || i >= len(c.racers):
		return event.Refuse("racer %d: expected 0 to %d, or -1 for none", i, len(c.racers)-1)
	case c.racers[i].diverged:
		return event.Refuse("%s has %s; expected another racer, or none", c.event.Racers[i].Name, c.racers[i].ended)
	}
	c.picked = c.racers[i]
	c.end("picked", i)
	if c.turn == c.picked {
		c.loop.heldRace = nil // its lap is an outer iteration of the run now
	}
	c.promote(c.picked)
	return nil
}

// abandon ends the race without a winner.
func (c *race) abandon() { c.end("abandoned", -1) }

// end ends the race. The lap in progress is given up, but for that of a racer who was picked.
func (c *race) end(state string, picked int) {
	l := c.loop
	l.race = nil
	if c.over || c.phaseBefore == event.Paused {
		l.control.phase, l.control.pauseAfter = c.phaseBefore, freely
	}
	if c.turn != nil && c.turn != c.picked {
		l.control.interrupted = true
	}
	e := c.event
	e.State, e.Picked = state, picked
	l.out.Publish(e)
	l.checkpoints.markAltered()
}

// promote makes a racer the run. The metrics of a lap in progress are still to come.
func (c *race) promote(p *racer) {
	l, nets := c.loop, c.loop.nets
	from := nets.Info.Name
	c.Objective.Spent.Add(nets.Objective.Spent)
	l.checkpoints.release()
	nets.Binding, nets.Members, nets.Info = c.Binding, p.Members, p.Info
	nets.Started, nets.Since = p.Started, nets.Epoch
	if p.Info.Name != from {
		l.out.Publish(event.SwitchEvent{Epoch: nets.Epoch, From: from, To: p.Info.Name})
	}
	if p.Epoch == 0 {
		nets.Refresh()
		return
	}
	nets.Epoch += p.Epoch
	e := p.Last
	e.Epoch, e.Elapsed = nets.Epoch, event.Float(l.clocks.Training.Seconds())
	workplace.WriteWork(&e, nets.Objective.Spent)
	nets.Last = e
	if c.loop.work.Better(&p.Best, &nets.Best) {
		nets.Best, nets.BestWeights = p.Best, p.BestWeights
	}
	w := p.Members[0].Weights
	if c.turn == p {
		w = p.Members[0].Previous
	}
	l.history.Add(trajectory.Snapshot{Weights: [][]float64{slices.Clone(w)}, Trails: trajectory.Trails(p.Members),
		Last: nets.Last, Best: nets.Best, BestWeights: nets.BestWeights})
	l.out.Publish(e)
	if l.checkLimits(&e); l.endReason != "" {
		l.control.interrupted = true
	}
}
