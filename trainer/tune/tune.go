// Package tune searches over methods, hyperparameters and seeds for what trains best within a budget.
//
// A point of a Sobol sequence [Joe & Kuo 2008], shifted by the seed, makes a trial; after a while a Parzen estimator
// over the trials so far makes three of four [Bergstra, Bardenet, Bengio, Kégl 2011]. Trials climb a ladder of rungs in
// gradient equivalents, from which successive halving without waiting lets the best third climb on (type asha). A
// trial is a trainer.Session of its own and a run in the store. One that waits on a rung pauses in memory, or ends and
// resumes from its checkpoint where memory is short.
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
// The estimator's densities are goptuna's, whose study is not used: its TPE adds up logarithms where the logarithm of a
// sum is wanted, its samplers never draw the upper end of whole numbers, and its pruner can't take a trial up again.
package tune

import (
	"sync"
	"sync/atomic"
	"time"

	"newtop/internal/format"
	"newtop/internal/score"
	"newtop/trainer"
	"newtop/trainer/event"
	"newtop/trainer/store"
	"newtop/trainer/stream"
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
	publisher

	// The state of the search, which Run's goroutine owns.
	phase    string
	data     string
	watch    stopwatch
	over     bool
	halted   bool
	doubt    error // why nothing may come of a program's trials, as one showed while others were under way
	useless  error // why nothing can come of them
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

// prepare makes a search that has no trials and no record, and has not seen its data.
func prepare(c Config, s *store.Store) (*Search, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	if c.Crosses() {
		c.fold()
	}
	space, err := spaceOf(&c)
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
	q.runner = &runner{config: &q.config, space: space, store: s, live: map[int]*trial{}, parked: maxParked,
		reports: make(chan report)}
	if c.Program != nil {
		q.runner.metric = newMetric(c.Program.By)
	}
	q.publisher.init()
	return q, nil
}

// Base returns what all trials have in common, with what New has settled.
func (s *Search) Base() trainer.Config { return s.config.Base }

// survey prepares the data once, to see that there is nothing wrong. It returns what runs with them are judged by.
func (s *Search) survey() (measure, error) {
	if p := s.config.Program; p != nil {
		s.data = format.Masked(stream.ProgramName(p.Args))
		return measure{}, p.check(s.space, s.config.Name)
	}
	c := s.config.Base
	if s.config.Crosses() {
		c.Fold = 1
	}
	p, err := trainer.Prepare(&c)
	if err != nil {
		return measure{}, err
	}
	s.data = p.Data.Name
	decide := p.Validation.Rows()
	if c.FoldCommittee() {
		decide = p.Train.Rows()
	}
	run := event.RunEvent{Data: event.DataInfo{ValidationRows: decide, TestRows: p.Test.Rows(),
		Classes: len(p.Data.Classes)}}
	if p.External == nil {
		run.Model.Layers = []int{p.Data.Inputs(), p.Data.Outputs()}
	} else {
		run.Model.Program = p.Data.Title
	}
	m := measure{run.Measure().Quantity, c.Score()}
	if m.by != nil && !m.by.Outputs {
		m.Quantity, m.by = m.by.Quantity, nil
	}
	return m, p.Close()
}

// spaceOf makes the space of a search.
func spaceOf(c *Config) (*space, error) {
	if c.Program != nil {
		return axesOf(c.Over, true)
	}
	return newSpace(c.Base, c.Over)
}

// measureNamed returns what trials are judged by, as a leaderboard names it.
func measureNamed(name string) measure {
	for q := range event.QuantityCount {
		if q.Info().Name == name {
			return measure{Quantity: q}
		}
	}
	return measure{Quantity: event.Loss, by: score.ByName(name)}
}

// Stop ends the search in order: its trials are recorded as stopped, the leaderboard stands.
func (s *Search) Stop() { s.once.Do(func() { close(s.halt) }) }

// Share reports whether what trials are judged by is a share of the rows, and is written in per cent.
func (b *Leaderboard) Share() bool { return measureNamed(b.Measure).Info().Share }

// Max reports whether the greatest value is the best.
func (b *Leaderboard) Max() bool {
	if b.Program != nil {
		return b.Program.Max
	}
	by := measureNamed(b.Measure).by
	return by != nil && by.Max
}
