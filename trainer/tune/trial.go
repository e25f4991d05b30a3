package tune

import (
	"context"
	"math"
	"strings"

	"newtop/internal/score"
	"newtop/trainer"
	"newtop/trainer/event"
	"newtop/trainer/store/recorder"
)

// trial is a Trial with what runs it. The search's goroutine alone touches it.
type trial struct {
	Trial
	config trainer.Config
	tie    float64   // what of epochs with the Best decided
	scores []float64 // what it had on each rung it came to
	barred bool      // given up for good, however long the search continues
	ran    bool      // in this session of the search
	parent *trial    // of a final, the trial that it repeats

	session  session            // nil: it has none
	recorder *recorder.Recorder // of a new run; nil where the run is in the store, or nothing more will come of it
	seated   bool               // it holds a place: its session trains, or is about to end
	place    int                // which
	pausing  bool               // it will pause at the end of the epoch under way
	received int                // the newest epoch that the search has heard of in this session
	pausedAt int                // the epoch after which it has paused; −1: it has not yet
	leaving  bool               // it is paused, and its session ends to make room
	ended    *event.DoneEvent
	queue    []epochMetrics // epochs that nobody has looked at
	room     int64          // bytes that its session takes, roughly
	curve    boundedCurve
}

// session trains a trial.
type session interface {
	// Run returns how it ended.
	Run(ctx context.Context) *event.DoneEvent
	// Do carries out a command; any goroutine may call it.
	Do(ctx context.Context, c event.Command) error
}

// epochMetrics is what a search sees of an epoch.
type epochMetrics struct {
	epoch                int
	value, loss          float64
	test                 float64 // what nobody is judged by, NaN where value is that of the test rows
	tie                  float64 // decides between equal values
	equivalents, seconds float64
	told                 []toldValue // of a program, by the names of its metric
	diverged             string      // why a program's run has; empty: it has not
}

// toldValue is what an epoch tells of a name.
type toldValue struct {
	v     event.Float
	epoch int
}

// measure is what trials are judged by.
type measure struct {
	event.Quantity           // of the rows that decide
	by             *score.By // what is in its place, of the outputs; nil: nothing is
}

// named is what readers call it, of the rows that decide or, of a split "test", of the test rows.
func (m measure) named(split string) string {
	switch {
	case m.by != nil:
		return m.by.Name(split)
	case split == "test":
		return m.Test().Info().Name
	}
	return m.Info().Name
}

// metricsOf returns an epoch's figures; the value is the one that trials are judged by.
func metricsOf(e *event.EpochEvent, m measure) epochMetrics {
	order := event.Measure{Quantity: m.Quantity}.Order()
	f := epochMetrics{
		test: math.NaN(), tie: float64(*order[len(order)-1].Of(e)),
		epoch: e.Epoch, loss: float64(e.Loss), value: float64(*m.Of(e)),
		equivalents: float64(e.GradientEquivalents), seconds: float64(e.Elapsed),
	}
	switch {
	case m.by != nil:
		f.value, f.test, f.tie = m.by.Value(e, "validation"), m.by.Value(e, "test"), float64(e.ValidationLoss)
	case m.Quantity != m.Test():
		f.test = float64(*m.Test().Of(e))
	}
	return f
}

// newTrial returns a trial that waits, begun that many seconds after the search.
func newTrial(number int, choices []Choice, seed uint64, begun float64) *trial {
	return &trial{Trial: Trial{
		Number: number, Setting: number, Choices: choices, Seed: seed, Started: begun,
		Best: nan, Test: nan, Last: nan, Loss: nan, TargetSeconds: nan, TargetEquivalents: nan,
	}}
}

// oneLine writes an error in one line.
func oneLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

// maxPoints bounds a trial's curve.
const maxPoints = 64

// boundedCurve is a curve of bounded length. What it has given out is never changed.
type boundedCurve struct {
	points []Point
	every  int // epochs between two points
	count  int
}

// everySecond returns the first of every two points, in a list of their own.
func everySecond(points []Point) (half []Point) {
	for i := 0; i < len(points); i += 2 {
		half = append(half, points[i])
	}
	return half
}

// add appends a point unless the curve leaves it out.
func (c *boundedCurve) add(p Point) {
	if c.every == 0 {
		c.every = 1
	}
	if c.count++; (c.count-1)%c.every != 0 {
		return
	}
	if len(c.points) >= maxPoints {
		c.points, c.every = everySecond(c.points), 2*c.every
		if (c.count-1)%c.every != 0 {
			return
		}
	}
	c.points = append(c.points, p)
}

// account adds an epoch to what is known of a trial. The sign is −1 where the greatest value is the best.
func (t *trial) account(f *epochMetrics, sign float64) {
	t.Epochs, t.Seconds, t.Equivalents = f.epoch, f.seconds, f.equivalents
	t.Last, t.Loss = event.Float(f.value), event.Float(f.loss)
	best := float64(t.Best)
	if t.config.Folds > 0 && t.config.Weights == "last" {
		best = math.NaN() // a fold is judged by what it ends with
	}
	// the starting weights are nobody's work
	first := f.epoch > 0 || f.told != nil
	if v := sign * f.value; first && (v < sign*best || f.value == best && f.tie < t.tie ||
		math.IsNaN(best) && !math.IsNaN(f.value)) {
		t.Best, t.BestEpoch, t.Test, t.tie = event.Float(f.value), f.epoch, event.Float(f.test), f.tie
	}
	t.curve.add(Point{Seconds: f.seconds, Equivalents: f.equivalents, Value: event.Float(f.value)})
	t.Curve = t.curve.points
}

// scoreAt is the least value of the curve up to a point, times the sign.
func (t *trial) scoreAt(equivalents, sign float64) float64 {
	least := math.NaN()
	for _, p := range t.Curve {
		if v := sign * float64(p.Value); math.IsNaN(least) || p.Equivalents <= equivalents && v < least {
			least = v
		}
	}
	return least
}

var nan = event.Float(math.NaN())
