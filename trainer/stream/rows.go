package stream

import (
	"fmt"
	"math"
	"strings"
	"time"

	"newtop/trainer/event"
	"newtop/trainer/logs"
	"newtop/trainer/logs/images"
)

var _ logs.Sink = (*stepAssembler)(nil)

// rowState is what the assembler knows of a log that gives rows.
type rowState struct {
	any     bool    // whether there was one
	timed   bool    // whether the log, or the clock, tells times
	since   float64 // elapsed seconds are counted from it on the axis of j.wall
	began   bool    // whether the run was begun
	ended   bool
	unit    string // what the run counts, where that is not epochs
	info    logs.Info
	stepped bool    // whether a row told its step
	last    float64 // the step that was reported last, with offset
	offset  float64 // of steps that are counted from the beginning of each epoch
	epoch   float64 // that was reported last
	partial bool    // whether an epoch was a fraction, so that epochs are no steps
	clock   func() float64
	lines   [][]byte // that were printed before all was read, the newest in a ring
	printed int      // how many there were
	keys    map[partKey]string
	latest  []placed        // of the row before
	machine map[string]bool // metrics of the machine that were told
	images  *images.List
}

type partKey struct{ part, key string }

// placed is a value of a row with the curve that it went to.
type placed struct {
	partKey
	curve *curve
}

// again is the state for another run of the same log.
func (s *rowState) again() rowState {
	return rowState{any: s.any, began: true, unit: s.unit, info: s.info, clock: s.clock, lines: s.lines,
		printed: s.printed, keys: s.keys, machine: s.machine, images: s.images}
}

// maxLines bounds the lines that are kept of what was printed before anyone looked.
const maxLines = 2000

// rowPatience is how long nothing must have come of a log of rows for an incomplete step to be given. What comes for
// it later is distinguished.
const rowPatience = 25 * time.Millisecond

// Row adds what a program wrote at once.
func (j *stepAssembler) Row(r *logs.Row) {
	s := &j.rows
	timed := r.Wall == r.Wall || r.Elapsed == r.Elapsed
	if len(r.Values) == 0 && s.any || timed && j.ofMachine(r) {
		return
	}
	if s.unit == "" && (r.Step == r.Step || !s.any && r.Epoch != math.Trunc(r.Epoch)) {
		s.unit = "step"
		if s.began { // by what was printed before
			j.flush()
			j.queue = append(j.queue, j.opening())
		}
	}
	j.ensureRun(r)
	j.resume()
	s.any = true
	j.wall = j.timeOf(r)
	step := j.stepOf(r)
	if s.partial || s.stepped {
		if r.Epoch == r.Epoch {
			j.value(j.curve("epoch"), step, r.Epoch)
		}
	}
	for i := range r.Values {
		if v := &r.Values[i]; !timed || !event.IsMachine(v.Key) {
			j.value(j.curveOf(i, r.Part, v.Key), step, v.V)
		}
	}
	if j.caughtUp && j.complete() {
		j.flush()
	}
}

// ofMachine takes what a row that tells its time tells of the machine, and reports whether that was all.
func (j *stepAssembler) ofMachine(r *logs.Row) bool {
	s := &j.rows
	var e event.MachineEvent
	all := len(r.Values) > 0
	for i := range r.Values {
		v := &r.Values[i]
		switch {
		case !event.IsMachine(v.Key):
			all = false
		case !s.machine[v.Key] && len(s.machine) >= maxCurves:
			j.dropped++
		default:
			if s.machine == nil {
				s.machine = map[string]bool{}
			}
			s.machine[v.Key] = true
			e.Metrics = append(e.Metrics, event.Metric{Key: v.Key, Value: event.ValueOf(v.V)})
		}
	}
	if len(e.Metrics) > 0 {
		j.ensureRun(r)
		e.Elapsed = event.Float(max(0, j.timeOf(r)-j.first))
		j.queue = append(j.queue, e)
	}
	return all
}

// resume says that a run that had ended continues.
func (j *stepAssembler) resume() {
	if j.rows.ended {
		j.rows.ended = false
		j.queue = append(j.queue, event.ResumeEvent{Epoch: max(0, j.lastStep())})
	}
}

// value adds a value to a curve; nil: there are too many.
func (j *stepAssembler) value(c *curve, step int, v float64) {
	if c == nil {
		j.dropped++
		return
	}
	raw := step
	switch {
	case c.any && step == 0 && c.raw == 0:
		step = c.step + 1 // a writer that is not told steps says 0
	case c.any && c.raw == 0 && c.step > 0: // it is: what came for 0 again goes, the first stays
		j.cut(c, 1)
		j.back++
		c.step, c.value = 0, math.NaN()
	}
	j.add(c, step, v)
	c.raw = raw
}

// curveOf returns the curve of a row's value, which is rather the one of the same place in the row before.
func (j *stepAssembler) curveOf(place int, part, key string) *curve {
	s := &j.rows
	at := partKey{part, key}
	if place < len(s.latest) && s.latest[place].partKey == at && s.latest[place].curve != nil {
		return s.latest[place].curve
	}
	c := j.curve(j.keyOf(part, key))
	for len(s.latest) <= place {
		s.latest = append(s.latest, placed{})
	}
	s.latest[place] = placed{at, c}
	return c
}

// keyOf puts the part before a key that does not say it.
func (j *stepAssembler) keyOf(part, key string) string {
	if part == "" {
		return key
	}
	if name, ok := j.rows.keys[partKey{part, key}]; ok {
		return name
	}
	if j.rows.keys == nil {
		j.rows.keys = map[partKey]string{}
	}
	name := part + "/" + key
	if len(j.rows.keys) < maxCurves {
		j.rows.keys[partKey{part, key}] = name
	}
	return name
}

// ensureRun opens the run.
func (j *stepAssembler) ensureRun(r *logs.Row) {
	if j.rows.began {
		return
	}
	j.rows.began = true
	first := 0.0
	if r != nil && r.Wall == r.Wall && !(r.Elapsed == r.Elapsed) {
		first = r.Wall
	}
	j.rows.since = first
	j.startRun(first)
}

// timeOf returns when a row was written, in seconds on the axis on which the run began.
func (j *stepAssembler) timeOf(r *logs.Row) float64 {
	s := &j.rows
	switch {
	case r.Elapsed == r.Elapsed:
		s.timed = true
		return s.since + r.Elapsed
	case r.Wall == r.Wall && (s.since > 0 || !s.timed):
		if s.since == 0 { // the first time of day; what came before told none
			s.since, j.first, j.shut = r.Wall, r.Wall, r.Wall
		}
		s.timed = true
		return r.Wall
	case s.clock != nil && s.since == 0:
		s.timed = true
		return max(s.clock(), j.wall) // a program's rows come by two ways
	}
	return j.wall
}

// stepOf returns the step of a row: its own; or else, of a log whose other rows tell steps, the newest; or its epoch,
// as long as epochs are whole; or how many rows there were. Rows without any number belong together as long as they
// tell different things.
func (j *stepAssembler) stepOf(r *logs.Row) int {
	s := &j.rows
	at := j.current()
	switch epoch := r.Epoch; {
	case r.Step == r.Step:
		step := r.Step + s.offset
		if s.stepped && epoch > s.epoch && step < s.last { // counted within the epoch
			s.offset = s.last
			if r.Step == 0 {
				s.offset++
			}
			step = r.Step + s.offset
		}
		if epoch == epoch {
			s.epoch = epoch
		}
		s.stepped, s.last = true, step
		return int(math.Round(step))
	case s.stepped && at > math.MinInt:
		s.partial = s.partial || epoch != math.Trunc(epoch) && epoch == epoch
		if s.partial && epoch > s.epoch && j.repeats(r, at) { // the steps were those of something else
			at++
		}
		return at
	case epoch == epoch && epoch == math.Trunc(epoch) && !s.partial:
		s.epoch = epoch
		return int(epoch)
	case epoch == epoch && s.partial && epoch == s.epoch && at > math.MinInt:
		return at
	case epoch == epoch:
		s.partial, s.epoch = true, epoch
	case at == math.MinInt:
		return 1
	case !j.repeats(r, at):
		return at
	}
	if at == math.MinInt {
		return 1
	}
	return at + 1
}

// repeats reports whether a step has one of a row's values.
func (j *stepAssembler) repeats(r *logs.Row, step int) bool {
	for i := range r.Values {
		if c := j.curves[j.keyOf(r.Part, r.Values[i].Key)]; c != nil && c.any && c.step == step {
			return true
		}
	}
	return false
}

// Info takes what the log says of its run.
func (j *stepAssembler) Info(i logs.Info) {
	have := &j.rows.info
	changed := i.Name != "" && i.Name != have.Name || i.Steps > 0 && i.Steps != have.Steps
	if i.Name != "" {
		have.Name = i.Name
	}
	if i.Steps > 0 {
		have.Steps = i.Steps
	}
	if !i.Began.IsZero() {
		have.Began = i.Began
	}
	if i.Program != "" {
		have.Program = i.Program
	}
	for key, v := range i.Config {
		switch v.(type) {
		case string, bool, float64:
		default:
			v = fmt.Sprint(v)
		}
		if have.Config == nil {
			have.Config = map[string]any{}
		}
		changed = changed || have.Config[key] != v
		have.Config[key] = v
	}
	for key, x := range i.Axes {
		if have.Axes == nil {
			have.Axes = map[string]string{}
		}
		changed = changed || have.Axes[key] != x
		have.Axes[key] = x
	}
	if changed && j.rows.began {
		j.flush()
		j.queue = append(j.queue, j.opening())
	}
}

// Line takes a line that the program printed.
func (j *stepAssembler) Line(text []byte) {
	switch {
	case j.caughtUp:
		j.ensureRun(nil)
		j.queue = append(j.queue, printed(text))
	default:
		s := &j.rows
		if len(s.lines) < maxLines {
			s.lines = append(s.lines, nil)
		}
		at := s.printed % maxLines
		s.lines[at] = append(s.lines[at][:0], text...)
		s.printed++
	}
}

func printed(text []byte) event.ConsoleEvent {
	return event.ConsoleEvent{Text: strings.ToValidUTF8(string(text), "\uFFFD")}
}

// catchUp says that all that was there has been read: what comes from now on comes as it is written.
func (j *stepAssembler) catchUp() {
	j.caughtUp = true
	lines, first := j.rows.lines, j.rows.printed
	if len(lines) == 0 {
		return
	}
	j.rows.lines, j.rows.printed = nil, 0
	j.ensureRun(nil)
	for i := range lines {
		j.queue = append(j.queue, printed(lines[(first+i)%len(lines)]))
	}
}

// End says what became of the run.
func (j *stepAssembler) End(state logs.State, message string) {
	if j.rows.ended || state == logs.Unknown {
		return
	}
	j.ensureRun(nil)
	j.flush()
	reason := event.ReasonFinished
	switch state {
	case logs.Failed:
		reason = event.ReasonFailed
	case logs.Stopped:
		reason = event.ReasonStopped
	}
	done := event.UnknownDone()
	done.Reason, done.Message, done.Epochs = reason, message, max(0, j.lastStep())
	j.rows.ended = true
	j.queue = append(j.queue, done)
}
