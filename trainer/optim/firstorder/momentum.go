package firstorder

import (
	"newtop/internal/vector"
	"newtop/trainer/optim"
	"newtop/trainer/optim/minibatch"
)

// HeavyBall is the heavy ball (Polyak 1964): v ← μv − ηg, w ← w + v, from v = 0. Its errors along an eigenvector follow
// z² − (1 + μ − ηλ)z + μ, whose roots are inside the unit circle for 0 < ηλ < 2(1 + μ).
var HeavyBall = optim.Info{
	Name:      "momentum",
	Title:     "Gradient descent with momentum",
	Paper:     "Polyak 1964",
	Equations: "v ← μv − ηg, w ← w + v",
	Summary:   "SGD that keeps its speed along directions the batches agree on, up to 1/(1 − μ) times the rate.",
	Cost:      "1",
	Primary:   "rate",
	Needs:     optim.NeedsRows,
	Planned:   minibatch.Planned,
	Parameters: minibatch.Parameters(minibatch.Rate.Starting(0.01, ""), Momentum.Starting(0.9, ""),
		minibatch.Size.Starting(64)),
	Edge: func(s *optim.Settings) (float64, string) {
		return 2 * (1 + Momentum.Of(s)) / minibatch.Rate.Of(s), "2(1+μ)/η"
	},
	New: func() optim.Method { return &minibatch.Method{Update: new(ball)} },
}

// Momentum is the heavy ball's.
var Momentum = &optim.Number{Key: "momentum", Meaning: "μ, the share of its speed that a weight keeps", Max: 1,
	OpenMax: true}

// ball is the heavy ball.
type ball struct {
	eta, mu float64
	minibatch.Memory[speed]
}

type speed struct {
	V []float64 `archive:"speed"`
}

func (b *ball) Begin(s *optim.State, rate float64) {
	if b.Moves == nil {
		b.Moves = &speed{V: make([]float64, len(s.W))}
	}
	b.eta, b.mu = rate, Momentum.Of(s.Settings)
}

func (b *ball) Move(w, g []float64, first int) {
	vector.Momentum(b.Moves.V[first:][:len(w)], w, g, b.eta, b.mu)
}
