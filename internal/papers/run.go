package papers

import (
	"context"
	"errors"
	"math"

	"newtop/models"
	"newtop/trainer"
	"newtop/trainer/event"
)

// point is a trial after an epoch, 0 for its starting weights. All but the quality of the weights is counted from the
// start.
type point struct {
	epoch          int
	loss           float64
	wrong, testErr float64 // fractions; NaN for regression
	rmse, testRMSE float64
	elapsed        float64 // seconds, of the optimizer alone
	inner, solves  int     // inner iterations, and the solves they belong to
	flops          float64 // of all inner iterations
	equivalents    float64 // gradients over all rows that the same work would make
}

// test is what a test is won by: the test error, or the test RMSE where there are no classes.
func (p *point) test() float64 {
	if math.IsNaN(p.testErr) {
		return p.testRMSE
	}
	return p.testErr
}

// outcome is what came of a trial that was not cut short.
type outcome struct {
	run    event.RunEvent
	points []point
	done   event.DoneEvent
	// diverged is why the trial was given up; nil if it came to an end of its own.
	diverged *trainer.DivergedError
	best     int       // the first of points with the best test
	weights  []float64 // there, if they were asked for
}

// end is the last point.
func (o *outcome) end() *point { return &o.points[len(o.points)-1] }

// atBest is the first point with the best test.
func (o *outcome) atBest() *point { return &o.points[o.best] }

// first returns the first point for which ok holds, nil if there is none.
func (o *outcome) first(ok func(*point) bool) *point {
	for i := range o.points {
		if ok(&o.points[i]) {
			return &o.points[i]
		}
	}
	return nil
}

// outcomeRecorder is a Recorder that gathers an outcome.
type outcomeRecorder struct {
	outcome
	watch func(*point) // hears of every point; nil: nobody
}

var _ trainer.Recorder = (*outcomeRecorder)(nil)

func (s *outcomeRecorder) Record(e event.Event) error {
	switch e := e.(type) {
	case event.RunEvent:
		s.run = e
	case event.DoneEvent:
		s.done = e
	case event.EpochEvent:
		s.add(&e)
	}
	return nil
}

func (s *outcomeRecorder) Flush() error { return nil }

func (s *outcomeRecorder) add(e *event.EpochEvent) {
	var p point
	if len(s.points) > 0 {
		p = *s.end()
	}
	p.epoch, p.loss, p.elapsed = e.Epoch, float64(e.Loss), float64(e.Elapsed)
	p.wrong, p.testErr = float64(e.Error), float64(e.TestError)
	p.rmse, p.testRMSE = float64(e.RMSE), float64(e.TestRMSE)
	p.equivalents = float64(e.GradientEquivalents)
	for i := range e.Inner {
		in := &e.Inner[i]
		p.inner += in.Iterations
		p.solves++
		p.flops += float64(in.Flops) * float64(in.Iterations)
	}
	s.points = append(s.points, p)
	if last := len(s.points) - 1; s.points[last].test() < s.atBest().test() {
		s.best = last
	}
	if s.watch != nil {
		s.watch(s.end())
	}
}

// saver is an outcomeRecorder that has the weights at the best test too.
type saver struct {
	outcomeRecorder
	network *models.Network
}

var _ trainer.Keeper = (*saver)(nil)

// Due asks for every epoch's: that an epoch is the best is known only when it is recorded.
func (*saver) Due(bool) bool { return true }

func (s *saver) Keep(c *trainer.Checkpoint) error {
	if len(s.points) == 0 || s.best != len(s.points)-1 || c.Epoch != s.end().epoch {
		return nil
	}
	nets, err := c.Weights(s.network.Dim())
	if err != nil {
		return err
	}
	s.weights = nets[0]
	return nil
}

// runTrial trains what the configuration says and records it nowhere. Where network, the one that is trained, is not
// nil the outcome has the weights of the best test. A run that diverges has an outcome like any other; the errors are
// the session's other ones, the context's among them.
func runTrial(ctx context.Context, c trainer.Config, network *models.Network, watch func(*point)) (*outcome, error) {
	s := &saver{outcomeRecorder: outcomeRecorder{watch: watch}, network: network}
	var recorder trainer.Recorder = &s.outcomeRecorder
	if network != nil {
		recorder = s
	}
	session, err := trainer.New(c, recorder)
	if err != nil {
		return nil, err
	}
	err = session.Run(ctx)
	if apart, ok := errors.AsType[*trainer.DivergedError](err); ok {
		s.diverged, err = apart, nil
	}
	if err != nil {
		return nil, err
	}
	return &s.outcome, nil
}
