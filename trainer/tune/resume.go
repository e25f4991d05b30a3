package tune

import (
	"context"
	"encoding/json"
	"fmt"

	"newtop/trainer/store"
	"newtop/trainer/store/search"
)

// Resume returns the search of that name in s, to continue where it was stopped or killed, with its configuration
// changed: other budgets, above all. It returns a *store.SearchError for one that is not there or that a process has.
func Resume(ctx context.Context, s *store.Store, name string, change func(*Config)) (*Search, error) {
	w, err := Find(ctx, s, name)
	if err != nil {
		return nil, err
	}
	if len(w.Parts) > 1 {
		return nil, &store.SearchError{Name: w.Name, Found: w.Shards() + " are here",
			Expected: "one of them: " + w.Parts[0].Name + ", …"}
	}
	record, row, trials, err := search.Continue(ctx, s, w.Parts[0].ID)
	if err != nil {
		return nil, err
	}
	q, err := revive(s, row, trials, change)
	if err == nil {
		_, err = q.survey() // which changes nothing of what trials are judged by
	}
	if err == nil {
		err = exhausted(q, row)
	}
	if err != nil {
		_ = record.Release(ctx) // which a process that ends does too
		return nil, err
	}
	q.recording.record = record
	restore(q)
	q.publish()
	return q, nil
}

// ExhaustedError says that a search has nothing left of what it was given.
type ExhaustedError struct{ store.SearchError }

func (e *ExhaustedError) Unwrap() error { return &e.SearchError }

// exhausted returns an *ExhaustedError for a search that has nothing left of a limit.
func exhausted(s *Search, row *search.Search) error {
	var was Config
	if err := json.Unmarshal(row.Config, &was); err != nil {
		return err
	}
	spent := func(found, expected string) error {
		return &ExhaustedError{store.SearchError{Name: row.Name, Found: found, Expected: expected}}
	}
	c := &s.config
	same := c.Budget == was.Budget && c.MaxWork == was.MaxWork && c.Trials == was.Trials &&
		c.Finals == was.Finals && c.Seeds == was.Seeds
	work := s.ranking.spent() // without what trials did that begin again
	switch {
	case c.Budget > 0 && s.watch.before >= c.Budget.Seconds():
		return spent(fmt.Sprintf("it has taken %.3g s of %s", s.watch.before, c.Budget), "a larger {Budget}")
	case c.MaxWork > 0 && work >= c.MaxWork:
		return spent(fmt.Sprintf("it has spent %.4g gradient equivalents of %g", work, c.MaxWork), "a larger {MaxWork}")
	case same && row.Phase == phaseDone && !gaveUp(s):
		return spent("it is done", "a larger {Budget}, {MaxWork} or {Trials}")
	}
	return nil
}

// gaveUp reports whether a search that is over ended before all its trials, as nothing came of any.
func gaveUp(s *Search) bool {
	return s.ranking.requireResult() != nil && (s.config.Trials == 0 || s.scheduler.started < s.config.Trials)
}

// restore puts the trials where they were.
func restore(s *Search) {
	s.phase, s.scheduler.total = phaseSearching, 0
	for _, t := range s.ranking.trials {
		if s.config.Program != nil && (t.State == Running || t.State == Stopped) && t.Error == "" {
			run, parent := t.Run, t.parent
			*t = *t.beginning() // a program begins again
			t.Run, t.parent = run, parent
		}
		s.scheduler.restore(t)
		s.touch(t)
	}
}
