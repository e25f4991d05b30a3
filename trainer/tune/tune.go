// Package tune searches over methods, hyperparameters and seeds for what trains best within a budget.
//
// A point of a Sobol sequence [Joe & Kuo 2008], shifted by the seed, makes a trial; after a while a Parzen estimator
// over the trials so far makes three of four [Bergstra, Bardenet, Bengio, Kégl 2011]. Trials climb a ladder of rungs in
// gradient equivalents, from which successive halving without waiting lets the best third climb on (type asha). A
// trial is a trainer.Session of its own and a run in the store. One that waits on a rung pauses in memory, or ends and
// goes on from its checkpoint where memory is short.
//
//	            report                      save, 10/s            Leaderboard, 10/s
//	sessions ───────────► Search.Run ──┬───────────────► store    ┌───────────────► viewers
//	          ◄───────────  owns all   └──────────────────────────┘      Wait
//	            command     trials; asks the scheduler how far each goes
//
// The goroutine of Run owns all trials. A session's recorder waits until Run takes its report; commands to sessions are
// given from goroutines of their own, so that Run waits for nobody. Run ends when every session has reported its end,
// then waits for those goroutines.
//
// With a target error what counts is the time to it, and a trial that has spent half as much again as the best one took
// is given up; else the least error counts. In the end the best settings are measured again, alone on the whole machine
// and with fresh seeds. Trials are judged by the validation rows, so that nothing is chosen by the test rows; in a
// search without validation rows they are judged by those, and the error of the winner is a little flattering. With a
// budget of seconds decisions look at the clock; without, and with one trial at a time, the same seed makes the same
// decisions everywhere.
//
// The estimator's densities are goptuna's. Its study is not used: its samplers draw from the global
// random numbers and never draw the upper end of whole numbers, it has no logarithmic whole ones, its TPE adds up
// logarithms where the logarithm of a sum is wanted, and its pruner can't take a trial up again.
package tune

import (
	"context"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"newtop/trainer"
	"newtop/trainer/event"
	"newtop/trainer/store"
)

// Search is one search. Run is called once; the other methods may be called from any goroutine.
type Search struct {
	config    Config
	machine   allotment
	space     *space
	sampler   *sampler
	ranking   *ranking
	scheduler *scheduler
	runner    *runner
	recording *recording
	viewers   viewers

	// The state of the search, which Run's goroutine owns.
	phase    string
	data     string
	watch    stopwatch
	over     bool
	halted   bool
	matter   []Importance
	mattered time.Time
	news     bool // since the last board
	clock    *time.Ticker
	broken   <-chan struct{}
	stop     <-chan struct{}

	started atomic.Bool
	halt    chan struct{} // closed by Stop
	once    sync.Once
}

// stopwatch is how long a search has taken, over all resumes.
type stopwatch struct {
	before float64   // seconds
	since  time.Time // zero: it stands
}

func (w *stopwatch) elapsed() float64 {
	if w.since.IsZero() {
		return w.before
	}
	return w.before + time.Since(w.since).Seconds()
}

// The phases.
const (
	phaseSearching = "searching"
	phaseFinals    = "finals"
	phaseDone      = "done"
	phaseStopped   = "stopped"
)

// New returns a search whose trials are recorded in s. It looks at the data once, and returns what trainer.Config's
// Check and Prepare do, a *trainer.ConfigError, an *optim.UnknownError for a method, or a *store.SearchError for a name
// that another search has.
func New(c Config, s *store.Store) (*Search, error) {
	if len(c.Over) == 0 && !c.Crosses() {
		c.chooseSpace()
	}
	c.Settle()
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
	if q.recording.record, err = s.NewSearch(context.Background(), row); err != nil {
		return nil, err
	}
	q.config.Name = row.Name
	q.publish()
	return q, nil
}

// prepare makes a search that has no trials and no record, and has not seen its data.
func prepare(c Config, s *store.Store) (*Search, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	if c.Crosses() {
		c.fold()
	}
	space, err := newSpace(c.Base, c.Over)
	if err != nil {
		return nil, err
	}
	q := &Search{
		config: c, space: space, sampler: newSampler(space, c.Sampler, c.Seed),
		recording: &recording{changed: map[int]bool{}}, halt: make(chan struct{}), phase: phaseSearching,
	}
	for i := range q.config.Over {
		for _, a := range space.axes { // whose ranges know whether they are of whole numbers
			if a.Key == q.config.Over[i].Key {
				q.config.Over[i] = a.Dimension
			}
		}
	}
	q.machine = q.config.allot(space.size())
	q.ranking = &ranking{config: &q.config}
	q.scheduler = newScheduler(&q.config, q.ranking)
	q.runner = &runner{config: &q.config, store: s, live: map[int]*trial{}, parked: mostParked,
		reports: make(chan report)}
	q.viewers.init()
	return q, nil
}

// Base returns what all trials have in common, with what New has settled.
func (s *Search) Base() trainer.Config { return s.config.Base }

// survey prepares the data once, to see that there is nothing wrong. It returns what runs with them are judged by.
func (s *Search) survey() (event.Quantity, error) {
	c := s.config.Base
	if s.config.Crosses() {
		c.Fold = 1
	}
	p, err := c.Prepare()
	if err != nil {
		return 0, err
	}
	s.data = p.Data.Name
	decide := p.Validation.Total()
	if c.FoldCommittee() {
		decide = p.Train.Total()
	}
	run := event.RunEvent{Data: event.DataInfo{ValidationRows: decide, TestRows: p.Test.Total(),
		Classes: len(p.Data.Classes)}}
	if p.Elsewhere == nil {
		run.Model.Layers = []int{p.Data.Inputs(), p.Data.Outputs()}
	} else {
		run.Model.Program = p.Data.Title
	}
	return run.Measure().Quantity, p.Close()
}

// measureNamed returns what trials are judged by, as a leaderboard names it.
func measureNamed(name string) event.Quantity {
	for q := range event.QuantityCount {
		if q.Info().Name == name {
			return q
		}
	}
	return event.Loss
}

// Run searches until the budget is spent, Stop is called or the context ends. It returns the context's error where that
// has ended, a *NothingError where nothing came of any trial, an error of the store's, and else nil.
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
	s.viewers.close()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil || s.halted:
		return err
	}
	return s.ranking.nothing()
}

// Stop ends the search in order: its trials are recorded as stopped, the leaderboard stands.
func (s *Search) Stop() { s.once.Do(func() { close(s.halt) }) }

var nan = event.Float(math.NaN())
