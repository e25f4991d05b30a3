package shape

import (
	"math"
	"slices"
	"strings"

	"newtop/trainer/logs"
)

// held is the newest state of a progress bar, or of a pass through rows for testing. It is given when its step is over.
type held struct {
	row   logs.Row
	any   bool
	eval  bool
	epoch bool         // of an epoch as a whole, as Keras' finished bar
	given []logs.Value // of the bar, newest of each key
}

// news drops what bars repeat until it changes, as the validation loss of the last epoch, and reports whether any value
// differs from the bar before.
func (h *held) news() bool {
	changed := false
	fresh := h.row.Values[:0]
	for _, v := range h.row.Values {
		i := slices.IndexFunc(h.given, func(g logs.Value) bool { return g.Key == v.Key })
		old := i >= 0 && same(h.given[i].V, v.V)
		if i < 0 && len(h.given) < 256 {
			h.given = append(h.given, v)
		} else if i >= 0 {
			h.given[i].V = v.V
		}
		changed = changed || !old
		if !old || !rare(v.Key) {
			fresh = append(fresh, v)
		}
	}
	h.row.Values = fresh
	return changed
}

// rare reports whether a key is of what changes once an epoch.
func rare(key string) bool {
	for _, w := range pieces(strings.ToLower(strings.ReplaceAll(key, " ", "_"))) {
		if w == "epoch" || parts[w] != "" && parts[w] != "train" {
			return true
		}
	}
	return false
}

// same reports whether two numbers are equal, or both NaN.
func same(a, b float64) bool { return a == b || a != a && b != b }

// trainerSteps finds the steps of the dicts that the Trainer of Hugging Face prints. They tell an epoch, and come
// between states of a bar without a name: the one behind a dict stands at its step.
type trainerSteps struct {
	n, m     float64 // of the newest bar without a name
	near     int     // lines for which that is the one just before
	total    float64 // m of the bar of training; 0: not known yet
	perEpoch float64 // steps
	none     bool    // the first dict had no bar: epochs are the axis
	apart    bool    // and the bars before it had ended: they are of evaluations, and no steps

	waits bool // a dict does, for the bar behind it
	line  []byte
	like  *shape
	x     prefix
	epoch float64 // of the dict
}

// wait holds a dict back until the bar behind it has come, unless there are no bars.
func (d *trainerSteps) wait(s *shape, line []byte, x *prefix, epoch float64) bool {
	if d.none = d.none || d.near <= 0 && d.total == 0; d.none {
		return false
	}
	d.waits, d.line, d.like, d.x, d.epoch = true, append(d.line[:0], line...), s, *x, epoch
	return true
}

// bar notes a state of a bar without a name.
func (d *trainerSteps) bar(n, m float64) { d.n, d.m, d.near = n, m, 2 }

// step is where the dict stands if no bar says it. Its epoch was printed with so many digits behind its point.
func (d *trainerSteps) step(digits int) float64 {
	if d.perEpoch == 0 && d.epoch > 0 {
		d.total = d.m
		d.perEpoch = perEpoch(d.n, d.epoch, math.Pow(10, -float64(min(digits, 9))))
	}
	return math.Round(d.epoch * d.perEpoch)
}

// perEpoch is how many steps an epoch has, if epoch was printed in units at the least step from n on that fits.
func perEpoch(n, epoch, unit float64) float64 {
	for k := max(n, 1); k < n+1000; k++ {
		if p := math.Round(k / epoch); p > 0 && math.Abs(k/p-epoch) <= unit/2*1.001 {
			return p
		}
	}
	return max(n, 1) / epoch
}
