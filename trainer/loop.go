package trainer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"newtop/models/reduce"
	"newtop/trainer/event"
	"newtop/trainer/optim"
)

// loop trains a session's nets, one outer iteration after the other, until there is a reason to end. Only Run's
// goroutine touches it and what it consists of.
//
// It is entered again from inside Method.Step: the method's Monitor is watch, which comes to a safepoint, where
// commands are answered; a run that is paused or raced from waits there, with its outer iteration on the stack.
type loop struct {
	ctx     context.Context
	session *Session
	asked   Config // for
	place   *workplace
	nets    *trajectory
	clocks  *clocks
	race    *race // nil while there is none
	held    *race // the one that compete is at

	out         *publisher
	saver       *saver
	analyst     *analyst
	checkpoints *checkpointer
	history     weightHistory

	phase    event.Phase
	unit     int // inner units done in the outer iteration under way
	units    int
	stepping bool            // inside Method.Step
	single   span            // pause again after this
	opened   bool            // the run's first event is out
	giveUp   bool            // the outer iteration under way must be given up
	next     *optim.Info     // the method that must take over; nil: none
	back     *snapshot       // what the run must go back to; nil: nothing
	shown    []event.Setting // the limits; nil when they have changed
	told     bool            // Done is out
	holding  bool            // at the end of the run, for commands
	broken   bool            // a model elsewhere is
	forsake  func()          // ends what the run asks of it
	ended    <-chan struct{} // closed when its program has ended; nil: there is none
	failure  func() error    // how that did so
	end      event.Reason    // why the run must end; empty while it goes on
	why      string          // the same in words, where the reason alone does not say it
}

// span says after what a run pauses again.
type span uint8

const (
	freely span = iota
	oneEpoch
	oneUnit
)

func newLoop(ctx context.Context, s *Session) *loop {
	l := &loop{ctx: ctx, session: s, asked: s.config, clocks: &clocks{}}
	l.place = &workplace{config: &s.config, team: s.team, monitor: l.watch}
	l.nets = &trajectory{place: l.place, info: s.info, settings: s.settings, first: unmeasured, last: unmeasured,
		best: unmeasured}
	l.out = &publisher{ctx: ctx, viewers: &s.broadcaster, status: l.status}
	l.saver = &saver{session: s, nets: l.nets, out: l.out}
	l.analyst = &analyst{nets: l.nets, out: l.out, clocks: l.clocks, poll: l.pollDuring}
	l.checkpoints = &checkpointer{nets: l.nets, out: l.out, clocks: l.clocks, analyst: l.analyst}
	return l
}

// through goes from data to the run's end.
func (l *loop) through() error {
	if err := l.saver.check(); err != nil {
		return err
	}
	if err := l.prepare(); err != nil || l.end != "" {
		return err
	}
	if err := l.bind(); err != nil {
		return err
	}
	opening := opening(l.session, l.nets) // by what it began with
	if err := l.checkpoints.begin(l.session.from); err != nil {
		return err
	}
	return l.train(opening)
}

// prepare loads the data, answering commands meanwhile. A run that ends meanwhile leaves the loader behind, but waits
// for a team, whose other processes must hear of the end.
func (l *loop) prepare() error {
	var ctx context.Context
	ctx, l.forsake = context.WithCancel(context.WithoutCancel(l.ctx))
	leave := context.AfterFunc(l.ctx, l.forsake)
	prepared := l.place.load(ctx)
	for {
		var err error
		select {
		case p := <-prepared:
			if p.err != nil {
				return &PrepareError{Err: p.err}
			}
			*l.place.config, l.place.problem = p.config, p.problem
			if leave() {
				l.hurry()
			}
			return nil
		case q := <-l.session.requests:
			q.answer <- l.handleEarly(q.command)
			if l.end == "" {
				l.out.publish(nil)
				continue
			}
		case <-l.ctx.Done():
			err = l.ctx.Err()
		}
		switch {
		case l.place.team != nil:
			<-prepared
		case l.place.config.Model != "":
			l.forsake()
			if p := <-prepared; p.err == nil {
				p.problem.Close()
			}
		}
		return err
	}
}

// bind puts together what the run works on.
func (l *loop) bind() error {
	c, t, fresh := l.place.config, l.nets, l.session.from == nil // else a checkpoint has a method of its own
	l.place.pool = reduce.NewPool(c.Threads)
	c.fit(t.settings, l.place.problem.Data, c.sets)
	if fresh {
		if err := l.place.suits(t.info, t.settings); err != nil {
			return &PrepareError{Err: err}
		}
	}
	l.place.bindOthers()
	t.binding = l.place.bind()
	if fresh {
		if err := t.offers(t.info); err != nil {
			return &PrepareError{Err: fmt.Errorf("%s: %w", t.info.Name, err)}
		}
	}
	for i := range max(1, c.Committee) {
		on := t.binding
		if c.FoldCommittee() {
			on = l.place.bindFold(i+1, t.objective.Spent)
		}
		m := t.add(c.Seed+uint64(i), t.settings.Clone(), on)
		l.place.drawTo(m.weights, m.seed)
	}
	return nil
}

// train goes from the opening through epochs until there is a reason to end.
func (l *loop) train(opening event.RunEvent) error {
	l.place.measure = opening.Measure()
	l.out.publish(opening)
	l.opened = true
	l.note()
	if l.phase != event.Paused {
		l.phase = event.Running
	}
	l.clocks.active.start()
	defer l.clocks.active.stop()
	if t := l.nets; l.session.from == nil {
		if err := l.unbroken(l.begin); err != nil {
			return err
		}
	} else {
		l.history.add(t.snapshot())
		l.out.publish(event.ResumeEvent{Epoch: t.epoch, Time: time.Now().UTC().Truncate(time.Millisecond)})
		if t.epoch > 0 { // the starting weights are held against no limit
			l.limit(&t.last)
		}
		if l.end == "" && l.session.from.owes() {
			if err := l.unbroken(l.spectrum); err != nil {
				return l.leave(err)
			}
		}
	}
	for {
		err := l.leave(l.unbroken(l.epochs))
		if l.end == event.ReasonStopped {
			return err
		}
		if err == nil && !l.session.stays && l.session.broadcaster.Watched() {
			l.giveUp = false
			err = l.unbroken(l.analyst.analyseAtEnd)
		}
		if on, err := l.hold(err); !on {
			return err
		}
	}
}

// leave has the end of the run kept, that of its last whole outer iteration.
func (l *loop) leave(err error) error {
	_, diverged := errors.AsType[*DivergedError](err)
	switch {
	case diverged: // whose weights nobody can go on with
		l.checkpoints.offerHeld()
	case l.checkpoints.within:
		l.checkpoints.goBack()
		l.checkpoints.offerHeld()
	default:
		l.offer(true)
	}
	return err
}

// begin shows the starting weights.
func (l *loop) begin() error {
	t := l.nets
	t.start()
	t.first = t.measure(t.objective.Spent, l.clocks.training.seconds())
	t.last = t.first
	t.keep(&t.first)
	return l.show(t.first)
}

// show publishes an epoch, and ends the run if a net is lost.
func (l *loop) show(e event.EpochEvent) error {
	why := l.nets.checkConvergence()
	if why == "" { // nobody goes back to weights that are lost
		l.history.add(l.nets.snapshot())
	}
	l.out.publish(e)
	l.tell(e)
	l.checkpoints.moved()
	if why != "" {
		return l.diverge(l.nets.epoch, why)
	}
	return nil
}

// epochs does one outer iteration after the other.
func (l *loop) epochs() error {
	for l.end == "" {
		if err := l.out.failed(); err != nil {
			return err
		}
		l.takeOver()
		l.hear()
		l.offer(false)
		if err := l.safepoint(); err != nil {
			if errors.Is(err, optim.ErrInterrupted) {
				continue
			}
			return err
		}
		l.extend()
		l.offer(false) // with settings that have just come
		l.checkpoints.hold()
		if err := l.outer(); err != nil {
			return err
		}
	}
	return nil
}

// offer hands a checkpoint to the recorders that want one, between two outer iterations.
func (l *loop) offer(end bool) {
	if !l.stepping && l.race == nil && l.held == nil {
		l.checkpoints.offer(end)
	}
}

// outer does one outer iteration of every member and publishes what came of it. One that was given up goes
// on with the member whose turn it was.
func (l *loop) outer() error {
	t := l.nets
	if t.turn == 0 {
		t.began = l.clocks.training.elapsed()
	}
	l.checkpoints.within = true
	for ; t.turn < len(t.members); t.turn++ {
		m := t.members[t.turn]
		if err := l.step(t, m); err != nil {
			return l.cutShort(m, err)
		}
		if t.turn+1 < len(t.members) {
			if err := l.safepoint(); err != nil {
				t.turn++
				return l.cutShort(m, err)
			}
		}
	}
	t.turn = 0
	return l.endEpoch()
}

// step does one outer iteration of a member and evaluates what came of it. A member that stalled before
// does none. The error is the method's, but for a stall.
func (l *loop) step(t *trajectory, m *member) error {
	if m.stalled != "" {
		m.report = still
		return nil
	}
	copy(m.previous, m.weights)
	t.fixGates(m)
	t.tellEpoch(m)
	l.unit, l.units = 0, 0
	l.stepping, m.stepping = true, true
	l.clocks.training.start()
	report, err := m.method.Step(l.ctx, m.state)
	l.clocks.training.stop()
	l.stepping, m.stepping = false, false
	l.unit, l.units = 0, 0
	if err == nil && l.race == nil {
		l.analyst.propose(m, &report.Proposal)
	}
	if errors.Is(err, optim.ErrStalled) {
		m.stalled = err.Error()
		report, err = still, nil
	}
	// A net that a racer has replaced meanwhile has no objective any more.
	racing := l.race != nil && l.race == l.held
	if (racing || slices.Contains(l.nets.members, m)) && !slices.Equal(m.previous, m.weights) {
		if err == nil && l.place.config.descends() {
			l.clocks.training.start()
			m.tuneGates(m.on.objective)
			l.clocks.training.stop()
		}
		t.evaluate(m)
	}
	m.report = report
	return err
}

// endEpoch publishes what came of an outer iteration that all members have done.
func (l *loop) endEpoch() error {
	t := l.nets
	if why, all := t.stalled(); all {
		return l.stall(why)
	}
	t.epoch++
	l.checkpoints.within = false
	e := t.measure(t.objective.Spent, l.clocks.training.seconds())
	e.Seconds = event.Float((l.clocks.training.elapsed() - t.began).Seconds())
	t.finish(&e)
	if err := l.show(e); err != nil {
		return err
	}
	l.limit(&e)
	c := l.place.config
	if c.SpectrumEvery > 0 && t.epoch%c.SpectrumEvery == 0 && l.analyst.affordable() && l.end != event.ReasonTime {
		if err := l.spectrum(); err != nil {
			return err
		}
	}
	if l.single == oneEpoch {
		l.pause()
	}
	return nil
}

// spectrum computes the spectrum that the epoch's number asks for, which a run that ends meanwhile owes.
func (l *loop) spectrum() error {
	l.checkpoints.hold()
	l.checkpoints.held.checkpoint.owe()
	l.checkpoints.within = true
	l.analyst.computeSpectrum()
	if err := l.ctx.Err(); err != nil {
		return err
	}
	l.checkpoints.within = l.giveUp && l.end != ""
	return nil
}

// stall ends the run as finished, unless what it is stuck at is worse than where it began and the method
// brought it there.
func (l *loop) stall(why string) error {
	t := l.nets
	t.refresh()
	if stuck, start := t.last.Loss+t.penalty(), t.first.Loss+t.firstPenalty(); t.uphill() && stuck > start {
		return l.diverge(t.epoch+1, fmt.Sprintf("the loss is stuck at %.3g, above %.3g at the start: %s", stuck, start,
			why))
	}
	l.end, l.why = event.ReasonStalled, why
	return nil
}

// cutShort deals with an outer iteration that came to no end. A method that goes through batches has
// moved the weights all the same, so that the last metrics are no longer theirs.
func (l *loop) cutShort(m *member, err error) error {
	t := l.nets
	t.refresh()
	l.checkpoints.within = slices.Contains(t.members, m) // which a racer that was picked has replaced
	var broken *optim.NotFiniteError
	switch {
	case errors.As(err, &broken):
		return l.diverge(t.epoch+1, t.of(m)+broken.Error())
	case errors.Is(err, optim.ErrInterrupted):
		return nil
	}
	return err
}

// diverge ends the run.
func (l *loop) diverge(epoch int, reason string) error {
	l.end = event.ReasonDiverged
	l.out.publish(event.DivergedEvent{Epoch: epoch, Reason: reason})
	return l.nets.diverged(epoch, reason)
}

// limit ends the run where the metrics or the number of epochs say so.
func (l *loop) limit(e *event.EpochEvent) {
	c := l.place.config
	target := c.reached(e, l.place.measure)
	switch {
	case target != "":
		l.end, l.why = event.ReasonTarget, target
	case c.Epochs > 0 && l.nets.epoch >= c.Epochs:
		l.end = event.ReasonEpochs
	case l.impatient():
		l.end, l.why = event.ReasonPatience, fmt.Sprintf("no better epoch for %d", c.Patience)
	case l.expired():
		l.end = event.ReasonTime
	}
}

// expired reports whether the time limit has been reached. A run that ends has none any more.
func (l *loop) expired() bool {
	limit := l.place.config.TimeLimit
	return l.end == "" && limit > 0 && l.clocks.active.elapsed() >= limit
}
