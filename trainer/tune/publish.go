package tune

import (
	"context"
	"io"
	"math"
	"slices"
	"sync"
	"time"

	"newtop/trainer/event"
)

// beat is what a search does ten times a second.
func (s *Search) beat(ctx context.Context) {
	if len(s.recording.changed) > 0 || time.Since(s.recording.saved) >= heartbeat {
		s.save(ctx)
	}
	if s.news || s.config.Budget > 0 {
		s.publish()
	}
}

// save records what has changed.
func (s *Search) save(ctx context.Context) {
	row := &s.recording.row
	row.Phase, row.Data, row.Seconds, row.Spent = s.phase, s.data, s.watch.elapsed(), s.scheduler.total
	before := s.recording.warning
	s.recording.save(ctx, s.ranking.trials, s.rest())
	s.news = s.news || s.recording.warning != before
}

// rest is what the record keeps of the search's state.
func (s *Search) rest() *rest {
	first := s.scheduler.first
	return &rest{Measure: s.runner.measure.Info().Name, Drawn: s.sampler.drawn,
		First: [2]float64{first.equivalents, first.seconds}, Bests: s.ranking.bests}
}

// publish makes a new board.
func (s *Search) publish() {
	s.news = false
	if time.Since(s.mattered) >= importance && !s.config.Crosses() {
		s.matter, s.mattered = importances(s.space, s.ranking.trials), time.Now()
	}
	c := &s.config
	b := &Leaderboard{
		Name: c.Name, Folds: c.folds(), Shard: c.Shard, Data: s.data, Measure: s.runner.measure.Info().Name,
		Test: s.test(), Over: c.Over, Target: c.Base.TargetError,
		Phase: s.phase, Seconds: s.watch.elapsed(), Budget: c.Budget.Seconds(), Spent: s.scheduler.total, Most: c.Most,
		Planned: c.Trials, Parallel: s.machine.parallel, Threads: s.machine.threads, Order: s.ranking.order(),
		Ahead: s.ranking.ahead,
		Bests: slices.Clip(s.ranking.bests), Importances: s.matter, Command: s.best(), Warning: s.recording.warning,
	}
	b.Trials = make([]Trial, len(s.ranking.trials))
	for i, t := range s.ranking.trials {
		b.Trials[i] = t.Trial
	}
	if s.phase == phaseFinals {
		b.Parallel, b.Threads = 1, s.machine.parallel*s.machine.threads
	}
	s.viewers.put(b)
}

// test names the trials' test figure, empty where they have none beside what they are judged by.
func (s *Search) test() string {
	for _, t := range s.ranking.trials {
		if !t.Test.Absent() && !math.IsNaN(float64(t.Test)) {
			return s.runner.measure.Test().Info().Name
		}
	}
	return ""
}

// best returns the command line of the setting at the head of the leaderboard as a configuration that ends by itself,
// empty where nothing has come of any.
func (s *Search) best() string {
	t := s.ranking.first()
	if t == nil || s.config.Crosses() {
		return ""
	}
	c, err := s.space.config(t.Choices)
	if err != nil {
		return ""
	}
	c.Seed, c.Save = t.Seed, s.config.Base.Save
	if c.TargetError == 0 || t.State != Reached {
		c.Epochs = max(t.BestEpoch, 1)
	}
	return s.config.command(&c)
}

// floatOf is NaN for what is not finite.
func floatOf(v float64) event.Float {
	if math.IsInf(v, 0) {
		v = math.NaN()
	}
	return event.Float(v)
}

// Leaderboard is the newest state.
func (s *Search) Leaderboard() *Leaderboard {
	board, _, _ := s.viewers.state()
	return board
}

// Wait blocks until there is a newer Leaderboard than seen and returns it; io.EOF after the last one was seen.
func (s *Search) Wait(ctx context.Context, seen *Leaderboard) (*Leaderboard, error) {
	for {
		board, changed, closed := s.viewers.state()
		switch {
		case board != seen:
			return board, nil
		case closed:
			return nil, io.EOF
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// viewers hands boards out. Changed is closed, and made anew, with every new board.
type viewers struct {
	mu      sync.Mutex
	newest  *Leaderboard
	changed chan struct{}
	closed  bool
}

func (v *viewers) init() { v.changed = make(chan struct{}) }

func (v *viewers) state() (*Leaderboard, <-chan struct{}, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.newest, v.changed, v.closed
}

func (v *viewers) put(b *Leaderboard) {
	v.change(func() { v.newest = b })
}

func (v *viewers) close() {
	v.change(func() { v.closed = true })
}

func (v *viewers) change(set func()) {
	v.mu.Lock()
	defer v.mu.Unlock()
	set()
	close(v.changed)
	v.changed = make(chan struct{})
}
