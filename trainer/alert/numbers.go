package alert

import (
	"fmt"
	"math"
	"slices"

	"newtop/trainer/event"
)

// judging are the numbers that a run can be judged by, the losses first.
var judging = slices.Sorted(slices.Values(event.Judging))

// broken remembers which numbers of a run are not finite. One has recovered when it is told and finite again: an epoch
// that does not tell it says nothing. Gradient norms are left out: under mixed precision a gradient that overflows is
// an ordinary event, after which the step is left out.
type broken struct {
	quantities uint32
	metrics    map[string]struct{}
}

func (b *broken) none() bool { return b.quantities == 0 && len(b.metrics) == 0 }

// see returns what to say of the first number that is not finite, if there is one.
func (b *broken) see(e *event.EpochEvent) (text string) {
	for _, q := range judging {
		switch v := *q.Of(e); {
		case v.Finite():
			b.quantities &^= 1 << q
		case v.NonFinite():
			b.quantities |= 1 << q
			if text == "" {
				text = says("the "+q.Info().Name, v)
			}
		}
	}
	for i := range e.Metrics {
		f := &e.Metrics[i]
		switch {
		case f.Value.NonFinite():
			if b.metrics == nil {
				b.metrics = make(map[string]struct{})
			}
			b.metrics[f.Key] = struct{}{}
			if text == "" {
				text = says(f.Key, f.Value)
			}
		case len(b.metrics) > 0 && f.Value.Finite():
			delete(b.metrics, f.Key)
		}
	}
	return text
}

func says(name string, v event.Float) string {
	if math.IsInf(float64(v), 0) {
		return name + " is infinite"
	}
	return name + " is not a number"
}

// smooth is how many of the newest losses one median is of. More than half of them must be high before the median is,
// so that one or two bad batches, however bad, call nobody.
const smooth = 5

// rise watches the loss over the training rows, or the RMSE of a run that has no loss, by the median of its newest
// values.
type rise struct {
	of          event.Quantity
	recent      [smooth]float64
	n           int
	first, best float64 // the first value, the least median
}

// limit is the loss above which a run that began with first and once had best has diverged. It is three times the best,
// as less is what a greater step or a restart of the rate's schedule does to a healthy run; and the geometric mean of
// best and first, half the way back to where the run began as a logarithmic chart shows it, as a loss of 1e-6 may well
// rise tenfold for a while. For the same reason a best under 1e-8 of the first is taken for that. Losses that are not
// positive, as of a likelihood, have no ratios: there the run must have lost twice what it had gained, and have risen
// by three times the best's size.
func limit(first, best float64) float64 {
	const times, least = 3, 1e-8
	if first <= 0 || best < 0 {
		return best + max(2*(first-best), times*math.Abs(best))
	}
	best = max(best, least*first)
	return max(times*best, math.Sqrt(first)*math.Sqrt(best))
}

// see returns what to say of a loss above the limit, and whether it has come back at least half the way from there to
// the best.
func (r *rise) see(e *event.EpochEvent) (text string, over bool) {
	v := *r.of.Of(e)
	if r.n == 0 && v.Absent() {
		if v = e.RMSE; v.Absent() {
			return "", false
		}
		r.of = event.RMSE
	}
	if v.Absent() || r.n == 0 && !v.Finite() {
		return "", false
	}
	y := float64(v)
	if !v.Finite() {
		y = math.Inf(1) // one more that is too high
	}
	if r.n == 0 {
		r.first, r.best = y, math.Inf(1)
	}
	r.recent[r.n%smooth] = y
	if r.n++; r.n < smooth {
		return "", false
	}
	if r.n == 2*smooth {
		r.n = smooth // only its rest and its being large enough count
	}
	m := median(r.recent)
	r.best = min(r.best, m)
	if math.IsInf(r.best, 1) {
		return "", false
	}
	high := limit(r.first, r.best)
	if math.IsInf(m, 1) && m > high {
		return fmt.Sprintf("the %s is not finite any more, its best was %.3g", r.of.Info().Name, r.best), false
	}
	if m > high {
		return fmt.Sprintf("the %s has risen to %.3g, its best was %.3g", r.of.Info().Name, m, r.best), false
	}
	return "", m <= r.best+(high-r.best)/2
}

// median of a copy of the values.
func median(v [smooth]float64) float64 {
	for i := 1; i < smooth; i++ {
		for k := i; k > 0 && v[k] < v[k-1]; k-- {
			v[k], v[k-1] = v[k-1], v[k]
		}
	}
	return v[smooth/2]
}
