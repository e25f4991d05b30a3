package firstorder

import (
	"newtop/internal/vector"
	"newtop/trainer/optim"
	"newtop/trainer/optim/minibatch"
)

// RMSProp is RMSProp (Tieleman & Hinton 2012, lecture 6e): r ← γr + (1 − γ)g² from r = 0, w ← w − ηg/√r. The lecture
// divides by the root alone. The ε added to it here keeps a weight that has never had a gradient in its place,
// and is too small to be felt by any other.
var RMSProp = optim.Info{
	Name:      "rmsprop",
	Title:     "RMSProp",
	Paper:     "Tieleman & Hinton 2012",
	Equations: "r ← γr + (1 − γ)g², w ← w − ηg/(√r + ε); lecture 6e",
	Summary: "Each weight moves by its gradient over the recent size of it, " +
		"so that layers of any scale learn alike.",
	Cost:       "1",
	Primary:    "rate",
	Needs:      optim.NeedsRows,
	Planned:    minibatch.Planned,
	Parameters: minibatch.Parameters(minibatch.Rate.Starting(1e-3, ""), Decay, Epsilon, minibatch.Size.Starting(64)),
	New:        func() optim.Method { return &minibatch.Method{Update: new(rmsprop)} },
}

// The hyperparameters of RMSProp; Epsilon is Adam's too.
var (
	Decay = &optim.Number{
		Key: "decay", Meaning: "γ, decay of the square's mean",
		Default: 0.9, Max: 1, OpenMax: true, Source: "Tieleman & Hinton 2012, lecture 6e",
	}
	Epsilon = &optim.Number{
		Key: "epsilon", Meaning: "ε, added to the root of the square's mean",
		Default: 1e-8, Max: optim.Inf, Open: true, OpenMax: true,
	}
)

type rmsprop struct {
	eta, gamma, epsilon float64
	minibatch.Memory[meanSquare]
}

type meanSquare struct {
	R []float64 `archive:"mean square"`
}

func (p *rmsprop) Begin(s *optim.State, rate float64) {
	if p.Moves == nil {
		p.Moves = &meanSquare{R: make([]float64, len(s.W))}
	}
	p.eta, p.gamma, p.epsilon = rate, Decay.Of(s.Settings), Epsilon.Of(s.Settings)
}

func (p *rmsprop) Move(w, g []float64, first int) {
	vector.RMSProp(w, p.Moves.R[first:][:len(w)], g, p.eta, p.gamma, p.epsilon)
}
