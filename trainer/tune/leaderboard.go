package tune

import (
	"fmt"
	"math"

	"newtop/trainer/event"
	"newtop/trainer/store/search"
)

// State is what has become of a trial.
type State uint8

// The states.
const (
	Waiting  State = iota // for a place
	Running               //
	Paused                // behind, and kept in case the better ones disappoint
	Pruned                // behind, and given up
	Done                  // went as far as it may
	Reached               // got to the target
	Diverged              //
	Failed                // could not be run at all: Why says it
	Stopped               // with the search
)

var stateNames = [...]string{"waiting", "running", "paused", "pruned", "done", "reached", "diverged", "failed",
	"stopped"}

func (s State) String() string { return stateNames[s] }

// Choice is the value of one dimension in a trial.
type Choice struct {
	Key   string // the dimension, as --over names it: "opt", "rate", "batch"
	Value string // as newtop train takes it
	// Number is the value's place on its axis, 0…1, for charts and importance; −1 where it has none.
	Number float64
}

// Trial is one setting that was tried with one seed. Every trial is a run in the store.
type Trial struct {
	Number  int // from 1, in the order of their start
	Setting int // number of the first trial with these choices, which finals repeat
	Choices []Choice
	Seed    uint64
	State   State
	Error   string // of Diverged, Failed and Pruned, in a clause
	Run     string // ID in the store; empty before it has one
	Dir     string // of a program's trial
	Rung    int    // how many times it was taken further
	Final   bool   // run again alone on the whole machine, to be measured

	Epochs      int
	Best        event.Float // best of Leaderboard.Measure so far; NaN: none
	Test        event.Float // the test metric of BestEpoch, which is not used to choose; NaN: none, or Best is that
	Last        event.Float // newest of it
	Loss        event.Float // newest training loss
	Seconds     float64     // of training
	Equivalents float64     // gradient equivalents
	BestEpoch   int         // of Best
	// When it was begun and last heard of, in seconds of the search, and the gradient equivalents of all trials then.
	Started, Ended, EndedAt float64
	// What it took to get to the target; NaN: it did not.
	TargetSeconds, TargetEquivalents event.Float
	Curve                            []Point // Measure over the trial, downsampled
}

// Measured reports whether the trial is a final whose figures count: it came to its end, and what it repeats has gone
// no further since.
func (t *Trial) Measured() bool {
	switch t.State {
	case Reached, Done, Diverged, Failed:
		return t.Final
	}
	return false
}

// Point is a figure at a time.
type Point struct {
	Seconds     float64
	Equivalents float64
	Value       event.Float
}

// Importance is how much of the differences between trials one dimension explains.
type Importance struct {
	Key    string
	Share  float64 // 0…1
	Spread float64 // standard error of Share; NaN: unknown
	Trend  string  // in a few words, as "best near 3e-3"
}

// Leaderboard is the state of a search. Shared, never changed: a change is another Leaderboard.
type Leaderboard struct {
	Name        string // of the search
	Shard       Shard  // which it is; with the index 0 all of a sweep's together
	Parts       []Part // of all together, those that there are
	Folds       int    // that a cross-validation has for trials; 0: it is none
	Data        string
	Program     *Program // that trials run; nil: they train nets
	Measure     string   // what trials are judged by, as "test error"
	Test        string   // the name of the trials' Test, as "test error"; empty: they have none
	Over        []Dimension
	Target      float64      // 0: none; then the best measure wins, else the least time to it
	Phase       string       // "searching", "finals", "done", "stopped"
	Seconds     float64      // since the start, over all resumes
	Budget      float64      // seconds of it there are; 0: no limit
	Spent       float64      // gradient equivalents of all trials
	MaxWork     float64      // of them there are; 0: no limit
	Planned     int          // trials that will be begun at most; 0: unknown
	Parallel    int          // trials at once
	Threads     int          // each
	Trials      []Trial      // in the order of their start
	Order       []int        // indices into Trials, best first
	Ahead       map[int]bool // settings whose finals say where they stand; nil: of all
	Bests       []Point      // best so far over the search's own seconds and equivalents; with a target the time to it
	Importances []Importance
	Command     string // the newtop train command line of the best; empty: none yet
	Warning     string
}

// Standing is a setting's place on a board: what its best trial reached, or its finals, which measure the same again.
type Standing struct {
	Trial    *Trial // the first of the setting
	Runs     int
	Finals   int         // of the runs, those that say where the setting stands
	Best     event.Float // of the finals the mean
	Spread   event.Float // of several finals the standard deviation of what Best is the mean of; NaN: there is none
	Test     event.Float // of the finals the mean
	ToTarget event.Float // of the finals the median; NaN: not reached
}

// Standings returns the settings in the board's order.
func (b *Leaderboard) Standings() (list []Standing) {
	finals := map[int][]*Trial{} // by setting
	at := map[int]int{}          // settings to indices of list
	for _, i := range b.Order {
		if i < 0 || i >= len(b.Trials) {
			continue // of a record that is damaged
		}
		t := &b.Trials[i]
		if _, known := at[t.Setting]; !known {
			at[t.Setting] = len(list)
			list = append(list, Standing{Trial: t, Best: t.Best, Spread: nan, Test: t.Test, ToTarget: t.TargetSeconds})
		}
		list[at[t.Setting]].Runs++
		if t.Measured() && (b.Ahead == nil || b.Ahead[t.Setting]) {
			finals[t.Setting] = append(finals[t.Setting], t)
		}
	}
	for setting, trials := range finals {
		of := func(value func(*Trial) event.Float) (out []float64) {
			for _, t := range trials {
				out = append(out, float64(value(t)))
			}
			return out
		}
		times := of(func(t *Trial) event.Float { return t.TargetSeconds })
		for i, v := range times {
			if math.IsNaN(v) { // longer than all that were reached
				times[i] = math.Inf(1)
			}
		}
		s := &list[at[setting]]
		s.Finals = len(trials)
		bests := SpreadOf(of(func(t *Trial) event.Float { return t.Best }))
		s.Best, s.Spread = event.Float(bests.Mean), event.Float(bests.Deviation)
		s.Test = event.Float(mean(of(func(t *Trial) event.Float { return t.Test })))
		s.ToTarget = floatOf(median(times))
	}
	return list
}

// BestTest returns the test figure of the setting at the head, over its finals the mean; NaN where nothing is known.
func (b *Leaderboard) BestTest() float64 {
	if list := b.Standings(); len(list) > 0 {
		return float64(list[0].Test)
	}
	return math.NaN()
}

// Shard is one of several searches for the same on as many machines as may be, without a word to each other. Each has a
// seed of its own and an equal share of the limits, and measures its own finals.
type Shard struct {
	Index int    // from 1
	Of    int    // 0: the search is whole
	Sweep string // what all shards together are called
}

// floatOf is NaN for what is not finite.
func floatOf(v float64) event.Float {
	if math.IsInf(v, 0) {
		v = math.NaN()
	}
	return event.Float(v)
}

// Dimension is one axis of the space, as --over KEY=VALUES gives it.
type Dimension struct {
	Key     string   // "opt", "net", "batch", "act", … or a hyperparameter, also as OPT.KEY for one method alone
	Choices []string // a list of values, or nil for a range
	Low     float64
	High    float64
	Log     bool
	Whole   bool
	If      string `json:",omitempty"` // KEY=A,B: only trials with one of these values have it; empty: all
}

// Part is one of the searches that are looked at together, and which of them it is.
type Part struct {
	search.Search
	Shard Shard
}

// Label writes the number of a trial: of several searches together that of the search and the trial's own there, as in
// 2.7.
func (b *Leaderboard) Label(t *Trial) string {
	if of := b.Shard.Of; of > 0 && b.Shard.Index == 0 {
		return fmt.Sprintf("%d.%d", (t.Number-1)%of+1, (t.Number-1)/of+1)
	}
	return fmt.Sprint(t.Number)
}
