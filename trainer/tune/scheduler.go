package tune

import (
	"context"
	"fmt"
	"math"

	"newtop/trainer/event"
)

// What trials are judged by.
const (
	measureError = "test error"
	measureRMSE  = "test RMSE"
)

// A trial has lost when it has spent overdue times as much as the best one took to the target, in seconds and in gradient
// equivalents, or hopelessly many times as many seconds: the clock alone, of trials that run side by side, says little.
const (
	overdue    = 1.5
	hopelessly = 4
)

// look goes through the epochs that a running trial has finished, until one decides that it runs no further.
func (s *Search) look(ctx context.Context, t *trial) {
	for len(t.queue) > 0 && t.State == Running {
		f := t.queue[0]
		t.queue = t.queue[1:]
		if t.curve.count > 0 && f.epoch <= t.Epochs {
			continue // seen before the search was resumed
		}
		before := t.Equivalents
		t.account(&f)
		s.total += t.Equivalents - before
		t.Ended, t.EndedAt = s.elapsed(), s.total
		s.judge(ctx, t, &f)
	}
	if t.State == Running && t.ended != nil {
		s.conclude(t, t.ended)
	}
	s.touch(t)
}

// judge decides after an epoch whether a trial goes on.
func (s *Search) judge(ctx context.Context, t *trial, f *figure) {
	c := &s.config
	switch {
	case c.Base.TargetError > 0 && f.value <= c.Base.TargetError && f.epoch > 0:
		t.State = Reached
		t.TargetSeconds, t.TargetEquivalents = event.Float(f.seconds), event.Float(f.equivalents)
		s.note(t)
		if !t.Final {
			s.arrived(t)
		}
		s.settle(t, math.Inf(-1))
		return
	case c.Base.TargetError == 0:
		s.note(t)
	}
	switch {
	case t.Final:
		s.judgeFinal(ctx, t, f)
	case s.lost(f):
		t.barred = true
		spent, best := s.costText(f.seconds, f.equivalents), s.costText(s.seconds, s.equivalents)
		s.giveUp(ctx, t, Pruned, fmt.Sprintf("not there after %s; the best took %s", spent, best))
		s.settle(t, math.Inf(1))
	case s.limit > 0 && f.equivalents >= s.limit:
		s.giveUp(ctx, t, Done, "")
		s.settle(t, float64(t.Best))
	case s.first.up(len(t.scores)).passed(f.equivalents, f.seconds):
		s.arrive(ctx, t)
	}
}

// arrive puts a trial on its next rung, where it pauses unless it may climb on at once.
func (s *Search) arrive(ctx context.Context, t *trial) {
	rung := len(t.scores)
	t.scores = append(t.scores, float64(t.Best))
	s.asha.reach(t.Number, rung, float64(t.Best))
	s.reserved = false
	if number, _, ok := s.asha.next(!s.more()); ok && number == t.Number {
		s.asha.leave(t.Number, rung)
		t.Rung++
		return
	}
	t.State = Paused
	if t.session != nil && t.seated && !t.pausing {
		s.pause(ctx, t)
	}
}

// settle counts a trial that will not come to its next rung as if it had, with a score.
func (s *Search) settle(t *trial, score float64) {
	if t.Final {
		return
	}
	s.reserved = false
	rung := len(t.scores)
	t.scores = append(t.scores, score)
	s.asha.reach(t.Number, rung, score)
	s.asha.leave(t.Number, rung)
}

// giveUp ends a trial.
func (s *Search) giveUp(ctx context.Context, t *trial, state State, why string) {
	t.State, t.Why = state, why
	s.tell(ctx, t, event.Stop{})
}

// conclude is the end of a trial that has ended by itself.
func (s *Search) conclude(t *trial, done *event.DoneEvent) {
	t.Why = done.Message
	switch done.Reason {
	case event.ReasonDiverged:
		t.State = Diverged
		s.settle(t, math.Inf(1))
	case event.ReasonFailed:
		t.State = Failed
		s.settle(t, math.Inf(1))
	case event.ReasonStopped:
		t.State = Stopped
	default:
		t.State = Done
		s.settle(t, float64(t.Best))
	}
	t.Ended, t.EndedAt = s.elapsed(), s.total
}

// cost is what a trial has spent, of what the search is short of: with a budget of seconds these, else gradient
// equivalents, which are the same on every machine.
func (s *Search) cost(seconds, equivalents float64) float64 {
	if s.config.Budget > 0 {
		return seconds
	}
	return equivalents
}

func (s *Search) costText(seconds, equivalents float64) string {
	if s.config.Budget > 0 {
		return fmt.Sprintf("%.3g s", seconds)
	}
	return fmt.Sprintf("%.4g gradient equivalents", equivalents)
}

// arrived notes what a trial took to the target.
func (s *Search) arrived(t *trial) {
	s.seconds = min(s.seconds, float64(t.TargetSeconds))
	s.equivalents = min(s.equivalents, float64(t.TargetEquivalents))
}

// lost reports whether a trial can't be the first at the target any more.
func (s *Search) lost(f *figure) bool {
	much := f.equivalents > overdue*s.equivalents
	if s.config.Budget == 0 {
		return much
	}
	return f.seconds > hopelessly*s.seconds || f.seconds > overdue*s.seconds && much
}
