package optim

import "gonum.org/v1/gonum/floats"

// Stochastic gradient descent (Robbins & Monro 1951; for networks LeCun, Bottou, Orr & Müller 1998):
// w ← w − ηg.
func init() {
	register(Info{
		Name:       "sgd",
		Title:      "Stochastic gradient descent",
		Paper:      "Robbins & Monro 1951; LeCun et al. 1998",
		Equations:  "w ← w − ηg",
		Summary:    "The plainest method: cheap epochs, the yardstick for all others, and as good as its rate.",
		Cost:       "1",
		Primary:    "rate",
		Needs:      NeedsRows,
		Parameters: []Hyperparameter{rateParameter(0.1, ""), batchParameter(64)},
		New: func() Method {
			return &batches{name: "sgd", update: func(s *Settings, w, g []float64) {
				floats.AddScaled(w, -s.Get("rate"), g)
			}}
		},
	})
}
