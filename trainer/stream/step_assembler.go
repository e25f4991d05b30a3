package stream

import (
	"fmt"
	"math"
	"slices"
	"time"

	"newtop/internal/tfevents"
	"newtop/trainer/event"
)

// stepAssembler makes events of scalars, which come in the order in which they were written: the values of a step become
// one epoch.
type stepAssembler struct {
	name     string
	runs     int // begun
	curves   map[string]*curve
	taken    map[place]bool // fields that have their curve
	queue    []event.Event  // ready, from head on
	head     int
	given    int64
	open     bool // whether there is a step under way
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
}

// maxWall is a time of writing, in seconds since 1970, that is none: the year 9999.
const maxWall = 253_370_764_800

// maxSteps is how many of the newest steps are remembered, to go back to.
const maxSteps = 1 << 16

func newStepAssembler(name string) stepAssembler {
	return stepAssembler{name: name, curves: make(map[string]*curve), taken: make(map[place]bool), first: math.NaN()}
}

// next returns the next event that is ready, or nil.
func (a *stepAssembler) next() event.Event {
	if a.head == len(a.queue) {
		a.queue, a.head = a.queue[:0], 0
		return nil
	}
	e := a.queue[a.head]
	a.queue[a.head] = nil
	a.head++
	a.given++
	return e
}

// join adds a value.
func (a *stepAssembler) add(key string, s tfevents.Scalar) {
	if math.IsNaN(a.first) {
		a.beginRun(s.Wall)
	}
	a.wall = s.Wall
	c := a.curve(key)
	if c == nil {
		a.dropped++
		return
	}
	step := int(s.Step)
	if c.any && s.Step == 0 && c.raw == 0 {
		step = c.step + 1 // a writer that is not told steps says 0
	}
	if c.any && step < c.step && !c.apart {
		a.goBack(step, s.Wall)
	}
	again := c.any && step == c.step
	c.any, c.step, c.raw = true, step, s.Step
	newest := math.MinInt
	if len(a.steps) > 0 {
		newest = a.steps[len(a.steps)-1]
	}
	switch {
	case a.open && step > a.epoch.Epoch:
		a.flush()
		a.start(step, s.Wall)
	case !a.open && step > newest:
		a.start(step, s.Wall)
	case !a.open:
		// The step was given without it, or with the first of two values. While all is read in the order of writing
		// there is nothing better than to leave it out.
		a.late = a.late || a.caughtUp && !again
		return
	case step < a.epoch.Epoch && s.Wall < a.shut && a.caughtUp:
		a.late = true
		return
	}
	c.apart = step != a.epoch.Epoch
	if !c.apart {
		a.spread = max(a.spread, s.Wall-a.opened)
	}
	if !c.has(&a.epoch) {
		a.present = append(a.present, c)
	}
	c.put(&a.epoch, s.Value)
	a.elapsed = max(a.elapsed, s.Wall-a.first)
	if a.caughtUp && a.complete() {
		a.flush()
	}
}

func (a *stepAssembler) beginRun(wall float64) {
	a.first, a.elapsed, a.shut = wall, 0, wall
	a.runs++
	id := a.name
	if a.runs > 1 {
		id = fmt.Sprintf("%s (%d)", a.name, a.runs)
	}
	e := event.RunEvent{Version: 1, ID: id, Data: event.DataInfo{Name: a.name}}
	if wall > 0 && wall < maxWall {
		seconds, rest := math.Modf(wall)
		e.Time = time.Unix(int64(seconds), int64(rest*1e9)).UTC()
	}
	a.queue = append(a.queue, e)
}

// curve returns the curve of a key, or nil if there are too many.
func (a *stepAssembler) curve(key string) *curve {
	if c := a.curves[key]; c != nil {
		return c
	}
	if len(a.curves) >= maxCurves {
		return nil
	}
	c := &curve{key: key, place: placeOf(key)}
	if c.place.measure != otherMeasure {
		if a.taken[c.place.same()] {
			c.place = place{}
		} else {
			a.taken[c.place.same()] = true
		}
	}
	a.curves[key] = c
	return c
}

// goBack gives the step under way, and says that the run went back to before a step.
func (a *stepAssembler) goBack(step int, wall float64) {
	a.flush()
	at, _ := slices.BinarySearch(a.steps, step)
	if at == 0 { // to before the first: this is another run
		curves := a.curves
		*a = stepAssembler{
			name: a.name, runs: a.runs, curves: curves, taken: a.taken, dropped: a.dropped, spread: a.spread,
			queue: a.queue, head: a.head, given: a.given, caughtUp: a.caughtUp,
		}
		for _, c := range curves {
			c.any, c.step, c.raw = false, 0, 0
		}
		a.beginRun(wall)
		a.wall = wall
		return
	}
	to := a.steps[at-1]
	a.queue = append(a.queue, event.RewindEvent{Epoch: a.steps[len(a.steps)-1], To: to})
	a.steps = a.steps[:at]
	for _, c := range a.curves {
		c.step = min(c.step, to)
	}
}

func (a *stepAssembler) start(step int, wall float64) {
	a.open, a.opened = true, wall
	a.epoch = event.UnknownEpoch(step)
}

// patience is how long nothing must have come for an incomplete step to be given: validation may take its time.
func (a *stepAssembler) patience() time.Duration {
	seconds := min(1.5*a.spread, longest.Seconds())
	return max(settled, time.Duration(seconds*float64(time.Second)))
}

// complete reports whether the step has what the one before had.
func (a *stepAssembler) complete() bool {
	if !a.open || len(a.expected) == 0 {
		return false
	}
	for _, c := range a.expected {
		if !c.has(&a.epoch) {
			return false
		}
	}
	return true
}

// flush gives the step under way.
func (a *stepAssembler) flush() {
	if !a.open {
		return
	}
	before := 0.0
	if !math.IsNaN(a.shut) {
		before = max(0, a.shut-a.first)
	}
	a.epoch.Elapsed = event.Float(a.elapsed)
	if math.IsNaN(float64(a.epoch.Seconds)) {
		a.epoch.Seconds = event.Float(max(0, a.elapsed-before))
	}
	a.queue = append(a.queue, a.epoch)
	if len(a.steps) >= maxSteps {
		a.steps = slices.Delete(a.steps, 0, maxSteps/2)
	}
	a.steps = append(a.steps, a.epoch.Epoch)
	a.shut = a.first + a.elapsed
	a.open, a.epoch = false, event.EpochEvent{}
	a.expected, a.present = a.present, a.expected[:0]
}
