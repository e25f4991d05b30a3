package shape

import (
	"bytes"
	"math"

	"newtop/trainer/logs"
)

// none is the index of a token that there is not.
const none = -1

// count is a hole of a shape whose number counts something.
type count struct {
	at, of int // tokens of the number and of how many there will be
	axis   axis
	within bool    // it counts within the epoch
	weak   bool    // no word says so: it counts if it grows on every line
	last   float64 // of the line before
	lines  int     // that were read
	grown  int     // lines on which it was greater than on the line before
	less   int     // and smaller
	lastOf float64 // how many there will be, of the line before
	pairs  int     // lines on which it is rather a second count, within the first
}

// noteOf remembers how what stands behind its / moves, before note.
func (c *count) noteOf(v, of float64) {
	if c.lines > 0 && (v == c.last && of > c.lastOf || v > c.last && of < c.lastOf) {
		c.pairs++
	}
	c.lastOf = of
}

// note remembers how the count moves from line to line.
func (c *count) note(v float64) {
	if c.lines > 0 && v > c.last {
		c.grown++
	} else if c.lines > 0 && v < c.last {
		c.less++
	}
	c.last = v
	c.lines++
}

// climbs reports whether the count has grown on every line; the first lines are read twice.
func (c *count) climbs() bool { return c.grown > 0 && c.less == 0 && c.grown >= c.lines-2 }

// pair reports whether n/m is an epoch and a step within it, as 1/200 after 1/100.
func (c *count) pair() bool { return c.lines > 2 && 2*c.pairs >= c.lines-1 }

// rests reports whether the count has stood still for as long as tells something.
func (c *count) rests() bool { return c.lines > 2 && c.grown == 0 && c.less == 0 }

// reading is a hole of a shape whose number is a metric's.
type reading struct {
	at, of  int // tokens of the number and of what it is divided by
	mean    int // token of the mean in brackets behind it
	spread  int // token of the deviation behind it
	beside  int // token of the value, if this one counts: the shape's weak count says; 0: there is none
	name    *name
	part    string
	group   string // the key is in
	suffix  string // of a component of a list
	percent bool
	marked  bool // a colon or = stands before the number

	last     *series // that the newest value went to
	lastPart string  // for which it is the one
}

// shape is a line without its numbers, read once: what each of its numbers is.
type shape struct {
	counts   []count
	readings []reading
	n, m     int // tokens of progress without a name: n of m
	lead     int // token of N: at the start, a rank or else a step
	bar      bool
	named    bool // words stand before the bar's per cent
	numbers  bool // there are some
	full     bool // its readings count when n is m, as those of Keras' bars
	dashes   bool // so do those of a line without a bar
	eval     bool // progress through rows for testing
	strong   bool // a reading has a name that the field knows
	measured int  // readings that have one which is no rate
	leads    bool // the line begins with its counter
	short    bool // of few words
	single   bool // one name and one number: a line of a record
	star     bool // a summary of the pass before: * Acc@1 76.1
	best     bool // announces the best there was
	says     bool // words behind a colon: val: New cache created
	dict     bool
	summary  bool // of the run, with which its log ends
	scope
	header bool   // may be a table's
	trace  *trace // for Explain
	motion
}

// scope is what a line says that its metrics, or those of the lines that follow, are of.
type scope struct {
	part    string // of the rows
	title   string // cat: precision: 0.5
	section string // of the lines that follow: | time/ | |
}

// motion is how the lines of a shape go on.
type motion struct {
	span     count // of a range behind a name, as that of the steps of a mean; token 0: there is none
	lines    int   // that came
	total    int   // that came among the first lines of the log
	collides int   // that have other values for the place of the line before
	crowded  bool
	repeats  int     // whose step is their epoch, below the step that other lines have reached
	epochal  bool    // all do: such a step counts epochs
	place    float64 // of the line before
	value    float64 // first reading of the line before
	like     template
	prefix   prefix // of that
	next     *shape // of the line that came behind
}

// countsEpochs reports whether a line's step only repeats its epoch, as those of validation that are numbered apart.
func (s *shape) countsEpochs(f *found, reached float64) bool {
	if f.step != f.epoch || f.steps == f.steps || !(reached > f.step) {
		s.epochal = false
		return false
	}
	s.repeats++
	s.epochal = s.epochal || s.lines > 1 && s.repeats == s.lines
	return s.epochal
}

// restart begins the lines again, after a trial.
func (s *shape) restart() {
	s.motion = motion{span: s.span, total: s.lines, crowded: s.lines > 2 && 2*s.collides >= s.lines-1,
		epochal: s.lines > 1 && s.repeats == s.lines}
	for i := range s.readings {
		s.readings[i].last = nil
	}
	for i := range s.counts {
		s.counts[i].last = math.NaN()
	}
	s.span.last = math.NaN()
	s.trace = nil
}

// found is what a line says of its place.
type found struct {
	epoch, epochs float64 // of how many; NaN: not said
	step, steps   float64
	n, m          float64 // progress without a name
	within        bool    // step counts within the epoch
	global        bool    // step counts since the run began
	eval, bar     bool
}

func (f *found) clear() {
	nan := math.NaN()
	f.epoch, f.epochs, f.step, f.steps, f.n, f.m = nan, nan, nan, nan, nan, nan
	f.within, f.global, f.eval, f.bar = false, false, false, false
}

// placed reports whether the line says where it belongs.
func (f *found) placed() bool { return f.epoch == f.epoch || f.step == f.step || f.n == f.n }

// find reads the counters of a line.
func (s *shape) find(f *found, line []byte, tokens []token) {
	f.clear()
	f.eval, f.bar = s.eval, s.bar
	var best *count
	for i := range s.counts {
		c := &s.counts[i]
		t := &tokens[c.at]
		v := t.count(line)
		if !(v >= 0 && v < 1<<53) || c.axis != epoch && v != math.Trunc(v) {
			continue
		}
		of := math.NaN()
		if c.of != none {
			of = tokens[c.of].count(line)
			c.noteOf(v, of)
		}
		if c.note(v); c.weak && !c.climbs() {
			continue
		}
		switch {
		case c.pair():
			best = c
			f.epoch, f.epochs, f.step, f.steps, f.within, f.global = v, math.NaN(), of, math.NaN(), true, false
		case c.axis == epoch:
			if f.epoch != f.epoch {
				f.epoch, f.epochs = v, of
			}
		case best == nil || c.better(best):
			best = c
			f.step, f.steps = v, of
			f.within, f.global = c.within || of == of, c.axis == global
		}
	}
	if best != nil && best.axis <= batch && best.grown == 0 && (f.epoch != f.epoch || best.axis != batch) &&
		f.steps != f.steps {
		f.step, f.steps = math.NaN(), math.NaN() // a size or a length
	}
	if s.n != none {
		f.n, f.m = tokens[s.n].value(line), math.NaN()
		if s.m != none {
			f.m = tokens[s.m].value(line)
		}
	}
	if s.span.at > 0 {
		t := &tokens[s.span.at]
		end, _ := logs.ParseNumber(line[t.a+bytes.LastIndexByte(line[t.a:t.b], '-')+1 : t.b])
		if s.span.note(end); s.span.grown > 0 && s.span.less == 0 {
			f.n = end // avg. loss [101-200]: of a bar that is beyond
		}
	}
}

// weakClimbs reports whether the shape counts by a number that no word says to count.
func (s *shape) weakClimbs() bool {
	for i := range s.counts {
		if c := &s.counts[i]; c.weak && c.climbs() {
			return true
		}
	}
	return false
}

// better reports whether a count is rather the step of its line than another one is.
func (c *count) better(o *count) bool {
	switch {
	case c.rests() && o.grown > 0:
		return false
	case o.rests() && c.grown > 0 && c.axis != total:
		return true
	}
	return c.axis > o.axis
}

// series is a metric's newest place.
type series struct {
	key string
	at  float64
	v   float64
	own bool // its line had an x of its own

	lines    int     // of rows that have no step
	collides int     // that have another value at the epoch of the row before
	value    float64 // of that
}

// collection is the series by their keys.
type collection map[string]*series

// maxSeries bounds the keys of which the newest place is remembered.
const maxSeries = 1 << 16

// of returns the series of a key.
func (c collection) of(key string) *series {
	t := c[key]
	if t == nil {
		t = &series{key: key, at: math.NaN()}
		if len(c) < maxSeries {
			c[key] = t
		}
	}
	return t
}

// decimals is how many digits stand behind the point of a line's epoch.
func (s *shape) decimals(line []byte, tokens []token) int {
	for _, c := range s.counts {
		if c.axis == epoch {
			t := &tokens[c.at]
			if dot := bytes.IndexByte(line[t.a:t.end], '.'); dot >= 0 {
				return t.end - t.a - dot - 1
			}
		}
	}
	return 0
}
