package trainer

import (
	"math"
	"path/filepath"
	"testing"

	"gonum.org/v1/gonum/mat"

	"newtop/models"
	"newtop/trainer/config"
	"newtop/trainer/event"
	"newtop/trainer/objective"
)

// Each net of a committee with folds is to the bit what a run of its fold and seed alone trains, with words, missing
// values and scales coded by its own rows; what decides is the mean over all rows, each by the net that was not trained on
// it; the test rows see the mean output, and the saved model predicts it from the raw columns.
func TestFoldCommittee(t *testing.T) {
	const folds = 4
	for name, c := range map[string]config.Config{
		"spirals":  {Data: "spirals", Test: "0.5", Hidden: []int{6}, Optimizer: "tr-gn", Blocks: 1, Set: []string{"limit=5"}, Epochs: 4, Seed: 7},
		"sine":     {Data: "sine", Hidden: []int{5}, Optimizer: "scg", Epochs: 6, Seed: 2, L2: 0.01},
		"mixture":  {Data: noise(t, "mixture", true, 300, 1), Hidden: []int{4}, Skip: models.SkipAll, Optimizer: "scg", Epochs: 5, Seed: 3},
		"numbers":  {Data: noise(t, "mixture", false, 300, 2), Hidden: []int{4}, Skip: models.SkipDirect, Optimizer: "lbfgs", Epochs: 5, Seed: 1},
		"mean":     {Data: noise(t, "missing", false, 200, 3), Missing: "mean", Hidden: []int{3}, Optimizer: "scg", Epochs: 4, Seed: 4},
		"bounded":  {Data: noise(t, "mixture", false, 200, 4), Out: "tanh", Missing: "median", Hidden: []int{3}, Optimizer: "scg", Epochs: 4, Seed: 4},
		"softmax":  {Data: noise(t, "few", true, 200, 5), Hidden: []int{}, Optimizer: "adam", Epochs: 3, Seed: 4},
		"float32":  {Data: noise(t, "mixture", true, 200, 6), Precision: "float32", Hidden: []int{3}, Optimizer: "adam", Epochs: 3, Seed: 4},
		"weighted": {Data: noise(t, "few", true, 200, 7), Hidden: []int{3}, Optimizer: "tr-gn", Epochs: 3, Seed: 4, ClassWeights: "balanced", LabelSmoothing: 0.1},
		"patterns": {Data: "parity", Hidden: []int{4}, Optimizer: "scg", Epochs: 3, Seed: 1},
	} {
		c.Folds, c.Committee, c.Save, c.Weights = folds, folds, filepath.Join(t.TempDir(), "joint.onnx"), "last"
		all := of[event.EpochEvent](train(t, c))
		last := all[len(all)-1]
		p := mustPrepare(t, resolved(c))
		joint := predictions(t, c.Save, p.Joint.Problem)
		mean := mat.NewDense(joint.RawMatrix().Rows, joint.RawMatrix().Cols, nil)
		var loss, wrong, square, trained float64
		for k := range folds {
			alone := c
			alone.Committee, alone.Fold, alone.Seed, alone.Save = 0, k+1, c.Seed+uint64(k), filepath.Join(t.TempDir(), "alone.onnx")
			run := train(t, alone)
			epochs := of[event.EpochEvent](run)
			e, m := epochs[len(epochs)-1], last.Members[k]
			for what, v := range map[string][2]event.Float{
				"loss": {e.Loss, m.Loss}, "validation loss": {e.ValidationLoss, m.ValidationLoss}, "test loss": {e.TestLoss, m.TestLoss},
			} {
				if c.Out == "" && v[0] != v[1] { // bounded outputs have the scale of all targets
					t.Errorf("%s, fold %d: %s %v, alone %v", name, k+1, what, v[1], v[0])
				}
			}
			if c.Out == "" {
				mean.Add(mean, predictions(t, alone.Save, mustPrepare(t, resolved(alone))))
			}
			n := float64(of[event.RunEvent](run)[0].Data.ValidationRows)
			loss += n * float64(m.ValidationLoss)
			wrong += n * float64(m.ValidationError)
			square += n * float64(m.ValidationRMSE) * float64(m.ValidationRMSE)
			trained += n
		}
		near := func(what string, got event.Float, want float64) {
			if !(math.Abs(float64(got)-want) <= 1e-12*math.Abs(want)) {
				t.Errorf("%s: %s %v, of its folds %v", name, what, got, want)
			}
		}
		near("validation loss", last.ValidationLoss, loss/trained)
		near("validation RMSE", last.ValidationRMSE, math.Sqrt(square/trained))
		if last.ValidationError.Finite() {
			near("validation error", last.ValidationError, wrong/trained)
			if got := share(mistakes(joint, p.Data.Test.Labels), p.Test.Rows()); got != last.TestError {
				t.Errorf("%s: the saved model has a test error of %v, the run %v", name, got, last.TestError)
			}
		}
		tolerance := 1e-10
		if c.Precision != "" {
			tolerance = 1e-4
		}
		mean.Scale(1./folds, mean)
		if c.Out == "" && !mat.EqualApprox(joint, mean, tolerance) {
			t.Errorf("%s: the saved model predicts\n%v, the nets of its folds on average\n%v", name,
				mat.Formatted(joint, mat.Excerpt(3)), mat.Formatted(mean, mat.Excerpt(3)))
		}
	}
}

// resolved returns the configuration as a run has it, in double precision.
func resolved(c config.Config) config.Config {
	c.ResolveDefaults()
	c.Precision = "" // in which raw inputs can be had again
	return c
}

// predictions returns what a saved model makes of a problem's raw test rows.
func predictions(t *testing.T, file string, p *objective.Problem) *mat.Dense {
	t.Helper()
	m := readModel(t, file)
	out := mat.NewDense(p.Test.Rows(), len(m.Outputs), nil)
	m.PredictTo(out, rawTest(p))
	return out
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
