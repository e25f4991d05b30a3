package firstorder

import (
	"newtop/internal/vector"
	"newtop/trainer/optim"
	"newtop/trainer/optim/minibatch"
)

// NAG is Nesterov's accelerated gradient in the form of Sutskever et al. 2013, eq. 3 and 4: the heavy ball with the
// gradient taken where its speed is about to carry it,
//
//	v ← μv − η∂E(w + μv)/∂w, w ← w + v, from v = 0.
//
// The gradient really is one at w + μv and the weights are w. Implementations that keep w + μv as the weights
// save the addition, and then measure and hand over other weights than the method's.
var NAG = optim.Info{
	Name:      "nag",
	Title:     "Nesterov's accelerated gradient",
	Paper:     "Nesterov 1983; Sutskever et al. 2013",
	Equations: "v ← μv − η∂E(w + μv)/∂w, w ← w + v; eq. 3–4",
	Summary:   "Momentum that looks ahead along its speed before it turns, which damps what momentum overshoots.",
	Cost:      "1",
	Primary:   "rate",
	Needs:     optim.NeedsRows,
	Planned:   minibatch.Planned,
	Parameters: minibatch.Parameters(minibatch.Rate.Starting(0.01, ""),
		Momentum.Starting(0.9, "Sutskever et al. 2013, table 1: 0.9 to 0.999"), minibatch.Size.Starting(64)),
	New: func() optim.Method {
		n := new(nesterov)
		return &minibatch.Method{Ahead: n.ahead, Update: n}
	},
}

// stretch is how many numbers of the point are computed while they stay in the first-level cache.
const stretch = 1024

type nesterov struct {
	ball
	point []float64
}

// ahead returns w + μv.
func (n *nesterov) ahead(s *optim.Settings, w []float64) []float64 {
	if n.Moves == nil {
		return w
	}
	if n.point == nil {
		n.point = make([]float64, len(w))
	}
	mu := Momentum.Of(s)
	for i := 0; i < len(w); i += stretch {
		j := min(i+stretch, len(w))
		copy(n.point[i:j], w[i:j])
		vector.Axpy(n.point[i:j], mu, n.Moves.V[i:j])
	}
	return n.point
}
