package tuning

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"newtop/internal/format"
	"newtop/trainer/tune"
	"newtop/tui/chart"
	"newtop/tui/style"
)

// standing is what the screen has worked out of a Leaderboard, once for each however often it is drawn.
type standing struct {
	leaderboard *tune.Leaderboard
	dims        []dimensionInfo
	// the dimension whose choices have the letters and colours, as a rule the method; −1 for none
	lead   int
	groups map[string]int // number of each of its choices
	rank   []int          // by trial: its place in Leaderboard.Order from 1, 0 for none
	states [len(trialStates)]int
	front  tune.Standing // of the setting at the head; zero: there is none
	best   int           // index of the first in the order; −1 for none
	// where a logarithmic scale has a measure of zero: half the least one above it, NaN without any
	floor      float64
	least      float64 // measure
	max        float64 // of the curves' beginnings and of the measure
	wide       int     // of the widest state
	epochs     int     // the most of a trial
	reached    bool    // some trial reached the target
	hasReasons bool    // some trial has a reason
}

// dimensionInfo is a dimension of the search that its trials differ in. Those of several methods that have one name, as
// adam.rate and nag.rate, are one: a trial has only its own method's, and its letter reports which.
type dimensionInfo struct {
	key       string
	names     []string // of its choices; nil for a range
	low, high float64  // of the range
	log       bool
	wide      int // of its widest value
	users     int // trials that have it
}

func newStanding(b *tune.Leaderboard) standing {
	s := standing{leaderboard: b, lead: -1, best: -1, floor: math.NaN(), least: math.NaN(), max: math.NaN(),
		rank: make([]int, len(b.Trials))}
	for place, i := range b.Order {
		if i >= 0 && i < len(b.Trials) && s.rank[i] == 0 {
			s.rank[i] = place + 1
			if s.best < 0 {
				s.best = i
			}
		}
	}
	if list := b.Standings(); len(list) > 0 {
		s.front = list[0]
	}
	for i := range b.Trials {
		s.count(&b.Trials[i])
	}
	s.dimensions()
	for k := range s.dims {
		if d := &s.dims[k]; d.names != nil && (s.lead < 0 || d.key == "opt") {
			s.lead = k
		}
	}
	if s.lead >= 0 {
		s.groups = make(map[string]int, len(s.dims[s.lead].names))
		for i, name := range s.dims[s.lead].names {
			s.groups[name] = i
		}
	}
	return s
}

// count takes a trial into the sums.
func (s *standing) count(t *tune.Trial) {
	if s.states[stateIndex(t)]++; t.Final || s.states[stateIndex(t)] == 1 {
		s.wide = max(s.wide, style.Cells(stateOf(t, true).Text))
	}
	if v := float64(t.Best); format.Finite(v) {
		s.least = chart.Lesser(s.least, v)
		if s.max = -chart.Lesser(-s.max, -v); v > 0 {
			s.floor = chart.Lesser(s.floor, v/2)
		}
	}
	if len(t.Curve) > 0 && format.Finite(float64(t.Curve[0].Value)) {
		s.max = -chart.Lesser(-s.max, -float64(t.Curve[0].Value))
	}
	s.epochs = max(s.epochs, t.Epochs)
	s.reached = s.reached || s.leaderboard.Target > 0 && format.Finite(float64(t.TargetSeconds))
	s.hasReasons = s.hasReasons || t.Error != ""
}

// dimensions lists what the trials differ in, in the order of Leaderboard.Over, and what that does not name behind it.
func (s *standing) dimensions() {
	index, fixed := map[string]int{}, map[string]bool{}
	var values []map[string]bool
	add := func(d dimensionInfo) {
		index[d.key] = len(s.dims)
		s.dims, values = append(s.dims, d), append(values, map[string]bool{})
	}
	for i := range s.leaderboard.Over {
		o := &s.leaderboard.Over[i]
		d := dimensionInfo{key: tailOf(o.Key), names: slices.Clone(o.Choices), low: o.Low, high: o.High, log: o.Log &&
			o.Low > 0}
		at, again := index[d.key]
		switch {
		case again:
			s.dims[at].merge(&d)
		case len(o.Choices) == 1:
			fixed[d.key] = true
		default:
			add(d)
		}
	}
	for i := range s.leaderboard.Trials {
		for _, c := range s.leaderboard.Trials[i].Choices {
			key := tailOf(c.Key)
			at, ok := index[key]
			switch {
			case !ok && fixed[key]:
				continue
			case !ok:
				at = len(s.dims)
				add(dimensionInfo{key: key})
			}
			s.dims[at].users++
			s.dims[at].wide = max(s.dims[at].wide, style.Cells(c.Value))
			values[at][c.Value] = true
		}
	}
	for k := range s.dims {
		s.dims[k].resolve(values[k])
	}
}

// tailOf is the name of a dimension without the method that it is for.
func tailOf(key string) string { return key[strings.LastIndex(key, ".")+1:] }

// merge takes in what another method has under the same name: ranges become one, and what is not alike is found out of
// the trials.
func (d *dimensionInfo) merge(o *dimensionInfo) {
	if d.names == nil && o.names == nil {
		d.low, d.high, d.log = min(d.low, o.low), max(d.high, o.high), d.log && o.log
		return
	}
	if d.names == nil || o.names == nil {
		d.names, d.low, d.high = nil, 0, 0
		return
	}
	for _, s := range o.names {
		if !slices.Contains(d.names, s) {
			d.names = append(d.names, s)
		}
	}
}

// resolve finds out of a dimension's values what nothing has said of it: whether it is a range.
func (d *dimensionInfo) resolve(values map[string]bool) {
	if d.names == nil && !(d.high > d.low) {
		d.low, d.high = math.Inf(1), math.Inf(-1)
		for s := range values {
			v, err := strconv.ParseFloat(s, 64)
			if err != nil || !format.Finite(v) {
				d.low, d.high = 0, 0
				break
			}
			d.low, d.high = min(d.low, v), max(d.high, v)
		}
		d.log = d.low > 0 && d.high >= 20*d.low
	}
	if d.names == nil && d.high > d.low && format.Finite(d.high-d.low) {
		return
	}
	more := []string{}
	for s := range values {
		if !slices.Contains(d.names, s) {
			more = append(more, s)
		}
	}
	slices.Sort(more)
	d.names, d.log = append(more[:0:0], append(d.names, more...)...), false
	if d.names == nil {
		d.names = []string{}
	}
}

// chosen is what a trial has of a dimension; empty where the dimension is not its own.
func (d *dimensionInfo) chosen(t *tune.Trial) string {
	for i := range t.Choices {
		if tailOf(t.Choices[i].Key) == d.key {
			return t.Choices[i].Value
		}
	}
	return ""
}

// position is where a trial's choice stands on the dimension's axis, NaN where the dimension is not its own.
func (d *dimensionInfo) position(t *tune.Trial) float64 {
	s := d.chosen(t)
	if s == "" {
		return math.NaN()
	}
	if d.names != nil {
		if i := slices.Index(d.names, s); i >= 0 {
			return float64(i)
		}
		return math.NaN()
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || d.log && v <= 0 {
		return math.NaN()
	}
	return v
}

// group is the number of a trial's choice of the leading dimension, −1 for none.
func (s *standing) group(t *tune.Trial) int {
	if s.lead < 0 {
		return -1
	}
	if g, ok := s.groups[s.dims[s.lead].chosen(t)]; ok {
		return g
	}
	return -1
}

// tag is the letter of a trial's group, a capital for the finals, with its colour.
func (s *standing) tag(t *tune.Trial) style.Part {
	g := s.group(t)
	switch {
	case g < 0 && t.Final:
		return style.Accent.Of("■")
	case g < 0:
		return style.Accent.Of("●")
	case t.Final:
		return style.RacerToken(g).Of(style.RacerLetter(g))
	}
	return style.RacerToken(g).Of(strings.ToLower(style.RacerLetter(g)))
}

// trialStates say what became of a trial by a sign, a letter and a word.
var trialStates = [...]struct {
	sign, letter, word, means string
	ink                       style.Token
}{
	tune.Waiting:  {"○", "W", "waiting", "for a place", style.Muted},
	tune.Running:  {"●", "R", "running", "now", style.Good},
	tune.Paused:   {"‖", "P", "paused", "behind; goes on if the better ones disappoint", style.Muted},
	tune.Pruned:   {"▾", "N", "pruned", "behind, and given up", style.Muted},
	tune.Done:     {"■", "D", "done", "went as far as it may", style.Text},
	tune.Reached:  {"✓", "T", "reached", "got to the target", style.Good},
	tune.Diverged: {"×", "X", "diverged", "a value was not finite", style.Bad},
	tune.Failed:   {"✗", "E", "failed", "could not be run", style.Bad},
	tune.Stopped:  {"–", "S", "stopped", "with the search", style.Muted},
}

// stateIndex is a trial's state, the last one for a state that the screen does not know.
func stateIndex(t *tune.Trial) int { return min(int(t.State), len(trialStates)-1) }

// stateOf is a trial's state, with a word where there is room.
func stateOf(t *tune.Trial, long bool) style.Part {
	s := &trialStates[stateIndex(t)]
	if !long {
		return s.ink.Of(s.sign + s.letter)
	}
	word := s.word
	if t.Final {
		word = "final " + word
	}
	return s.ink.Of(s.sign + " " + word)
}
