package tune

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"newtop/trainer"
	"newtop/trainer/event"
)

// TestScoresOfTrials has what scikit-learn 1.9's roc_auc_score, f1_score, log_loss and mean_absolute_error say of the
// predictions of the best epochs' weights (newtop predict RUN --rows validation).
func TestScoresOfTrials(t *testing.T) {
	s := temporary(t)
	for _, c := range []struct {
		data, by, measure, test string
		max                     bool
		want, within            float64
	}{
		{"spirals", "auc", "validation AUC", "test AUC", true, 0.72328125, 1e-12},
		{"spirals", "f1", "validation F1", "test F1", true, 0.6220735785953178, 1e-12},
		{"spirals", "logloss", "validation log loss", "test log loss", false, 0.6231325996240172, 1e-6}, // of six digits
		{"sine", "mae", "validation MAE", "test MAE", false, 0.4758743559357388, 1e-9},
		{"sine", "rmse", "validation RMSE", "test RMSE", false, 0.538219, 1e-6},
	} {
		b := searched(t, Config{
			Base: trainer.Config{Data: c.data, Validation: "0.2", Hidden: []int{6}, Seed: 7, Epochs: 6, Weights: c.by},
			Over: dimensions(t, "opt=tr-gn"), Parallel: 1, Threads: 1, Trials: 1, Finals: -1,
		}, s, nil)
		if v := float64(b.Trials[0].Best); math.Abs(v-c.want) > c.within || b.Measure != c.measure || b.Test != c.test || b.Max() != c.max {
			t.Errorf("%s: %v of %s and %s, expected %v", c.by, v, b.Measure, b.Test, c.want)
		}
	}
}

// TestClassWeightsAreTried of a table with a rare class, where F1 decides alone.
func TestClassWeightsAreTried(t *testing.T) {
	table := filepath.Join(t.TempDir(), "rare.csv")
	text := "x,class\n"
	for i := range 100 {
		text += fmt.Sprintf("%d.5,%t\n", i*37%100, i%10 == 0)
	}
	if err := os.WriteFile(table, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for by, want := range map[string]bool{"": false, "auc": false, "f1": true} {
		dims, rows := DefaultSpace(trainer.Config{Data: table, Weights: by})
		if got := slices.ContainsFunc(dims, func(d Dimension) bool { return d.Key == "class-weights" }); got != want || rows == 0 {
			t.Errorf("by %q: %t of %d rows", by, got, rows)
		}
	}
}

// TestGreatestScoreLeads: the order, who climbs and the best so far follow the score's direction, also of a search that is resumed.
func TestGreatestScoreLeads(t *testing.T) {
	c := small(t)
	c.Name, c.Base.Validation, c.Base.Weights = "auc", "0.2", "auc"
	s := temporary(t)
	searched(t, c, s, nil)
	q, err := Resume(t.Context(), s, "auc", func(c *Config) { c.Trials = 12 })
	if err == nil {
		err = q.Run(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	b := q.Leaderboard()
	var bests []event.Float
	for _, i := range b.Order {
		bests = append(bests, -b.Trials[i].Best)
	}
	if first := &b.Trials[b.Order[0]]; len(bests) != 12 || !slices.IsSorted(bests) || first.Rung == 0 || first.State == Pruned {
		t.Errorf("ordered by −%v, first %+v", bests, first)
	}
	if !slices.IsSortedFunc(b.Bests, func(p, q Point) int { return cmp.Compare(p.Value, q.Value) }) || len(b.Bests) < 2 {
		t.Errorf("the best so far are %v", b.Bests)
	}
}
