package stream

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"newtop/internal/tfevents"
	"newtop/trainer/event"
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
	late     bool // whether a value has come after its step was given
	dropped  int
	rows     rowState
}

// maxWall is a time of writing, in seconds since 1970, that is none: the year 9999.
const maxWall = 253_370_764_800

// maxSteps is how many of the newest steps are remembered, to go back to.
const maxSteps = 1 << 16

func newStepAssembler(name string) stepAssembler {
	return stepAssembler{name: name, curves: make(map[string]*curve), claimed: make(map[event.Tag]bool),
		first: math.NaN()}
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
	c := j.curve(key)
	if c == nil {
		j.dropped++
		return
	}
	step := int(s.Step)
	if c.any && s.Step == 0 && c.raw == 0 {
		step = c.step + 1 // a writer that is not told steps says 0
	}
	j.add(c, step, s.Step, s.Value)
	if j.caughtUp && j.complete() {
		j.flush()
	}
}

// add puts a value, written at j.wall, into the step that it belongs to.
func (j *stepAssembler) add(c *curve, step int, raw int64, v float64) {
	if c.any && step < c.step && !c.apart {
		j.goBack(step, j.wall)
	}
	again := c.any && step == c.step
	c.any, c.step, c.raw = true, step, raw
	newest := j.lastStep()
	switch {
	case j.open && step > j.epoch.Epoch:
		j.flush()
		j.start(step, j.wall)
	case !j.open && step > newest:
		j.start(step, j.wall)
	case !j.open && j.rows.any: // the step was given without it: it is reported once more, with what is new
		j.start(newest, j.wall)
	case !j.open:
		// The step was given without it, or with the first of two values. While all is read in the order of writing
		// there is nothing better than to leave it out.
		j.late = j.late || j.caughtUp && !again
		return
	case step < j.epoch.Epoch && j.wall < j.shut && j.caughtUp && !j.rows.any:
		j.late = true
		return
	}
	c.apart = step != j.epoch.Epoch
	if !c.apart {
		j.spread = max(j.spread, j.wall-j.opened)
	}
	if c.serial != j.serial {
		j.present = append(j.present, c)
	}
	c.set(&j.epoch, j.serial, v)
	j.elapsed = max(j.elapsed, j.wall-j.first)
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
	c := &curve{key: key, tag: event.ParseTag(key)}
	if c.tag.Known {
		field := event.Tag{Known: true, Quantity: c.tag.Quantity} // which an error and an accuracy share
		if j.claimed[field] {
			c.tag = event.Tag{}
		} else {
			j.claimed[field] = true
		}
	}
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
			name: j.name, runs: j.runs, curves: curves, claimed: j.claimed, dropped: j.dropped, spread: j.spread,
			queue: j.queue, head: j.head, given: j.given, caughtUp: j.caughtUp, serial: j.serial, rows: j.rows.again(),
		}
		for _, c := range curves {
			c.any, c.step, c.raw = false, 0, 0
		}
		j.startRun(wall)
		j.wall = wall
		return
	}
	to := j.steps[at-1]
	j.queue = append(j.queue, event.RewindEvent{Epoch: j.lastStep(), To: to})
	j.steps = j.steps[:at]
	for _, c := range j.curves {
		c.step = min(c.step, to)
	}
}

func (j *stepAssembler) start(step int, wall float64) {
	j.open, j.opened = true, wall
	j.serial++
	j.epoch = event.UnknownEpoch(step)
	if n := len(j.expected); n > 0 {
		j.epoch.Metrics = make([]event.Metric, 0, n)
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
	if len(j.epoch.Metrics) == 0 {
		j.epoch.Metrics = nil
	}
	j.queue = append(j.queue, j.epoch)
	if step := j.epoch.Epoch; step != j.lastStep() {
		if len(j.steps) >= maxSteps {
			j.steps = slices.Delete(j.steps, 0, maxSteps/2)
		}
		j.steps = append(j.steps, step)
	}
	j.shut = j.first + j.elapsed
	j.open, j.epoch = false, event.EpochEvent{}
	j.expected, j.present = j.present, j.expected[:0]
}
