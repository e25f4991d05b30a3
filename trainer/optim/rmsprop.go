package optim

import (
	"math"

	"newtop/internal/vector"
)

// RMSProp (Tieleman & Hinton 2012, lecture 6e): r ← γr + (1 − γ)g² from r = 0, w ← w − ηg/√r. The lecture
// divides by the root alone. The ε added to it here keeps a weight that has never had a gradient in its place,
// and is too small to be felt by any other.
func init() {
	register(Info{
		Name:      "rmsprop",
		Title:     "RMSProp",
		Paper:     "Tieleman & Hinton 2012",
		Equations: "r ← γr + (1 − γ)g², w ← w − ηg/(√r + ε); lecture 6e",
		Summary:   "Each weight moves by its gradient over the recent size of it, so that layers of any scale learn alike.",
		Cost:      "1",
		Primary:   "rate",
		Needs:     NeedsRows,
		Parameters: []Hyperparameter{
			rateParameter(1e-3, ""),
			{Key: "decay", Meaning: "γ, decay of the square's mean", Default: 0.9, Max: 1, OpenMax: true, Source: "Tieleman & Hinton 2012, lecture 6e"},
			{Key: "epsilon", Meaning: "ε, added to the root of the square's mean", Default: 1e-8, Max: math.Inf(1), Open: true, OpenMax: true},
			batchParameter(64),
		},
		New: func() Method { return &batches{name: "rmsprop", update: new(rmsprop)} },
	})
}

type rmsprop struct {
	eta, gamma, epsilon float64
	r                   []float64
}

func (p *rmsprop) begin(s *Settings, weights int) {
	if p.r == nil {
		p.r = make([]float64, weights)
	}
	p.eta, p.gamma, p.epsilon = s.Get("rate"), s.Get("decay"), s.Get("epsilon")
}

func (p *rmsprop) move(w, g []float64, first int) {
	vector.RMSProp(w, p.r[first:][:len(w)], g, p.eta, p.gamma, p.epsilon)
}

func (p *rmsprop) remember(m *Archive, weights int) {
	if m.Has("moves", p.r != nil) {
		m.Vector("mean square", &p.r, weights)
	}
}
