package papers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
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
	radius         float64 // R of the next step; NaN of methods that have none
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
	trainRows, testRows int
	points              []point
	reason              event.Reason
	diverged            bool      // given up: it did not come to an end of its own
	best                int       // the first of points with the best test
	weights             []float64 // there, if they were asked for
	missed              []byte    // with the weights: the test rows that they misclassify, a bit for each
	foreign             float64   // the share of the processors that others used meanwhile; NaN: not known
}

// outcomeJSON is an outcome in a Journal. A point is its numbers in the order of point.
type outcomeJSON struct {
	Rows     [2]int          `json:"rows"`
	Points   [][]event.Float `json:"points"`
	Reason   event.Reason    `json:"reason"`
	Diverged bool            `json:"diverged,omitempty"`
	Best     int             `json:"best"`
	Weights  []float64       `json:"weights,omitempty"`
	Missed   []byte          `json:"missed,omitempty"`
}

func (o *outcome) MarshalJSON() ([]byte, error) {
	out := outcomeJSON{Rows: [2]int{o.trainRows, o.testRows}, Reason: o.reason, Diverged: o.diverged, Best: o.best, Weights: o.weights, Missed: o.missed}
	for i := range o.points {
		p := &o.points[i]
		out.Points = append(out.Points, event.Floats([]float64{float64(p.epoch), p.loss, p.wrong, p.testErr, p.rmse, p.testRMSE, p.elapsed,
			float64(p.inner), float64(p.solves), p.flops, p.equivalents, p.radius}))
	}
	return json.Marshal(out)
}

func (o *outcome) UnmarshalJSON(text []byte) error {
	var in outcomeJSON
	if err := json.Unmarshal(text, &in); err != nil {
		return err
	}
	*o = outcome{trainRows: in.Rows[0], testRows: in.Rows[1], reason: in.Reason, diverged: in.Diverged, best: in.Best, weights: in.Weights, missed: in.Missed}
	for _, f := range in.Points {
		const numbers = 12
		if len(f) != numbers {
			return fmt.Errorf("a point of %d numbers: expected %d", len(f), numbers)
		}
		v := make([]float64, numbers)
		for i := range v {
			v[i] = float64(f[i])
		}
		o.points = append(o.points, point{epoch: int(v[0]), loss: v[1], wrong: v[2], testErr: v[3], rmse: v[4], testRMSE: v[5], elapsed: v[6],
			inner: int(v[7]), solves: int(v[8]), flops: v[9], equivalents: v[10], radius: v[11]})
	}
	if o.best < 0 || o.best >= len(o.points) {
		return fmt.Errorf("best point %d of %d", o.best, len(o.points))
	}
	return nil
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
	ends  bool         // only the first and the last point are kept
	watch func(*point) // hears of every point; nil: nobody
}

var _ trainer.Recorder = (*outcomeRecorder)(nil)

func (s *outcomeRecorder) Record(e event.Event) error {
	switch e := e.(type) {
	case event.RunEvent:
		s.trainRows, s.testRows = e.Data.TrainRows, e.Data.TestRows
	case event.DoneEvent:
		s.reason = e.Reason
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
	p.equivalents, p.radius = float64(e.GradientEquivalents), float64(e.Radius)
	for i := range e.Inner {
		in := &e.Inner[i]
		p.inner += in.Iterations
		p.solves++
		p.flops += float64(in.Flops) * float64(in.Iterations)
	}
	if s.ends && len(s.points) > 1 {
		s.points[1] = p
	} else {
		s.points = append(s.points, p)
	}
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
// nil the outcome has the weights of the best test, else where ends only its first and last point. A run that diverges
// has an outcome like any other; the errors are the session's other ones, the context's among them.
func runTrial(ctx context.Context, c trainer.Config, network *models.Network, ends bool, watch func(*point)) (*outcome, error) {
	s := &saver{outcomeRecorder: outcomeRecorder{watch: watch, ends: ends && network == nil}, network: network}
	var recorder trainer.Recorder = &s.outcomeRecorder
	if network != nil {
		recorder = s
	}
	session, err := trainer.New(c, recorder)
	if err != nil {
		return nil, err
	}
	err = session.Run(ctx)
	if _, apart := errors.AsType[*trainer.DivergedError](err); apart {
		s.diverged, err = true, nil
	}
	if err != nil {
		return nil, err
	}
	return &s.outcome, nil
}
