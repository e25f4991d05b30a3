package bench

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"testing"

	"newtop/trainer"
	"newtop/trainer/optim"
	"newtop/trainer/optim/methods"
)

// Every setting of every method is one that the method takes.
func TestFairSettings(t *testing.T) {
	for _, m := range slices.Concat(fairMethods, solvingMethods) {
		for i := range 30 {
			set, share := m.setting(i)
			of, err := methods.Lookup(cmp.Or(m.optimizer, m.name))
			if err != nil {
				t.Fatal(err)
			}
			settings := optim.NewSettings(of.Parameters)
			for _, text := range set {
				key, value, _ := strings.Cut(text, "=")
				if err := settings.SetText(key, value); err != nil || !(share >= 0.25 && share <= 1) {
					t.Errorf("%s %v, share %g: %v", m.name, set, share, err)
				}
			}
		}
	}
}

// A run that solves ends with the last epoch within its budget, and tells of it what a run of as many epochs does.
func TestFairBudget(t *testing.T) {
	f := fair{o: &FairOptions{}, done: map[string]*fairTrial{}}
	r := race{name: "spirals", config: trainer.Config{Data: "spirals", Hidden: []int{5}}}
	m := &solvingMethods[slices.IndexFunc(solvingMethods, func(m fairMethod) bool { return m.name == "scg" })]
	within, err := f.train(t.Context(), &r, m, nil, mostEpochs, 20, 1, false, "within")
	if err != nil || !(within.Spent > 10 && within.Spent <= 20) {
		t.Fatalf("came to %+v, %v", within, err)
	}
	as, err := f.train(t.Context(), &r, m, nil, within.Epoch, math.Inf(1), 1, false, "as many")
	if err != nil || as.Spent != within.Spent || as.Last != within.Last || !as.Last.Finite() {
		t.Errorf("came to %+v, %v; %d epochs to %+v", within, err, within.Epoch, as)
	}
}
