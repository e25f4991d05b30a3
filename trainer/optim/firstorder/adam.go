package firstorder

import (
	"newtop/internal/vector"
	"newtop/trainer/optim"
)

// Adam is Adam.
var Adam = optim.Info{
	Name:      "adam",
	Title:     "Adam",
	Paper:     "Kingma & Ba 2015",
	Equations: "algorithm 1",
	Summary: "A rate for each weight from running moments of its gradient; " +
		"quick on most nets without tuning, the first-order method to beat.",
	Cost:    "1",
	Primary: "rate",
	Needs:   optim.NeedsRows,
	Parameters: optim.Parameters(
		Rate.Starting(1e-3, kingma), Beta1, Beta2, Epsilon.Starting(1e-8, kingma), Batch.Starting(64), WeightDecay,
	),
	New: func() optim.Method { return &batches{update: new(adam)} },
}

const kingma = "Kingma & Ba 2015, algorithm 1"

// The hyperparameters of Adam.
var (
	Beta1 = &optim.Number{Key: "beta1", Meaning: "β₁, decay of the gradient's mean", Default: 0.9, Max: 1, OpenMax: true, Source: kingma}
	Beta2 = &optim.Number{Key: "beta2", Meaning: "β₂, decay of its square's mean", Default: 0.999, Max: 1, OpenMax: true, Source: kingma}

	WeightDecay = &optim.Number{
		Key: "weight-decay", Meaning: "each update takes rate·decay of every weight, biases left out", Max: optim.Inf, OpenMax: true,
		Source: "Loshchilov & Hutter 2019, algorithm 2 (AdamW)", Late: true,
	}
)

// Adam (Kingma & Ba 2015, algorithm 1), its names kept: biased moments m and v of the gradient and its
// square, corrected by 1 − β₁ᵗ and 1 − β₂ᵗ. With a decay λ it is AdamW (Loshchilov & Hutter 2019, algorithm 2): before each update
// w ← (1 − rate·λ)w.
type adam struct {
	step   vector.AdamStep
	left   float64      // of a weight that decays
	decays []optim.Span // nil: none does
	memory[moments]
}

type moments struct {
	M      []float64 `archive:"m"`
	V      []float64 `archive:"v"`
	Beta1t float64   `archive:"beta1^t"` // β₁ᵗ and β₂ᵗ as products, right also when a β is changed on the way
	Beta2t float64   `archive:"beta2^t"`
}

func (a *adam) begin(s *optim.State) {
	if n := len(s.W); a.Moves == nil {
		a.Moves = &moments{M: make([]float64, n), V: make([]float64, n), Beta1t: 1, Beta2t: 1}
	}
	k, beta1, beta2 := a.Moves, Beta1.Of(s.Settings), Beta2.Of(s.Settings)
	k.Beta1t *= beta1
	k.Beta2t *= beta2
	a.step = vector.AdamStep{
		Rate: Rate.Of(s.Settings), Beta1: beta1, Beta2: beta2, Epsilon: Epsilon.Of(s.Settings),
		Correct1: 1 / (1 - k.Beta1t), Correct2: 1 / (1 - k.Beta2t),
	}
	a.left = 1 - a.step.Rate*WeightDecay.Of(s.Settings)
	if a.decays = nil; a.left != 1 {
		a.decays = weightsOf(s)
	}
}

// weightsOf returns where the weights lie that decay: all that the objective does not know to be something else.
func weightsOf(s *optim.State) []optim.Span {
	if o, ok := s.Objective.(optim.WeightedObjective); ok {
		return o.Weights()
	}
	return []optim.Span{{Last: len(s.W)}}
}

func (a *adam) move(w, g []float64, first int) {
	for _, s := range a.decays {
		if from, to := max(s.First, first), min(s.Last, first+len(w)); from < to {
			vector.Scale(w[from-first:to-first], a.left, w[from-first:to-first])
		}
	}
	k := a.Moves
	vector.Adam(w, k.M[first:][:len(w)], k.V[first:][:len(w)], g, &a.step)
}
