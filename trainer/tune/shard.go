package tune

import (
	"cmp"
	"encoding/json"
	"fmt"
	"time"

	"newtop/trainer"
	"newtop/trainer/store"
)

// Shard is one of several searches for the same on as many machines as may be, without a word to each other. Each has a
// seed of its own and an equal share of the limits, and measures its own finals.
type Shard struct {
	Index int    // from 1
	Of    int    // 0: the search is whole
	Sweep string // what all shards together are called
}

// MaxShards bounds Shard.Of.
const MaxShards = 1000

// String writes the shard for people.
func (h Shard) String() string { return fmt.Sprintf("shard %d of %d", h.Index, h.Of) }

// name is that of the shard's search.
func (h Shard) name() string { return fmt.Sprintf("%s-%dof%d", h.Sweep, h.Index, h.Of) }

func (h Shard) check() error {
	if h.Of >= 1 && h.Of <= MaxShards && h.Index >= 1 && h.Index <= h.Of || h == (Shard{}) {
		return nil
	}
	return &trainer.ConfigError{
		Field: "Shard", Value: fmt.Sprintf("%d/%d", h.Index, h.Of),
		Expected: fmt.Sprintf("I/N with 1 ≤ I ≤ N ≤ %d", MaxShards),
	}
}

// Divide makes the configuration of all shards that of one of them.
func (c *Config) Divide(index, of int) error {
	h := Shard{Index: index, Of: of, Sweep: c.Name}
	if err := h.check(); err != nil {
		return err
	}
	c.Shard, c.Name = h, h.name()
	c.Seed += uint64(index-1) << 32 // which no seed that a user gives comes to
	c.Budget, c.Most = c.Budget/time.Duration(of), c.Most/float64(of)
	if c.Trials > 0 {
		c.Trials = max(1, (c.Trials+of-index)/of)
	}
	return nil
}

// ShardOf returns which shard a recorded search is; the zero Shard for a whole one.
func ShardOf(row *store.Search) Shard {
	var c struct{ Shard Shard }
	if err := json.Unmarshal(row.Config, &c); err != nil || c.Shard.check() != nil {
		return Shard{} // Load reports what is wrong
	}
	return c.Shard
}

// Label writes the number of a trial: of several searches together that of the search and the trial's own there, as in
// 2.7.
func (b *Leaderboard) Label(t *Trial) string {
	if of := b.Shard.Of; of > 0 && b.Shard.Index == 0 {
		return fmt.Sprintf("%d.%d", (t.Number-1)%of+1, (t.Number-1)/of+1)
	}
	return fmt.Sprint(t.Number)
}

// renumber gives the trials of one of several searches numbers that no other's have.
func renumber(trials []*trial, h Shard) {
	through := func(n int) int { return (n-1)*h.Of + h.Index }
	for _, t := range trials {
		t.Number, t.Setting = through(t.Number), through(t.Setting)
	}
}

// join adds another search to s: limits and work add up, times are those of the longest.
func join(s, o *Search) {
	s.ranking.trials = append(s.ranking.trials, o.ranking.trials...)
	s.watch.before = max(s.watch.before, o.watch.before)
	s.scheduler.total += o.scheduler.total
	s.machine.parallel += o.machine.parallel
	c, d := &s.config, &o.config
	c.Budget = limit(c.Budget, d.Budget, max(c.Budget, d.Budget))
	c.Most = limit(c.Most, d.Most, c.Most+d.Most)
	c.Trials = limit(c.Trials, d.Trials, c.Trials+d.Trials)
	if leastDone(o.phase) > leastDone(s.phase) {
		s.phase = o.phase
	}
}

// limit joins limits, of which zero is none.
func limit[T cmp.Ordered](a, b, joined T) (none T) {
	if a == none || b == none {
		return none
	}
	return joined
}
