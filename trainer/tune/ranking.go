package tune

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
)

// ranking is the trials of a search, and which of them are the best.
type ranking struct {
	config *Config
	trials []*trial
	ahead  map[int]bool // settings whose reevaluation counts before all else; nil: of all
	bests  []Point      // so far, over the search
}

// standing is what a trial's place on the leaderboard follows from, lower being better from first to last.
type standing struct {
	class int     // of its kind
	group float64 // of all trials that measure its setting
	own   float64
	spent float64 // gradient equivalents
}

// The classes.
const (
	measured = iota // alone on the machine, with a result
	arrived         // at the target
	trained
	untrained
	diverged
	failed
)

// maxBests bounds how many points a search has of its best so far.
const maxBests = 2049 // odd, so that of every two the newest stays

// order returns the indices of the trials, best first: settings that were measured alone come first, by the median of
// their times to the target or the mean of their measures over seeds; then trials at the target by what it cost them;
// then the others by their measure. Of equals the one that took less comes first.
func (r *ranking) order() []int {
	groups := r.groups()
	positions := make([]standing, len(r.trials))
	out := make([]int, len(r.trials))
	for i, t := range r.trials {
		positions[i], out[i] = r.standing(t, groups), i
	}
	if r.config.Crosses() { // of which none is better than another
		return out
	}
	slices.SortStableFunc(out, func(i, j int) int {
		a, b := &positions[i], &positions[j]
		return cmp.Or(cmp.Compare(a.class, b.class), cmp.Compare(a.group, b.group), cmp.Compare(a.own, b.own),
			cmp.Compare(a.spent, b.spent))
	})
	return out
}

// groups returns the result of every setting that has been measured.
func (r *ranking) groups() map[int]float64 {
	results := map[int][]float64{}
	for _, t := range r.trials {
		if t.Measured() {
			results[t.Setting] = append(results[t.Setting], r.result(t))
		}
	}
	groups := map[int]float64{}
	for setting, values := range results {
		groups[setting] = mean(values)
		if r.config.Base.TargetError > 0 {
			groups[setting] = median(values)
		}
	}
	return groups
}

// foremost returns the settings with the best results, as many as a search measures: of shards together, each of which
// has measured its own, the last ones would else stand before what others did not think worth measuring.
func (r *ranking) foremost() map[int]bool {
	groups := r.groups()
	settings := slices.SortedFunc(maps.Keys(groups), func(a, b int) int {
		return cmp.Or(cmp.Compare(groups[a], groups[b]), cmp.Compare(a, b))
	})
	most := cmp.Or(max(r.config.Finals, 0), defaultFinals)
	out := map[int]bool{}
	for _, setting := range settings[:min(most, len(settings))] {
		out[setting] = true
	}
	return out
}

// result is what a trial of the reevaluation is judged by, +Inf for one that came to nothing.
func (r *ranking) result(t *trial) float64 {
	v := r.value(t)
	if math.IsNaN(v) || t.State == Diverged || t.State == Failed {
		return math.Inf(1)
	}
	return v
}

// value is the time to the target where there is one, else the least measure, or the negative of the greatest; NaN for
// neither.
func (r *ranking) value(t *trial) float64 {
	if r.config.Base.TargetError > 0 {
		return float64(t.TargetSeconds)
	}
	return r.config.sign() * float64(t.Best)
}

func (r *ranking) standing(t *trial, groups map[int]float64) standing {
	best := r.config.sign() * float64(t.Best)
	if math.IsNaN(best) {
		best = math.Inf(1)
	}
	group, known := groups[t.Setting]
	switch {
	case t.State == Failed:
		return standing{class: failed}
	case t.State == Diverged:
		return standing{class: diverged, own: best, spent: t.Equivalents}
	case t.Measured() && known && !math.IsInf(group, 1) && (r.ahead == nil || r.ahead[t.Setting]):
		return standing{measured, group, r.result(t), t.Equivalents}
	case t.State == Reached && r.config.Budget > 0: // seconds are what the search is short of
		return standing{class: arrived, own: float64(t.TargetSeconds), spent: t.Equivalents}
	case t.State == Reached: // and else gradient equivalents, which are the same on every machine
		return standing{class: arrived, own: float64(t.TargetEquivalents), spent: t.Equivalents}
	case t.Epochs == 0 && t.curve.count == 0:
		return standing{class: untrained}
	}
	return standing{class: trained, own: best, spent: t.Equivalents}
}

// first returns the trial at the head, nil where nothing has come of any.
func (r *ranking) first() *trial {
	if order := r.order(); len(order) > 0 && r.trials[order[0]].worth() {
		return r.trials[order[0]]
	}
	return nil
}

// worth reports whether anything came of the trial.
func (t *trial) worth() bool {
	return !math.IsNaN(float64(t.Best)) && t.State != Failed && t.State != Diverged
}

// spent returns the gradient equivalents of all trials, added in their order: to the same digits in a search that is
// resumed.
func (r *ranking) spent() (sum float64) {
	for _, t := range r.trials {
		sum += t.Equivalents
	}
	return sum
}

// reevaluated reports whether a trial has measured a setting again, with a seed.
func (r *ranking) reevaluated(setting int, seed uint64) bool {
	return slices.ContainsFunc(r.trials, func(t *trial) bool {
		return t.Setting == setting && t.Seed == seed && t.Measured()
	})
}

// note adds to the best so far, after that many seconds and gradient equivalents of the search, what a trial has come
// to.
func (r *ranking) note(t *trial, seconds, equivalents float64) {
	v, sign := r.value(t), r.config.sign()
	if math.IsNaN(v) || len(r.bests) > 0 && v >= sign*float64(r.bests[len(r.bests)-1].Value) {
		return
	}
	if len(r.bests) >= maxBests { // a program may get better at every step
		r.bests = everySecond(r.bests)
	}
	r.bests = append(r.bests, Point{Seconds: seconds, Equivalents: equivalents, Value: floatOf(sign * v)})
}

// forget takes back the values of a program's trials, which were of a name that is not what they are judged by.
func (r *ranking) forget() {
	r.bests = nil
	for _, t := range r.trials {
		t.curve, t.Curve, t.queue = boundedCurve{}, nil, nil
		t.Epochs, t.BestEpoch, t.Best, t.Last = 0, 0, nan, nan
	}
}

// NothingError says that nothing came of any trial.
type NothingError struct{ Message string }

func (e *NothingError) Error() string { return e.Message }

// requireResult returns a *NothingError unless something came of some trial.
func (r *ranking) requireResult() error {
	why := ""
	for _, t := range r.trials {
		switch {
		case t.worth():
			return nil
		case t.Error != "" && why == "":
			why = ": " + t.Error
		}
	}
	return &NothingError{fmt.Sprintf("none of %d trials succeeded%s", len(r.trials), why)}
}

func mean(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}

// median returns the middle, of an even number the mean of the two.
func median(v []float64) float64 {
	v = slices.Clone(v)
	slices.Sort(v)
	if n := len(v); n%2 == 0 {
		return mean(v[n/2-1 : n/2+1])
	}
	return v[len(v)/2]
}
