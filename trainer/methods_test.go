package trainer

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"newtop/internal/nightly"
	"newtop/trainer/config"
	"newtop/trainer/event"
	"newtop/trainer/optim"
	"newtop/trainer/optim/methods"
	"newtop/trainer/trajectory"
)

// TestEigenDescentKeepsUp with a curvature that grows a hundredfold within the first epochs, from most starts: nothing
// bounds its steps but the eigenvalues, and a few runs leave the ground where those held.
func TestEigenDescentKeepsUp(t *testing.T) {
	if testing.Short() {
		t.Skip("long under the race detector, which has nothing to find in it")
	}
	seeds := nightly.Of(20, 8)
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

// TestHints tell to lower what raises the loss when it is too large, and nothing else.
func TestHints(t *testing.T) {
	for _, info := range methods.All() {
		s := mustNew(t, config.Config{Data: "sine", Optimizer: info.Name})
		nets := &trajectory.Trajectory{Info: s.info, Settings: s.settings}
		err := nets.Diverged(1, "the loss is not finite")
		want := "expected another optimizer or other settings"
		if !info.Monotone && info.Primary != "" {
			want = fmt.Sprintf("expected a smaller %s than ", info.Primary)
		}
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %s", err, want)
		}
	}
}

// TestFiguresOfACommitteeThatStallsInPart are those of the nets that go on.
func TestFiguresOfACommitteeThatStallsInPart(t *testing.T) {
	figure := func(v float64) optim.Report {
		report := trajectory.IdleReport
		report.Diagnostics = []optim.Diagnostic{{Key: "mu", Value: v}}
		return report
	}
	nets := []*trajectory.Member{{Stalled: "the gradient is zero", Report: trajectory.IdleReport}, {Report: figure(1)}, {Report: figure(3)}}
	if got := trajectory.CombinedReport(nets).Diagnostics; len(got) != 1 || got[0].Value != 2 {
		t.Errorf("%+v", got)
	}
	nets = []*trajectory.Member{{Stalled: "a", Report: trajectory.IdleReport}, {Stalled: "b", Report: trajectory.IdleReport}}
	if got := trajectory.CombinedReport(nets); len(got.Diagnostics) != 0 || !math.IsNaN(got.GradientNorm) {
		t.Errorf("%+v", got)
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
