package tune

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"newtop/trainer/store"
	"newtop/trainer/store/search"
)

// A damaged record of a trial is an error with the trial's number, and never more.
func FuzzRevive(f *testing.F) {
	good := `[{"Key":"opt","Value":"adam","Number":-1},{"Key":"rate","Value":"0.01","Number":0.4},{"Key":"batch","Value":"20","Number":0.1}]`
	values := `{"Setting":1,"Epochs":3,"Best":0.4,"Last":null,"Scores":[{"Value":0.4},{"Value":null,"Lost":true}],"Curve":[{"Seconds":1}],"Every":1,"Count":3}`
	for _, state := range stateNames {
		f.Add(state, good, values)
	}
	f.Add("paused", `[]`, `{}`)
	f.Add("waiting", `[{"Key":"opt","Value":"none"}]`, `{}`)
	f.Add("done", `[{"Key":"net","Value":"x","Number":7}]`, `{"Best":"a"}`)
	f.Add("reached", `[{"Key":"opt","Value":"sgd"}]`, `{"TargetSeconds":1,"Every":-1,"Count":-9}`)
	s := temporary(f)
	c := small(f)
	config, err := encode(&c)
	if err != nil {
		f.Fatal(err)
	}
	row := search.Search{Name: "mine", Config: config, Phase: phaseSearching, Rest: json.RawMessage(`{"Drawn":9}`)}
	f.Fuzz(func(t *testing.T, state, choices, values string) {
		var trials []search.Trial
		for i := range 9 { // enough for estimates
			trials = append(trials, search.Trial{Number: i + 1, State: state, Choices: json.RawMessage(choices), Metrics: json.RawMessage(values)})
		}
		q, err := revive(s, &row, trials, nil)
		if err != nil {
			var bad *store.RowError
			if !errors.As(err, &bad) || !strings.Contains(err.Error(), "trial 1: ") || strings.Contains(err.Error(), "\n") {
				t.Fatalf("%q", err)
			}
			return
		}
		restore(q)
		q.publish()
		q.chosen()
		for _, t := range q.ranking.trials {
			t.account(&epochMetrics{epoch: t.Epochs + 1}, 1)
		}
	})
}

// A search can be looked at when its data is gone, and not gone on with.
func TestLoadWithoutData(t *testing.T) {
	s := temporary(t)
	c := small(t)
	c.Name, c.Trials, c.Base.Data, c.Base.Validation = "gone", 3, filepath.Join(t.TempDir(), "table.csv"), "0"
	var table strings.Builder
	table.WriteString("x,y\n")
	for i := range 60 {
		fmt.Fprintf(&table, "%d,%g\n", i, math.Sin(float64(i)/9))
	}
	if err := os.WriteFile(c.Base.Data, []byte(table.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	want := searched(t, c, s, nil)
	if err := os.Remove(c.Base.Data); err != nil {
		t.Fatal(err)
	}
	got, err := Load(t.Context(), s, nil, "gone")
	if err != nil || told(got) != told(want) || got.Measure != "test RMSE" || got.Data != want.Data {
		t.Errorf("%+v: %v", got, err)
	}
	if _, err := Resume(t.Context(), s, "gone", func(c *Config) { c.Trials = 5 }); err == nil || !strings.Contains(err.Error(), "table.csv") {
		t.Errorf("a search without its data goes on: %v", err)
	}
}

// What was measured of a setting counts no more when a resumed search takes its trial further.
func TestFinalsOfResumedSearch(t *testing.T) {
	s := temporary(t)
	c := small(t)
	c.Name, c.Trials, c.MaxWork, c.Finals = "further", 0, 300, 2
	first := searched(t, c, s, nil)
	tried := 0
	for i := range first.Trials {
		if !first.Trials[i].Final {
			tried++
		}
	}
	// no others: the best climb on
	q, err := Resume(t.Context(), s, "further", func(c *Config) { c.MaxWork, c.Trials = 0, tried })
	if err != nil {
		t.Fatal(err)
	}
	if err := q.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	last, outdated := q.Leaderboard(), 0
	for i := range last.Trials {
		f := &last.Trials[i]
		if i < len(first.Trials) && first.Trials[i].Measured() && !f.Measured() {
			outdated++
			if f.State != Stopped || !strings.HasSuffix(f.Error, "has gone further since") {
				t.Errorf("trial %d: %s: %s", f.Number, f.State, f.Error)
			}
		}
		if parent := &last.Trials[f.Setting-1]; f.Measured() && parent.State != Done && f.Equivalents < parent.Equivalents {
			t.Errorf("trial %d is measured after %g gradient equivalents, trial %d went on to %g", f.Number, f.Equivalents, parent.Number, parent.Equivalents)
		}
	}
	if outdated == 0 || !last.Trials[last.Order[0]].Measured() {
		t.Errorf("%d finals were taken back; the first is trial %d", outdated, last.Trials[last.Order[0]].Number)
	}
}
