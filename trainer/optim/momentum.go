package optim

import "gonum.org/v1/gonum/floats"

// The heavy ball (Polyak 1964): v ← μv − ηg, w ← w + v, from v = 0.
func init() {
	register(Info{
		Name:      "momentum",
		Title:     "Gradient descent with momentum",
		Paper:     "Polyak 1964",
		Equations: "v ← μv − ηg, w ← w + v",
		Summary:   "SGD that keeps its speed along directions the batches agree on, up to 1/(1 − μ) times the rate.",
		Cost:      "1",
		Primary:   "rate",
		Needs:     NeedsRows,
		Parameters: []Hyperparameter{
			rateParameter(0.01, ""), momentumParameter(0.9, ""), batchParameter(64),
		},
		New: func() Method { return &batches{name: "momentum", update: new(ball).update} },
	})
}

func momentumParameter(mu float64, source string) Hyperparameter {
	return Hyperparameter{
		Key: "momentum", Meaning: "μ, the share of its speed that a weight keeps",
		Default: mu, Max: 1, OpenMax: true, Source: source,
	}
}

// ball is the heavy ball's memory, its speed v.
type ball struct{ v []float64 }

func (b *ball) update(s *Settings, w, g []float64) {
	if b.v == nil {
		b.v = make([]float64, len(w))
	}
	eta, mu := s.Get("rate"), s.Get("momentum")
	for i := 0; i < len(w); i += tile {
		j := min(i+tile, len(w))
		v := b.v[i:j]
		floats.Scale(mu, v)
		floats.AddScaled(v, -eta, g[i:j])
		floats.Add(w[i:j], v)
	}
}
