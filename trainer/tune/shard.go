package tune

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"newtop/trainer"
	"newtop/trainer/store"
)

// Shard is one of several searches that divide the settings of one among them, on as many machines as may be and
// without a word to each other. Each keeps its own budget, halves among its own trials and measures its own finals.
type Shard struct {
	Index int // from 1
	Of    int // 0: the search is whole
	// Sweep is what all shards together are called, and Key is the same for searches for the same with the same seed
	// alone. New fills them in.
	Sweep, Key string
}

// MaxShards bounds Shard.Of.
const MaxShards = 1000

// String writes the shard for people.
func (h Shard) String() string { return fmt.Sprintf("shard %d of %d", h.Index, h.Of) }

// name is that of the shard's search, by which its record is found again.
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

// ShardName returns the name of the search of c's shard: NAME-IofN, where NAME follows from what is searched if c has
// none, so that all shards have the same one.
func ShardName(c *Config) string { return c.Shard.filled(c).name() }

// SweepName returns what all shards of c's search are called together.
func SweepName(c *Config) string { return c.Shard.filled(c).Sweep }

// filled returns the shard with its sweep and key.
func (h Shard) filled(c *Config) Shard {
	h.Key = keyOf(c)
	h.Sweep = c.Name
	if h.Sweep == "" {
		h.Sweep = "sweep-" + h.Key[:8]
	}
	return h
}

// keyOf returns a digest of what is searched for, without limits, which a search may be given more of, and without what
// is a machine's own: threads, memory and directories.
func keyOf(c *Config) string {
	q := *c
	q.Name, q.Shard = "", Shard{Of: c.Shard.Of}
	q.Trials, q.Seeds, q.Budget, q.Most, q.Finals = 0, 0, 0, 0, 0
	q.Parallel, q.Threads, q.Memory = 0, 0, 0
	b := &q.Base
	b.Threads, b.Memory, b.DataDir = 0, 0, ""
	data := strings.Split(b.Data, ",")
	for i, part := range data {
		data[i] = fileName(part)
	}
	b.Data, b.Graph = strings.Join(data, ","), fileName(b.Graph)
	text, err := json.Marshal(&q)
	if err != nil {
		text = []byte(err.Error()) // which recording the search will report
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}

func fileName(path string) string {
	if path == "" {
		return ""
	}
	return filepath.Base(path)
}

// Begin returns the search of c's shard: a new one, or the rest of the one that s has already, as where a job was
// stopped and is run again, with the limits of c. It returns an *ExhaustedError where that has nothing left to do, and
// a *store.SearchError where a process is at it or another machine searches into the same file, which SQLite can't
// have.
func Begin(ctx context.Context, c Config, s *store.Store) (q *Search, again bool, err error) {
	if err := c.check(); err != nil {
		return nil, false, err
	}
	want := c.Shard.filled(&c)
	row, err := recorded(ctx, s, want.name())
	if err != nil {
		return nil, false, err
	}
	if row == nil {
		q, err = New(c, s)
		return q, false, err
	}
	if shardOf(row) != want {
		return nil, false, &store.SearchError{
			Name: row.Name, Found: "it was begun with other flags", Expected: "another {Name} or another {Record}",
		}
	}
	for begin := time.Now(); ; {
		q, err = Resume(ctx, s, row.Name, func(to *Config) {
			to.Command, to.Version, to.Threads, to.Parallel, to.Memory = c.Command, c.Version, c.Threads, c.Parallel,
				c.Memory
			to.Budget, to.Trials, to.Most, to.Finals, to.Seeds = c.Budget, c.Trials, c.Most, c.Finals, c.Seeds
		})
		// A process of another machine that has died is seen to be gone when it has been silent for a while. Its host's
		// name says nothing: a pod has that of the one that it takes the place of.
		var taken *store.SearchError
		if !errors.As(err, &taken) || !taken.Busy || row.Looked || time.Since(begin) > silence {
			return q, true, err
		}
		select {
		case <-ctx.Done():
			return nil, true, ctx.Err()
		case <-time.After(time.Second):
		}
	}
}

// silence is how long a search may be silent, and more, before its process on another machine counts as gone.
const silence = 15 * time.Second

// recorded returns the search of that name, or nil. It returns a *store.SearchError where a process of another machine
// searches into the same file.
func recorded(ctx context.Context, s *store.Store, name string) (row *store.Search, err error) {
	all, err := s.Searches(ctx)
	if err != nil {
		return nil, err
	}
	for i := range all {
		q := &all[i]
		switch {
		case q.Name == name:
			row = q
		case q.Running && !here(q.Host):
			return nil, &store.SearchError{
				Name: q.Name, Found: fmt.Sprintf("process %d on %s keeps it in %s", q.Process, q.Host, s.Path()),
				Expected: "another {Record} here: machines can't share a database",
			}
		}
	}
	return row, nil
}

func here(host string) bool {
	own, err := os.Hostname()
	return err == nil && own == host
}

// shardOf returns which shard a recorded search is; the zero Shard for a whole one.
func shardOf(row *store.Search) Shard {
	var c struct{ Shard Shard }
	if err := json.Unmarshal(row.Config, &c); err != nil || c.Shard.check() != nil {
		return Shard{} // what is wrong with it Load tells
	}
	return c.Shard
}

// ExhaustedError says that a search has nothing left of what it was given.
type ExhaustedError struct{ store.SearchError }

func (e *ExhaustedError) Unwrap() error { return &e.SearchError }

// deal says which shard tries which setting. Shards can't ask each other, so that it follows from the setting alone:
// new settings at the head of the sequence are dealt out in turn, as one search would come to them, and any other
// belongs to a shard by its hash.
type deal struct {
	Shard
	dealt map[string]int // settings of the sequence's head to shards
	own   int            // of dealt
	all   bool           // dealt has every setting there is
}

// head is how many points of the sequence are dealt out among so many shards: more than a search gets to where trials
// take long enough to be worth a machine.
func head(shards int) int { return max(4096, 64*shards) }

// share makes p the sampler of a shard, before it is used.
func (p *sampler) share(h Shard) {
	if h.Of <= 1 {
		return
	}
	d := &deal{Shard: h, dealt: map[string]int{}}
	whole, n := newSampler(p.space, p.kind, p.seed), p.space.size()
	for range head(h.Of) {
		setting := text(p.space.at(whole.draw()))
		if _, old := d.dealt[setting]; old {
			continue
		}
		shard := len(d.dealt)%h.Of + 1
		d.dealt[setting] = shard
		if shard == h.Index {
			d.own++
		}
		if d.all = len(d.dealt) == n; d.all {
			break
		}
	}
	p.deal = d
}

// takes reports whether a setting is this shard's.
func (d *deal) takes(choices []Choice) bool {
	setting := text(choices)
	if shard, ok := d.dealt[setting]; ok {
		return shard == d.Index
	}
	h := fnv.New64a()
	h.Write([]byte(setting))
	sum := h.Sum64()
	return (sum^sum>>32)%uint64(d.Of) == uint64(d.Index-1)
}

// nearby is how far, as a share of an axis, a setting of the estimator's is moved at most to be one of the shard's own.
const nearby = 0.005

// near returns the setting at a point, or one close by that is this shard's; any setting there where none is found.
func (p *sampler) near(point []float64) []Choice {
	choices := p.space.at(point)
	if p.deal == nil {
		return choices
	}
	r := rand.New(rand.NewPCG(p.seed, ^uint64(p.drawn)))
	moved := make([]float64, len(point))
	for range 8 * p.deal.Of {
		if p.deal.takes(choices) {
			break
		}
		for i := range p.space.axes {
			moved[i] = point[i]
			if p.space.axes[i].Choices == nil {
				moved[i] = min(max(point[i]+nearby*(2*r.Float64()-1), 0), 1-1e-9)
			}
		}
		choices = p.space.at(moved)
	}
	return choices
}

// Label writes the number of a trial: of shards together that of the shard and the trial's own there, as in 2.7.
func (b *Leaderboard) Label(t *Trial) string {
	if of := b.Shard.Of; of > 0 && b.Shard.Index == 0 {
		return fmt.Sprintf("%d.%d", (t.Number-1)%of+1, (t.Number-1)/of+1)
	}
	return strconv.Itoa(t.Number)
}
