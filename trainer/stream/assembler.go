package stream

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"newtop/internal/tfevents"
	"newtop/trainer/event"
	"newtop/trainer/logs/images"
)

// stepAssembler makes events of numbers, which come in the order in which they were written: the values of a step
// become one epoch. TensorBoard's files give it scalars, by join; every other log gives it rows, as the logs.Sink that
// it is.
type stepAssembler struct {
	name     string
	runs     int // begun
	curves   map[string]*curve
	claimed  map[event.Tag]bool // fields that have their curve
	queue    []event.Event      // ready, from head on
	head     int
	given    int64
	open     bool // whether there is a step under way
	serial   int  // of the step under way, or of the one before
	epoch    event.EpochEvent
	expected []*curve // what the step before had
	present  []*curve
	steps    []int   // that were given, ascending, the newest ones
	first    float64 // time of writing, in seconds since 1970
	wall     float64 // of the newest value
	shut     float64 // of the newest value of a step that was given
	opened   float64 // of the first value of the step under way
	spread   float64 // the longest time from a step's first value to its last
	elapsed  float64
	caughtUp bool // whether all that was there has been read
	dropped  int  // values of curves that are too many
	back     int  // times that one curve's steps went back
	rows     rowState
	solve    solve
	lent     lent
}

// lent is who takes epochs that would stand alone in the queue, see Lend.
type lent struct {
	take    func(*event.EpochEvent) // nil: nobody does
	metrics []event.Metric          // of the one before, to use again
}

// maxWall is a time of writing, in seconds since 1970, that is none: the year 9999.
const maxWall = 253_370_764_800

// maxLate is how many values one event tells at most, before another one of the same step follows.
const maxLate = 1024

// maxSteps is how many of the newest steps are remembered, to go back to.
const maxSteps = 1 << 16

func newStepAssembler(name string) stepAssembler {
	return stepAssembler{name: name, curves: make(map[string]*curve), claimed: make(map[event.Tag]bool),
		first: math.NaN(), rows: rowState{images: &images.List{}}}
}

// next returns the next event that is ready, or nil.
func (j *stepAssembler) next() event.Event {
	if j.head == len(j.queue) {
		j.queue, j.head = j.queue[:0], 0
		return nil
	}
	e := j.queue[j.head]
	j.queue[j.head] = nil
	j.head++
	j.given++
	return e
}

// waiting is how many events are ready.
func (j *stepAssembler) waiting() int { return len(j.queue) - j.head }

// join adds a scalar of TensorBoard.
func (j *stepAssembler) join(key string, s tfevents.Scalar) {
	if math.IsNaN(j.first) {
		j.rows.began = true
		j.startRun(s.Wall)
	}
	j.resume()
	j.wall = s.Wall
	j.value(j.curve(key), int(s.Step), s.Value)
	if j.caughtUp && j.complete() {
		j.flush()
	}
}

// add puts a value, written at j.wall, to the step that it belongs to. A step that is not below those before opens an
// epoch; a value of an earlier one is told late, by the epoch under way. Where the steps of the curve that is furthest
// begin again lower, the run went back; of any other curve what is not below goes.
func (j *stepAssembler) add(c *curve, step int, v float64) {
	newest := j.current()
	switch {
	case !c.any:
	case step == c.step && same(v, c.value):
		return
	case step < c.step && c.step == newest:
		j.goBack(step, j.wall)
		newest = j.current()
	case step < c.step, step == c.step && c.serial != j.serial, step == c.step && !j.open:
		if step < c.step {
			j.back++
		}
		j.cut(c, step)
		c.any = step > c.first
	}
	if !c.any {
		c.first = step
	}
	if j.open && (step > j.epoch.Epoch || step == j.epoch.Epoch && c.any && c.serial == j.serial && step > c.step) {
		j.flush() // an event has no value of a curve's earlier steps beside that of its own
	}
	if !j.open {
		j.start(max(step, newest), j.wall)
	}
	if step == j.epoch.Epoch {
		j.spread = max(j.spread, j.wall-j.opened)
		if c.serial != j.serial {
			j.present = append(j.present, c)
		}
	}
	c.set(&j.epoch, step, j.serial, v)
	if step == j.epoch.Epoch {
		j.solve.note(c.key, v)
	}
	j.elapsed = max(j.elapsed, j.wall-j.first)
	if len(j.epoch.Metrics) >= maxLate {
		j.flush()
	}
}

// cut says that a curve's values from a step on are void.
func (j *stepAssembler) cut(c *curve, from int) {
	if c.serial == j.serial { // the step under way may have some of them
		j.flush()
	}
	j.queue = append(j.queue, event.CutEvent{Metric: c.name, From: from})
	if c.logged {
		j.queue = append(j.queue, event.CutEvent{Metric: c.key, From: from})
	}
}

// leftOut says which values that were read are shown nowhere, of a log of a name; empty: none.
func (j *stepAssembler) leftOut(name string) string {
	switch {
	case j.dropped > 0:
		return fmt.Sprintf("%s: more than %d metrics: the others are left out", name, maxCurves)
	case j.back > 0:
		return fmt.Sprintf("%s: steps of single metrics that went back: %d; the values from there on are left out",
			name, j.back)
	}
	return ""
}

// lastStep is the newest step that was given.
func (j *stepAssembler) lastStep() int {
	if len(j.steps) == 0 {
		return math.MinInt
	}
	return j.steps[len(j.steps)-1]
}

// current is the step under way, or else the newest.
func (j *stepAssembler) current() int {
	if j.open {
		return j.epoch.Epoch
	}
	return j.lastStep()
}

func (j *stepAssembler) startRun(wall float64) {
	j.first, j.elapsed, j.shut = wall, 0, wall
	j.runs++
	j.queue = append(j.queue, j.opening())
}

// opening says what the run is, as far as it is known.
func (j *stepAssembler) opening() event.RunEvent {
	info := &j.rows.info
	e := event.RunEvent{Version: 1, ID: j.name, Data: event.DataInfo{Name: j.name}, Time: info.Began,
		Epochs: int(info.Steps), Unit: j.rows.unit}
	if info.Name != "" {
		e.Data.Name = info.Name
	}
	if j.runs > 1 {
		e.ID = fmt.Sprintf("%s (%d)", e.ID, j.runs)
	}
	if len(info.Config) > 0 {
		e.Settings = maps.Clone(info.Config)
	}
	for key, x := range info.Axes {
		if tag := event.ParseTag(key); tag.Known {
			key = tag.Quantity.Info().Key
		}
		if e.Axes == nil {
			e.Axes = map[string]string{}
		}
		e.Axes[key] = x
	}
	if e.Time.IsZero() {
		e.Time = timeOf(j.first)
	}
	return e
}

// timeOf makes a time of seconds since 1970, the zero one of what is no time of day.
func timeOf(wall float64) time.Time {
	const day = 86400
	if !(wall > day && wall < maxWall) {
		return time.Time{}
	}
	seconds, rest := math.Modf(wall)
	return time.Unix(int64(seconds), int64(rest*1e9)).UTC()
}

// curve returns the curve of a key, or nil if there are too many.
func (j *stepAssembler) curve(key string) *curve {
	if c := j.curves[key]; c != nil {
		return c
	}
	if len(j.curves) >= maxCurves {
		return nil
	}
	tag := event.ParseTag(key)
	if key == "delta" && j.curves["act"] != nil && j.curves["pre"] != nil { // TRON's, beside the decreases
		tag = event.Tag{Known: true, Quantity: event.Radius}
	}
	if tag.Known {
		field := event.Tag{Known: true, Quantity: tag.Quantity} // which an error and an accuracy share
		if j.claimed[field] {
			tag = event.Tag{}
		} else {
			j.claimed[field] = true
		}
	}
	c := &curve{key: key}
	c.take(tag)
	j.curves[key] = c
	return c
}

// goBack gives the step under way, and says that the run went back to before a step.
func (j *stepAssembler) goBack(step int, wall float64) {
	j.flush()
	at, _ := slices.BinarySearch(j.steps, step)
	if at == 0 { // to before the first: this is another run
		curves := j.curves
		*j = stepAssembler{
			name: j.name, runs: j.runs, curves: curves, claimed: j.claimed, dropped: j.dropped, back: j.back,
			spread: j.spread, queue: j.queue, head: j.head, given: j.given, caughtUp: j.caughtUp, serial: j.serial,
			rows: j.rows.again(), lent: j.lent,
		}
		for _, c := range curves {
			c.any = false
		}
		j.startRun(wall)
		j.wall = wall
		return
	}
	to := j.steps[at-1]
	j.queue = append(j.queue, event.RewindEvent{Epoch: j.lastStep(), To: to})
	j.steps = j.steps[:at]
	for _, c := range j.curves {
		if c.step > to { // its value there, if it has one, is not known any more
			c.step, c.value, c.any = to, math.NaN(), c.any && c.first <= to
		}
	}
}

func (j *stepAssembler) start(step int, wall float64) {
	j.open, j.opened = true, wall
	j.serial++
	j.epoch = event.UnknownEpoch(step)
	if j.epoch.Metrics = j.lent.metrics; j.epoch.Metrics == nil && len(j.expected) > 0 {
		j.epoch.Metrics = make([]event.Metric, 0, len(j.expected))
	}
}

// patience is how long nothing must have come for an incomplete step to be given: validation may take its time.
func (j *stepAssembler) patience() time.Duration {
	seconds := min(1.5*j.spread, longest.Seconds())
	return max(stepTimeout, time.Duration(seconds*float64(time.Second)))
}

// complete reports whether the step has what the one before had.
func (j *stepAssembler) complete() bool {
	if !j.open || len(j.expected) == 0 {
		return false
	}
	for _, c := range j.expected {
		if c.serial != j.serial {
			return false
		}
	}
	return true
}

// flush gives the step under way.
func (j *stepAssembler) flush() {
	if !j.open {
		return
	}
	if !j.rows.any || j.rows.timed {
		before := 0.0
		if !math.IsNaN(j.shut) {
			before = max(0, j.shut-j.first)
		}
		j.epoch.Elapsed = event.Float(j.elapsed)
		if j.epoch.Seconds.Absent() && !j.rows.any { // rows may leave out steps, so that a viewer reckons
			j.epoch.Seconds = event.Float(max(0, j.elapsed-before))
		}
	}
	metrics := j.epoch.Metrics
	if len(metrics) == 0 {
		j.epoch.Metrics = nil
	}
	j.solve.add(&j.epoch)
	j.epoch.Accepted = j.epoch.Accepted && !(j.epoch.Rho <= 0)
	if j.lent.take != nil && j.waiting() == 0 {
		j.lent.take(&j.epoch)
		j.lent.metrics = metrics[:0]
	} else {
		j.queue = append(j.queue, j.epoch)
		j.lent.metrics = nil
	}
	if step := j.epoch.Epoch; step != j.lastStep() {
		if len(j.steps) >= maxSteps {
			j.steps = slices.Delete(j.steps, 0, maxSteps/2)
		}
		j.steps = append(j.steps, step)
	}
	j.shut = j.first + j.elapsed
	j.open, j.epoch = false, event.EpochEvent{}
	if len(j.present) > 0 {
		j.expected, j.present = j.present, j.expected[:0]
	}
}
