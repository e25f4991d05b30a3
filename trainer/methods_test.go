package trainer

import (
	"errors"
	"strings"
	"testing"

	"newtop/internal/nightly"
	"newtop/trainer/config"
	"newtop/trainer/event"
	"newtop/trainer/trajectory"
)

// TestEigenDescentKeepsUp with a curvature that grows a hundredfold within the first epochs, from most starts: nothing
// bounds its steps but the eigenvalues, and a few runs leave the ground where those held.
func TestEigenDescentKeepsUp(t *testing.T) {
	if testing.Short() {
		t.Skip("long under the race detector, which has nothing to find in it")
	}
	seeds := nightly.Of(20, 4)
	for _, data := range []string{"sine", "spirals"} {
		kept := 0
		for seed := range uint64(seeds) {
			var seen memory
			s := mustNew(t, config.Config{Data: data, Hidden: []int{8}, Seed: seed, Optimizer: "eigen-gd", Epochs: 100}, &seen)
			var diverged *trajectory.DivergedError
			if err := s.Run(t.Context()); err != nil && !errors.As(err, &diverged) {
				t.Fatal(err)
			}
			if epochs := of[event.EpochEvent](&seen); diverged == nil && epochs[100].Loss < 0.95*epochs[0].Loss {
				kept++
			}
		}
		if kept < seeds*3/4 {
			t.Errorf("%s: the loss fell in %d of %d runs", data, kept, seeds)
		}
	}
}

// TestLargeMatricesOfMixturesAreRefused: the gates count, also where the method leaves them alone.
func TestLargeMatricesOfMixturesAreRefused(t *testing.T) {
	c := config.Config{Data: "sine", Experts: 4, ExpertHidden: []int{916}, Gate: "1", Optimizer: "lm"} // 10,996 weights and 12 of gates
	var refused *PrepareError
	if err := mustNew(t, c).Run(t.Context()); !errors.As(err, &refused) || !strings.Contains(err.Error(), "11008 weights") {
		t.Errorf("%v", err)
	}
}
