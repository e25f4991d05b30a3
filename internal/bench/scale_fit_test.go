package bench

import (
	"math"
	"math/rand/v2"
	"testing"

	"newtop/models/reduce"
)

// knownTimes are exchanges and products of two to eight processes as a model has them, each with a relative error of a given size.
func knownTimes(m *Model, noise float64) (list []observation) {
	rng := rand.New(rand.NewPCG(3, 4))
	prices := m.prices()
	add := func(o observation) {
		o.seconds = o.at(&prices).seconds(&prices) * (1 + noise*rng.NormFloat64())
		list = append(list, o)
	}
	for _, n := range exchangeSizes {
		for _, p := range []int{2, 4, 8} {
			size := float64(n)
			add(observation{choices: [][]cost{broadcasts(p, size), reductions(p, 1)}})
			add(observation{choices: [][]cost{broadcasts(p, 1), reductions(p, size)}})
			add(observation{fixed: orderedReduction(p, size, shareOut(p*reduce.BlockRows, p)), choices: [][]cost{broadcasts(p, 1)}})
		}
	}
	for _, c := range []product{{6066, 16000, 62080, 0}, {6066, 2000, 62080, 0}, {1e6, 2000, 1.2e7, 1}, {1e6, 200, 1.2e7, 1}} {
		for _, p := range []int{1, 2, 4} {
			add(c.taken(p, InOrder))
		}
	}
	return list
}

func TestFitFindsKnownModel(t *testing.T) {
	for _, c := range []struct {
		name             string
		known            Model
		noise, tolerance float64
	}{
		{"shared memory", Model{2e-11, 5e-9, 1e-6, 1.5e-10, 3e-10, 0, 0}, 0, 1e-6},
		{"Ethernet", Model{1e-12, 1e-9, 3e-5, 8e-10, 2e-10, 0, 0}, 0, 1e-6},
		{"long vectors beyond the caches", Model{2e-11, 5e-9, 1e-6, 1e-10, 3e-10, 1e-9, 2e-9}, 0, 1e-6},
		{"shared memory, errors of 2 %", Model{2e-11, 5e-9, 1e-6, 1.5e-10, 3e-10, 0, 0}, 0.02, 0.2},
		{"no time for additions", Model{2e-11, 5e-9, 1e-6, 1.5e-10, 0, 0, 0}, 0, 1e-6},
	} {
		list := knownTimes(&c.known, c.noise)
		want := c.known.prices()
		for _, from := range []Model{{1, 1, 1, 1, 1, 1, 1}, {1e-9, 0, 1e-3, 1e-12, 0, 1e-12, 0}} {
			got := fitPrices(list, from.prices())
			for i := range got {
				if !near(got[i], want[i], c.tolerance) && got[i] > 1e-6*want[additions]+1e-14 {
					t.Errorf("%s: resource %d costs %g, want %g", c.name, i, got[i], want[i])
				}
			}
		}
	}
}

// A price that would be negative is 0, and the other is the best that there is then: of y = a + b·x through (1, 2), (2, 1) the
// line has b = −1; without b the sum of log²(a/2) and log²(a/1) is least at a = √2.
func TestFitHasNoNegativePrice(t *testing.T) {
	list := []observation{{seconds: 2, fixed: cost{messages: 1, sent: 1}}, {seconds: 1, fixed: cost{messages: 1, sent: 2}}}
	got := fitPrices(list, cost{1, 1, 1, 1, 1, 1, 1, 1})
	if !near(got[messages], math.Sqrt2, 1e-6) || got[sent] > 1e-6 {
		t.Errorf("prices %v, want √2 a message and nothing a byte", got)
	}
}

// An outlier that is twice too slow counts as one that is twice too fast.
func TestMisfitIsSymmetric(t *testing.T) {
	for _, off := range []float64{2, 0.5} {
		list := []observation{{seconds: off, fixed: cost{messages: 1}}, {seconds: 1, fixed: cost{messages: 1}}}
		if got := fitPrices(list, cost{1, 1, 1, 1, 1, 1, 1, 1}); !near(got[messages], math.Sqrt(off), 1e-6) {
			t.Errorf("%g s and 1 s: %g, want their geometric mean", off, got[messages])
		}
	}
}
