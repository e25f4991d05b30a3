package trainer

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"newtop/models"
	"newtop/trainer/config"
	"newtop/trainer/event"
)

// A net that is no chain is refused before the run.
func TestBPLSRefusesOtherNets(t *testing.T) {
	s := mustNew(t, config.Config{Data: "sine", Hidden: []int{3}, Skip: models.SkipDirect, Optimizer: "bpls"})
	var refused *PrepareError
	if err := s.Run(context.Background()); !errors.As(err, &refused) || !strings.Contains(err.Error(), "bpls: layer 2 takes from layer 0") {
		t.Errorf("%v", err)
	}
}

// The two toy problems of [T, §III-A] without noise: two lines are found exactly from any random start, and two
// curves nearly so from most, as the hidden layer can't follow its targets to the last digit.
func TestToyProblemsOfBPLS(t *testing.T) {
	for _, target := range []string{"printed", "damped", "minimum-norm"} {
		var curves []float64
		for seed := range uint64(20) {
			c := config.Config{Data: "bpls-linear", Hidden: []int{3}, Act: "identity", Optimizer: "bpls", Set: []string{"target=" + target}, Seed: seed}
			done := of[event.DoneEvent](train(t, c))[0]
			if done.Reason != event.ReasonStalled || done.Epochs != 1 || !(done.TestRMSE < 1e-10) {
				t.Errorf("%s, seed %d: lines: %+v", target, seed, done)
			}
			c.Data, c.Act, c.Out = "bpls-sigmoid", "sigmoid", "sigmoid"
			epochs := of[event.EpochEvent](train(t, c))
			curves = append(curves, float64(epochs[len(epochs)-1].TestRMSE))
		}
		slices.Sort(curves)
		if middle, most := curves[10], curves[19]; middle > 0.03 || most > 0.15 {
			t.Errorf("%s: curves with a test RMSE of %.3g in the middle, %.3g at most", target, middle, most)
		}
	}
}

// Events say what the weights do, misses fall with every iteration, work is charged, and the threads make no
// difference.
func TestBPLSEvents(t *testing.T) {
	c := config.Config{Data: "parity", Hidden: []int{12}, Optimizer: "bpls", Seed: 3}
	var runs [][]event.EpochEvent
	for _, threads := range []int{1, 3} {
		c.Threads = threads
		runs = append(runs, of[event.EpochEvent](train(t, c)))
	}
	if len(runs[0]) < 2 || len(runs[0]) != len(runs[1]) {
		t.Fatalf("%d and %d epochs", len(runs[0]), len(runs[1]))
	}
	before := math.Inf(1)
	for i, e := range runs[0][1:] {
		var keys []string
		for _, f := range e.Metrics {
			keys = append(keys, f.Key)
		}
		if !slices.Equal(keys, []string{"misses", "rank", "share", "residual"}) {
			t.Fatalf("figures %v", keys)
		}
		misses := float64(e.Metrics[0].Value)
		if math.Abs(misses-256*float64(e.Error)) > 1e-9 || misses >= before {
			t.Errorf("epoch %d: %g misses after %g, an error of %v", e.Epoch, misses, before, e.Error)
		}
		before = misses
		if e.Loss != runs[1][i+1].Loss || !e.Accepted || !(e.StepNorm > 0) || e.GradientEquivalents <= runs[0][i].GradientEquivalents {
			t.Errorf("epoch %d: %+v, with other threads a loss of %v", e.Epoch, e, runs[1][i+1].Loss)
		}
	}
}
