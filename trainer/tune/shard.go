package tune

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"newtop/internal/format"
	"newtop/trainer"
	"newtop/trainer/store/search"
)

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
	c.Budget, c.MaxWork = c.Budget/time.Duration(of), c.MaxWork/float64(of)
	if c.Trials > 0 {
		c.Trials = max(1, (c.Trials+of-index)/of)
	}
	return nil
}

// ShardOf returns which shard a recorded search is; the zero Shard for a whole one.
func ShardOf(row *search.Search) Shard {
	var c struct{ Shard Shard }
	if err := json.Unmarshal(row.Config, &c); err != nil || c.Shard.check() != nil {
		return Shard{} // Load reports what is wrong
	}
	return c.Shard
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
	c.MaxWork = limit(c.MaxWork, d.MaxWork, c.MaxWork+d.MaxWork)
	c.Trials = limit(c.Trials, d.Trials, c.Trials+d.Trials)
	if minDone(o.phase) > minDone(s.phase) {
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

// check returns a *trainer.ConfigError for what is wrong whatever is searched.
func (c *Config) check() error {
	if err := c.Shard.check(); err != nil {
		return err
	}
	whole, work := "a whole number ≥ ", "a number of gradient equivalents ≥ 0"
	for _, l := range []struct {
		field string
		bad   bool
		is    string
		want  string
	}{
		{"Sampler", c.Sampler != "" && !slices.Contains(Samplers, c.Sampler), c.Sampler,
			strings.Join(Samplers, ", ") + format.DidYouMean(c.Sampler, Samplers)},
		{"Trials", c.Trials < 0, strconv.Itoa(c.Trials), whole + "1, or 0 for as many as the budget allows"},
		{"Seeds", c.Seeds < 0 || c.Seeds > maxSeeds, strconv.Itoa(c.Seeds),
			whole + "1 and ≤ " + strconv.Itoa(maxSeeds)},
		{"Budget", c.Budget < 0 || c.Budget > farthest, c.Budget.String(), "a duration as in 60s, or 0 for no limit"},
		{"MaxWork", !(c.MaxWork >= 0) || c.MaxWork > math.MaxFloat64, number(c.MaxWork), work},
		{"Trial", !(c.Trial >= 0) || c.Trial > math.MaxFloat64, number(c.Trial), work},
		{"Parallel", c.Parallel < 0 || c.Parallel > maxParallel, strconv.Itoa(c.Parallel),
			whole + "1 and ≤ " + strconv.Itoa(maxParallel) + ", or 0 for as many as cores"},
		{"Threads", c.Threads < 0, strconv.Itoa(c.Threads), whole + "1, or 0 for all cores"},
		{"Finals", c.Finals < -1, strconv.Itoa(c.Finals), whole + "1, 0 for " + strconv.Itoa(defaultFinals) +
			", or -1 for none"},
		{"Memory", c.Memory < 0, strconv.FormatInt(c.Memory, 10), "a size ≥ 0"},
	} {
		if l.bad {
			return &trainer.ConfigError{Field: l.field, Value: l.is, Expected: l.want}
		}
	}
	return nil
}
