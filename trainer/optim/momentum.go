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
			rateParameter(0.01, ""),
			{Key: "momentum", Meaning: "μ, the share of its speed that a weight keeps", Default: 0.9, Max: 1, OpenMax: true},
			batchParameter(64),
		},
		New: func() Method {
			var v []float64
			return &batches{name: "momentum", update: func(s *Settings, w, g []float64) {
				if v == nil {
					v = make([]float64, len(w))
				}
				floats.Scale(s.Get("momentum"), v)
				floats.AddScaled(v, -s.Get("rate"), g)
				floats.Add(w, v)
			}}
		},
	})
}
