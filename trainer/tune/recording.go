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
	"newtop/trainer/store/search"
)

// searchRest is what the record of a search has besides.
type searchRest struct {
	Measure string     // what trials are judged by
	Drawn   int        // points of the sampler
	First   [2]float64 // gradient equivalents and seconds of the first rung, which another budget does not move
	Bests   []Point    `json:",omitempty"`
}

// trialMetrics is what the record of a trial has besides.
type trialMetrics struct {
	Setting, Epochs, BestEpoch       int
	Best, Last, Loss, Test, Tie      event.Float
	Seconds, Equivalents             float64
	Begun, Ended, EndedAt            float64
	TargetSeconds, TargetEquivalents event.Float
	Scores                           []level `json:",omitempty"`
	Barred                           bool    `json:",omitempty"`
	Curve                            []Point `json:",omitempty"`
	Every, Count                     int
	Dir                              string `json:",omitempty"`
}

// level is a score, which JSON has no infinities for.
type level struct {
	Value event.Float
	Lost  bool `json:",omitempty"` // +Inf
	Won   bool `json:",omitempty"` // −Inf
}

// encode writes a part of a search's record.
func encode(v any) (json.RawMessage, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("tune: encoding a search: %w", err)
	}
	return text, nil
}

// recording keeps a search in the store.
type recording struct {
	record  *search.Record
	row     search.Search
	changed map[int]bool // trials since the last time
	saved   time.Time
	warning string // why it is not kept; empty: it is
}

// save records what has changed. Where that fails the search continues and says so.
func (r *recording) save(ctx context.Context, trials []*trial, state *searchRest) {
	var rows []search.Trial
	ahead := map[int]bool{}
	for _, t := range trials {
		if !r.changed[t.Number] {
			continue
		}
		if t.stored() {
			rows = append(rows, rowOf(t))
			continue
		}
		rows = append(rows, rowOf(t.beginning()))
		ahead[t.Number] = true
	}
	text, err := encode(state)
	if err == nil {
		r.row.Rest = text
		err = r.record.Save(ctx, &r.row, rows)
	}
	r.saved = time.Now()
	if r.warning = ""; err != nil {
		r.warning = "the search is not being recorded: " + oneLine(err)
		return
	}
	r.changed = ahead
}

// stored reports whether the run that a trial names is in the store. The recorder of a run and that of the search write
// each at its own pace: a process that is killed in between must not leave figures of a run that nobody finds.
func (t *trial) stored() bool {
	if t.recorder != nil && t.recorder.Stored() {
		t.recorder = nil
	}
	return t.recorder == nil
}

// beginning returns a trial as it was before it had a run, which a search that is resumed begins again.
func (t *trial) beginning() *trial {
	b := newTrial(t.Number, t.Choices, t.Seed, t.Started)
	b.State, b.Setting, b.Final = Running, t.Setting, t.Final
	return b
}

// rowOf returns a trial as the store keeps it.
func rowOf(t *trial) search.Trial {
	f := trialMetrics{
		Setting: t.Setting, Epochs: t.Epochs, BestEpoch: t.BestEpoch, Tie: event.Float(t.tie), Test: t.Test,
		Best: t.Best, Last: t.Last, Loss: t.Loss,
		Seconds: t.Seconds, Equivalents: t.Equivalents, Begun: t.Started, Ended: t.Ended, EndedAt: t.EndedAt,
		TargetSeconds: t.TargetSeconds, TargetEquivalents: t.TargetEquivalents,
		Barred: t.barred, Curve: t.Curve, Every: t.curve.every, Count: t.curve.count, Dir: t.Dir,
	}
	for _, v := range t.scores {
		f.Scores = append(f.Scores, level{Value: event.Float(v), Lost: math.IsInf(v, 1), Won: math.IsInf(v, -1)})
	}
	row := search.Trial{Number: t.Number, Run: t.Run, State: t.State.String(), Reason: t.Error, Seed: t.Seed,
		Rung:  t.Rung,
		Final: t.Final}
	row.Choices, _ = json.Marshal(t.Choices) // texts, and numbers from −1 to 1
	row.Metrics, _ = json.Marshal(&f)        // of which those that may be no numbers are trainer.Floats
	return row
}

// trialOf reads what rowOf writes, of a search of nets or of a program's.
func trialOf(row *search.Trial, nets bool) (*trial, error) {
	f := trialMetrics{Test: nan, Tie: nan} // which earlier versions did not keep
	t := &trial{Trial: Trial{Number: row.Number, Run: row.Run, Error: row.Reason, Seed: row.Seed, Rung: row.Rung,
		Final: row.Final}}
	if err := errors.Join(json.Unmarshal(row.Choices, &t.Choices), json.Unmarshal(row.Metrics, &f)); err != nil {
		return nil, err
	}
	state := slices.Index(stateNames[:], row.State)
	if state < 0 {
		return nil, fmt.Errorf("state %q: expected one of %v", row.State, stateNames)
	}
	t.State = State(state)
	for _, c := range t.Choices {
		if _, err := methods.Lookup(c.Value); nets && c.Key == optKey && err != nil {
			return nil, err
		}
		if !(c.Number >= -1 && c.Number <= 1) {
			return nil, fmt.Errorf("%s lies at %g of its axis: expected a place from 0 to 1, or −1", c.Key, c.Number)
		}
	}
	t.Test, t.tie, t.Dir = f.Test, float64(f.Tie), f.Dir
	t.Setting, t.Epochs, t.BestEpoch, t.Best, t.Last, t.Loss = f.Setting, f.Epochs, f.BestEpoch, f.Best, f.Last, f.Loss
	t.Seconds, t.Equivalents, t.Started, t.Ended, t.EndedAt = f.Seconds, f.Equivalents, f.Begun, f.Ended, f.EndedAt
	t.TargetSeconds, t.TargetEquivalents, t.barred = f.TargetSeconds, f.TargetEquivalents, f.Barred
	t.curve = boundedCurve{points: f.Curve, every: f.Every, count: f.Count}
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
