package trainer

import (
	"math"
	"testing"

	"newtop/trainer/config"
	"newtop/trainer/event"
)

// Each net of a committee with folds is what a run of its fold and seed alone trains, up to the order of sums; what decides is
// the mean over all rows, each by the net that was not trained on it; the test rows see the mean output.
func TestFoldCommittee(t *testing.T) {
	const folds = 4
	for _, c := range []config.Config{
		{Data: "spirals", Test: "0.5", Hidden: []int{6}, Optimizer: "tr-gn", Blocks: 1, Set: []string{"limit=5"}, Epochs: 4, Seed: 7},
		{Data: "sine", Hidden: []int{5}, Optimizer: "scg", Epochs: 6, Seed: 2, L2: 0.01},
	} {
		c.Folds, c.Committee = folds, folds
		all := of[event.EpochEvent](train(t, c))
		last := all[len(all)-1]
		var loss, wrong, square, trained float64
		for k := range folds {
			alone := c
			alone.Committee, alone.Fold, alone.Seed, alone.Weights = 0, k+1, c.Seed+uint64(k), "last"
			run := train(t, alone)
			epochs := of[event.EpochEvent](run)
			e, m := epochs[len(epochs)-1], last.Members[k]
			for name, v := range map[string][2]event.Float{
				"loss": {e.Loss, m.Loss}, "validation loss": {e.ValidationLoss, m.ValidationLoss}, "test loss": {e.TestLoss, m.TestLoss},
			} {
				if math.Abs(float64(v[0]-v[1])) > 1e-7*math.Abs(float64(v[0])) {
					t.Errorf("%s, fold %d: %s %v, alone %v", c.Data, k+1, name, v[1], v[0])
				}
			}
			data := of[event.RunEvent](run)[0].Data
			n := float64(data.ValidationRows)
			loss += n * float64(e.ValidationLoss)
			wrong += n * float64(e.ValidationError)
			square += n * float64(e.ValidationRMSE) * float64(e.ValidationRMSE)
			trained += n
		}
		near := func(what string, got event.Float, want float64) {
			if !(math.Abs(float64(got)-want) <= 1e-7*math.Abs(want)) {
				t.Errorf("%s: %s %v, of its folds %v", c.Data, what, got, want)
			}
		}
		near("validation loss", last.ValidationLoss, loss/trained)
		near("validation RMSE", last.ValidationRMSE, math.Sqrt(square/trained))
		if last.ValidationError.Finite() {
			near("validation error", last.ValidationError, wrong/trained)
		}
		if last.TestLoss > (last.Members[0].TestLoss+last.Members[1].TestLoss+last.Members[2].TestLoss+last.Members[3].TestLoss)/4 {
			t.Errorf("%s: the mean output has a test loss of %v, above the mean of its nets", c.Data, last.TestLoss)
		}
	}
}

// The scores of the rows to decide by are of each row's own net.
func TestFoldScores(t *testing.T) {
	c := config.Config{Data: "spirals", Test: "0.5", Hidden: []int{6}, Optimizer: "tr-gn", Epochs: 3, Seed: 7, Folds: 3, Committee: 3, Weights: "last"}
	run := train(t, c)
	epochs := of[event.EpochEvent](run)
	last, scores := epochs[len(epochs)-1], of[event.DoneEvent](run)[0].Scores
	if len(scores) != 2 || scores[0].Split != "validation" || scores[1].Split != "test" {
		t.Fatalf("scores %+v", scores)
	}
	for i, want := range [][2]event.Float{{last.ValidationError, last.ValidationLoss}, {last.TestError, last.TestLoss}} {
		if s := scores[i]; math.Abs(float64(s.Error-want[0])) > 1e-12 || math.Abs(float64(s.Log-want[1])) > 1e-9 {
			t.Errorf("%s rows: error %v and log loss %v, in the last epoch %v", s.Split, s.Error, s.Log, want)
		}
	}
}
