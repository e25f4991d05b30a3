package tune

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"newtop/trainer/event"
)

// Times of a search.
const (
	tick       = 100 * time.Millisecond // between two boards, and two records of what has changed
	heartbeat  = time.Second            // between two records of nothing but being alive
	importance = time.Second            // between two estimates of what matters
)

// explore tries settings until there is nothing left to try or to spend.
func (s *Search) explore(ctx context.Context) {
	s.phase = phaseSearching
	for {
		s.fill(ctx)
		if s.idle() {
			break
		}
		s.next(ctx)
		if s.spent() {
			s.end(ctx)
		}
	}
	s.end(ctx)
	for s.runner.sessions > 0 {
		s.next(ctx)
	}
	for _, t := range s.ranking.trials {
		switch {
		case t.State == Waiting && !t.Final:
			t.State = Stopped
		case t.State == Paused:
			s.scheduler.giveUp(t)
		default:
			continue
		}
		s.touch(t)
	}
}

// next waits for one thing to happen.
func (s *Search) next(ctx context.Context) {
	select {
	case r := <-s.runner.reports:
		s.accept(ctx, r)
	case <-s.clock.C:
		s.heartbeat(ctx)
	case <-s.stop:
		s.stop = nil
		s.halted = true
	case <-s.broken:
		s.broken, s.halted = nil, true
	}
}

// idle reports whether nothing is under way that could lead on.
func (s *Search) idle() bool {
	if s.runner.claimed > 0 {
		return false
	}
	for _, t := range s.runner.live {
		if t.leaving && !s.over {
			return false
		}
	}
	return true
}

// spent reports whether no more may be tried.
func (s *Search) spent() bool {
	return s.halted || s.over || s.scheduler.spent(s.watch.elapsed())
}

// end gives up what is under way.
func (s *Search) end(ctx context.Context) {
	if s.over {
		return
	}
	s.over = true
	for _, t := range s.runner.live {
		if t.State == Running {
			t.State = Stopped
			s.touch(t)
		}
		s.runner.send(ctx, t, event.Stop{})
	}
}

// fill gives the free places to trials: those that were interrupted, then those that may climb, then new ones.
func (s *Search) fill(ctx context.Context) {
	for !s.spent() && s.doubt == nil && s.runner.claimed < s.machine.parallel {
		t := s.chosen()
		if t == nil {
			return
		}
		if t.State == Paused {
			s.scheduler.climb(t)
		}
		s.resume(ctx, t)
	}
}

// chosen returns the trial that gets the next place, or nil.
func (s *Search) chosen() *trial {
	for _, t := range s.ranking.trials {
		if t.State == Waiting && !t.Final {
			return t
		}
	}
	if t := s.scheduler.climber(); t != nil && !t.pausing && !t.leaving {
		return t
	}
	if !s.scheduler.more() {
		return nil
	}
	return s.nextTrial()
}

// nextTrial makes a new trial, or returns nil where all have been tried.
func (s *Search) nextTrial() *trial {
	if s.config.Crosses() {
		s.scheduler.started++
		return s.add(s.config.foldOf(s.scheduler.started), s.config.Base.Seed)
	}
	var seen [][]Choice
	for _, i := range s.ranking.order() {
		if t := s.ranking.trials[i]; !t.Final {
			seen = append(seen, t.Choices)
		}
	}
	if n := s.scheduler.started; s.config.Usual && n < s.space.branches() {
		return begin(s, s.space.usual(n))
	}
	choices, ok := s.sampler.next(seen)
	if !ok {
		s.scheduler.used = true
		return nil
	}
	return begin(s, choices)
}

// begin adds a trial of the search's own.
func begin(s *Search, choices []Choice) *trial {
	t := s.add(choices, s.config.Base.Seed)
	s.scheduler.started++
	s.sampler.observe(choices)
	return t
}

// add appends a trial that waits.
func (s *Search) add(choices []Choice, seed uint64) *trial {
	t := newTrial(len(s.ranking.trials)+1, choices, seed, s.watch.elapsed())
	s.ranking.trials = append(s.ranking.trials, t)
	s.configure(t)
	return t
}

// configure makes the configuration that a trial trains.
func (s *Search) configure(t *trial) {
	if s.config.Program != nil {
		return
	}
	c, err := s.space.config(t.Choices)
	if err != nil {
		t.ended = &event.DoneEvent{Reason: event.ReasonFailed, Message: oneLine(err)}
	}
	c.Seed, c.Threads, c.Memory, c.Save = t.Seed, s.machine.threads, s.machine.memory, ""
	if t.Final {
		c.Threads, c.Memory = s.config.Threads, s.machine.memory*int64(s.machine.parallel)
	}
	t.config = c
}

// resume lets a trial train, again or at last.
func (s *Search) resume(ctx context.Context, t *trial) {
	t.State, t.ran = Running, true
	s.touch(t)
	s.outdate(t)
	s.runner.live[t.Number] = t
	s.poll(ctx, t) // at what it did before it paused
	switch {
	case t.State != Running:
		if t.session == nil {
			delete(s.runner.live, t.Number)
		}
	case t.session != nil:
		s.runner.seat(t, true)
		s.runner.send(ctx, t, event.Pause{})
	default:
		if err := s.runner.start(ctx, t); err != nil {
			t.ended = &event.DoneEvent{Reason: event.ReasonFailed, Message: oneLine(err)}
			if p := s.config.Program; p != nil && !placeholder.MatchString(p.Args[0]) {
				giveUp(s, unstartable(p.Args[0], t.ended.Message))
			}
		}
		s.poll(ctx, t)
	}
}

// giveUp ends a search of which nothing can come, as a trial showed that ended, unless another one tells a value: those
// under way are waited for, and none is begun until then. A nil reason is none.
func giveUp(s *Search, reason error) {
	s.doubt = cmp.Or(s.doubt, reason)
	switch {
	case s.doubt == nil:
	case slices.ContainsFunc(s.ranking.trials, func(t *trial) bool { return t.curve.count > 0 }):
		s.doubt = nil
	case s.runner.sessions == 0 && !s.spent():
		s.halted, s.useless = true, s.doubt
	}
}

// outdate takes back what an earlier end of the search has measured of a setting whose trial goes further now.
func (s *Search) outdate(t *trial) {
	if t.Final {
		return
	}
	for _, f := range s.ranking.trials {
		if f.Setting == t.Setting && f.Measured() {
			f.State, f.Error = Stopped, fmt.Sprintf("trial %d has gone further since", t.Number)
			s.touch(f)
		}
	}
}

// accept takes in what a session says.
func (s *Search) accept(ctx context.Context, r report) {
	t := r.trial
	switch {
	case r.opening != nil:
		t.Run, t.room = r.opening.ID, roomOf(r.opening)
	case r.metrics != nil:
		if m := s.runner.metric; m != nil {
			is, better := m.choose(r.metrics)
			if better { // what came before was of another name
				s.ranking.forget()
			}
			if !is {
				break
			}
		}
		t.queue = append(t.queue, *r.metrics)
		t.received = r.metrics.epoch
		s.poll(ctx, t)
		giveUp(s, nil)
		s.makeRoom(ctx, t)
	case r.paused:
		t.pausedAt = r.epoch
		s.makeRoom(ctx, t)
	case r.ended != nil:
		s.runner.seat(t, false)
		program, _ := t.session.(*process)
		t.session, t.recorder, t.pausing = nil, nil, false // its recorder is flushed
		s.runner.sessions--
		if t.leaving || t.State == Paused && r.ended.Reason == event.ReasonStopped {
			t.leaving = false // to be taken up again from its checkpoint
			t.queue = nil
			break
		}
		t.ended = r.ended
		s.poll(ctx, t)
		if t.State != Paused {
			delete(s.runner.live, t.Number)
		}
		if program != nil {
			giveUp(s, program.useless)
			concluded(ctx, s, t)
		}
	}
	s.touch(t)
}

// concluded records a program's trial that is over before another one begins, so that none is run a second time. The
// first that came to its end says how far trials go, and by what they are judged.
func concluded(ctx context.Context, s *Search, t *trial) {
	if t.State == Done && t.curve.count > 0 && s.scheduler.first.equivalents == 0 {
		s.runner.metric.fixed = true
		for _, o := range s.scheduler.span(t) {
			s.touch(o)
			s.runner.send(ctx, o, event.Stop{})
		}
	}
	s.touch(t)
	s.save(ctx)
}

// makeRoom looks for room in memory once a trial has paused.
func (s *Search) makeRoom(ctx context.Context, t *trial) {
	if s.runner.decided(t) && !s.over {
		s.runner.makeRoom(ctx)
	}
}

// poll goes through the epochs that a running trial has finished, until one decides that it runs no further.
func (s *Search) poll(ctx context.Context, t *trial) {
	for len(t.queue) > 0 && t.State == Running {
		f := t.queue[0]
		t.queue = t.queue[1:]
		if t.curve.count > 0 && f.epoch <= t.Epochs && f.diverged == "" {
			continue // seen before the search was resumed
		}
		now := s.watch.elapsed()
		t.account(&f, s.config.sign())
		s.scheduler.total = s.ranking.spent()
		t.Ended, t.EndedAt = now, s.scheduler.total
		switch s.scheduler.evaluate(t, &f, now) {
		case hold:
			if t.session != nil && t.seated && !t.pausing {
				s.runner.pause(ctx, t)
			}
		case halt:
			s.runner.send(ctx, t, event.Stop{})
		}
	}
	if t.State == Running && t.ended != nil {
		s.scheduler.conclude(t, t.ended)
		t.Ended, t.EndedAt = s.watch.elapsed(), s.scheduler.total
	}
	s.touch(t)
}

// touch notes that a trial has changed.
func (s *Search) touch(t *trial) {
	s.recording.changed[t.Number] = true
	s.news = true
}

// reevaluate measures the best settings again, one at a time alone on the whole machine and with seeds that the search
// has not seen: figures of trials that ran side by side say little about time, and the best of many is best by luck
// too.
func (s *Search) reevaluate(ctx context.Context) {
	s.phase = phaseFinals
	for i := range max(1, s.config.Seeds) { // every setting once before any twice, as time may run out
		for _, parent := range s.scheduler.finalists() {
			seed := s.config.Base.Seed + 1 + uint64(i)
			if s.ranking.reevaluated(parent.Setting, seed) {
				continue
			}
			if s.late() {
				finish(ctx, s, 0)
				return
			}
			s.runToEnd(ctx, s.final(parent, seed))
		}
	}
	finish(ctx, s, 0)
}

// final returns the trial that repeats another one with a seed: a new one, or one that the end of the search has cut
// short.
func (s *Search) final(parent *trial, seed uint64) *trial {
	for _, t := range s.ranking.trials {
		if t.State == Waiting && t.Final && t.Setting == parent.Setting && t.Seed == seed {
			return t
		}
	}
	choices := parent.Choices
	if s.config.Nets > 0 {
		choices = append(slices.Clone(choices), Choice{Key: "committee", Value: strconv.Itoa(s.config.Nets),
			Number: -1})
	}
	t := s.add(choices, seed)
	t.Final, t.parent, t.Setting = true, parent, parent.Setting
	s.configure(t)
	return t
}

// leaveFinals gives up the trials of the reevaluation that wait.
func (s *Search) leaveFinals() {
	for _, t := range s.ranking.trials {
		if t.State == Waiting {
			t.State = Stopped
			s.touch(t)
		}
	}
}

// late reports whether there is no time for another trial.
func (s *Search) late() bool { return s.halted || s.scheduler.late(s.watch.elapsed()) }

// runToEnd runs a trial to its end.
func (s *Search) runToEnd(ctx context.Context, t *trial) {
	s.over = false
	s.resume(ctx, t)
	beside := 0
	if s.config.Program != nil {
		beside = s.machine.parallel - 1
	}
	finish(ctx, s, beside)
}

// finish waits until no more than some trials of the reevaluation are under way.
func finish(ctx context.Context, s *Search, left int) {
	for s.runner.sessions > left {
		s.next(ctx)
		if s.late() {
			s.end(ctx)
		}
	}
}
