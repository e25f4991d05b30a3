package trainer

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"newtop/models"
	"newtop/trainer/optim"
)

// run is the state of a session that only Run's goroutine touches.
type run struct {
	*Session
	ctx        context.Context
	recordings []*recording

	problem   *Problem
	pool      *models.Pool
	objective *objective
	test      *models.Linearization // nil without test rows
	sample    *models.Linearization // over the rows of the spectrum; nil until the first one
	sampled   int                   // how many rows these are
	start     []float64             // the next spectrum's start vector

	method   optim.Method
	state    *optim.State
	previous []float64 // the weights before the outer iteration

	phase     Phase
	epoch     int // finished outer iterations
	unit      int // inner units done in the one under way
	units     int
	computing string
	stepping  bool     // inside Method.Step
	single    stepping // pause again after this
	end       Reason   // why the run must end; empty while it goes on
	next      *optim.Info
	giveUp    bool // the outer iteration under way must be given up
	spectrum  bool // one was asked for

	first, last, best EpochEvent
	training          stopwatch // inside Method.Step, pauses and spectra left out
	active            stopwatch // everything but pauses
	shown             time.Time // when the status was last published
}

// stepping says after what a run pauses again.
type stepping uint8

const (
	freely stepping = iota
	oneEpoch
	oneUnit
)

// Streams of the seeded generator: what is drawn for one purpose does not shift another.
const (
	streamWeights = 1 + iota
	streamMethod
	streamSpectrum
)

// divergence is how far above its starting value a loss counts as diverged. Saturating activations
// keep a hopeless loss finite for ever, so that waiting for a NaN is not enough.
const divergence = 30

// prepare loads the data and binds everything to it, answering commands meanwhile.
func (r *run) prepare() error {
	type outcome struct {
		problem *Problem
		err     error
	}
	prepared := make(chan outcome, 1)
	go func() {
		p, err := r.config.Prepare()
		prepared <- outcome{p, err}
	}()
	for r.problem == nil {
		select {
		case o := <-prepared:
			if o.err != nil {
				return &PrepareError{Err: o.err}
			}
			r.problem = o.problem
		case q := <-r.requests:
			q.answer <- r.early(q.command)
		}
	}
	data, network := r.problem.Data, r.problem.Network
	r.pool = models.NewPool(r.config.Threads)
	options := models.Options{Pool: r.pool, Memory: r.config.Memory}
	r.objective = newObjective(network, data.Train.Inputs, data.Train.Targets, options)
	if data.Test.Rows() > 0 {
		r.test = network.Bind(data.Test.Inputs, data.Test.Targets, options)
	}
	r.state = &optim.State{
		Objective: r.objective,
		W:         make([]float64, network.Dim()),
		Gradient:  make([]float64, network.Dim()),
		Settings:  r.settings,
		Rand:      rand.New(rand.NewPCG(r.config.Seed, streamMethod)),
		Monitor:   r.watch,
	}
	r.previous = make([]float64, network.Dim())
	network.InitTo(r.state.W, r.problem.Init, rand.New(rand.NewPCG(r.config.Seed, streamWeights)))
	if missing := optim.Missing(r.objective, r.info.Needs); missing != 0 {
		return &PrepareError{Err: fmt.Errorf("%s needs what this objective does not offer", r.info.Name)}
	}
	r.method = r.info.New()
	return nil
}

// early answers a command that comes before the run began.
func (r *run) early(c Command) error {
	switch c := c.(type) {
	case Stop:
		r.end = ReasonStopped
	case Pause:
		r.phase = Preparing
		r.single = freely
		if c.On {
			r.phase = Paused
		}
	default:
		return refuse("the data are still being prepared")
	}
	return nil
}

// train goes through epochs until there is a reason to end.
func (r *run) train() error {
	r.publish(r.opening())
	if r.phase != Paused {
		r.phase = Running
	}
	r.active.start()
	defer r.active.stop()
	r.first = r.measure(optim.Report{GradientNorm: math.NaN(), StepNorm: math.NaN(), Radius: math.NaN(), Rho: math.NaN(), Accepted: true})
	r.last, r.best = r.first, r.first
	r.publish(r.first)
	if err := r.hopeless(&r.first); err != nil {
		return err
	}
	for r.end == "" {
		if err := r.failedRecording(); err != nil {
			return err
		}
		r.takeOver()
		if err := r.attend(); err != nil {
			if errors.Is(err, optim.ErrInterrupted) {
				continue
			}
			return err
		}
		if err := r.outer(); err != nil {
			return err
		}
	}
	return nil
}

// outer does one outer iteration and publishes what came of it.
func (r *run) outer() error {
	copy(r.previous, r.state.W)
	r.unit, r.units = 0, 0
	before := r.training.elapsed()
	r.stepping = true
	r.training.start()
	report, err := r.method.Step(r.ctx, r.state)
	r.training.stop()
	r.stepping = false
	var broken *optim.NotFiniteError
	switch {
	case errors.As(err, &broken):
		return r.diverged(broken.Error())
	case errors.Is(err, optim.ErrStalled):
		r.end = ReasonStalled
		return nil
	case errors.Is(err, optim.ErrInterrupted):
		return nil
	case err != nil:
		return err
	}
	r.epoch++
	e := r.measure(report)
	e.Seconds = Float((r.training.elapsed() - before).Seconds())
	r.last = e
	if better(&e, &r.best) {
		r.best = e
	}
	r.publish(e)
	if err := r.hopeless(&e); err != nil {
		return err
	}
	r.afterEpoch(&e)
	return nil
}

func (r *run) afterEpoch(e *EpochEvent) {
	c := &r.config
	switch {
	case c.reached(e):
		r.end = ReasonTarget
	case c.Epochs > 0 && r.epoch >= c.Epochs:
		r.end = ReasonEpochs
	case c.TimeLimit > 0 && r.active.elapsed() >= c.TimeLimit:
		r.end = ReasonTime
	}
	if c.SpectrumEvery > 0 && r.epoch%c.SpectrumEvery == 0 {
		r.computeSpectrum()
	}
	if r.single == oneEpoch {
		r.pause()
	}
}

// better reports whether e has the lower test error, or test RMSE where there are no classes, or
// training loss where there are no test rows.
func better(e, than *EpochEvent) bool {
	a, b := float64(e.TestError), float64(than.TestError)
	if math.IsNaN(a) {
		a, b = float64(e.TestRMSE), float64(than.TestRMSE)
	}
	if math.IsNaN(a) {
		a, b = float64(e.Loss), float64(than.Loss)
	}
	return a < b
}

// hopeless returns a *DivergedError for a loss that is not finite or has left its start far behind.
func (r *run) hopeless(e *EpochEvent) error {
	switch loss, start := float64(e.Loss), float64(r.first.Loss); {
	case math.IsNaN(loss) || math.IsInf(loss, 0):
		return r.diverged("the loss is not finite")
	case loss > divergence*start && start > 0:
		return r.diverged(fmt.Sprintf("the loss rose to %.3g, from %.3g at the start", loss, start))
	}
	return nil
}

func (r *run) diverged(reason string) error {
	r.end = ReasonDiverged
	epoch := r.epoch + 1
	if r.last.Epoch == r.epoch {
		epoch = max(r.epoch, 1)
	}
	r.publish(DivergedEvent{Epoch: epoch, Reason: reason})
	hint := "expected a smaller " + r.info.Primary
	if r.settings.Has(r.info.Primary) {
		hint += " than " + optim.Format(r.settings.Get(r.info.Primary))
	}
	if r.epoch == 0 && r.last.Epoch == 0 && !finite(r.last.Loss) {
		hint = "expected finite data and starting weights"
	}
	return &DivergedError{Epoch: epoch, Optimizer: r.info.Name, Reason: reason, Hint: hint}
}

func finite(f Float) bool { return !math.IsNaN(float64(f)) && !math.IsInf(float64(f), 0) }

// finish publishes the run's last event.
func (r *run) finish(err error) {
	done := DoneEvent{
		Reason:        r.end,
		Epochs:        r.epoch,
		Loss:          r.last.Loss,
		Error:         r.last.Error,
		TestError:     r.last.TestError,
		TestRMSE:      r.last.TestRMSE,
		BestTestError: r.best.TestError,
		BestTestRMSE:  r.best.TestRMSE,
		BestEpoch:     r.best.Epoch,
		Elapsed:       Float(r.training.elapsed().Seconds()),
	}
	var apart *DivergedError
	switch {
	case errors.As(err, &apart):
		done.Reason, done.Message = ReasonDiverged, err.Error()
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		done.Reason = ReasonStopped
	case err != nil:
		done.Reason, done.Message = ReasonFailed, err.Error()
	}
	r.phase = Ended
	r.publish(done)
}

func (r *run) failedRecording() error {
	for _, rec := range r.recordings {
		if err := rec.failure(); err != nil {
			return err
		}
	}
	return nil
}
