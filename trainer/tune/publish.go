package tune

import (
	"cmp"
	"context"
	"io"
	"math"
	"slices"
	"sync"
	"time"

	"newtop/trainer/store"
	"newtop/trainer/store/search"
)

// heartbeat is what a search does ten times a second.
func (s *Search) heartbeat(ctx context.Context) {
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
func (s *Search) rest() *searchRest {
	first := s.scheduler.first
	return &searchRest{Measure: s.runner.judges(), Drawn: s.sampler.drawn,
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
		Name: c.Name, Folds: c.folds(), Shard: c.Shard, Data: s.data, Measure: s.runner.judges(), Program: c.Program,
		Over: c.Over, Target: c.Base.TargetError,
		Phase: s.phase, Seconds: s.watch.elapsed(), Budget: c.Budget.Seconds(), Spent: s.scheduler.total,
		MaxWork: c.MaxWork,
		Planned: c.Trials, Parallel: s.machine.parallel, Threads: s.machine.threads, Order: s.ranking.order(),
		Ahead: s.ranking.ahead,
		Bests: slices.Clip(s.ranking.bests), Importances: s.matter, Command: s.best(), Warning: s.recording.warning,
	}
	if c.Program != nil {
		b.Threads = 0
	}
	if s.ranking.tested() {
		b.Test = s.runner.measure.named("test")
	}
	b.Trials = make([]Trial, len(s.ranking.trials))
	for i, t := range s.ranking.trials {
		b.Trials[i] = t.Trial
	}
	if s.phase == phaseFinals {
		b.Parallel, b.Threads = 1, s.machine.parallel*s.machine.threads
	}
	s.set(b)
}

// tested reports whether the trials have a test figure beside what they are judged by.
func (r *ranking) tested() bool {
	return slices.ContainsFunc(r.trials, func(t *trial) bool {
		return !t.Test.Absent() && !math.IsNaN(float64(t.Test))
	})
}

// best returns the command line of the setting at the head of the leaderboard as a configuration that ends by itself,
// empty where nothing has come of any.
func (s *Search) best() string {
	t := s.ranking.first()
	if t == nil || s.config.Crosses() {
		return ""
	}
	if p := s.config.Program; p != nil {
		return p.commandLine(s.space, s.config.Name, t)
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

// Leaderboard is the latest state.
func (v *publisher) Leaderboard() *Leaderboard {
	leaderboard, _, _ := v.state()
	return leaderboard
}

// Wait blocks until there is a newer Leaderboard than seen and returns it; io.EOF after the last one was seen.
func (v *publisher) Wait(ctx context.Context, seen *Leaderboard) (*Leaderboard, error) {
	for {
		leaderboard, changed, closed := v.state()
		switch {
		case leaderboard != seen:
			return leaderboard, nil
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

// publisher hands boards out. Changed is closed and replaced with every new board.
type publisher struct {
	mu      sync.Mutex
	latest  *Leaderboard
	changed chan struct{}
	closed  bool
}

func (v *publisher) init() { v.changed = make(chan struct{}) }

func (v *publisher) state() (*Leaderboard, <-chan struct{}, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.latest, v.changed, v.closed
}

func (v *publisher) set(b *Leaderboard) {
	v.change(func() { v.latest = b })
}

func (v *publisher) close() {
	v.change(func() { v.closed = true })
}

func (v *publisher) change(set func()) {
	v.mu.Lock()
	defer v.mu.Unlock()
	set()
	close(v.changed)
	v.changed = make(chan struct{})
}

// Run searches until the budget is spent, Stop is called or the context ends. It returns the context's error where that
// has ended, a *NothingError where nothing came of any trial, a *trainer.ConfigError where the first trial to end shows
// that nothing can, an error of the store's, and else nil.
func (s *Search) Run(ctx context.Context) error {
	if !s.started.CompareAndSwap(false, true) {
		panic("tune: Search.Run called twice")
	}
	s.watch.since = time.Now()
	s.clock = time.NewTicker(tick)
	defer s.clock.Stop()
	s.broken, s.stop = ctx.Done(), s.halt
	own := context.WithoutCancel(ctx) // sessions are stopped in order
	s.explore(own)
	if !s.halted && s.config.Finals >= 0 {
		s.reevaluate(own)
	}
	s.leaveFinals()
	s.phase = phaseDone
	if s.halted {
		s.phase = phaseStopped
	}
	s.runner.drain()
	s.watch = stopwatch{before: s.watch.elapsed()}
	s.mattered = time.Time{}
	s.news = true
	s.save(own)
	err := s.recording.record.Release(own)
	s.publish()
	s.publisher.close()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil || s.halted:
		return cmp.Or(err, s.useless)
	}
	return s.ranking.requireResult()
}

// New returns a search whose trials are recorded in s. It looks at the data once, and returns what trainer.Config's
// Check and Prepare do, a *trainer.ConfigError, an *optim.UnknownError for a method, or a *store.SearchError for a name
// that another search has.
func New(c Config, s *store.Store) (*Search, error) {
	if c.Program == nil {
		if len(c.Over) == 0 && !c.Crosses() {
			c.chooseSpace()
		}
		c.ResolveDefaults()
	}
	q, err := prepare(c, s)
	if err == nil {
		q.runner.measure, err = q.survey()
	}
	if err != nil {
		return nil, err
	}
	row := &q.recording.row
	if row.Rest, err = encode(q.rest()); err != nil {
		return nil, err
	}
	if row.Config, err = encode(&q.config); err != nil {
		return nil, err
	}
	row.Name, row.Phase, row.Data, row.Version = c.Name, phaseSearching, q.data, c.Version
	if q.recording.record, err = search.New(context.Background(), s, row); err != nil {
		return nil, err
	}
	q.config.Name = row.Name
	q.publish()
	return q, nil
}
