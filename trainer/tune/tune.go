// Package tune searches over methods, hyperparameters and seeds for what trains best within a budget.
//
// A point of a Sobol sequence [Joe & Kuo 2008], shifted by the seed, makes a trial; after a while a Parzen estimator
// over the trials so far makes three of four [Bergstra, Bardenet, Bengio, Kégl 2011]. Trials climb a ladder of rungs in
// gradient equivalents, from which successive halving without waiting lets the best third climb on (type asha). A
// trial is a trainer.Session of its own and a run in the store. One that waits on a rung pauses in memory, or ends and
// goes on from its checkpoint where memory is short.
//
//	            report                      touch, 10/s                  Board, 10/s
//	sessions ───────────► Search.Run ──┬───────────────► store    ┌───────────────► viewers
//	          ◄───────────  owns all   └──────────────────────────┘      Wait
//	            command
//
// The goroutine of Run owns all trials. A session's recorder waits until Run takes its report; commands to sessions are
// given from goroutines of their own, so that Run waits for nobody. Run ends when every session has reported its end,
// then waits for those goroutines.
//
// With a target error what counts is the time to it, and a trial that has spent half as much again as the best one
// took is given up; else the least error counts. In the end the best settings are measured again, alone on the whole
// machine and with fresh seeds. Trials are judged by the test rows, so that the error of the winner is a little
// flattering. With a budget of seconds decisions look at the clock; without, and with one trial at a time, the same
// seed makes the same decisions everywhere.
//
// The sequence and the estimator's densities are goptuna's. Its study is not used: its samplers draw from the global
// random numbers and never draw the upper end of whole numbers, it has no logarithmic whole ones, its TPE adds up
// logarithms where the logarithm of a sum is wanted, and its pruner can't take a trial up again.
package tune

import (
	"context"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"newtop/trainer"
	"newtop/trainer/store"
)

// Search is one search. Run is called once; the other methods may be called from any goroutine.
type Search struct {
	config  Config
	store   *store.Store
	record  *store.SearchRecord
	row     store.Search
	space   *space
	sampler *sampler
	asha    asha
	first   step    // the first rung
	limit   float64 // gradient equivalents of a trial; 0: none
	measure string
	data    string
	ahead   map[int]bool // settings whose finals count before all else; nil: of all
	memory  int64        // bytes of each trial
	parked  int          // sessions that are kept while they pause

	parallel, threads int // trials at once, and of each

	// The state of the search, which Run's goroutine owns.
	phase                string
	trials               []*trial
	live                 map[int]*trial // with a session, or paused
	begun                int            // trials, finals left out
	used                 bool           // there are no more settings to try
	total                float64        // gradient equivalents
	bests                []Point
	sessions             int        // that have not reported their end
	taken                int        // places
	seconds, equivalents float64    // least that a trial took to the target
	reserved             bool       // kept is right
	kept                 [2]float64 // seconds and gradient equivalents that are kept for the finals
	over                 bool
	halted               bool
	warning              string
	matter               []Importance
	mattered             time.Time
	before               float64   // seconds of the search before it was resumed
	since                time.Time // zero before Run
	changed              map[int]bool
	news                 bool
	saved                time.Time
	clock                *time.Ticker
	broken               <-chan struct{}
	stop                 <-chan struct{}

	reports chan report
	asks    sync.WaitGroup

	started atomic.Bool
	halt    chan struct{} // closed by Stop
	once    sync.Once
	viewers viewers
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
	if c.Shard.Of > 0 {
		c.Shard = c.Shard.filled(&c)
		c.Name = c.Shard.name()
	}
	q, err := prepare(c, s)
	if err == nil {
		err = q.survey()
	}
	if err != nil {
		return nil, err
	}
	if q.row.Rest, err = q.encodeRest(); err != nil {
		return nil, err
	}
	if q.row.Config, err = encodeConfig(&q.config); err != nil {
		return nil, err
	}
	q.row.Name, q.row.Phase, q.row.Data, q.row.Version = c.Name, phaseSearching, q.data, c.Version
	if q.record, err = s.NewSearch(context.Background(), &q.row); err != nil {
		return nil, err
	}
	q.config.Name = q.row.Name
	q.publish()
	return q, nil
}

// prepare makes a search that has no trials and no record, and has not seen its data.
func prepare(c Config, s *store.Store) (*Search, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	if len(c.Over) == 0 {
		c.Over = DefaultSpace(c.Base)
	}
	space, err := newSpace(c.Base, c.Over)
	if err != nil {
		return nil, err
	}
	q := &Search{
		config: c, store: s, space: space, sampler: newSampler(space, c.Sampler, c.Seed),
		parked: mostParked, seconds: math.Inf(1), equivalents: math.Inf(1), live: map[int]*trial{}, changed: map[int]bool{},
		reports: make(chan report), halt: make(chan struct{}), phase: phaseSearching,
	}
	for i := range q.config.Over {
		for _, a := range space.axes { // whose ranges know whether they are of whole numbers
			if a.Key == q.config.Over[i].Key {
				q.config.Over[i] = a.Dimension
			}
		}
	}
	q.viewers.init()
	q.allot()
	q.sampler.share(c.Shard)
	return q, nil
}

// survey prepares the data once, to see what trials are judged by and that there is nothing wrong.
func (s *Search) survey() error {
	c := s.config.Base
	p, err := c.Prepare()
	if err != nil {
		return err
	}
	s.data = p.Data.Name
	switch {
	case p.Test.Rows() == 0:
		s.measure = "training loss"
	case p.Data.Classes != nil:
		s.measure = measureError
	default:
		s.measure = measureRMSE
	}
	return nil
}

// command returns the command line that trains a configuration.
func (s *Search) command(c *trainer.Config) string {
	if s.config.Command == nil {
		return ""
	}
	return s.config.Command(c)
}

// elapsed returns the seconds of the search, over all resumes.
func (s *Search) elapsed() float64 {
	if s.since.IsZero() {
		return s.before
	}
	return s.before + time.Since(s.since).Seconds()
}

// Run searches until the budget is spent, Stop is called or the context ends. It returns the context's error where that
// has ended, a *NothingError where nothing came of any trial, an error of the store's, and else nil.
func (s *Search) Run(ctx context.Context) error {
	if !s.started.CompareAndSwap(false, true) {
		panic("tune: Search.Run called twice")
	}
	s.since = time.Now()
	s.clock = time.NewTicker(tick)
	defer s.clock.Stop()
	s.broken, s.stop = ctx.Done(), s.halt
	own := context.WithoutCancel(ctx) // sessions are stopped in order
	s.climb(own)
	if !s.halted && s.config.Finals >= 0 {
		s.reevaluate(own)
	}
	s.phase = phaseDone
	if s.halted {
		s.phase = phaseStopped
	}
	s.drain()
	s.before, s.since = s.elapsed(), time.Time{}
	s.mattered = time.Time{}
	s.news = true
	s.save(own)
	err := s.record.Release(own)
	s.publish()
	s.viewers.close()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil || s.halted:
		return err
	}
	return s.nothing()
}

// drain waits for the goroutines that give commands, one of which may still tell of a session that is over.
func (s *Search) drain() {
	done := make(chan struct{})
	go func() {
		s.asks.Wait()
		close(done)
	}()
	for {
		select {
		case <-s.reports:
		case <-done:
			return
		}
	}
}

// Stop ends the search in order: its trials are recorded as stopped, the leaderboard stands.
func (s *Search) Stop() { s.once.Do(func() { close(s.halt) }) }

// NothingError says that nothing came of any trial.
type NothingError struct{ Message string }

func (e *NothingError) Error() string { return e.Message }

// nothing returns a *NothingError unless something came of some trial.
func (s *Search) nothing() error {
	why := ""
	for _, t := range s.trials {
		switch {
		case !math.IsNaN(float64(t.Best)) && t.State != Failed && t.State != Diverged:
			return nil
		case t.Why != "" && why == "":
			why = ": " + t.Why
		}
	}
	return &NothingError{fmt.Sprintf("nothing came of any of %d trials%s", len(s.trials), why)}
}
