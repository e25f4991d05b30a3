package tune

import (
	"context"
	"math"
	"slices"
	"time"

	"newtop/trainer/event"
)

// touch notes that a trial has changed.
func (s *Search) touch(t *trial) {
	s.changed[t.Number] = true
	s.news = true
}

// beat is what a search does ten times a second.
func (s *Search) beat(ctx context.Context) {
	if len(s.changed) > 0 || time.Since(s.saved) >= heartbeat {
		s.save(ctx)
	}
	if s.news || s.config.Budget > 0 {
		s.publish()
	}
}

// publish makes a new board.
func (s *Search) publish() {
	s.news = false
	if time.Since(s.mattered) >= importance {
		s.matter, s.mattered = s.importances(), time.Now()
	}
	b := &Board{
		Name: s.config.Name, Shard: s.config.Shard, Data: s.data, Measure: s.measure, Over: s.config.Over, Target: s.config.Base.TargetError,
		Phase: s.phase, Seconds: s.elapsed(), Budget: s.config.Budget.Seconds(), Spent: s.total, Most: s.config.Most,
		Planned: s.config.Trials, Parallel: s.parallel, Threads: s.threads, Order: s.order(), Ahead: s.ahead,
		Bests: slices.Clip(s.bests), Importances: s.matter, Warning: s.warning,
	}
	b.Trials = make([]Trial, len(s.trials))
	for i, t := range s.trials {
		b.Trials[i] = t.Trial
	}
	if s.phase == phaseFinals {
		b.Parallel, b.Threads = 1, s.parallel*s.threads
	}
	if c, ok := s.best(); ok {
		b.Command = s.command(&c)
	}
	s.viewers.put(b)
}

// floatOf is NaN for what is not finite.
func floatOf(v float64) event.Float {
	if math.IsInf(v, 0) {
		v = math.NaN()
	}
	return event.Float(v)
}
