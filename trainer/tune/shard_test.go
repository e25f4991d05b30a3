package tune

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"newtop/trainer"
	"newtop/trainer/event"
	"newtop/trainer/store"
)

// samplersOf returns the samplers of a sweep's shards.
func samplersOf(s *space, kind string, seed uint64, of int) []*sampler {
	out := make([]*sampler, of)
	for i := range out {
		out[i] = newSampler(s, kind, seed)
		out[i].share(Shard{Index: i + 1, Of: of})
	}
	return out
}

// Until they know enough for estimates, shards in turn try what one search tries, setting by setting.
func TestShardsOpenAsOneSearch(t *testing.T) {
	s, err := newSpace(trainer.Config{}, dimensions(t, "opt=adam,lbfgs,nag", "rate=1e-4..1e-1:log", "batch=16,32", "act=tanh,relu"))
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"", "sobol", "random"} {
		for _, of := range []int{1, 2, 5} {
			whole, shards := newSampler(s, kind, 7), samplersOf(s, kind, 7, of)
			for i := range 10 * of {
				want, _ := whole.next(nil)
				whole.take(want)
				p := shards[i%of]
				got, ok := p.next(nil)
				p.take(got)
				if !ok || text(got) != text(want) {
					t.Fatalf("%q, trial %d of shard %d of %d: %s, expected %s", kind, i/of+1, i%of+1, of, text(got), text(want))
				}
			}
		}
	}
}

// descend draws trials of a shard that are judged by their rate alone, as TestEstimatorGoesDownhill does, and returns
// them as texts.
func descend(t *testing.T, p *sampler, trials int) (out []string) {
	t.Helper()
	var seen [][]Choice
	height := func(choices []Choice) float64 {
		return math.Abs(choiceOf(&trial{Trial: Trial{Choices: choices}}, "rate").Number - 0.61)
	}
	for range trials {
		choices, ok := p.next(seen)
		if !ok {
			break
		}
		p.take(choices)
		out = append(out, text(choices))
		at, _ := slices.BinarySearchFunc(seen, height(choices), func(c []Choice, h float64) int {
			if height(c) < h {
				return -1
			}
			return 1
		})
		seen = slices.Insert(seen, at, choices)
	}
	return out
}

// Shards that all go for the same valley of one axis never try the same setting, and one that is made anew goes on as it
// would have.
func TestShardsNeverShareASetting(t *testing.T) {
	s, err := newSpace(trainer.Config{Optimizer: "adam"}, dimensions(t, "rate=0.001..0.002"))
	if err != nil {
		t.Fatal(err)
	}
	const of, trials = 4, 120
	owner := map[string]int{}
	for i, p := range samplersOf(s, "", 3, of) {
		for _, setting := range descend(t, p, trials) {
			if other, ok := owner[setting]; ok {
				t.Fatalf("shards %d and %d both try %s", other, i+1, setting)
			}
			owner[setting] = i + 1
		}
		again := newSampler(s, "", 3)
		again.share(Shard{Index: i + 1, Of: of})
		again.skip(p.drawn)
		if again.drawn != p.drawn || again.turns != p.turns {
			t.Errorf("shard %d is at point %d and turn %d, made anew at %d and %d", i+1, p.drawn, p.turns, again.drawn, again.turns)
		}
	}
	if len(owner) != of*trials { // of 1,001 that have four digits
		t.Errorf("%d settings, expected %d", len(owner), of*trials)
	}
}

// A small space is gone through once by all shards together, also where there are more shards than settings.
func TestShardsOfASmallSpace(t *testing.T) {
	s, err := newSpace(trainer.Config{}, dimensions(t, "opt=adam,lbfgs", "batch=16,32", "act=tanh,relu"))
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range samplers {
		for _, of := range []int{2, 3, 9} {
			seen := map[string]bool{}
			for _, p := range samplersOf(s, kind, 9, of) {
				mine := 0
				for {
					choices, ok := p.next(nil)
					if !ok {
						break
					}
					p.take(choices)
					if seen[text(choices)] {
						t.Errorf("%s is tried twice", text(choices))
					}
					seen[text(choices)] = true
					mine++
				}
				if mine > (6+of-1)/of {
					t.Errorf("%q: one of %d shards has %d of 6 settings", kind, of, mine)
				}
			}
			if len(seen) != 6 {
				t.Errorf("%q: %d shards try %d of 6 settings", kind, of, len(seen))
			}
		}
	}
}

// All shards have one name whatever their machines and limits are, and other questions have others.
func TestShardNames(t *testing.T) {
	c := small(t)
	c.Shard = Shard{Index: 2, Of: 3}
	name := ShardName(&c)
	if !strings.HasPrefix(name, "sweep-") || !strings.HasSuffix(name, "-2of3") {
		t.Fatal(name)
	}
	for i, change := range []func(*Config){
		func(c *Config) { c.Budget, c.Trials, c.Most, c.Finals, c.Seeds = time.Hour, 9, 3, 5, 7 },
		func(c *Config) { c.Parallel, c.Threads, c.Memory, c.Base.DataDir = 3, 4, 1<<20, "/elsewhere" },
	} {
		other := c
		change(&other)
		if got := ShardName(&other); got != name {
			t.Errorf("change %d: %s, expected %s", i, got, name)
		}
	}
	for i, change := range []func(*Config){
		func(c *Config) { c.Seed++ }, func(c *Config) { c.Base.Data = "sine" }, func(c *Config) { c.Shard.Of++ },
		func(c *Config) { c.Over = c.Over[1:] }, func(c *Config) { c.Trial = 9 }, func(c *Config) { c.Base.TargetError = 0.1 },
	} {
		other := c
		change(&other)
		if got := ShardName(&other); got[:14] == name[:14] {
			t.Errorf("change %d: %s again", i, got)
		}
	}
	c.Name = "mine"
	if got := ShardName(&c); got != "mine-2of3" {
		t.Error(got)
	}
	for _, bad := range []Shard{{Index: 0, Of: 3}, {Index: 4, Of: 3}, {Index: 1, Of: 1e6}, {Index: 2}} {
		c.Shard = bad
		if _, err := New(c, temporary(t)); err == nil || !strings.Contains(err.Error(), "Shard ") {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}

// sharded is a small search's shard.
func sharded(t testing.TB, index, of int) Config {
	c := small(t)
	c.Name, c.Trials, c.Finals, c.Shard = "sweep", 5, 1, Shard{Index: index, Of: of}
	return c
}

// Three shards in databases of their own, merged, are one search: its trials are all of theirs, its best is the best of
// all, and each shard is still there by itself.
func TestSweepOfShards(t *testing.T) {
	into := temporary(t)
	boards := map[int]*Leaderboard{}
	for index := 1; index <= 3; index++ {
		s := openStore(t, filepath.Join(t.TempDir(), "shard.db"))
		boards[index] = searched(t, sharded(t, index, 3), s, nil)
		if name := boards[index].Name; name != fmt.Sprintf("sweep-%dof3", index) || boards[index].Shard.Index != index {
			t.Errorf("shard %d is %s, %+v", index, name, boards[index].Shard)
		}
		if _, err := into.Merge(t.Context(), s.Path()); err != nil {
			t.Fatal(err)
		}
		w, err := Find(t.Context(), into, "sweep")
		if err != nil || w.Of != 3 || len(w.Parts) != index || len(w.Missing()) != 3-index {
			t.Errorf("after shard %d: %+v, %v", index, w, err)
		}
	}
	b, err := Load(t.Context(), into, "sweep", func(c *trainer.Config) string { return c.Optimizer })
	if err != nil {
		t.Fatal(err)
	}
	var spent, least float64
	trials, group := 0, math.Inf(1)
	for index, own := range boards {
		spent += own.Spent
		trials += len(own.Trials)
		for i := range own.Trials {
			o := &own.Trials[i]
			at := slices.IndexFunc(b.Trials, func(a Trial) bool { return a.Run == o.Run })
			if at < 0 {
				t.Fatalf("trial %d of shard %d is missing", o.Number, index)
			}
			a := &b.Trials[at]
			if b.Label(a) != fmt.Sprintf("%d.%d", index, o.Number) || a.Best != o.Best || text(a.Choices) != text(o.Choices) || a.Setting != (o.Setting-1)*3+index {
				t.Errorf("trial %+v of shard %d is %+v", o, index, a)
			}
			if o.Measured() && float64(o.Best) < group {
				group = float64(o.Best)
			}
		}
	}
	least = float64(b.Trials[b.Order[0]].Best)
	if len(b.Trials) != trials || math.Abs(b.Spent-spent) > 1e-9 || b.Name != "sweep" || b.Phase != phaseDone || b.Planned != 15 || len(b.Parts) != 3 ||
		!b.Trials[b.Order[0]].Measured() || least != group || b.Command == "" {
		t.Errorf("%d trials of %d, %g of %g, the best %g of %g: %+v", len(b.Trials), trials, b.Spent, spent, least, group, b.Parts)
	}
	// One setting was measured by each; those of the two others stand among what was not, by their trials.
	behind := math.Inf(-1)
	for _, i := range b.Order {
		a := &b.Trials[i]
		if a.Setting == b.Trials[b.Order[0]].Setting && a.Final {
			continue
		}
		if v := float64(a.Best); v < behind {
			t.Errorf("trial %s with %g stands behind one with %g", b.Label(a), v, behind)
		} else if !math.IsNaN(v) {
			behind = v
		}
	}
	if own, err := Load(t.Context(), into, "sweep-2of3", nil); err != nil || told(own) != told(boards[2]) || own.Label(&own.Trials[1]) != "2" {
		t.Errorf("%v", err)
	}
	if last, err := Load(t.Context(), into, "last", nil); err != nil || last.Name != "sweep" {
		t.Errorf("the last search: %v", err)
	}
	all, err := Sweeps(t.Context(), into)
	if err != nil || len(all) != 1 || all[0].Told() != "3 shards" {
		t.Errorf("%+v: %v", all, err)
	}
	var several *store.SearchError
	if _, err := Resume(t.Context(), into, "sweep", nil); !errors.As(err, &several) || !strings.Contains(err.Error(), "3 shards are here: expected one of them: sweep-1of3") {
		t.Errorf("all shards at once: %v", err)
	}
	// A shard goes on from the merged store with the trials that it has.
	q, again, err := Begin(t.Context(), func() Config { c := sharded(t, 2, 3); c.Trials = 7; return c }(), into)
	if err != nil || !again {
		t.Fatal(err)
	}
	if err := q.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	further := q.Leaderboard()
	for i, o := range boards[2].Trials {
		if text(further.Trials[i].Choices) != text(o.Choices) {
			t.Errorf("trial %d was %s, is %s", i+1, text(o.Choices), text(further.Trials[i].Choices))
		}
	}
	if b, err = Load(t.Context(), into, "sweep", nil); err != nil || len(b.Trials) <= trials {
		t.Errorf("%v", err)
	}
}

// A shard that is begun again goes on where it was stopped, is told that it is done, and is told apart from another
// question of its name.
func TestBeginAgain(t *testing.T) {
	s := temporary(t)
	c := sharded(t, 1, 2)
	c.Trials, c.Most, c.Base.Hidden = 0, 1e9, []int{50, 50}
	q, again, err := Begin(t.Context(), c, s)
	if err != nil || again {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(200*time.Millisecond, cancel)
	if err := q.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	before := q.Leaderboard()
	c.Most, c.Trials = before.Spent+30, len(before.Trials)+1
	if q, again, err = Begin(t.Context(), c, s); err != nil || !again {
		t.Fatal(err)
	}
	var busy *store.SearchError
	if _, _, err := Begin(t.Context(), c, s); !errors.As(err, &busy) || !busy.Busy {
		t.Errorf("a shard that a process is at: %v", err)
	}
	if err := q.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if after := q.Leaderboard(); after.Spent <= before.Spent {
		t.Errorf("%g after %g", after.Spent, before.Spent)
	}
	var exhausted *ExhaustedError
	if _, _, err := Begin(t.Context(), c, s); !errors.As(err, &exhausted) {
		t.Errorf("a shard that is done: %v", err)
	}
	c.Seed++
	if _, _, err := Begin(t.Context(), c, s); !errors.As(err, &busy) || !strings.Contains(err.Error(), "other flags") {
		t.Errorf("another search of the name: %v", err)
	}
}

// A shard that ended before its finals stands behind those that measured, which the board says where it is better.
func TestShardWithoutFinals(t *testing.T) {
	of := func(number int, best float64, final bool) *trial {
		return &trial{Trial: Trial{Number: number, Setting: number, State: Done, Best: event.Float(best), Final: final, Epochs: 1}}
	}
	w := &Sweep{Name: "sweep", Of: 2, Parts: []Part{{Shard: Shard{Index: 1, Of: 2}}, {Shard: Shard{Index: 2, Of: 2}}}}
	for _, c := range []struct {
		other *trial
		want  string
	}{
		{of(4, 0.05, false), "shard 2 of 2 has measured nothing, and its trial 2.2 is better than"},
		{of(4, 0.15, false), ""},
		{of(4, 0.05, true), ""},
	} {
		r := &ranking{config: &Config{}, trials: []*trial{of(1, 0.02, false), of(3, 0.1, true), of(2, 0.3, false), c.other}}
		if got := unmeasured(r, w); c.want == "" && got != "" || !strings.HasPrefix(got, c.want) {
			t.Errorf("%+v: %q, expected %q", c.other.Trial, got, c.want)
		}
		w.Parts[1].Running = true
		if got := unmeasured(r, w); got != "" {
			t.Errorf("while it searches: %q", got)
		}
		w.Parts[1].Running = false
	}
}

// A pod that takes the place of a dead one has its host's name, and waits until that has been silent for long enough.
func TestBeginInThePlaceOfAnother(t *testing.T) {
	s := temporary(t)
	c := sharded(t, 1, 2)
	searched(t, c, s, nil)
	db, err := sql.Open("sqlite", s.Path())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	beaten := time.Now().Add(-8500 * time.Millisecond).UTC().Format("2006-01-02T15:04:05.000Z")
	if _, err := db.Exec("UPDATE searches SET owner = 'x', identity = 'another machine 1', heartbeat = ?", beaten); err != nil {
		t.Fatal(err)
	}
	c.Trials++
	if _, again, err := Begin(t.Context(), c, s); err != nil || !again {
		t.Errorf("%v, %v", again, err)
	}
}
