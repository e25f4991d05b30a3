package tune

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"newtop/trainer/event"
)

// A trial has lost when it has spent overdue times as much as the best one took to the target, in seconds and in
// gradient equivalents, or hopelessly many times as many seconds: the clock alone, of trials that run side by side,
// says little.
const (
	overdue    = 1.5
	hopelessly = 4
)

// Of the reevaluation.
const (
	maxReserve = 0.3 // of the budget that is kept for it
	patience   = 3   // times the work that its first trial took to the target, after which one is given up
	caution    = 2   // times what its first trial took that is kept for each
	overhead   = 0.3 // seconds of each besides training: data, record
)

// scheduler decides how far trials go. It knows their figures, and no sessions, store or clock: the same figures at the
// same times make the same decisions.
type scheduler struct {
	config  *Config
	ranking *ranking
	asha    asha
	first   step    // the first rung
	limit   float64 // gradient equivalents of a trial; 0: none
	total   float64 // gradient equivalents of all trials
	started int     // trials, those of the reevaluation left out
	used    bool    // there are no more settings to try

	seconds, equivalents float64 // least that a trial took to the target
	// seconds and gradient equivalents that are kept for the reevaluation; nil: not known
	reserved *[2]float64
}

func newScheduler(c *Config, r *ranking) *scheduler {
	s := &scheduler{config: c, ranking: r, seconds: math.Inf(1), equivalents: math.Inf(1)}
	budget := c.Budget.Seconds()
	if c.Program != nil { // which says by its first run how far it goes
		return s
	}
	s.first = step{equivalents: firstRung, seconds: min(max(budget*firstShare, minFirst), budget*maxFirst)}
	s.limit = c.Trial
	if s.limit == 0 && c.Budget == 0 && c.MaxWork == 0 {
		s.limit = s.first.up(rungs).equivalents
	}
	if c.Trial > 0 {
		s.first.equivalents = max(1, min(s.first.equivalents, c.Trial/step{equivalents: 1}.up(rungs).equivalents))
	}
	return s
}

// action is what a decision asks of a trial's session.
type action uint8

const (
	goOn action = iota
	hold        // pause after the epoch under way
	halt        // end
)

// evaluate decides, that many seconds after the beginning of the search, whether a trial continues after an epoch.
func (s *scheduler) evaluate(t *trial, f *epochMetrics, elapsed float64) action {
	target := s.config.Base.TargetError
	switch {
	case s.config.Crosses():
		return goOn
	case target > 0 && f.value <= target && f.epoch > 0:
		t.State = Reached
		t.TargetSeconds, t.TargetEquivalents = event.Float(f.seconds), event.Float(f.equivalents)
		s.ranking.note(t, elapsed, s.total)
		if !t.Final {
			s.arrived(t)
		}
		s.decide(t, math.Inf(-1))
		return goOn // to its own end
	case target == 0:
		s.ranking.note(t, elapsed, s.total)
	}
	switch {
	case s.config.Program != nil:
		return s.evaluateProgram(t, f)
	case t.Final:
		return s.evaluateFinal(t, f)
	case s.lost(f):
		t.barred = true
		spent, best := s.costText(f.seconds, f.equivalents), s.costText(s.seconds, s.equivalents)
		t.State, t.Error = Pruned, fmt.Sprintf("not there after %s; the best took %s", spent, best)
		s.decide(t, math.Inf(1))
		return halt
	case s.limit > 0 && f.equivalents >= s.limit:
		t.State, t.Error = Done, ""
		s.decide(t, s.config.sign()*float64(t.Best))
		return halt
	case s.first.up(len(t.scores)).passed(f.equivalents, f.seconds):
		return s.arrive(t)
	}
	return goOn
}

// A trial of a program is judged at a ninth and at a third of what the first trial went, in what that counts, and is
// ended where it is not among the best there, rounded up, of those that came so far: ASHA that stops [Li et al. 2020,
// section 3.3], since a program does not pause. So early as at a ninth, who learns slowly and gets far looks like who
// gets nowhere, so that only a third is ended there.
var programKeeps = [...]int{2, 1} // thirds that go on, by rung

// evaluateProgram decides whether a program's trial goes on.
func (s *scheduler) evaluateProgram(t *trial, f *epochMetrics) action {
	switch v := event.Float(f.value); {
	case f.diverged != "":
		t.State, t.Error = Diverged, f.diverged
	case v.NonFinite():
		t.State, t.Error = Diverged, fmt.Sprintf("%v at %d", f.value, f.epoch)
	default:
		for !t.Final && s.judges(len(t.scores), f.equivalents) {
			if s.rung(t, s.config.sign()*float64(t.Best)); t.State == Pruned {
				return halt
			}
		}
		return goOn
	}
	s.decide(t, math.Inf(1))
	return halt
}

// judges reports whether a program's trial that has come so far is judged on a rung.
func (s *scheduler) judges(rung int, x float64) bool {
	at := s.first.up(rung).equivalents
	return at > 0 && rung < len(programKeeps) && at <= s.first.seconds && x >= at
}

// rung has a program's trial come to its next rung, and prunes it where it is behind.
func (s *scheduler) rung(t *trial, score float64) {
	rung := len(t.scores)
	s.report(t, score)
	s.asha.leave(t.Number, rung)
	position, of := s.asha.rank(t.Number, rung)
	if position > (programKeeps[rung]*of+eta-1)/eta && t.State == Running {
		t.barred = true
		t.State, t.Error = Pruned, fmt.Sprintf("place %d of %d at %.4g", position, of, s.first.up(rung).equivalents)
		return
	}
	t.Rung++
}

// span sets the rungs by the first trial that came to its end, and returns the trials under way that are behind there.
// In first, seconds are half of what that trial went: later rungs judge nobody.
func (s *scheduler) span(first *trial) (behind []*trial) {
	end := first.Equivalents
	s.first = step{equivalents: max(1, math.Round(end/(eta*eta))), seconds: math.Floor(end / 2)}
	for _, t := range s.ranking.trials {
		for x := t.Equivalents; t == first || t.State == Running && !t.Final; {
			if !s.judges(len(t.scores), x) {
				break
			}
			if s.rung(t, t.scoreAt(s.first.up(len(t.scores)).equivalents, s.config.sign())); t.State == Pruned {
				behind = append(behind, t)
				break
			}
		}
	}
	if len(first.scores) == 0 {
		s.decide(first, s.config.sign()*float64(first.Best))
	}
	return behind
}

// evaluateFinal ends a trial of the reevaluation that has gone as far as the one that it repeats, or far beyond where
// that came to the target.
func (s *scheduler) evaluateFinal(t *trial, f *epochMetrics) action {
	p := t.parent
	switch {
	case math.IsNaN(float64(p.TargetSeconds)) || s.config.Base.TargetError == 0:
		if f.equivalents < p.Equivalents*float64(max(1, s.config.Nets)) {
			return goOn
		}
		t.Error = ""
	case f.equivalents <= patience*float64(p.TargetEquivalents): // work, as a busy machine is no fault of the setting
		return goOn
	default:
		t.Error = fmt.Sprintf("not at the target after %.4g gradient equivalents", f.equivalents)
	}
	t.State = Done
	return halt
}

// arrive puts a trial on its next rung, where it pauses unless it may climb on at once.
func (s *scheduler) arrive(t *trial) action {
	s.report(t, s.config.sign()*float64(t.Best))
	if next := s.climber(); next == t {
		s.climb(t)
		return goOn
	}
	t.State = Paused
	return hold
}

// report has a trial come to its next rung with a score.
func (s *scheduler) report(t *trial, score float64) {
	s.asha.reach(t.Number, len(t.scores), score)
	t.scores = append(t.scores, score)
	s.reserved = nil
}

// climber returns the trial that may leave its rung upwards, or nil.
func (s *scheduler) climber() *trial {
	if number, _, ok := s.asha.next(!s.more()); ok {
		return s.ranking.trials[number-1]
	}
	return nil
}

// climb has a trial resume from its rung.
func (s *scheduler) climb(t *trial) {
	s.asha.leave(t.Number, len(t.scores)-1)
	t.Rung++
}

// decide counts a trial that will not come to its next rung as if it had, with a score.
func (s *scheduler) decide(t *trial, score float64) {
	if !t.Final {
		s.report(t, score)
		s.asha.leave(t.Number, len(t.scores)-1)
	}
}

// conclude is the end of a trial that has ended by itself.
func (s *scheduler) conclude(t *trial, done *event.DoneEvent) {
	t.Error = done.Message
	switch done.Reason {
	case event.ReasonDiverged:
		t.State = Diverged
		s.decide(t, math.Inf(1))
	case event.ReasonFailed:
		t.State = Failed
		s.decide(t, math.Inf(1))
	case event.ReasonStopped:
		t.State = Stopped
	default:
		t.State = Done
		if s.config.Program == nil || s.first.equivalents > 0 { // else the rungs are not known
			s.decide(t, s.config.sign()*float64(t.Best))
		}
	}
}

// giveUp prunes a trial that waits on its rung when the search is over.
func (s *scheduler) giveUp(t *trial) {
	rung := len(t.scores) - 1
	position, of := s.asha.rank(t.Number, rung)
	t.State, t.Error = Pruned, fmt.Sprintf("place %d of %d after %.3g gradient equivalents", position, of,
		s.first.up(rung).equivalents)
}

// restore puts a trial of a search that is resumed where it was: those that ran continue first, those on a rung wait
// there, also where the end of the search had pruned them.
func (s *scheduler) restore(t *trial) {
	s.total += t.Equivalents
	if t.State == Reached && !t.Final {
		s.arrived(t)
	}
	switch {
	case t.Final:
		if t.State == Running || t.State == Stopped && t.Error == "" {
			t.State = Waiting
		}
		return
	case t.State == Running, t.State == Stopped, t.State == Paused && len(t.scores) == 0:
		t.State = Waiting
	case t.State == Pruned && !t.barred && len(t.scores) > 0:
		t.State, t.Error = Paused, ""
	}
	for rung, v := range t.scores {
		s.asha.reach(t.Number, rung, v)
		if rung < len(t.scores)-1 || t.State != Paused {
			s.asha.leave(t.Number, rung)
		}
	}
}

// more reports whether new trials may be begun.
func (s *scheduler) more() bool {
	return !s.used && !s.hopeless() && (s.config.Trials == 0 || s.started < s.config.Trials)
}

// A search gives up where that many of its first trials, or that many in a row, have failed: its data may be gone. Of a
// program fewer are enough that all fail in the same words, and the fewest where each did so at once, as by a wrong
// path: one that fails later may do so of its setting, as where memory runs out.
const (
	firstFailures = 20
	maxFailures   = 100
	sameFailures  = 8
	swiftFailures = 3
	swift         = 1 // seconds
)

// hopeless reports whether nothing but failures comes of new trials. Failures of earlier sessions, after which somebody
// may have mended something, do not count.
func (s *scheduler) hopeless() bool {
	trials := s.ranking.trials
	enough, alike, n, words := swiftFailures, s.config.Program != nil, 0, ""
	for _, t := range trials {
		if !t.ran {
			continue
		}
		if n++; n == 1 {
			words = t.Error
		}
		alike = alike && t.Error == words
		if t.curve.count > 0 || t.Ended-t.Started > swift {
			enough = sameFailures
		}
	}
	if !alike {
		enough = firstFailures
	}
	return n >= enough && !slices.ContainsFunc(trials[max(0, len(trials)-maxFailures):],
		func(t *trial) bool { return t.State != Failed })
}

// arrived notes what a trial took to the target.
func (s *scheduler) arrived(t *trial) {
	s.seconds = min(s.seconds, float64(t.TargetSeconds))
	s.equivalents = min(s.equivalents, float64(t.TargetEquivalents))
}

// lost reports whether a trial can't be the first at the target any more.
func (s *scheduler) lost(f *epochMetrics) bool {
	much := f.equivalents > overdue*s.equivalents
	if s.config.Budget == 0 {
		return much
	}
	return f.seconds > hopelessly*s.seconds || f.seconds > overdue*s.seconds && much
}

func (s *scheduler) costText(seconds, equivalents float64) string {
	if s.config.Budget > 0 {
		return fmt.Sprintf("%.3g s", seconds)
	}
	return fmt.Sprintf("%.4g gradient equivalents", equivalents)
}

// spent reports whether the budgets, but for what is kept for the reevaluation, are used up after that many seconds.
func (s *scheduler) spent(elapsed float64) bool {
	c := s.config
	seconds, equivalents := s.reserve()
	return c.MaxWork > 0 && s.total+equivalents >= c.MaxWork || c.Budget > 0 && elapsed+seconds >= c.Budget.Seconds()
}

// late reports whether the budgets are used up altogether.
func (s *scheduler) late(elapsed float64) bool {
	c := s.config
	return c.Budget > 0 && elapsed >= c.Budget.Seconds() || c.MaxWork > 0 && s.total >= c.MaxWork
}

// finalists returns the trials whose settings are measured again, best first: with a target those that came to it, if
// any did.
func (s *scheduler) finalists() (out []*trial) {
	most := cmp.Or(s.config.Finals, defaultFinals)
	arrived := !math.IsInf(s.seconds, 1)
	for _, i := range s.ranking.order() {
		t := s.ranking.trials[i]
		fit := !t.Final && t.State != Diverged && t.State != Failed && t.State != Waiting &&
			!math.IsNaN(float64(t.Best))
		if len(out) < most && fit && (t.State == Reached || !arrived) {
			out = append(out, t)
		}
	}
	return out
}

// reserve returns what of the budgets is kept for the reevaluation: what the trials to be repeated took.
func (s *scheduler) reserve() (seconds, equivalents float64) {
	if s.config.Finals < 0 {
		return 0, 0
	}
	if s.reserved == nil {
		s.reserved = new([2]float64)
		seeds, nets := float64(max(1, s.config.Seeds)), float64(max(1, s.config.Nets))
		for _, t := range s.finalists() {
			seconds, equivalents := t.Seconds, t.Equivalents
			if !math.IsNaN(float64(t.TargetSeconds)) {
				seconds = caution * float64(t.TargetSeconds)
			}
			if !math.IsNaN(float64(t.TargetEquivalents)) {
				equivalents = caution * float64(t.TargetEquivalents)
			}
			s.reserved[0] += (seconds*nets + overhead) * seeds
			s.reserved[1] += equivalents * nets * seeds
		}
	}
	return min(s.reserved[0], maxReserve*s.config.Budget.Seconds()), min(s.reserved[1], maxReserve*s.config.MaxWork)
}
