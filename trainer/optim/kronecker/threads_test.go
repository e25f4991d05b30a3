package kronecker

import (
	"math/rand/v2"
	"slices"
	"testing"

	"newtop/trainer/optim"
)

// wide are matrices with several strips of rows on either side, and one of many inputs.
func wide() (all []optim.Matrix, n int) {
	return inOrder(optim.Matrix{Rows: 56, Cols: 60, Biased: true}, optim.Matrix{Rows: 4, Cols: 70}, optim.Matrix{Rows: 3, Cols: 3, Biased: true})
}

// TestThreadsMoveAlike: weights have the same bits whether one thread does the tasks or several do, in any order.
func TestThreadsMoveAlike(t *testing.T) {
	matrices, n := wide()
	gradients := gradientsOf(n, 4, 2)
	var factors [][]optim.Factors
	rng := newRand(3)
	for range 2 {
		factors = append(factors, factorsOf(matrices, rng))
	}
	for _, name := range []string{"soap", "shampoo", "muon", "kfac"} {
		var first []float64
		for _, run := range []func(int, func(worker, i int)){nil, inAnyOrder, inAnyOrder} {
			set := []string{"batch", "0"}
			if name != "muon" {
				set = append(set, "every", "2")
			}
			m, settings := method(t, name, set...)
			o := &given{n: n, matrices: matrices, gradients: gradients, factors: factors}
			s := &optim.State{Objective: o, W: make([]float64, n), Settings: settings, Run: run}
			for range gradients {
				step(t, m, s)
			}
			if all := append(slices.Clone(s.W), o.charged); first == nil {
				first = all
			} else if !slices.Equal(first, all) {
				t.Errorf("%s: other bits, or another charge, with several threads", name)
			}
		}
	}
}

// factorsOf returns K-FAC's factors for all matrices, positive definite.
func factorsOf(matrices []optim.Matrix, rng *rand.Rand) (all []optim.Factors) {
	for _, m := range matrices {
		all = append(all, optim.Factors{Inputs: spd(rng, matCols(m)).RawMatrix().Data, Outputs: spd(rng, m.Rows).RawMatrix().Data})
	}
	return all
}
