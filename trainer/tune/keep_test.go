package tune

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"newtop/trainer/store"
)

// A damaged record of a trial is an error with the trial's number, and never more.
func FuzzRevive(f *testing.F) {
	good := `[{"Key":"opt","Value":"adam","Number":-1},{"Key":"rate","Value":"0.01","Number":0.4},{"Key":"batch","Value":"20","Number":0.1}]`
	figures := `{"Setting":1,"Epochs":3,"Best":0.4,"Last":null,"Scores":[{"Value":0.4},{"Value":null,"Lost":true}],"Curve":[{"Seconds":1}],"Every":1,"Count":3}`
	for _, state := range stateNames {
		f.Add(state, good, figures)
	}
	f.Add("paused", `[]`, `{}`)
	f.Add("waiting", `[{"Key":"opt","Value":"none"}]`, `{}`)
	f.Add("done", `[{"Key":"net","Value":"x","Number":7}]`, `{"Best":"a"}`)
	f.Add("reached", `[{"Key":"opt","Value":"sgd"}]`, `{"TargetSeconds":1,"Every":-1,"Count":-9}`)
	s := temporary(f)
	c := small(f)
	config, err := encodeConfig(&c)
	if err != nil {
		f.Fatal(err)
	}
	row := store.Search{Name: "mine", Config: config, Phase: phaseSearching, Rest: json.RawMessage(`{"Drawn":9}`)}
	f.Fuzz(func(t *testing.T, state, choices, figures string) {
		var trials []store.Trial
		for i := range 9 { // enough for estimates
			trials = append(trials, store.Trial{Number: i + 1, State: state, Choices: json.RawMessage(choices), Figures: json.RawMessage(figures)})
		}
		q, err := revive(s, &row, trials, nil)
		if err != nil {
			var bad *store.RowError
			if !errors.As(err, &bad) || !strings.Contains(err.Error(), "trial 1: ") || strings.Contains(err.Error(), "\n") {
				t.Fatalf("%q", err)
			}
			return
		}
		q.takeUp()
		q.publish()
		q.chosen()
		for _, t := range q.trials {
			t.account(&figure{epoch: t.Epochs + 1})
		}
	})
}
