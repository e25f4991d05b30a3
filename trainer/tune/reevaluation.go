package tune

import (
	"context"
	"fmt"
	"math"

	"newtop/trainer"
)

// Of the finals.
const (
	defaultFinals = 3
	mostReserve   = 0.3 // of the budget that is kept for them
	patience      = 3   // times the work that its first trial took to the target, after which a final is given up
	caution       = 2   // times what its first trial took that is kept for a final
	overhead      = 0.3 // seconds of a final besides training: data, record
)

// reevaluate measures the best settings again, one at a time alone on the whole machine and with seeds that the search has
// not seen: figures of trials that ran side by side say little about time, and the best of many is best by luck too.
func (s *Search) reevaluate(ctx context.Context) {
	s.phase = phaseFinals
	seeds := max(1, s.config.Seeds)
	for i := range seeds { // every setting once before any twice, as time may run out
		for _, parent := range s.finalists() {
			if s.measured(parent) > i {
				continue
			}
			if s.late() {
				return
			}
			t := s.add(parent.Choices, s.config.Base.Seed+1+uint64(i))
			t.Final, t.parent, t.Setting = true, parent, parent.Setting
			s.configure(t)
			s.alone(ctx, t)
		}
	}
}

// late reports whether there is no time for another final.
func (s *Search) late() bool {
	c := &s.config
	return s.halted || c.Budget > 0 && s.elapsed() >= c.Budget.Seconds() || c.Most > 0 && s.total >= c.Most
}

// alone runs a final to its end.
func (s *Search) alone(ctx context.Context, t *trial) {
	s.over = false
	s.resume(ctx, t)
	for s.sessions > 0 {
		s.next(ctx)
		if s.late() {
			s.end(ctx)
		}
	}
}

// measured returns how many finals a setting has had.
func (s *Search) measured(parent *trial) (n int) {
	for _, t := range s.trials {
		if t.Setting == parent.Setting && t.Measured() {
			n++
		}
	}
	return n
}

// finalists returns the trials whose settings are measured again, best first: with a target those that came to it, if
// any did.
func (s *Search) finalists() (out []*trial) {
	most := s.config.Finals
	if most == 0 {
		most = defaultFinals
	}
	arrived := !math.IsInf(s.seconds, 1)
	for _, i := range s.order() {
		t := s.trials[i]
		fit := !t.Final && t.State != Diverged && t.State != Failed && t.State != Waiting && !math.IsNaN(float64(t.Best))
		if len(out) < most && fit && (t.State == Reached || !arrived) {
			out = append(out, t)
		}
	}
	return out
}

// judgeFinal ends a final that has gone as far as the trial that it repeats, or far beyond where that came to the
// target.
func (s *Search) judgeFinal(ctx context.Context, t *trial, f *figure) {
	p := t.parent
	if math.IsNaN(float64(p.TargetSeconds)) || s.config.Base.TargetError == 0 {
		if f.equivalents >= p.Equivalents {
			s.giveUp(ctx, t, Done, "")
		}
		return
	}
	if f.equivalents > patience*float64(p.TargetEquivalents) { // work, as a busy machine is no fault of the setting
		s.giveUp(ctx, t, Done, fmt.Sprintf("not at the target after %.4g gradient equivalents", f.equivalents))
	}
}

func secondsOf(t *trial) float64 {
	if v := float64(t.TargetSeconds); !math.IsNaN(v) {
		return caution*v + overhead
	}
	return t.Seconds + overhead
}

func equivalentsOf(t *trial) float64 {
	if v := float64(t.TargetEquivalents); !math.IsNaN(v) {
		return caution * v
	}
	return t.Equivalents
}

// reserve returns what of the budgets is kept for the finals: what the trials to be repeated took.
func (s *Search) reserve() (seconds, equivalents float64) {
	if s.config.Finals < 0 {
		return 0, 0
	}
	if !s.reserved {
		s.reserved, s.kept = true, [2]float64{}
		seeds := float64(max(1, s.config.Seeds))
		for _, t := range s.finalists() {
			s.kept[0] += secondsOf(t) * seeds
			s.kept[1] += equivalentsOf(t) * seeds
		}
	}
	return min(s.kept[0], mostReserve*s.config.Budget.Seconds()), min(s.kept[1], mostReserve*s.config.Most)
}

// best returns the setting at the head of the leaderboard as a configuration that ends by itself, and false where
// nothing has come of any.
func (s *Search) best() (c trainer.Config, ok bool) {
	order := s.order()
	if len(order) == 0 {
		return c, false
	}
	t := s.trials[order[0]]
	if math.IsNaN(float64(t.Best)) || t.State == Diverged || t.State == Failed {
		return c, false
	}
	c, err := s.space.config(t.Choices)
	if err != nil {
		return c, false
	}
	c.Seed, c.Save = t.Seed, s.config.Base.Save
	if c.TargetError == 0 || t.State != Reached {
		c.Epochs = max(t.BestEpoch, 1)
	}
	return c, true
}
