package tune

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"newtop/trainer/event"
	"newtop/trainer/optim/methods"
	"newtop/trainer/store"
)

// rest is what the record of a search has besides.
type rest struct {
	Measure string     // what trials are judged by
	Drawn   int        // points of the sampler
	First   [2]float64 // gradient equivalents and seconds of the first rung, which another budget does not move
	Bests   []Point    `json:",omitempty"`
}

// figures is what the record of a trial has besides.
type figures struct {
	Setting, Epochs, BestEpoch       int
	Best, Last, Loss                 event.Float
	Seconds, Equivalents             float64
	Begun, Ended, EndedAt            float64
	TargetSeconds, TargetEquivalents event.Float
	Scores                           []level `json:",omitempty"`
	Barred                           bool    `json:",omitempty"`
	Curve                            []Point `json:",omitempty"`
	Every, Count                     int
}

// level is a score, which JSON has no infinities for.
type level struct {
	Value event.Float
	Lost  bool `json:",omitempty"` // +Inf
	Won   bool `json:",omitempty"` // −Inf
}

// encodeConfig writes a configuration as the record keeps it. Its name stands beside it.
func encodeConfig(c *Config) (json.RawMessage, error) {
	text, err := json.Marshal(c)
	if err != nil {
		return nil, fmt.Errorf("tune: encoding a configuration: %w", err)
	}
	return text, nil
}

func (s *Search) encodeRest() (json.RawMessage, error) {
	text, err := json.Marshal(rest{
		Measure: s.measure, Drawn: s.sampler.drawn, First: [2]float64{s.first.equivalents, s.first.seconds}, Bests: s.bests,
	})
	if err != nil {
		return nil, fmt.Errorf("tune: encoding the state of a search: %w", err)
	}
	return text, nil
}

// save records what has changed. Where that fails the search goes on and says so.
func (s *Search) save(ctx context.Context) {
	var rows []store.Trial
	ahead := map[int]bool{}
	for _, t := range s.trials {
		if !s.changed[t.Number] {
			continue
		}
		if t.stored() {
			rows = append(rows, rowOf(t))
			continue
		}
		rows = append(rows, rowOf(t.beginning()))
		ahead[t.Number] = true
	}
	s.row.Phase, s.row.Data, s.row.Seconds, s.row.Spent = s.phase, s.data, s.elapsed(), s.total
	text, err := s.encodeRest()
	if err == nil {
		s.row.Rest = text
		err = s.record.Put(ctx, &s.row, rows)
	}
	s.saved = time.Now()
	warning := ""
	if err != nil {
		warning = "the search is not being recorded: " + oneLine(err)
	} else {
		s.changed = ahead
	}
	s.news = s.news || warning != s.warning
	s.warning = warning
}

// stored reports whether the run that a trial names is in the store. The recorder of a run and that of the search write
// each at its own pace: a process that is killed in between must not leave figures of a run that nobody finds.
func (t *trial) stored() bool {
	if t.recorder != nil && t.recorder.Stored() {
		t.recorder = nil
	}
	return t.recorder == nil
}

// beginning returns a trial as it was before it had a run, which a search that is resumed begins anew.
func (t *trial) beginning() *trial {
	b := newTrial(t.Number, t.Choices, t.Seed, t.Begun)
	b.State, b.Setting, b.Final = Running, t.Setting, t.Final
	return b
}

// rowOf returns a trial as the store keeps it.
func rowOf(t *trial) store.Trial {
	f := figures{
		Setting: t.Setting, Epochs: t.Epochs, BestEpoch: t.BestEpoch, Best: t.Best, Last: t.Last, Loss: t.Loss,
		Seconds: t.Seconds, Equivalents: t.Equivalents, Begun: t.Begun, Ended: t.Ended, EndedAt: t.EndedAt,
		TargetSeconds: t.TargetSeconds, TargetEquivalents: t.TargetEquivalents,
		Barred: t.barred, Curve: t.Curve, Every: t.curve.every, Count: t.curve.count,
	}
	for _, v := range t.scores {
		f.Scores = append(f.Scores, level{Value: event.Float(v), Lost: math.IsInf(v, 1), Won: math.IsInf(v, -1)})
	}
	row := store.Trial{Number: t.Number, Run: t.Run, State: t.State.String(), Why: t.Why, Seed: t.Seed, Rung: t.Rung, Final: t.Final}
	row.Choices, _ = json.Marshal(t.Choices) // texts, and numbers from −1 to 1
	row.Figures, _ = json.Marshal(&f)        // of which those that may be no numbers are trainer.Floats
	return row
}

// trialOf reads what rowOf writes.
func trialOf(row *store.Trial) (*trial, error) {
	var f figures
	t := &trial{Trial: Trial{Number: row.Number, Run: row.Run, Why: row.Why, Seed: row.Seed, Rung: row.Rung, Final: row.Final}}
	if err := errors.Join(json.Unmarshal(row.Choices, &t.Choices), json.Unmarshal(row.Figures, &f)); err != nil {
		return nil, err
	}
	state := slices.Index(stateNames[:], row.State)
	if state < 0 {
		return nil, fmt.Errorf("state %q: expected one of %v", row.State, stateNames)
	}
	t.State = State(state)
	for _, c := range t.Choices {
		if _, err := methods.Lookup(c.Value); c.Key == optKey && err != nil {
			return nil, err
		}
		if !(c.Number >= -1 && c.Number <= 1) {
			return nil, fmt.Errorf("%s lies at %g of its axis: expected a place from 0 to 1, or −1", c.Key, c.Number)
		}
	}
	t.Setting, t.Epochs, t.BestEpoch, t.Best, t.Last, t.Loss = f.Setting, f.Epochs, f.BestEpoch, f.Best, f.Last, f.Loss
	t.Seconds, t.Equivalents, t.Begun, t.Ended, t.EndedAt = f.Seconds, f.Equivalents, f.Begun, f.Ended, f.EndedAt
	t.TargetSeconds, t.TargetEquivalents, t.barred = f.TargetSeconds, f.TargetEquivalents, f.Barred
	t.curve = thinned{points: f.Curve, every: f.Every, count: f.Count}
	t.Curve = f.Curve
	for _, l := range f.Scores {
		v := float64(l.Value)
		switch {
		case l.Lost:
			v = math.Inf(1)
		case l.Won:
			v = math.Inf(-1)
		}
		t.scores = append(t.scores, v)
	}
	return t, nil
}

// Resume returns the search of that name in s, to go on where it was stopped or killed, with its configuration changed:
// other budgets, above all. It returns a *store.SearchError for one that is not there or that a process has.
func Resume(ctx context.Context, s *store.Store, name string, change func(*Config)) (*Search, error) {
	w, err := Find(ctx, s, name)
	if err != nil {
		return nil, err
	}
	if len(w.Parts) > 1 {
		return nil, &store.SearchError{Name: w.Name, Found: w.Told() + " are here", Expected: "one of them: " + w.Parts[0].Name + ", …"}
	}
	record, row, trials, err := s.ContinueSearch(ctx, w.Parts[0].ID)
	if err != nil {
		return nil, err
	}
	q, err := revive(s, row, trials, change)
	if err == nil {
		err = q.survey()
	}
	if err == nil {
		err = q.exhausted(row)
	}
	if err != nil {
		_ = record.Release(ctx) // which a process that ends does too
		return nil, err
	}
	q.record = record
	q.takeUp()
	q.publish()
	return q, nil
}

// exhausted returns an *ExhaustedError for a search that has nothing left of a limit.
func (s *Search) exhausted(row *store.Search) error {
	var was Config
	if err := json.Unmarshal(row.Config, &was); err != nil {
		return err
	}
	spent := func(found, expected string) error {
		return &ExhaustedError{store.SearchError{Name: row.Name, Found: found, Expected: expected}}
	}
	c := &s.config
	same := c.Budget == was.Budget && c.Most == was.Most && c.Trials == was.Trials
	switch {
	case c.Budget > 0 && s.before >= c.Budget.Seconds():
		return spent(fmt.Sprintf("it has taken %.3g s of %s", s.before, c.Budget), "a larger --budget")
	case c.Most > 0 && s.total >= c.Most:
		return spent(fmt.Sprintf("it has spent %.4g gradient equivalents of %g", s.total, c.Most), "a larger --most")
	case same && row.Phase == phaseDone:
		return spent("it is done", "a larger --budget, --most or --trials")
	}
	return nil
}

// revive makes a search of its record.
func revive(s *store.Store, row *store.Search, trials []store.Trial, change func(*Config)) (*Search, error) {
	bad := func(err error) error {
		return &store.RowError{File: s.Path(), Table: "searches", Run: row.Name, Err: err}
	}
	var c Config
	if err := json.Unmarshal(row.Config, &c); err != nil {
		return nil, bad(err)
	}
	c.Name = row.Name
	if change != nil {
		change(&c)
	}
	var left rest
	if err := json.Unmarshal(row.Rest, &left); err != nil {
		return nil, bad(err)
	}
	q, err := prepare(c, s)
	if err != nil {
		return nil, err
	}
	q.row = *row
	if q.row.Config, err = encodeConfig(&q.config); err != nil {
		return nil, err
	}
	if left.First[0] > 0 { // else nothing was recorded yet
		q.first = step{left.First[0], left.First[1]}
	}
	q.measure, q.data = left.Measure, row.Data
	q.phase, q.before, q.total, q.bests = row.Phase, row.Seconds, row.Spent, left.Bests
	for i := range trials {
		t, err := trialOf(&trials[i])
		if err != nil {
			return nil, bad(fmt.Errorf("trial %d: %w", trials[i].Number, err))
		}
		if t.Number != i+1 {
			return nil, bad(fmt.Errorf("trial %d: expected trial %d", t.Number, i+1))
		}
		q.trials = append(q.trials, t)
		q.configure(t)
		if !t.Final {
			q.begun++
			q.sampler.take(t.Choices)
		}
	}
	if left.Drawn < 0 || left.Drawn > 1<<24 {
		return nil, bad(fmt.Errorf("%d points drawn: expected at most %d", left.Drawn, 1<<24))
	}
	q.sampler.skip(left.Drawn)
	return q, nil
}

// takeUp puts the trials where they were: those that ran go on first, those on a rung wait there, also where the end
// of the search had pruned them.
func (s *Search) takeUp() {
	s.phase, s.total = phaseSearching, 0
	for _, t := range s.trials {
		s.total += t.Equivalents
		if t.State == Reached && !t.Final {
			s.arrived(t)
		}
		if t.Final {
			if t.State == Running || t.State == Waiting {
				t.State = Stopped // it is not worth measuring in two pieces
				s.touch(t)
			}
			continue
		}
		switch {
		case t.State == Running, t.State == Stopped, t.State == Paused && len(t.scores) == 0:
			t.State = Waiting
		case t.State == Pruned && !t.barred && len(t.scores) > 0:
			t.State, t.Why = Paused, ""
		}
		for rung, v := range t.scores {
			s.ladder.reach(t.Number, rung, v)
			if rung < len(t.scores)-1 || t.State != Paused {
				s.ladder.leave(t.Number, rung)
			}
		}
		s.touch(t)
	}
}
