package optim

import "newtop/internal/vector"

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
		Parameters: Parameters(Rate.Starting(0.1, ""), Batch.Starting(64)),
		New:        func() Method { return &batches{name: "sgd", update: new(descent)} },
	})
}

type descent struct{ eta float64 }

func (d *descent) begin(s *Settings, _ int) { d.eta = Rate.Of(s) }

func (d *descent) carried() any { return &struct{}{} }

func (d *descent) move(w, g []float64, _ int) { vector.Axpy(w, -d.eta, g) }
