package trainer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"newtop/internal/routine"
	"newtop/models/reduce"
	"newtop/trainer/analyst"
	"newtop/trainer/checkpoint"
	"newtop/trainer/event"
	"newtop/trainer/objective"
	"newtop/trainer/optim"
	"newtop/trainer/publish"
	"newtop/trainer/trajectory"
	"newtop/trainer/workplace"
)

// loop trains a session's nets, one outer iteration after the other, until there is a reason to end. Only Run's
// goroutine touches it and what it consists of.
//
// It is entered again from inside Method.Step: the method's Monitor is watch, which comes to a safepoint, where
// commands are answered; a run that is paused or raced from waits there, with its outer iteration on the stack.
type loop struct {
	ctx      context.Context
	session  *Session
	work     *workplace.Workplace
	nets     *trajectory.Trajectory
	clocks   *trajectory.Clocks
	race     *race // nil while there is none
	heldRace *race // the one that compete is at

	out         *publish.Publisher
	saver       *saver
	analyst     *analyst.Analyst
	checkpoints *checkpointer
	history     trajectory.History

	control controller
	limits  limiter
	model   modelLink

	unit      int // inner units done in the outer iteration in progress
	units     int
	stepping  bool         // inside Method.Step
	moving    *optim.State // of the method whose Step is innermost; nil: none is under way
	announced bool         // the run's first event is out
	concluded bool         // Done is out
	endReason event.Reason // why the run must end; empty while it continues
	endText   string       // the same in words, where the reason alone does not say it
}

func newLoop(ctx context.Context, s *Session) *loop {
	l := &loop{ctx: ctx, session: s, clocks: &trajectory.Clocks{}}
	l.work = &workplace.Workplace{Config: &s.config, Team: s.team, Monitor: l.control.watch}
	l.nets = &trajectory.Trajectory{Work: l.work, Info: s.info, Settings: s.settings, First: workplace.Unmeasured,
		Last: workplace.Unmeasured,
		Best: workplace.Unmeasured}
	l.out = &publish.Publisher{Ctx: ctx, Viewers: &s.broadcaster, Status: l.status}
	l.saver = &saver{session: s, nets: l.nets, out: l.out}
	l.analyst = &analyst.Analyst{Nets: l.nets, Out: l.out, Clocks: l.clocks, Poll: l.control.pollDuring}
	l.checkpoints = &checkpointer{nets: l.nets, out: l.out, clocks: l.clocks, analyst: l.analyst}
	l.control.loop = l
	l.limits = limiter{requested: s.config, nets: l.nets, clocks: l.clocks, publish: l.publishLimit}
	l.model = modelLink{work: l.work, out: l.out}
	return l
}

// run goes from data to the run's end.
func (l *loop) run() error {
	if err := l.saver.check(); err != nil {
		return err
	}
	if err := l.prepare(); err != nil || l.endReason != "" {
		return err
	}
	if err := l.bind(); err != nil {
		return err
	}
	opening := opening(l.session, l.nets) // by what it began with
	if err := l.checkpoints.start(l.session.checkpoint); err != nil {
		return err
	}
	return l.train(opening)
}

// prepare loads the data, answering commands meanwhile. A run that ends meanwhile leaves the loader behind, but waits
// for a team, whose other processes must hear of the end.
func (l *loop) prepare() error {
	var ctx context.Context
	ctx, l.model.cancel = context.WithCancel(context.WithoutCancel(l.ctx))
	leave := context.AfterFunc(l.ctx, routine.Guard(l.model.cancel))
	prepared := l.work.StartLoading(ctx)
	for {
		var err error
		select {
		case p := <-prepared:
			if p.Err != nil {
				return &PrepareError{Err: p.Err}
			}
			*l.work.Config, l.work.Problem = p.Config, p.Problem
			if leave() {
				l.model.interrupt()
			}
			return nil
		case q := <-l.session.requests:
			q.answer <- l.control.handleEarly(q.command)
			if l.endReason == "" {
				l.out.Publish(nil)
				continue
			}
		case <-l.ctx.Done():
			err = l.ctx.Err()
		}
		switch {
		case l.work.Team != nil:
			<-prepared
		case l.work.Config.Model != "":
			l.model.cancel()
			if p := <-prepared; p.Err == nil {
				p.Problem.Close()
			}
		}
		return err
	}
}

// bind puts together what the run works on.
func (l *loop) bind() error {
	c, t, fresh := l.work.Config, l.nets, l.session.checkpoint == nil // else a checkpoint has a method of its own
	l.work.Pool = reduce.NewPool(c.Threads)
	l.work.AdaptDefaults(t.Settings, c.HasSetting)
	if fresh {
		if err := l.work.CheckMethod(t.Info, t.Settings); err != nil {
			return &PrepareError{Err: err}
		}
	}
	l.work.BindHeldOut()
	t.Binding = l.work.Bind()
	if fresh {
		if err := t.Offers(t.Info); err != nil {
			return &PrepareError{Err: fmt.Errorf("%s: %w", t.Info.Name, err)}
		}
	}
	for i := range max(1, c.Committee) {
		on := t.Binding
		if c.FoldCommittee() {
			on = l.work.BindFold(i+1, t.Objective.Spent)
		}
		m := t.Add(c.Seed+uint64(i), t.Settings.Clone(), on)
		l.work.DrawWeights(m.Weights, m.Seed)
	}
	return nil
}

// train goes from the opening through epochs until there is a reason to end.
func (l *loop) train(opening event.RunEvent) error {
	l.work.Measure = opening.Measure()
	l.out.Publish(opening)
	l.announced = true
	l.model.publishNotes()
	if l.control.phase != event.Paused {
		l.control.phase = event.Running
	}
	l.clocks.Active.Start()
	defer l.clocks.Active.Stop()
	if t := l.nets; l.session.checkpoint == nil {
		if err := l.guardModel(l.showStart); err != nil {
			return err
		}
	} else {
		l.history.Add(t.Snapshot())
		l.out.Publish(event.ResumeEvent{Epoch: t.Epoch, Time: time.Now().UTC().Truncate(time.Millisecond)})
		if t.Epoch > 0 { // the starting weights are held against no limit
			l.checkLimits(&t.Last)
		}
		if l.endReason == "" && l.session.checkpoint.OwesSpectrum() {
			if err := l.guardModel(l.spectrum); err != nil {
				return l.offerEnd(err)
			}
		}
	}
	for {
		err := l.offerEnd(l.guardModel(l.epochs))
		if l.endReason == event.ReasonStopped {
			return err
		}
		if err == nil && !l.session.waitsAtEnd && l.session.broadcaster.Watched() {
			l.control.interrupted = false
			err = l.guardModel(l.analyst.AnalyseAtEnd)
		}
		if on, err := l.hold(err); !on {
			return err
		}
	}
}

// guardModel calls f, and deals with an external model that broke within it.
func (l *loop) guardModel(f func() error) error {
	err := objective.CatchFailure(f)
	failure, broken := errors.AsType[objective.Failure](err)
	if !broken {
		return err
	}
	l.clocks.Training.Stop()
	l.stepping, l.model.broken = false, true
	for _, m := range l.nets.Members {
		m.Stepping = false
	}
	l.analyst.Computing, l.race, l.heldRace = "", nil, nil
	return cmp.Or(l.ctx.Err(), error(&workplace.ModelError{Err: failure.Err}))
}

// offerEnd has the end of the run kept, that of its last whole outer iteration.
func (l *loop) offerEnd(err error) error {
	_, diverged := errors.AsType[*trajectory.DivergedError](err)
	switch {
	case diverged: // whose weights nobody can continue with
		l.checkpoints.offerHeld()
	case l.checkpoints.midEpoch:
		l.checkpoints.rollBack()
		l.checkpoints.offerHeld()
	default:
		l.offer(true)
	}
	return err
}

// showStart shows the starting weights.
func (l *loop) showStart() error {
	t := l.nets
	t.EvaluateStart()
	t.First = t.Measure(t.Objective.Spent, l.clocks.Training.Seconds())
	t.Last = t.First
	t.SetBest(&t.First)
	return l.show(t.First)
}

// show publishes an epoch, and ends the run if a net is lost.
func (l *loop) show(e event.EpochEvent) error {
	reason := l.nets.CheckConvergence()
	if reason == "" { // nobody goes back to weights that are lost
		l.history.Add(l.nets.Snapshot())
	}
	l.out.Publish(e)
	l.model.reportEpoch(e)
	l.checkpoints.markChanged()
	if reason != "" {
		return l.diverge(l.nets.Epoch, reason)
	}
	return nil
}

// epochs does one outer iteration after the other.
func (l *loop) epochs() error {
	for l.endReason == "" {
		if err := l.out.FirstError(); err != nil {
			return err
		}
		l.control.applyPending()
		l.model.receivePrinted()
		l.offer(false)
		if err := l.control.safepoint(); err != nil {
			if errors.Is(err, optim.ErrInterrupted) {
				continue
			}
			return err
		}
		l.limits.extend()
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
	if !l.stepping && l.race == nil && l.heldRace == nil {
		l.checkpoints.offer(end)
	}
}

// outer does one outer iteration of every member and publishes what came of it. One that was given up goes
// on with the member whose turn it was.
func (l *loop) outer() error {
	t := l.nets
	if t.Turn == 0 {
		t.Started = l.clocks.Training.Elapsed()
	}
	l.checkpoints.midEpoch = true
	for ; t.Turn < len(t.Members); t.Turn++ {
		m := t.Members[t.Turn]
		if err := l.step(t, m); err != nil {
			return l.cutShort(m, err)
		}
		if t.Turn+1 < len(t.Members) {
			if err := l.control.safepoint(); err != nil {
				t.Turn++
				return l.cutShort(m, err)
			}
		}
	}
	t.Turn = 0
	return l.endEpoch()
}

// step does one outer iteration of a member and evaluates what came of it. A member that stalled before
// does none. The error is the method's, but for a stall.
func (l *loop) step(t *trajectory.Trajectory, m *trajectory.Member) error {
	if m.Stalled != "" {
		m.Report = trajectory.IdleReport
		return nil
	}
	copy(m.Previous, m.Weights)
	t.FixGates(m)
	t.SetPosition(m)
	l.unit, l.units = 0, 0
	outer := l.moving
	l.stepping, m.Stepping, l.moving = true, true, m.State
	l.clocks.Training.Start()
	report, err := m.Method.Step(l.ctx, m.State)
	l.clocks.Training.Stop()
	l.stepping, m.Stepping, l.moving = false, false, outer
	l.unit, l.units = 0, 0
	if err == nil && l.race == nil {
		l.analyst.SetProposal(m, &report.Proposal)
	}
	if errors.Is(err, optim.ErrStalled) {
		m.Stalled = err.Error()
		report, err = trajectory.IdleReport, nil
	}
	// A net that a racer has replaced meanwhile has no objective any more.
	racing := l.race != nil && l.race == l.heldRace
	if (racing || slices.Contains(l.nets.Members, m)) && !slices.Equal(m.Previous, m.Weights) {
		if err == nil && l.work.Config.TunesGates() {
			l.clocks.Training.Start()
			m.TuneGates(m.Binding.Objective)
			l.clocks.Training.Stop()
		}
		t.Evaluate(m)
	}
	m.Report = report
	return err
}

// settle has weights where they are read while a method is amid its step.
func (l *loop) settle() {
	if l.moving != nil {
		l.moving.Settled()
	}
}

// endEpoch publishes what came of an outer iteration that all members have done.
func (l *loop) endEpoch() error {
	t := l.nets
	if reason, all := t.Stalled(); all {
		return l.stall(reason)
	}
	t.Epoch++
	l.checkpoints.midEpoch = false
	e := t.Measure(t.Objective.Spent, l.clocks.Training.Seconds())
	e.Seconds = event.Float((l.clocks.Training.Elapsed() - t.Started).Seconds())
	t.RecordEpoch(&e)
	if err := l.show(e); err != nil {
		return err
	}
	l.checkLimits(&e)
	c := l.work.Config
	if c.SpectrumEvery > 0 && t.Epoch%c.SpectrumEvery == 0 && l.analyst.AffordsSpectrum() &&
		l.endReason != event.ReasonTime {
		if err := l.spectrum(); err != nil {
			return err
		}
	}
	if l.control.pauseAfter == oneEpoch {
		l.control.pause()
	}
	return nil
}

// spectrum computes the spectrum that the epoch's number asks for, which a run that ends meanwhile owes.
func (l *loop) spectrum() error {
	l.checkpoints.hold()
	l.checkpoints.held.checkpoint.OweSpectrum()
	l.checkpoints.midEpoch = true
	l.analyst.ComputeSpectrum()
	if err := l.ctx.Err(); err != nil {
		return err
	}
	l.checkpoints.midEpoch = l.control.interrupted && l.endReason != ""
	return nil
}

// stall ends the run as finished, unless what it is stuck at is worse than where it began and the method
// brought it there.
func (l *loop) stall(reason string) error {
	t := l.nets
	t.Refresh()
	if stuck, start := t.Last.Loss+t.Penalty(), t.First.Loss+t.FirstPenalty(); t.CanClimb() && stuck > start {
		return l.diverge(t.Epoch+1, fmt.Sprintf("the loss is stuck at %.3g, above %.3g at the start: %s", stuck, start,
			reason))
	}
	l.endReason, l.endText = event.ReasonStalled, reason
	return nil
}

// cutShort deals with an outer iteration that came to no end. A method that goes through batches has
// moved the weights all the same, so that the last metrics are no longer theirs.
func (l *loop) cutShort(m *trajectory.Member, err error) error {
	t := l.nets
	t.Refresh()
	l.checkpoints.midEpoch = slices.Contains(t.Members, m) // which a racer that was picked has replaced
	var broken *optim.NotFiniteError
	switch {
	case errors.As(err, &broken):
		return l.diverge(t.Epoch+1, t.MemberPrefix(m)+broken.Error())
	case errors.Is(err, optim.ErrInterrupted):
		return nil
	}
	return err
}

// diverge ends the run.
func (l *loop) diverge(epoch int, reason string) error {
	l.endReason = event.ReasonDiverged
	l.out.Publish(event.DivergedEvent{Epoch: epoch, Reason: reason})
	return l.nets.Diverged(epoch, reason)
}

// checkLimits ends the run where the metrics or the number of epochs say so.
func (l *loop) checkLimits(e *event.EpochEvent) {
	reason, text := l.limits.reached(e)
	switch {
	case reason != "":
		l.endReason, l.endText = reason, text
	case l.expired():
		l.endReason = event.ReasonTime
	}
}

// publishLimit publishes a limit that has changed.
func (l *loop) publishLimit(key, text string) {
	l.out.Publish(event.SettingEvent{Epoch: l.nets.Epoch, Key: key, Value: text})
	l.checkpoints.markAltered()
}

// expired reports whether the time limit has been reached. A run that ends has none any more.
func (l *loop) expired() bool { return l.endReason == "" && l.limits.timeOver() }

// Run trains until a limit or a target is reached, a Stop command comes, the context ends, or the run
// fails. It returns nil when the run came to an end of its own or by Stop, the context's error, a
// *PrepareError, a *DivergedError, a recorder's error, or a *PanicError.
func (s *Session) Run(ctx context.Context) error {
	if !s.started.CompareAndSwap(false, true) {
		panic("trainer: Session.Run called twice")
	}
	defer close(s.ended)
	defer trajectory.Awake.WatchStops()()
	l := newLoop(ctx, s)
	for _, rec := range s.recorders {
		l.out.Recordings = append(l.out.Recordings, checkpoint.StartRecording(rec))
	}
	err := checkpoint.GuardPanics(l.run)
	if l.announced {
		_ = l.guardModel(func() error { return l.model.keep(l.nets.Members) })
	}
	l.model.leave()
	if !l.concluded {
		err = l.conclude(err)
	}
	if failed := l.model.close(); err == nil {
		err = failed
	}
	l.out.StatusPulse.Stop()
	if l.work.Pool != nil {
		l.work.Pool.Close()
	}
	l.checkpoints.await()
	err = l.out.Finish(err)
	l.checkpoints.forget()
	s.broadcaster.Publish(nil, l.status()) // with the last word of the record
	return err
}
