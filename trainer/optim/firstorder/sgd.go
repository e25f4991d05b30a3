package firstorder

import (
	"newtop/internal/vector"
	"newtop/trainer/optim"
	"newtop/trainer/optim/minibatch"
)

// SGD is stochastic gradient descent (Robbins & Monro 1951; for networks LeCun, Bottou, Orr & Müller 1998):
// w ← w − ηg. A step multiplies the error along an eigenvector by 1 − ηλ.
var SGD = optim.Info{
	Name:       "sgd",
	Title:      "Stochastic gradient descent",
	Paper:      "Robbins & Monro 1951; LeCun et al. 1998",
	Equations:  "w ← w − ηg",
	Summary:    "The plainest method: cheap epochs, the yardstick for all others, and as good as its rate.",
	Cost:       "1",
	Primary:    "rate",
	Needs:      optim.NeedsRows,
	Planned:    minibatch.Planned,
	Parameters: minibatch.Parameters(minibatch.Rate.Starting(0.1, ""), minibatch.Size.Starting(64)),
	Edge:       func(s *optim.Settings) (float64, string) { return 2 / minibatch.Rate.Of(s), "2/η" },
	New:        func() optim.Method { return &minibatch.Method{Update: new(descent)} },
}

type descent struct{ eta float64 }

func (d *descent) Begin(s *optim.State, rate float64) { d.eta = rate }

func (d *descent) Carried() any { return &struct{}{} }

func (d *descent) Move(w, g []float64, _ int) { vector.Axpy(w, -d.eta, g) }
