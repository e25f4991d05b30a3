package tune

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"newtop/trainer/event"
)

// Times of a search.
const (
	tick       = 100 * time.Millisecond // between two boards, and two records of what has changed
	heartbeat  = time.Second            // between two records of nothing but being alive
	importance = time.Second            // between two estimates of what matters
)

// climb searches until there is nothing left to try or to spend.
func (s *Search) climb(ctx context.Context) {
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
	for s.sessions > 0 {
		s.next(ctx)
	}
	for _, t := range s.trials {
		switch t.State {
		case Waiting:
			t.State = Stopped
		case Paused:
			rung := len(t.scores) - 1
			place, of := s.asha.place(t.Number, rung)
			t.State, t.Why = Pruned, fmt.Sprintf("place %d of %d after %.3g gradient equivalents", place, of, s.first.up(rung).equivalents)
		default:
			continue
		}
		s.touch(t)
	}
}

// next waits for one thing to happen.
func (s *Search) next(ctx context.Context) {
	select {
	case r := <-s.reports:
		s.take(ctx, r)
	case <-s.clock.C:
		s.beat(ctx)
	case <-s.stop:
		s.stop = nil
		s.halted = true
	case <-s.broken:
		s.broken, s.halted = nil, true
	}
}

// seat gives a trial a place, or takes it away.
func (s *Search) seat(t *trial, on bool) {
	if t.seated == on {
		return
	}
	t.seated = on
	if on {
		s.taken++
	} else {
		s.taken--
	}
}

// idle reports whether nothing is under way that could lead on.
func (s *Search) idle() bool {
	if s.taken > 0 {
		return false
	}
	for _, t := range s.live {
		if t.leaving && !s.over {
			return false
		}
	}
	return true
}

// spent reports whether no more may be tried.
func (s *Search) spent() bool {
	if s.halted || s.over {
		return true
	}
	c := &s.config
	seconds, equivalents := s.reserve()
	return c.Most > 0 && s.total+equivalents >= c.Most || c.Budget > 0 && s.elapsed()+seconds >= c.Budget.Seconds()
}

// end gives up what is under way.
func (s *Search) end(ctx context.Context) {
	if s.over {
		return
	}
	s.over = true
	for _, t := range s.live {
		if t.State == Running {
			t.State = Stopped
			s.touch(t)
		}
		s.tell(ctx, t, event.Stop{})
	}
}

// fill gives the free places to trials: those that were interrupted, then those that may climb, then new ones.
func (s *Search) fill(ctx context.Context) {
	for !s.spent() && s.taken < s.parallel {
		switch t := s.chosen(); {
		case t == nil:
			return
		case t.State == Paused:
			s.asha.leave(t.Number, len(t.scores)-1)
			t.Rung++
			s.resume(ctx, t)
		default:
			s.resume(ctx, t)
		}
	}
}

// chosen returns the trial that gets the next place, or nil.
func (s *Search) chosen() *trial {
	for _, t := range s.trials {
		if t.State == Waiting {
			return t
		}
	}
	if number, _, ok := s.asha.next(!s.more()); ok {
		if t := s.trials[number-1]; !t.pausing && !t.leaving {
			return t
		}
	}
	if !s.more() {
		return nil
	}
	return s.begin()
}

// more reports whether new trials may be begun.
func (s *Search) more() bool {
	return !s.used && !s.hopeless() && (s.config.Trials == 0 || s.begun < s.config.Trials)
}

// A search gives up where so many of its first trials, or so many in a row, have failed: its data may be gone.
const (
	firstFailures = 20
	mostFailures  = 100
)

// hopeless reports whether nothing but failures comes of new trials.
func (s *Search) hopeless() bool {
	n := len(s.trials)
	return n >= firstFailures && !slices.ContainsFunc(s.trials[max(0, n-mostFailures):], func(t *trial) bool { return t.State != Failed })
}

// begin makes a new trial, or returns nil where all have been tried.
func (s *Search) begin() *trial {
	var seen [][]Choice
	for _, i := range s.order() {
		if t := s.trials[i]; !t.Final {
			seen = append(seen, t.Choices)
		}
	}
	choices, ok := s.sampler.next(seen)
	if !ok {
		s.used = true
		return nil
	}
	t := s.add(choices, s.config.Base.Seed)
	s.begun++
	s.sampler.take(choices)
	return t
}

// add appends a trial that waits.
func (s *Search) add(choices []Choice, seed uint64) *trial {
	t := newTrial(len(s.trials)+1, choices, seed, s.elapsed())
	s.trials = append(s.trials, t)
	s.configure(t)
	return t
}

// newTrial returns a trial that waits, begun so many seconds after the search.
func newTrial(number int, choices []Choice, seed uint64, begun float64) *trial {
	return &trial{Trial: Trial{
		Number: number, Setting: number, Choices: choices, Seed: seed, Begun: begun,
		Best: nan, Last: nan, Loss: nan, TargetSeconds: nan, TargetEquivalents: nan,
	}}
}

var nan = event.Float(math.NaN())

// configure makes the configuration that a trial trains.
func (s *Search) configure(t *trial) {
	c, err := s.space.config(t.Choices)
	if err != nil {
		t.ended = &event.DoneEvent{Reason: event.ReasonFailed, Message: oneLine(err)}
	}
	c.Seed, c.Threads, c.Memory, c.Save = t.Seed, s.threads, s.memory, ""
	if t.Final {
		c.Threads, c.Memory = s.config.Threads, s.memory*int64(s.parallel)
	}
	t.config = c
}

// resume lets a trial train, again or at last.
func (s *Search) resume(ctx context.Context, t *trial) {
	t.State = Running
	s.touch(t)
	s.outdate(t)
	s.live[t.Number] = t
	s.look(ctx, t) // at what it did before it paused
	switch {
	case t.State != Running:
		if t.session == nil {
			delete(s.live, t.Number)
		}
	case t.session != nil:
		s.seat(t, true)
		s.tell(ctx, t, event.Pause{})
	default:
		s.start(ctx, t)
	}
}

// outdate takes back what finals of an earlier end of the search have measured of a setting whose trial goes further now.
func (s *Search) outdate(t *trial) {
	if t.Final {
		return
	}
	for _, f := range s.trials {
		if f.Setting == t.Setting && f.Measured() {
			f.State, f.Why = Stopped, fmt.Sprintf("trial %d has gone further since", t.Number)
			s.touch(f)
		}
	}
}

// take takes in what a session says.
func (s *Search) take(ctx context.Context, r report) {
	t := r.trial
	switch {
	case r.opening != nil:
		t.Run, t.room = r.opening.ID, roomOf(r.opening)
	case r.figure != nil:
		t.queue = append(t.queue, *r.figure)
		t.heard = r.figure.epoch
		s.look(ctx, t)
		s.settled(ctx, t)
	case r.paused:
		t.pausedAt = r.epoch
		s.settled(ctx, t)
	case r.ended != nil:
		s.seat(t, false)
		t.session, t.recorder, t.pausing = nil, nil, false // its recorder is flushed
		s.sessions--
		if t.leaving || t.State == Paused && r.ended.Reason == event.ReasonStopped {
			t.leaving = false // to be taken up again from its checkpoint
			t.queue = nil
			break
		}
		t.ended = r.ended
		s.look(ctx, t)
		if t.State != Paused {
			delete(s.live, t.Number)
		}
	}
	s.touch(t)
}

// settled gives the place of a trial free that has paused, once all that it did before has been heard of: what came later
// could be mistaken for what it does when it goes on.
func (s *Search) settled(ctx context.Context, t *trial) {
	if !t.pausing || t.pausedAt < 0 || t.heard < t.pausedAt {
		return
	}
	t.pausing = false
	s.seat(t, false)
	if !s.over {
		s.makeRoom(ctx)
	}
}

// Bounds of the sessions that are kept while they pause.
const (
	mostParked = 64
	parkRoom   = 512 << 20 // bytes
)

// makeRoom ends sessions of paused trials, the hindmost first, until the others take no more room than they may. A
// trial goes on from its checkpoint if it is taken up again.
func (s *Search) makeRoom(ctx context.Context) {
	var parked []*trial
	room := int64(0)
	for _, t := range s.live {
		if t.State == Paused && t.session != nil && !t.pausing && !t.leaving {
			parked = append(parked, t)
			room += t.room
		}
	}
	if room <= parkRoom && len(parked) <= s.parked {
		return
	}
	slices.SortFunc(parked, func(a, b *trial) int {
		return cmp.Or(cmp.Compare(a.Best, b.Best), cmp.Compare(a.Number, b.Number))
	})
	for len(parked) > 0 && (room > parkRoom || len(parked) > s.parked) {
		t := parked[len(parked)-1]
		parked = parked[:len(parked)-1]
		room -= t.room
		t.leaving = true
		s.tell(ctx, t, event.Stop{})
	}
}

// roomOf estimates the bytes of a session: its data, and what its passes keep of every row.
func roomOf(e *event.RunEvent) int64 {
	nodes := 0
	for _, n := range e.Model.Layers {
		nodes += n
	}
	rows := e.Data.TrainRows + e.Data.TestRows
	return 8 * (int64(rows)*int64(e.Data.Inputs+e.Data.Outputs+4*nodes) + 16*int64(e.Model.Parameters))
}
