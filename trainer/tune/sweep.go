package tune

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"newtop/trainer"
	"newtop/trainer/store"
)

// Part is one shard of a sweep in a store.
type Part struct {
	store.Search
	Shard Shard
}

// Sweep is a search as it is listed: a whole one alone, or the shards of one that a store has.
type Sweep struct {
	Name  string
	Of    int    // shards that there should be; 0: the search is whole
	Parts []Part // by their index
}

// Sweeps returns all searches, shards of one together, those with the newest shard first.
func Sweeps(ctx context.Context, s *store.Store) ([]Sweep, error) {
	rows, err := s.Searches(ctx)
	if err != nil {
		return nil, err
	}
	return sweepsOf(rows), nil
}

// sweepsOf gathers shards. One that was renamed, because its store has another of its name, stands alone: it would be
// there twice.
func sweepsOf(rows []store.Search) (out []Sweep) {
	at := map[Shard]int{} // sweeps to their places in out
	for _, row := range rows {
		h := shardOf(&row)
		if h.Of == 0 || row.Name != h.name() {
			out = append(out, Sweep{Name: row.Name, Parts: []Part{{row, h}}})
			continue
		}
		all := h
		all.Index = 0
		i, ok := at[all]
		if !ok {
			i = len(out)
			at[all] = i
			out = append(out, Sweep{Name: h.Sweep, Of: h.Of})
		}
		out[i].Parts = append(out[i].Parts, Part{row, h})
	}
	for i := range out {
		slices.SortFunc(out[i].Parts, func(a, b Part) int { return cmp.Compare(a.Shard.Index, b.Shard.Index) })
	}
	return out
}

// Find returns the search of a name or an ID, a shard by itself where that is its name; all shards of a sweep by the
// sweep's name; by last the newest search, with the other shards if it is one. It returns a *store.SearchError where
// there is none.
func Find(ctx context.Context, s *store.Store, name string) (*Sweep, error) {
	rows, err := s.Searches(ctx)
	if err != nil {
		return nil, err
	}
	all := sweepsOf(rows)
	if name == "last" && len(all) > 0 {
		return &all[0], nil
	}
	for _, row := range rows {
		if row.Name == name || row.ID == name {
			return &Sweep{Name: row.Name, Parts: []Part{{row, shardOf(&row)}}}, nil
		}
	}
	var found []Sweep
	for _, w := range all {
		if w.Of > 0 && w.Name == name {
			found = append(found, w)
		}
	}
	switch len(found) {
	case 0:
		_, _, err := s.Search(ctx, name)
		return nil, cmp.Or[error](err, &store.SearchError{Name: name, Found: "it has just been begun",
			Expected: "it to be asked for again"})
	case 1:
		return &found[0], nil
	}
	var names []string
	for _, w := range found {
		for _, p := range w.Parts {
			names = append(names, p.Name)
		}
	}
	return nil, &store.SearchError{Name: name, Found: "its shards search for different things",
		Expected: "one of " + strings.Join(names, ", ")}
}

// Load returns the board of a search in s, also of one that another process is at or whose data is no longer there; of
// all shards of a sweep together by the sweep's name. Trials of these are numbered through: trial t of shard i of n is
// (t − 1)·n + i.
func Load(ctx context.Context, s *store.Store, name string, command func(*trainer.Config) string) (*Leaderboard,
	error) {
	w, err := Find(ctx, s, name)
	if err != nil {
		return nil, err
	}
	var q *Search
	for i := range w.Parts {
		p := &w.Parts[i]
		row, trials, err := s.Search(ctx, p.ID)
		if err != nil {
			return nil, err
		}
		own, err := dead(s, row, trials, command)
		if err != nil {
			return nil, err
		}
		if w.Of > 0 {
			renumber(own.ranking.trials, p.Shard)
		}
		if q == nil {
			q = own
		} else {
			join(q, own)
		}
	}
	if w.Of > 0 {
		gathered(q, w)
	}
	q.publish()
	b := *q.Leaderboard()
	if w.Of > 0 {
		b.Parts = w.Parts
	}
	return &b, nil
}

// dead makes a search of its record that is only looked at.
func dead(s *store.Store, row *store.Search, trials []store.Trial, command func(*trainer.Config) string) (*Search,
	error) {
	q, err := revive(s, row, trials, func(c *Config) { c.Command, c.Shard = command, Shard{} }) // which draws nothing
	if err != nil {
		return nil, err
	}
	q.config.Shard = shardOf(row)
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

// renumber gives a shard's trials numbers that no other shard's have.
func renumber(trials []*trial, h Shard) {
	through := func(n int) int { return (n-1)*h.Of + h.Index }
	for _, t := range trials {
		t.Number, t.Setting = through(t.Number), through(t.Setting)
	}
}

// join adds another shard, whose settings are others, to s: budgets and work add up, times are those of the longest.
func join(s, o *Search) {
	s.ranking.trials = append(s.ranking.trials, o.ranking.trials...)
	s.watch.before = max(s.watch.before, o.watch.before)
	s.scheduler.total += o.scheduler.total
	s.machine.parallel += o.machine.parallel
	c, d := &s.config, &o.config
	c.Budget = limit(c.Budget, d.Budget, max(c.Budget, d.Budget))
	c.Most = limit(c.Most, d.Most, c.Most+d.Most)
	c.Trials = limit(c.Trials, d.Trials, c.Trials+d.Trials)
	s.phase = phases[max(slices.Index(phases, s.phase), slices.Index(phases, o.phase), 0)]
}

// phases are in the order in which shards' prevail.
var phases = []string{phaseDone, phaseStopped, phaseFinals, phaseSearching}

// limit joins limits, of which zero is none.
func limit[T cmp.Ordered](a, b, joined T) (none T) {
	if a == none || b == none {
		return none
	}
	return joined
}

// gathered ends the joining of a sweep's shards.
func gathered(s *Search, w *Sweep) {
	r := s.ranking
	slices.SortFunc(r.trials, func(a, b *trial) int { return cmp.Compare(a.Number, b.Number) })
	s.config.Name, s.config.Shard.Index = w.Name, 0
	r.ahead = r.foremost()
	r.bests = nil // the shards' own clocks began when they did
	s.recording.warning = unmeasured(r, w)
}

// unmeasured says which shard came to something better than the best that was measured and has measured nothing itself,
// as where it was killed before its reevaluation; empty for none.
func unmeasured(r *ranking, w *Sweep) string {
	order := r.order()
	if len(order) == 0 || !r.trials[order[0]].Measured() {
		return ""
	}
	best := r.groups()[r.trials[order[0]].Setting]
	for i := range w.Parts {
		h := w.Parts[i].Shard
		own := func(t *trial) bool { return (t.Number-1)%h.Of+1 == h.Index }
		if w.Parts[i].Running || slices.ContainsFunc(r.trials, func(t *trial) bool { return own(t) && t.Measured() }) {
			continue
		}
		k := slices.IndexFunc(order, func(k int) bool { return own(r.trials[k]) })
		if k < 0 {
			continue
		}
		if t := r.trials[order[k]]; r.result(t) < best {
			return fmt.Sprintf(
				"%s has measured nothing, and its trial %d.%d is better than the first of the list: begin it again with a larger limit",
				h, h.Index, (t.Number-1)/h.Of+1)
		}
	}
	return ""
}

// Hosts returns the machines that the shards ran on last, sorted.
func (w *Sweep) Hosts() (hosts []string) {
	for i := range w.Parts {
		hosts = append(hosts, w.Parts[i].Host)
	}
	slices.Sort(hosts)
	return slices.Compact(hosts)
}

// Told says which shards of a sweep there are, as in 4 shards, or 3 of 4 shards; empty for a whole search.
func (w *Sweep) Told() string {
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

// Missing returns the shards that are not there, at most the first few.
func (w *Sweep) Missing() (indices []int) {
	const most = 8
	for i := 1; i <= w.Of && len(indices) < most; i++ {
		if !slices.ContainsFunc(w.Parts, func(p Part) bool { return p.Shard.Index == i }) {
			indices = append(indices, i)
		}
	}
	return indices
}

// Shards returns which of the searches are shards.
func Shards(rows []store.Search) (out []Shard) {
	for i := range rows {
		if h := shardOf(&rows[i]); h.Of > 0 {
			out = append(out, h)
		}
	}
	return out
}

// Joined returns the newest part with the trials and the work of all and the seconds of the longest.
func (w *Sweep) Joined() store.Search {
	var out store.Search
	var trials int
	var spent, longest float64
	for i := range w.Parts {
		p := &w.Parts[i].Search
		if i == 0 || p.Begun.After(out.Begun) {
			out = *p
		}
		trials, spent, longest = trials+p.Trials, spent+p.Spent, max(longest, p.Seconds)
	}
	out.Trials, out.Spent, out.Seconds = trials, spent, longest
	return out
}

// State returns the state of the part that is least done.
func (w *Sweep) State() string {
	order := []string{"done", "stopped", "interrupted", "finals", "searching"}
	state := 0
	for i := range w.Parts {
		state = max(state, slices.Index(order, StateOf(&w.Parts[i].Search)))
	}
	return order[state]
}

// StateOf says what has become of a search: its phase where it ended in order or goes on.
func StateOf(q *store.Search) string {
	if !q.Running && (q.Phase == "searching" || q.Phase == "finals") {
		return "interrupted"
	}
	return q.Phase
}
