package tune

import (
	"cmp"
	"maps"
	"math"
	"slices"
)

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

// order returns the indices of the trials, best first: settings that were measured alone come first, by the median of
// their times to the target or the mean of their measures over seeds; then trials at the target by what it cost them;
// then the others by their measure. Of equals the one that took less comes first.
func (s *Search) order() []int {
	groups := s.groups()
	places := make([]standing, len(s.trials))
	for i, t := range s.trials {
		places[i] = s.standing(t, groups)
	}
	out := make([]int, len(s.trials))
	for i := range out {
		out[i] = i
	}
	slices.SortStableFunc(out, func(i, j int) int {
		a, b := &places[i], &places[j]
		return cmp.Or(cmp.Compare(a.class, b.class), cmp.Compare(a.group, b.group), cmp.Compare(a.own, b.own), cmp.Compare(a.spent, b.spent))
	})
	return out
}

// groups returns the result of every setting that has been measured.
func (s *Search) groups() map[int]float64 {
	results := map[int][]float64{}
	for _, t := range s.trials {
		if t.Measured() {
			results[t.Setting] = append(results[t.Setting], s.result(t))
		}
	}
	groups := map[int]float64{}
	for setting, values := range results {
		groups[setting] = mean(values)
		if s.config.Base.TargetError > 0 {
			groups[setting] = median(values)
		}
	}
	return groups
}

// foremost returns the settings with the best results, as many as a search measures: of shards together, each of which
// has measured its own, the last ones would else stand before what others did not think worth measuring.
func (s *Search) foremost() map[int]bool {
	groups := s.groups()
	settings := slices.SortedFunc(maps.Keys(groups), func(a, b int) int {
		return cmp.Or(cmp.Compare(groups[a], groups[b]), cmp.Compare(a, b))
	})
	most := cmp.Or(max(s.config.Finals, 0), defaultFinals)
	out := map[int]bool{}
	for _, setting := range settings[:min(most, len(settings))] {
		out[setting] = true
	}
	return out
}

// result is what a final is judged by, +Inf for one that came to nothing.
func (s *Search) result(t *trial) float64 {
	v := float64(t.Best)
	if s.config.Base.TargetError > 0 {
		v = float64(t.TargetSeconds)
	}
	if math.IsNaN(v) || t.State == Diverged || t.State == Failed {
		return math.Inf(1)
	}
	return v
}

func (s *Search) standing(t *trial, groups map[int]float64) standing {
	best := float64(t.Best)
	if math.IsNaN(best) {
		best = math.Inf(1)
	}
	group, known := groups[t.Setting]
	switch {
	case t.State == Failed:
		return standing{class: failed}
	case t.State == Diverged:
		return standing{class: diverged, own: best, spent: t.Equivalents}
	case t.Measured() && known && !math.IsInf(group, 1) && (s.ahead == nil || s.ahead[t.Setting]):
		return standing{measured, group, s.result(t), t.Equivalents}
	case t.State == Reached:
		return standing{class: arrived, own: s.cost(float64(t.TargetSeconds), float64(t.TargetEquivalents)), spent: t.Equivalents}
	case t.Epochs == 0 && t.curve.count == 0:
		return standing{class: untrained}
	}
	return standing{class: trained, own: best, spent: t.Equivalents}
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

// note adds to the search's best so far what a trial has come to.
func (s *Search) note(t *trial) {
	v := float64(t.Best)
	if s.config.Base.TargetError > 0 {
		v = float64(t.TargetSeconds)
	}
	if math.IsNaN(v) || len(s.bests) > 0 && v >= float64(s.bests[len(s.bests)-1].Value) {
		return
	}
	s.bests = append(s.bests, Point{Seconds: s.elapsed(), Equivalents: s.total, Value: floatOf(v)})
}
