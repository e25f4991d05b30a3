package trainer

import (
	"math"
	"testing"

	"newtop/trainer/config"
	"newtop/trainer/event"
)

// TestOneExpertIsTheNet trains a net, and a mixture that has it as its only expert.
func TestOneExpertIsTheNet(t *testing.T) {
	for _, opt := range []string{"tr-newton", "tr-gn-jacobi", "adam"} {
		for _, c := range []config.Config{
			{Data: "spirals", Hidden: []int{6}},
			{Data: "spirals", Hidden: []int{6}, Out: "tanh"},
			{Data: "spirals", Hidden: []int{6}, Out: "sigmoid", Loss: "xent"},
			{Data: "sine", Hidden: []int{4, 3}},
		} {
			c.Optimizer, c.Epochs = opt, 5
			want := of[event.EpochEvent](train(t, c))
			c.Experts, c.ExpertHidden, c.Hidden, c.Gate = 1, c.Hidden, nil, "1"
			for i, e := range of[event.EpochEvent](train(t, c)) {
				near := func(a, b event.Float) bool { return math.Abs(float64(a-b)) <= 1e-9*math.Abs(float64(b)) || same(a, b) }
				if !near(e.Loss, want[i].Loss) || !near(e.TestLoss, want[i].TestLoss) || !near(e.TestError, want[i].TestError) {
					t.Fatalf("%s on %s, epoch %d: loss %v, test %v, alone %v and %v", opt, c.Data, i, e.Loss, e.TestLoss, want[i].Loss, want[i].TestLoss)
				}
			}
		}
	}
}

// TestGatesLearnAsTheyAreTold looks at the gates before and after some epochs.
func TestGatesLearnAsTheyAreTold(t *testing.T) {
	moved := map[string]bool{"": true, "descent": true, "joint": true, "fixed": false}
	for training, want := range moved {
		c := config.Config{Data: "sine", Experts: 3, ExpertHidden: []int{3}, Gate: "1", GateTraining: training, Epochs: 6, Optimizer: "tr-gn"}
		m := train(t, c)
		epochs := of[event.EpochEvent](m)
		if model := of[event.RunEvent](m)[0].Model; model.Experts != 3 || model.Shape() != "3 × 1-3-1" {
			t.Errorf("%d experts, %s", model.Experts, model.Shape())
		}
		got := false
		for i, e := range epochs {
			share := 0.0
			for k, g := range e.Gates {
				got = got || g != epochs[0].Gates[k] && (g.Center != epochs[0].Gates[k].Center || g.Width != epochs[0].Gates[k].Width)
				share += float64(g.Share)
			}
			if len(e.Gates) != 3 || math.Abs(share-1) > 1e-9 {
				t.Errorf("%q, epoch %d: gates %+v", training, i, e.Gates)
			}
			if i > 0 && e.Loss > epochs[i-1].Loss {
				t.Errorf("%q, epoch %d: the loss rose from %v to %v", training, i, epochs[i-1].Loss, e.Loss)
			}
		}
		if got != want {
			t.Errorf("%q: gates moved: %v", training, got)
		}
	}
}

// TestBlocksOfMixturesNeverRise: the gates move between two epochs, so that E is another one at the same weights
// TestBlocksOfMixturesNeverRise the experts.
func TestBlocksOfMixturesNeverRise(t *testing.T) {
	if testing.Short() {
		t.Skip("long under the race detector, which has nothing to find in it")
	}
	for seed := uint64(1); seed <= 3; seed++ {
		epochs := of[event.EpochEvent](train(t, config.Config{
			Data: "sine", Experts: 3, ExpertHidden: []int{3}, Gate: "1", Optimizer: "tr-gn", Blocks: 4, Epochs: 60, Seed: seed,
		}))
		for i := 1; i < len(epochs); i++ {
			if epochs[i].Loss > epochs[i-1].Loss {
				t.Fatalf("seed %d, epoch %d: the loss rose from %v to %v", seed, i, epochs[i-1].Loss, epochs[i].Loss)
			}
		}
	}
}
