// Package descent has the methods that choose a direction from all rows and then how far to go along it: scaled
// conjugate gradients, L-BFGS, and gradient descent corrected by eigenvectors.
package descent

import (
	"context"
	"slices"

	"gonum.org/v1/gonum/floats"

	"newtop/internal/vector"
	"newtop/trainer/optim"
)

// LBFGS is the limited-memory BFGS method.
var LBFGS = optim.Info{
	Name:      "lbfgs",
	Title:     "Limited-memory BFGS",
	Paper:     "Nocedal 1980; Moré & Thuente 1994",
	Equations: "the two-loop recursion, with a line search for the strong Wolfe conditions",
	Summary: "Quasi-Newton from the last few gradients alone; the classic for full batches, " +
		"and the baseline for every method with exact curvature.",
	Cost:       "1 for each evaluation of the line search, mostly one",
	Monotone:   true,
	Parameters: optim.Parameters(MaxPairs, SufficientDecrease, Curvature),
	New:        func() optim.Method { return &lbfgs{} },
}

// The hyperparameters of L-BFGS.
var (
	MaxPairs = &optim.Count{
		Key: "memory", Meaning: "m, how many steps and changes of the gradient are kept",
		Default: 10, Min: 1, Max: 1000, Source: "Nocedal & Wright 2006, §7.2: 3 to 20",
	}
	SufficientDecrease = &optim.Number{
		Key: "decrease", Meaning: "c₁, the share of the promised decrease that a step must bring",
		Default: 1e-4, Max: 0.5, Open: true, OpenMax: true, Source: "Nocedal & Wright 2006, §3.1",
	}
	Curvature = &optim.Number{
		Key: "curvature", Meaning: "c₂, the share of the slope that may be left after a step",
		Default: 0.9, Max: 1, Open: true, OpenMax: true, Source: "Nocedal & Wright 2006, §3.1",
	}
)

// lbfgs is the limited-memory BFGS method, one iteration a Step: a direction by the two-loop recursion
// (Nocedal & Wright 2006, algorithm 7.4) and a line search along it (Moré & Thuente 1994), which is gonum's.
//
//	w  the weights, E the loss, g its gradient · d the direction, α the step length
//	s  = w_{k+1} − w_k and y = g_{k+1} − g_k, the pairs that d is made of, where sᵀy > 0
//
// The pairs start again when the weights are not those it left, when the last one has no curvature, and when a
// line search fails. One that fails along −g is the end.
type lbfgs struct {
	trial, gradient []float64
	best            trial
	state           struct {
		optim.Stagnation
		Along *searchDirection `archive:"goes on"` // nil before the first step
	}
}

// searchDirection is d, and what it was made of.
type searchDirection struct {
	At    optim.Position // where the last Step left the weights
	D     []float64      `archive:"direction"`
	X     []float64      `archive:"weights before"` // that D was made of
	G     []float64      `archive:"gradient before"`
	Alpha float64        `archive:"alpha"` // the first α to try
	// whether D belongs to At: there is no new one before the last has been searched along
	Ready bool `archive:"ready"`
	pairs
}

// trial is a point of a line search.
type trial struct {
	alpha, loss float64
	gradient    []float64
	found       bool
}

var _ optim.Method = (*lbfgs)(nil)

func (m *lbfgs) Carried(*optim.State) any { return &m.state }

// Step is one iteration. It leaves the weights alone unless a step lowers E, or keeps it where rounding hides
// the change. Interrupted, it will search along the same direction again.
func (m *lbfgs) Step(ctx context.Context, s *optim.State) (optim.Report, error) {
	report := optim.NewReport()
	if err := optim.Begin(ctx, s, &report); err != nil {
		return report, err
	}
	if n := len(s.W); len(m.trial) != n {
		m.trial, m.gradient, m.best.gradient = make([]float64, n), make([]float64, n), make([]float64, n)
	}
	m.updateDirection(s)
	evaluations, err := m.search(ctx, s)
	if err == nil && !m.best.found && len(m.state.Along.All) > 0 {
		m.restart(s)
		var more int
		more, err = m.search(ctx, s)
		evaluations += more
	}
	switch {
	case err != nil:
		return report, err
	case !m.best.found:
		return report, &optim.StalledError{Reason: "no step along the gradient lowers the loss"}
	case m.state.Reached(m.best.loss == s.Loss, report.GradientNorm):
		return report, optim.ErrHidden
	}
	m.moveToBest(s, &report)
	report.Diagnostics = []optim.Diagnostic{
		{Key: "alpha", Symbol: "α", Meaning: "step length along the direction", Value: m.best.alpha},
		{Key: "evaluations", Symbol: "evaluations", Meaning: "gradients that the line search took",
			Value: float64(evaluations)},
		{Key: "pairs", Symbol: "pairs", Meaning: "steps and changes of the gradient that the direction is made of",
			Value: float64(len(m.state.Along.All))},
	}
	return report, nil
}

// moveToBest moves to the best point of the line search.
func (m *lbfgs) moveToBest(s *optim.State, report *optim.Report) {
	a := m.state.Along
	floats.AddScaledTo(m.trial, s.W, m.best.alpha, a.D)
	copy(s.W, m.trial)
	copy(a.At, m.trial)
	copy(s.Gradient, m.best.gradient)
	s.Loss, a.Ready = m.best.loss, false
	report.Loss, report.StepNorm, report.Accepted = s.Loss, m.best.alpha*vector.Norm(a.D), true
}

// updateDirection makes D belong to the weights, by the pair that the last step left if it was this method's.
func (m *lbfgs) updateDirection(s *optim.State) {
	a := m.state.Along
	same := a != nil && a.Limit == MaxPairs.Of(s.Settings) && a.At.Is(s.W)
	switch {
	case same && a.Ready:
	case same && m.curved(s.Gradient):
		a.add(s.W, a.X, s.Gradient, a.G)
		a.directionTo(a.D, s.Gradient)
		copy(a.X, s.W)
		copy(a.G, s.Gradient)
		a.Alpha, a.Ready = 1, true
		if !(vector.Dot(a.D, s.Gradient) < 0) || !vector.Finite(vector.Norm(a.D)) {
			m.restart(s)
		}
	default:
		m.restart(s)
	}
}

// curved reports whether the last step s met positive curvature, sᵀy > 0 by more than rounding.
func (m *lbfgs) curved(g []float64) bool {
	y, a := m.gradient, m.state.Along
	vector.Sub(y, g, a.G)
	return vector.Dot(a.D, y) > optim.Eps*vector.Norm(a.D)*vector.Norm(y)
}

// restart drops the pairs: d = −g, and a first step of length 1.
func (m *lbfgs) restart(s *optim.State) {
	a := &searchDirection{
		At: slices.Clone(s.W), D: make([]float64, len(s.W)), X: slices.Clone(s.W), G: slices.Clone(s.Gradient),
		Ready: true, pairs: pairs{Limit: MaxPairs.Of(s.Settings)},
	}
	a.directionTo(a.D, s.Gradient)
	a.Alpha = 1 / floats.Norm(a.D, 2)
	m.state.Along = a
}
