package tune

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"newtop/trainer"
	"newtop/trainer/store"
	"newtop/trainer/store/upkeep"
)

// Shards have names and seeds of their own, and what they may take adds up to what all may.
func TestDivide(t *testing.T) {
	trials, seeds := 0, map[uint64]bool{}
	for index := 1; index <= 3; index++ {
		c := small(t)
		c.Name, c.Trials, c.MaxWork, c.Budget = "mine", 5, 6, time.Minute
		if err := c.Divide(index, 3); err != nil {
			t.Fatal(err)
		}
		trials += c.Trials
		seeds[c.Seed] = true
		if c.Name != fmt.Sprintf("mine-%dof3", index) || c.MaxWork != 2 || c.Budget != 20*time.Second || c.Shard.Sweep != "mine" {
			t.Errorf("shard %d: %+v", index, c)
		}
	}
	if trials != 5 || len(seeds) != 3 || !seeds[small(t).Seed] {
		t.Errorf("%d trials, seeds %v", trials, seeds)
	}
	c := small(t)
	if c.Trials = 1; c.Divide(2, 2) != nil || c.Trials != 1 {
		t.Errorf("%d trials: none is no limit", c.Trials)
	}
	for _, bad := range [][2]int{{0, 3}, {4, 3}, {1, 1e6}, {2, 0}} {
		if err := c.Divide(bad[0], bad[1]); err == nil || !strings.Contains(err.Error(), "Shard ") {
			t.Errorf("%v: %v", bad, err)
		}
	}
}

// sharded is a small search's shard.
func sharded(t testing.TB, index, of int) Config {
	c := small(t)
	c.Name, c.Trials, c.Finals = "sweep", 5*of, 1
	if err := c.Divide(index, of); err != nil {
		t.Fatal(err)
	}
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
		if _, err := upkeep.Merge(t.Context(), into, s.Path()); err != nil {
			t.Fatal(err)
		}
		w, err := Find(t.Context(), into, "sweep")
		if err != nil || w.Of != 3 || len(w.Parts) != index {
			t.Errorf("after shard %d: %+v, %v", index, w, err)
		}
	}
	b, err := Load(t.Context(), into, func(c *trainer.Config) string { return c.Optimizer }, "sweep")
	if err != nil {
		t.Fatal(err)
	}
	var spent float64
	trials, least := 0, math.Inf(1)
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
			if o.Measured() {
				least = min(least, float64(o.Best))
			}
		}
	}
	if first := &b.Trials[b.Order[0]]; len(b.Trials) != trials || math.Abs(b.Spent-spent) > 1e-9 || b.Name != "sweep" || b.Phase != phaseDone ||
		b.Planned != 15 || len(b.Parts) != 3 || !first.Measured() || float64(first.Best) != least || b.Command == "" {
		t.Errorf("%d trials of %d, %g of %g, the best %+v: %+v", len(b.Trials), trials, b.Spent, spent, first, b.Parts)
	}
	if own, err := Load(t.Context(), into, nil, "sweep-2of3"); err != nil || told(own) != told(boards[2]) || own.Label(&own.Trials[1]) != "2" {
		t.Errorf("%v", err)
	}
	// Any searches are looked at together, each once.
	two, err := Load(t.Context(), into, nil, "sweep-3of3", "sweep-1of3", "sweep-3of3")
	if err != nil || two.Name != "sweep-3of3, sweep-1of3, sweep-3of3" || len(two.Parts) != 2 || len(two.Trials) != len(boards[1].Trials)+len(boards[3].Trials) ||
		two.Trials[0].Run != boards[3].Trials[0].Run || two.Label(&two.Trials[1]) != "2.1" {
		t.Errorf("%+v, %v", two, err)
	}
	if last, err := Load(t.Context(), into, nil, "last"); err != nil || last.Name != "sweep" {
		t.Errorf("the last search: %v", err)
	}
	all, err := Sweeps(t.Context(), into)
	if err != nil || len(all) != 1 || all[0].Shards() != "3 shards" {
		t.Errorf("%+v: %v", all, err)
	}
	var several *store.SearchError
	if _, err := Resume(t.Context(), into, "sweep", nil); !errors.As(err, &several) || !strings.Contains(err.Error(), "3 shards are here: expected one of them: sweep-1of3") {
		t.Errorf("all shards at once: %v", err)
	}
	// A shard goes on from the merged store with the trials that it has, and says when it is done.
	q, err := Resume(t.Context(), into, "sweep-2of3", func(c *Config) { c.Trials = 7 })
	if err != nil {
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
	if b, err = Load(t.Context(), into, nil, "sweep"); err != nil || len(b.Trials) <= trials {
		t.Errorf("%v", err)
	}
	var exhausted *ExhaustedError
	if _, err := Resume(t.Context(), into, "sweep-2of3", nil); !errors.As(err, &exhausted) {
		t.Errorf("a shard that is done: %v", err)
	}
}
