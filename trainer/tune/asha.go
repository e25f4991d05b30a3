package tune

import (
	"math"
	"slices"
	"sort"
)

// asha is successive halving without waiting, ASHA [Li, Jamieson, Rostamizadeh, Gonina, Ben-tzur, Hardt, Recht,
// Talwalkar 2020, algorithm 2]: trials climb from rung to rung, each η times as far as the one before, and of those
// that have come to a rung the best 1/η may climb on, as soon as they are seen to be among them. There is no highest
// rung: a search that continues takes its best trials ever further [ibid., section 3.3].
type asha struct {
	rungs [][]entry
}

// eta is η.
const eta = 3

// entry is how a trial did when it came to a rung.
type entry struct {
	trial int
	value float64 // lower is better; +Inf for one that came to nothing
	left  bool    // it has climbed on, or never will
}

// reach puts a trial on a rung.
func (l *asha) reach(trial, rung int, value float64) {
	for len(l.rungs) <= rung {
		l.rungs = append(l.rungs, nil)
	}
	if math.IsNaN(value) {
		value = math.Inf(1)
	}
	l.rungs[rung] = append(l.rungs[rung], entry{trial: trial, value: value})
}

// leave takes a trial off its rung, where its score continues to count.
func (l *asha) leave(trial, rung int) {
	if rung >= len(l.rungs) {
		return
	}
	for i := range l.rungs[rung] {
		if l.rungs[rung][i].trial == trial {
			l.rungs[rung][i].left = true
		}
	}
}

// next returns the trial that may climb, of the highest rung that has one: the best of those that have not left it and
// are among the best n/η of all n that came there. With last no more trials will come: then n/η is rounded up, so that
// the best is never left standing, and the lowest rung goes first, as who comes to the higher ones is settled there.
func (l *asha) next(last bool) (trial, rung int, ok bool) {
	for i := range l.rungs {
		rung := len(l.rungs) - 1 - i
		if last {
			rung = i
		}
		if trial, ok := l.best(rung, last); ok {
			return trial, rung, true
		}
	}
	return 0, 0, false
}

// best returns the trial that may leave a rung.
func (l *asha) best(rung int, last bool) (trial int, ok bool) {
	scores := slices.Clone(l.rungs[rung])
	sort.SliceStable(scores, func(i, j int) bool {
		a, b := &scores[i], &scores[j]
		return a.value < b.value || a.value == b.value && a.trial < b.trial
	})
	n := len(scores) / eta
	if last {
		n = (len(scores) + eta - 1) / eta
	}
	for _, s := range scores[:n] {
		if !s.left && !math.IsInf(s.value, 1) {
			return s.trial, true
		}
	}
	return 0, false
}

// rank returns which of how many a trial is on a rung.
func (l *asha) rank(trial, rung int) (position, of int) {
	i := slices.IndexFunc(l.rungs[rung], func(s entry) bool { return s.trial == trial })
	own := l.rungs[rung][i].value
	for _, s := range l.rungs[rung] {
		if s.value < own {
			position++
		}
	}
	return position + 1, len(l.rungs[rung])
}

// step is how far a rung is.
type step struct {
	equivalents float64 // gradient equivalents
	seconds     float64 // 0: they do not matter
}

// slack is how many times a rung's seconds a trial may take that does not come to its equivalents.
const slack = 8

// up returns the step of a rung above the lowest.
func (s step) up(rung int) step {
	f := math.Pow(eta, float64(rung))
	return step{s.equivalents * f, s.seconds * f}
}

// passed reports whether a trial is as far as the step. With a budget of seconds both measures count: a rung is for
// what some work or some time shows, whichever takes longer, unless it takes far longer.
func (s step) passed(equivalents, seconds float64) bool {
	if s.seconds == 0 {
		return equivalents >= s.equivalents
	}
	return seconds >= s.seconds && (equivalents >= s.equivalents || seconds >= slack*s.seconds)
}
