package firstorder

import (
	"newtop/trainer/optim"
	"newtop/trainer/optim/minibatch"
)

// OnlineBP is algorithm A of [MD], backpropagation with an update per row and a fixed momentum: for each row p,
// Δw ← μΔw − ηG_p, w ← w + Δw. The paper gives μ alone. It names neither a rate nor an order of the rows:
// they come in a new random order each epoch, since a fixed one lets the last rows of every epoch have the
// last word, and sorted data drift. The rate is one at which the letter net of the paper still learns after
// hundreds of epochs with its targets of ±1.
var OnlineBP = optim.Info{
	Name:      "online-bp",
	Title:     "Online backpropagation, momentum",
	Paper:     "Mizutani & Demmel 2003; Rumelhart et al. 1986",
	Equations: "algorithm A: Δw ← μΔw − ηG_p, w ← w + Δw for each row p",
	Summary: "An update for every row, as the paper's baseline does it: short steps, many of them, and only one " +
		"core at work.",
	Cost:    "1",
	Primary: "rate",
	Needs:   optim.NeedsRows,
	Planned: minibatch.Planned,
	Parameters: minibatch.Parameters(
		minibatch.Rate.Starting(0.0005, ""), Momentum.Starting(0.8, "Mizutani & Demmel 2003, §3, algorithm A"),
		minibatch.Size.Starting(1),
	),
	New: func() optim.Method { return &minibatch.Method{Update: new(ball)} },
}
