package firstorder

import (
	"newtop/internal/vector"
	"newtop/trainer/optim"
	"newtop/trainer/optim/minibatch"
)

// AdaGrad is AdaGrad with diagonal matrices and no regularizer (Duchi, Hazan & Singer 2011, figure 1): G sums the
// squares of all gradients g seen, H = δI + diag(G)^½, w ← w − ηH⁻¹g. δ stands outside the root, as there.
// The paper leaves η and δ open. A small δ keeps the first steps at η in every weight, whatever its gradient.
var AdaGrad = optim.Info{
	Name:      "adagrad",
	Title:     "AdaGrad",
	Paper:     "Duchi, Hazan & Singer 2011",
	Equations: "G ← G + g², w ← w − ηg/(δ + √G); figure 1, diagonal",
	Summary: "A rate for each weight that falls with all the gradient it has met: good for rare features, slow in " +
		"the end.",
	Cost:       "1",
	Primary:    "rate",
	Needs:      optim.NeedsRows,
	Planned:    minibatch.Planned,
	Parameters: minibatch.Parameters(minibatch.Rate.Starting(0.01, ""), Delta, minibatch.Size.Starting(64)),
	New:        func() optim.Method { return &minibatch.Method{Update: new(adagrad)} },
}

// Delta is AdaGrad's.
var Delta = &optim.Number{
	Key: "delta", Meaning: "δ, added to the root of the sum of squares", Default: 1e-8, Max: optim.Inf, Open: true,
	OpenMax: true,
}

type adagrad struct {
	eta, delta float64
	minibatch.Memory[sumOfSquares]
}

type sumOfSquares struct {
	G []float64 `archive:"sum"`
}

func (a *adagrad) Begin(s *optim.State, rate float64) {
	if a.Moves == nil {
		a.Moves = &sumOfSquares{G: make([]float64, len(s.W))}
	}
	a.eta, a.delta = rate, Delta.Of(s.Settings)
}

func (a *adagrad) Move(w, g []float64, first int) {
	vector.AdaGrad(w, a.Moves.G[first:][:len(w)], g, a.eta, a.delta)
}
