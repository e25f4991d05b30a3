package tune

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"strings"

	"newtop/trainer"
	"newtop/trainer/store"
	"newtop/trainer/store/search"
)

// Sweep is what is listed and shown as one search: a whole one alone, the shards of one that a store has, or several
// that a user has named.
type Sweep struct {
	Name  string
	Of    int    // shards that there should be; 0: the search is whole
	Parts []Part // by their index
}

// Sweeps returns all searches, shards of one together, those with the newest shard first.
func Sweeps(ctx context.Context, s *store.Store) ([]Sweep, error) {
	rows, err := search.All(ctx, s)
	if err != nil {
		return nil, err
	}
	return sweepsOf(rows), nil
}

// sweepsOf gathers shards. One that was renamed, because its store has another of its name, stands alone: it would be
// there twice.
func sweepsOf(rows []search.Search) (out []Sweep) {
	for _, row := range rows {
		h := ShardOf(&row)
		if h.Of == 0 || row.Name != h.name() {
			out = append(out, Sweep{Name: row.Name, Parts: []Part{{row, h}}})
			continue
		}
		i := slices.IndexFunc(out, func(w Sweep) bool { return w.Of == h.Of && w.Name == h.Sweep })
		if i < 0 {
			i = len(out)
			out = append(out, Sweep{Name: h.Sweep, Of: h.Of})
		}
		out[i].Parts = append(out[i].Parts, Part{row, h})
	}
	for i := range out {
		parts := out[i].Parts
		// Not slices.SortFunc: the copy of it for a struct of this size takes 25 kB of the program.
		sort.Slice(parts, func(i, j int) bool { return parts[i].Shard.Index < parts[j].Shard.Index })
	}
	return out
}

// Find returns the searches of names or IDs together: a shard by itself where that is its name, all shards of a sweep
// by the sweep's, the newest search, with the other shards if it is one, by last. It returns a *store.SearchError where
// there is none.
func Find(ctx context.Context, s *store.Store, names ...string) (*Sweep, error) {
	rows, err := search.All(ctx, s)
	if err != nil {
		return nil, err
	}
	all := sweepsOf(rows)
	var found []Sweep
	for _, name := range names {
		row := slices.IndexFunc(rows, func(q search.Search) bool { return q.Name == name || q.ID == name })
		sweep := slices.IndexFunc(all, func(w Sweep) bool { return w.Of > 0 && w.Name == name })
		switch {
		case name == "last" && len(all) > 0:
			found = append(found, all[0])
		case row >= 0:
			found = append(found, Sweep{Name: rows[row].Name, Parts: []Part{{rows[row], ShardOf(&rows[row])}}})
		case sweep >= 0:
			found = append(found, all[sweep])
		default:
			_, _, err := search.Find(ctx, s, name)
			return nil, cmp.Or[error](err, &store.SearchError{Name: name, Found: "it has just been begun",
				Expected: "it to be asked for again"})
		}
	}
	if len(found) == 1 {
		return &found[0], nil
	}
	return several(names, found), nil
}

// several numbers the searches of sweeps through.
func several(names []string, found []Sweep) *Sweep {
	w := &Sweep{Name: strings.Join(names, ", ")}
	for i := range found {
		for _, p := range found[i].Parts {
			if !slices.ContainsFunc(w.Parts, func(o Part) bool { return o.ID == p.ID }) {
				w.Parts = append(w.Parts, p)
			}
		}
	}
	w.Of = len(w.Parts)
	for i := range w.Parts {
		w.Parts[i].Shard = Shard{Index: i + 1, Of: w.Of, Sweep: w.Name}
	}
	return w
}

// Load returns the board of searches in s, also of one that another process is at or whose data is no longer there.
// Trials of several are numbered through: trial t of search i of n is (t − 1)·n + i.
func Load(ctx context.Context, s *store.Store, command func(*trainer.Config) string, names ...string) (*Leaderboard,
	error) {
	w, err := Find(ctx, s, names...)
	if err != nil {
		return nil, err
	}
	var q *Search
	for i := range w.Parts {
		row, trials, err := search.Find(ctx, s, w.Parts[i].ID)
		if err != nil {
			return nil, err
		}
		own, err := readOnly(s, row, trials, command)
		if err != nil {
			return nil, err
		}
		if w.Of > 0 {
			renumber(own.ranking.trials, w.Parts[i].Shard)
		}
		if q == nil {
			q = own
		} else {
			join(q, own)
		}
	}
	if w.Of == 0 {
		q.publish()
		return q.Leaderboard(), nil
	}
	r := q.ranking
	slices.SortFunc(r.trials, func(a, b *trial) int { return cmp.Compare(a.Number, b.Number) })
	q.config.Name, q.config.Shard = w.Name, Shard{Of: w.Of, Sweep: w.Name}
	r.ahead = r.foremost()
	r.bests = nil // each search's clock began when it did
	q.publish()
	b := *q.Leaderboard()
	b.Parts = w.Parts
	return &b, nil
}

// readOnly makes a search of its record that is only looked at.
func readOnly(s *store.Store, row *search.Search, trials []search.Trial, command func(*trainer.Config) string) (*Search,
	error) {
	q, err := revive(s, row, trials, func(c *Config) { c.Command, c.Shard = command, ShardOf(row) })
	if err != nil {
		return nil, err
	}
	if !row.Running && (q.phase == phaseSearching || q.phase == phaseFinals) {
		q.phase = phaseStopped // its process is gone
		for _, t := range q.ranking.trials {
			if t.State == Running || t.State == Waiting {
				t.State = Stopped
			}
		}
	}
	return q, nil
}

// Shards says which shards of a sweep there are, as in 4 shards, or 3 of 4 shards; empty for a whole search.
func (w *Sweep) Shards() string {
	switch {
	case len(w.Parts) == 1 && w.Parts[0].Shard.Of > 0:
		return w.Parts[0].Shard.String()
	case w.Of == 0:
		return ""
	case len(w.Parts) == w.Of:
		return fmt.Sprintf("%d shards", w.Of)
	}
	return fmt.Sprintf("%d of %d shards", len(w.Parts), w.Of)
}

// Joined returns the newest part with the trials and the work of all and the seconds of the longest.
func (w *Sweep) Joined() search.Search {
	var out search.Search
	var trials int
	var spent, longest float64
	for i := range w.Parts {
		p := &w.Parts[i].Search
		if i == 0 || p.Started.After(out.Started) {
			out = *p
		}
		trials, spent, longest = trials+p.Trials, spent+p.Spent, max(longest, p.Seconds)
	}
	out.Trials, out.Spent, out.Seconds = trials, spent, longest
	return out
}

// states are in the order in which those of several searches prevail.
var states = []string{phaseDone, phaseStopped, "interrupted", phaseFinals, phaseSearching}

func minDone(state string) int { return slices.Index(states, state) }

// State returns the state of the part that is least done.
func (w *Sweep) State() string {
	state := 0
	for i := range w.Parts {
		state = max(state, minDone(StateOf(&w.Parts[i].Search)))
	}
	return states[state]
}

// StateOf says what has become of a search: its phase where it ended in order or continues.
func StateOf(q *search.Search) string {
	if !q.Running && (q.Phase == phaseSearching || q.Phase == phaseFinals) {
		return "interrupted"
	}
	return q.Phase
}

// revive makes a search of its record.
func revive(s *store.Store, row *search.Search, trials []search.Trial, change func(*Config)) (*Search, error) {
	bad := func(err error) error {
		return &store.RowError{File: s.Path(), Table: "searches", Run: row.Name, Err: err}
	}
	var c Config
	if err := json.Unmarshal(row.Config, &c); err != nil {
		return nil, bad(err)
	}
	c.Name = row.Name
	if c.Program == nil && c.Base.Validation == "" && c.Base.Folds == 0 && c.Base.Model == "" {
		c.Base.Validation = "0" // of an earlier version, whose trials had none
	}
	if change != nil {
		change(&c)
	}
	var left searchRest
	if err := json.Unmarshal(row.Rest, &left); err != nil {
		return nil, bad(err)
	}
	q, err := prepare(c, s)
	if err != nil {
		return nil, err
	}
	q.recording.row = *row
	if q.recording.row.Config, err = encode(&q.config); err != nil {
		return nil, err
	}
	if left.First[0] > 0 { // else nothing was recorded yet
		q.scheduler.first = step{left.First[0], left.First[1]}
		if m := q.runner.metric; m != nil {
			m.fixed = true
		}
	}
	q.runner.measure, q.data, q.phase = measureNamed(left.Measure), row.Data, row.Phase
	if m := q.runner.metric; m != nil {
		if at := slices.Index(m.names, left.Measure); at >= 0 {
			m.at = at
		}
	}
	q.watch.before, q.scheduler.total, q.ranking.bests = row.Seconds, row.Spent, left.Bests
	for i := range trials {
		t, err := trialOf(&trials[i], c.Program == nil)
		if err != nil {
			return nil, bad(fmt.Errorf("trial %d: %w", trials[i].Number, err))
		}
		if t.Number != i+1 {
			return nil, bad(fmt.Errorf("trial %d: expected trial %d", t.Number, i+1))
		}
		q.ranking.trials = append(q.ranking.trials, t)
		q.configure(t)
		if !t.Final {
			q.scheduler.started++
			q.sampler.observe(t.Choices)
			continue
		}
		if t.Setting < 1 || t.Setting >= t.Number {
			return nil, bad(fmt.Errorf("trial %d repeats trial %d: expected one before it", t.Number, t.Setting))
		}
		t.parent = q.ranking.trials[t.Setting-1]
	}
	if left.Drawn < 0 || left.Drawn > 1<<24 {
		return nil, bad(fmt.Errorf("%d points drawn: expected at most %d", left.Drawn, 1<<24))
	}
	q.sampler.skip(left.Drawn)
	return q, nil
}
