package trainer

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"newtop/models/reduce"
	"newtop/trainer/event"
	"newtop/trainer/objective"
	"newtop/trainer/optim"
)

// run is the state of a session that only Run's goroutine touches.
type run struct {
	*Session
	ctx        context.Context
	recordings []*recording

	problem *objective.Problem
	pool    *reduce.Pool
	binding
	test   objective.Linearization // nil without test rows
	sample objective.Linearization // over the rows of the spectrum; nil until the first one
	start  [][]float64             // the next spectrum's start vectors

	members []*member
	turn    int           // whose turn it is in the outer iteration under way
	began   time.Duration // the training time at its beginning

	phase     event.Phase
	epoch     int // finished outer iterations
	unit      int // inner units done in the one under way
	units     int
	computing string
	stepping  bool         // inside Method.Step
	single    stepping     // pause again after this
	end       event.Reason // why the run must end; empty while it goes on
	why       string       // the same in words, where the reason alone does not say it
	next      *optim.Info
	giveUp    bool // the outer iteration under way must be given up
	spectrum  bool // one was asked for
	opened    bool // the run's first event is out
	saving    int  // files that are being written
	looks
	keeping
	kept keeper
	back *kept // what the run must go back to; nil else
	race *race // nil while there is none
	held *race // the one that compete is at

	first, last, best event.EpochEvent
	training          stopwatch // inside Method.Step, pauses, spectra and looks left out
	active            stopwatch // everything but pauses
	looking           stopwatch // at spectra
	shown             pulse     // since the status was last published
}

// binding is what a net is trained on.
type binding struct {
	objective *objective.Objective
	target    optim.Objective       // what the method minimizes: objective, or fixed
	fixed     *objective.FixedGates // the objective with the gates of a mixture as they are; nil else
}

// stepping says after what a run pauses again.
type stepping uint8

const (
	freely stepping = iota
	oneEpoch
	oneUnit
)

// A loss far above its starting value counts as diverged, and so does one that stays above it: saturating
// activations keep a hopeless loss finite for ever, and bounded outputs keep it within a few times the start,
// so that waiting for a NaN is not enough.
const (
	divergence = 30  // times the start, at once
	worse      = 1.5 // times the start, for worseFor epochs in a row
	worseFor   = 5
)

// unmeasured is the figures of weights that nobody has looked at.
var unmeasured = event.EpochEvent{
	Loss: event.NaN, TestLoss: event.NaN, Error: event.NaN, TestError: event.NaN, RMSE: event.NaN, TestRMSE: event.NaN,
	GradientNorm: event.NaN, StepNorm: event.NaN, Radius: event.NaN, Rho: event.NaN, Rate: event.NaN,
}

// through goes from data to the run's end.
func (r *run) through() error {
	if err := r.checkSave(); err != nil {
		return err
	}
	if err := r.prepare(); err != nil || r.end != "" {
		return err
	}
	opening := r.opening() // by what it began with
	if err := r.takeUp(); err != nil {
		return err
	}
	return r.train(opening)
}

// train goes from the opening through epochs until there is a reason to end.
func (r *run) train(opening event.RunEvent) error {
	r.publish(opening)
	r.opened = true
	if r.phase != event.Paused {
		r.phase = event.Running
	}
	r.active.start()
	defer r.active.stop()
	if r.from != nil {
		r.comeBack()
	} else if err := r.begin(); err != nil {
		return err
	}
	err := r.epochs()
	if err == nil || errors.Is(err, r.ctx.Err()) {
		r.offer(true)
	}
	if err != nil {
		return err
	}
	return r.lookBack()
}

// begin shows the starting weights.
func (r *run) begin() error {
	for _, m := range r.members {
		r.figure(m)
		m.bearable = m.figures.Loss
		m.report = still
		m.report.Accepted = true
	}
	r.first = r.measure()
	r.last, r.best = r.first, r.first
	r.keep()
	r.publish(r.first)
	r.moved()
	return r.hopeless()
}

// epochs does one outer iteration after the other.
func (r *run) epochs() error {
	for r.end == "" {
		if err := r.failedRecording(); err != nil {
			return err
		}
		r.takeOver()
		r.offer(false)
		if err := r.attend(); err != nil {
			if errors.Is(err, optim.ErrInterrupted) {
				continue
			}
			return err
		}
		r.offer(false) // with settings that have just come
		if err := r.outer(); err != nil {
			return err
		}
	}
	return nil
}

// outer does one outer iteration of every member and publishes what came of it. One that was given up goes
// on with the member whose turn it was.
func (r *run) outer() error {
	if r.turn == 0 {
		r.began = r.training.elapsed()
	}
	r.within = true
	for ; r.turn < len(r.members); r.turn++ {
		m := r.members[r.turn]
		if err := r.step(m); err != nil {
			return r.cutShort(m, err)
		}
		if r.turn+1 < len(r.members) {
			if err := r.attend(); err != nil {
				r.turn++
				return r.cutShort(m, err)
			}
		}
	}
	r.turn = 0
	return r.conclude()
}

// conclude publishes what came of an outer iteration that all members have done.
func (r *run) conclude() error {
	if why, all := r.stalled(); all {
		return r.stall(why)
	}
	r.epoch++
	r.within = false
	e := r.measure()
	e.Seconds = event.Float((r.training.elapsed() - r.began).Seconds())
	r.last = e
	if better(&e, &r.best) {
		r.best = e
	}
	r.keep()
	r.publish(e)
	r.moved()
	if err := r.hopeless(); err != nil {
		return err
	}
	return r.afterEpoch(&e)
}

// stalled returns why the first member stalled, and whether all have.
func (r *run) stalled() (why string, all bool) {
	for _, m := range r.members {
		if m.stalled == "" {
			return "", false
		}
	}
	return r.members[0].stalled, true
}

// stall ends the run as finished, unless what it is stuck at is worse than where it began and the method
// brought it there.
func (r *run) stall(why string) error {
	r.refresh()
	if r.uphill() && r.last.Loss > r.first.Loss {
		return r.diverged(r.epoch+1, fmt.Sprintf("the loss is stuck at %.3g, above %.3g at the start: %s", r.last.Loss, r.first.Loss, why))
	}
	r.end, r.why = event.ReasonStalled, why
	return nil
}

// cutShort deals with an outer iteration that came to no end. A method that goes through batches has
// moved the weights all the same, so that the last figures are no longer theirs.
func (r *run) cutShort(m *member, err error) error {
	r.refresh()
	r.within = slices.Contains(r.members, m) // which a racer that was picked has replaced
	var broken *optim.NotFiniteError
	switch {
	case errors.As(err, &broken):
		return r.diverged(r.epoch+1, r.of(m)+broken.Error())
	case errors.Is(err, optim.ErrInterrupted):
		return nil
	}
	return err
}

// refresh makes the last epoch's figures those of the weights as they are now.
func (r *run) refresh() { r.summarize(&r.last) }

// of names a member of a committee, for the beginning of a sentence.
func (r *run) of(m *member) string {
	if len(r.members) == 1 {
		return ""
	}
	return fmt.Sprintf("seed %d: ", m.seed)
}

// limit ends the run where the figures or the number of epochs say so.
func (r *run) limit(e *event.EpochEvent) {
	c := &r.config
	switch {
	case c.reached(e):
		r.end = event.ReasonTarget
	case c.Epochs > 0 && r.epoch >= c.Epochs:
		r.end = event.ReasonEpochs
	case r.expired():
		r.end = event.ReasonTime
	}
}

func (r *run) afterEpoch(e *event.EpochEvent) error {
	c := &r.config
	r.limit(e)
	affordable := c.SpectrumShare == 0 || r.looking.elapsed().Seconds() <= c.SpectrumShare*r.training.elapsed().Seconds()
	if c.SpectrumEvery > 0 && r.epoch%c.SpectrumEvery == 0 && affordable && r.end != event.ReasonTime {
		r.within = true
		if err := r.computeSpectrum(); err != nil {
			return err
		}
		r.within = r.giveUp && r.end != "" // a spectrum that the run's end has cut short
	}
	if r.single == oneEpoch {
		r.pause()
	}
	return nil
}

// better reports whether e has the lower test error, or test RMSE where there are no classes, or
// training loss where there are no test rows.
func better(e, than *event.EpochEvent) bool {
	a, b := float64(e.TestError), float64(than.TestError)
	if math.IsNaN(a) {
		a, b = float64(e.TestRMSE), float64(than.TestRMSE)
	}
	if math.IsNaN(a) {
		a, b = float64(e.Loss), float64(than.Loss)
	}
	return a < b
}

// expired reports whether the time limit has been reached. A run that ends has none any more.
func (r *run) expired() bool {
	return r.end == "" && r.config.TimeLimit > 0 && r.active.elapsed() >= r.config.TimeLimit
}

// uphill reports whether too large a rate makes the method raise the loss. A bad loss that one met which
// only ever lowers it is not its own: it may be there to mend it. And one that does not follow the loss, as it
// solves for the weights, is not lost where the loss is high.
func (r *run) uphill() bool { return !r.info.Monotone && r.info.Primary != "" }

// batched reports whether the method goes through batches, so that its steps are many small ones.
func (r *run) batched() bool { return r.info.Needs&optim.NeedsRows != 0 }

// hopeless returns a *DivergedError for a member that is lost.
func (r *run) hopeless() error {
	for _, m := range r.members {
		if why := r.lost(m); why != "" {
			return r.diverged(r.epoch, r.of(m)+why)
		}
	}
	return nil
}

// lost says of a member after an outer iteration that its loss is not finite, has left far behind where its
// method began, or stays above that under one method and its settings. Else it is empty.
func (r *run) lost(m *member) string {
	loss, start := float64(m.figures.Loss), float64(m.bearable)
	m.above++
	if !(loss > worse*start) {
		m.above = 0
	}
	switch {
	case !finite(m.figures.Loss):
		return "the loss is not finite"
	case !r.uphill():
	case loss > divergence*start && start > 0, m.above >= worseFor:
		return fmt.Sprintf("the loss rose to %.3g, from %.3g at the start", loss, start)
	}
	return ""
}

func (r *run) diverged(epoch int, reason string) error {
	r.end = event.ReasonDiverged
	r.publish(event.DivergedEvent{Epoch: epoch, Reason: reason})
	hint := "expected another optimizer or other settings"
	if r.uphill() {
		hint = "expected a smaller " + r.info.Primary + " than " + optim.Format(r.chosen().Get(r.info.Primary))
	}
	if !finite(r.first.Loss) {
		hint = "expected finite data and starting weights"
	}
	return &DivergedError{Epoch: epoch, Optimizer: r.info.Name, Reason: reason, Hint: hint}
}

func finite(f event.Float) bool { return !math.IsNaN(float64(f)) && !math.IsInf(float64(f), 0) }

// finish publishes the run's last event.
func (r *run) finish(err error) {
	done := event.DoneEvent{
		Reason:        r.end,
		Epochs:        r.epoch,
		Loss:          r.last.Loss,
		Error:         r.last.Error,
		TestError:     r.last.TestError,
		TestRMSE:      r.last.TestRMSE,
		BestTestError: r.best.TestError,
		BestTestRMSE:  r.best.TestRMSE,
		BestEpoch:     r.best.Epoch,
		Elapsed:       event.Float(r.training.elapsed().Seconds()),
		Message:       r.why,
	}
	var apart *DivergedError
	switch {
	case errors.As(err, &apart):
		done.Reason, done.Message = event.ReasonDiverged, r.text(err)
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		done.Reason = event.ReasonStopped
	case err != nil:
		done.Reason, done.Message = event.ReasonFailed, r.text(err)
	}
	r.phase = event.Ended
	if r.resumed && !r.opened { // in the record the run ends where it had come to
		r.hub.Publish(done, r.status())
		return
	}
	r.publish(done)
}
