package methods

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"newtop/internal/vector"
	"newtop/trainer/optim"
)

// TestProposals: the step that is reported leads from where it says to the weights after it, or to weights that were
// not taken; methods that do not promise one report none.
func TestProposals(t *testing.T) {
	cliff := func(w []float64, loss float64) float64 { // which long steps fall over
		if vector.Norm(w) > 4 {
			return 100
		}
		return loss
	}
	for _, info := range All() {
		o := &degenerate{a: [][]float64{{1, 2}, {3, -1}, {0.5, 1}, {2, 7}}, t: []float64{9, 2, 3, 1}, spoil: cliff}
		if optim.Offers(o, info.Needs) != nil {
			if info.Proposes {
				t.Errorf("%s is left out", info.Name)
			}
			continue
		}
		for _, set := range variants(info, o.Rows(), false) {
			m, settings := method(t, info.Name, set...)
			s := &optim.State{Objective: o, W: []float64{1, 1}, Settings: settings, Rand: rand.New(rand.NewPCG(1, 2))}
			for range 20 {
				before := slices.Clone(s.W)
				report, err := m.Step(context.Background(), s)
				if err != nil {
					break
				}
				p := report.Proposal
				if (p.Step != nil) != info.Proposes {
					t.Fatalf("%s %v: proposes %v", info.Name, set, p.Step)
				}
				if !info.Proposes {
					continue
				}
				sweep := len(report.Inner) > 1
				if !sweep && (p.Accepted != report.Accepted || p.Rho != report.Rho || p.From != nil) {
					t.Errorf("%s %v: %+v of %+v", info.Name, set, p, report)
				}
				end := before
				if p.From != nil {
					end = slices.Clone(p.From)
				}
				if p.Accepted {
					vector.Add(end, end, p.Step)
				}
				if report.Accepted && !slices.Equal(end, s.W) {
					t.Errorf("%s %v: at %v, the step leads to %v", info.Name, set, s.W, end)
				}
				if !p.Accepted && len(p.Step) != len(s.W) {
					t.Errorf("%s %v: a rejected step %v", info.Name, set, p.Step)
				}
			}
		}
	}
}
