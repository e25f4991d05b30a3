package tune

import (
	"encoding/json"
	"io"
	"math"

	"newtop/trainer/event"
	"newtop/trainer/tune"
)

// boardJSON is a search as --format json prints it, a contract with scripts: errors are fractions, times seconds, and
// what is not known is null.
type boardJSON struct {
	Type   string `json:"type"` // search
	Name   string `json:"name"`
	Shard  int    `json:"shard,omitempty"`  // which it is, from 1; 0: the whole search
	Of     int    `json:"of,omitempty"`     // shards there should be
	Shards []int  `json:"shards,omitempty"` // of shards together those that there are
	Data   string `json:"data"`
	// what trials run, where they train no nets; its work is not known, gradient equivalents are 0 and epochs are what
	// its metric counts
	Program *programJSON `json:"program,omitempty"`
	Measure string       `json:"measure"`
	// the name of the trials' test figure; empty: they have none beside the measure
	Test        string           `json:"test"`
	BestTest    event.Float      `json:"best_test"` // that of the best setting, of its finals the mean
	Target      *float64         `json:"target"`
	Over        []string         `json:"over"` // as --over takes them
	Phase       string           `json:"phase"`
	Seconds     float64          `json:"seconds"`
	Budget      *float64         `json:"budget"`
	Spent       float64          `json:"gradient_equivalents"`
	MaxWork     *float64         `json:"most"`
	Parallel    int              `json:"parallel"`
	Threads     int              `json:"threads"`
	Count       int              `json:"count"`            // of trials
	Best        []trialJSON      `json:"best"`             // settings, the best first, at most as many as --top
	Trials      []trialJSON      `json:"trials,omitempty"` // all, unless they were lines before
	Importances []importanceJSON `json:"importances"`
	Command     string           `json:"command"`
	Warning     string           `json:"warning"`
}

type programJSON struct {
	Arguments []string `json:"arguments"`
	Max       bool     `json:"max"` // the greatest is the best
}

type trialJSON struct {
	Type string `json:"type"` // trial
	// of trial t of shard i of n, where these are together: (t − 1)·n + i
	Number  int               `json:"number"`
	Shard   int               `json:"shard,omitempty"` // of shards together
	Setting int               `json:"setting"`
	Choices map[string]string `json:"choices"`
	Seed    uint64            `json:"seed"`
	State   string            `json:"state"`
	Reason  string            `json:"why"`
	Run     string            `json:"run"`
	Dir     string            `json:"dir,omitempty"` // of a program's trial
	Rung    int               `json:"rung"`
	Final   bool              `json:"final"`
	Epochs  int               `json:"epochs"`
	Best    event.Float       `json:"best"`
	// the test metric of best_epoch, which is not used to choose; null: none, or best is that
	Test              event.Float `json:"test"`
	BestEpoch         int         `json:"best_epoch"`
	Last              event.Float `json:"last"`
	Loss              event.Float `json:"loss"`
	Seconds           float64     `json:"seconds"`
	Equivalents       float64     `json:"gradient_equivalents"`
	TargetSeconds     event.Float `json:"target_seconds"`
	TargetEquivalents event.Float `json:"target_gradient_equivalents"`
	Started           float64     `json:"begun"` // seconds of the search
	Ended             float64     `json:"ended"`
}

type importanceJSON struct {
	Key    string      `json:"key"`
	Share  float64     `json:"share"`
	Spread event.Float `json:"spread"`
	Trend  string      `json:"trend"`
}

func trialOf(t tune.Trial, program bool) trialJSON {
	choices := map[string]string{}
	for _, c := range t.Choices {
		choices[c.Key] = c.Value
	}
	if program {
		t.Equivalents = 0
	}
	return trialJSON{Type: "trial", Number: t.Number, Setting: t.Setting, Choices: choices, Seed: t.Seed,
		State: t.State.String(), Reason: t.Error,
		Run: t.Run, Dir: t.Dir, Rung: t.Rung, Final: t.Final, Epochs: t.Epochs, Best: t.Best, Test: t.Test,
		BestEpoch: t.BestEpoch, Last: t.Last, Loss: t.Loss,
		Seconds: t.Seconds, Equivalents: t.Equivalents, TargetSeconds: t.TargetSeconds,
		TargetEquivalents: t.TargetEquivalents,
		Started:           t.Started, Ended: t.Ended}
}

// boardOf returns what is printed of a board with its best settings, that many of them.
func boardOf(b *tune.Leaderboard, top int) *boardJSON {
	limit := func(v float64) *float64 {
		if !(v > 0) || math.IsInf(v, 0) {
			return nil
		}
		return &v
	}
	out := &boardJSON{Type: "search", Name: b.Name, Data: b.Data, Measure: b.Measure, Test: b.Test,
		BestTest: event.Float(b.BestTest()), Target: limit(b.Target), Over: []string{}, Phase: b.Phase,
		Seconds: b.Seconds, Budget: limit(b.Budget), Spent: b.Spent, MaxWork: limit(b.MaxWork), Parallel: b.Parallel,
		Threads: b.Threads,
		Count:   len(b.Trials), Best: []trialJSON{}, Importances: []importanceJSON{}, Command: b.Command,
		Warning: b.Warning}
	if b.Program != nil {
		out.Spent, out.Program = 0, &programJSON{b.Program.Args, b.Program.Max}
	}
	out.Shard, out.Of = b.Shard.Index, b.Shard.Of
	for i := range b.Parts {
		out.Shards = append(out.Shards, b.Parts[i].Shard.Index)
	}
	trialOf := func(t *tune.Trial) trialJSON {
		row := trialOf(*t, b.Program != nil)
		if len(b.Parts) > 0 {
			row.Shard = (t.Number-1)%b.Shard.Of + 1
		}
		return row
	}
	for i := range b.Over {
		out.Over = append(out.Over, b.Over[i].String())
	}
	list := b.Standings()
	for _, s := range list[:min(top, len(list))] {
		t := trialOf(s.Trial)
		t.Best, t.TargetSeconds = s.Best, s.ToTarget
		out.Best = append(out.Best, t)
	}
	for i := range b.Trials {
		out.Trials = append(out.Trials, trialOf(&b.Trials[i]))
	}
	for _, i := range b.Importances {
		out.Importances = append(out.Importances, importanceJSON{i.Key, i.Share, event.Float(i.Spread), i.Trend})
	}
	return out
}

// trialLines prints each trial that is over as a line, and the search as the last one.
type trialLines struct {
	out      io.Writer
	reported map[int]bool // trials by number
}

func (p *trialLines) board(b *tune.Leaderboard) error {
	for i := range b.Trials {
		t := &b.Trials[i]
		if !over(t.State) || p.reported[t.Number] {
			continue
		}
		p.reported[t.Number] = true
		if err := p.line(trialOf(*t, b.Program != nil)); err != nil {
			return err
		}
	}
	return nil
}

func (p *trialLines) end(b *tune.Leaderboard) error {
	if err := p.board(b); err != nil {
		return err
	}
	const best = 10
	last := boardOf(b, best)
	last.Trials = nil
	return p.line(last)
}

func (p *trialLines) line(v any) error {
	e := json.NewEncoder(p.out)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}
