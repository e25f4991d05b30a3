package optim

import (
	"context"
	"slices"

	"gonum.org/v1/gonum/floats"

	"newtop/internal/vector"
)

func init() {
	register(Info{
		Name:      "lbfgs",
		Title:     "Limited-memory BFGS",
		Paper:     "Nocedal 1980; Moré & Thuente 1994",
		Equations: "the two-loop recursion, with a line search for the strong Wolfe conditions",
		Summary: "Quasi-Newton from the last few gradients alone; the classic for full batches, " +
			"and the baseline for every method with exact curvature.",
		Cost:       "1 for each evaluation of the line search, mostly one",
		Monotone:   true,
		Parameters: Parameters(PairsKept, SufficientDecrease, Curvature),
		New:        func() Method { return &lbfgs{} },
	})
}

// The hyperparameters of L-BFGS.
var (
	PairsKept = &Count{
		Key: "memory", Meaning: "m, how many steps and changes of the gradient are kept",
		Default: 10, Min: 1, Max: 1000, Source: nocedal + "§7.2: 3 to 20",
	}
	SufficientDecrease = &Number{
		Key: "decrease", Meaning: "c₁, the share of the promised decrease that a step must bring",
		Default: 1e-4, Max: 0.5, Open: true, OpenMax: true, Source: nocedal + "§3.1",
	}
	Curvature = &Number{
		Key: "curvature", Meaning: "c₂, the share of the slope that may be left after a step",
		Default: 0.9, Max: 1, Open: true, OpenMax: true, Source: nocedal + "§3.1",
	}
)

// lbfgs is the limited-memory BFGS method, one iteration a Step: a direction by the two-loop recursion
// (Nocedal & Wright 2006, algorithm 7.4) and a line search along it (Moré & Thuente 1994), which is gonum's.
//
//	w  the weights, E the loss, g its gradient · d the direction, α the step length
//	s  = w_{k+1} − w_k and y = g_{k+1} − g_k, the pairs that d is made of, where sᵀy > 0
//
// The pairs start anew when the weights are not those it left, when the last one has no curvature, and when a
// line search fails. One that fails along −g is the end.
type lbfgs struct {
	pairs pairs

	w       []float64 // where the last Step left the weights
	d, x, g []float64 // the direction, and the weights and the gradient that it was made of
	alpha   float64   // the first α to try
	ready   bool      // whether d belongs to w: there is no new one before the last has been searched along

	trial, gradient []float64
	best            trial
	stagnation      stagnation
}

// trial is a point of a line search.
type trial struct {
	alpha, loss float64
	gradient    []float64
	found       bool
}

var _ Method = (*lbfgs)(nil)

func (*lbfgs) Name() string      { return "lbfgs" }
func (*lbfgs) Needs() Capability { return 0 }

// Remember carries the pairs, and the direction with what it was made of.
func (m *lbfgs) Remember(s *State, k *Archive) {
	m.stagnation.remember(k)
	if !k.Here("goes on", &m.w, s.W) {
		return
	}
	n := len(s.W)
	m.room(n)
	k.Vector("direction", &m.d, n)
	k.Vector("weights before", &m.x, n)
	k.Vector("gradient before", &m.g, n)
	k.Number("alpha", &m.alpha)
	k.Flag("ready", &m.ready)
	m.pairs.remember(k, n)
}

// Step is one iteration. It leaves the weights alone unless a step lowers E, or keeps it where rounding hides
// the change. Interrupted, it will search along the same direction again.
func (m *lbfgs) Step(ctx context.Context, s *State) (Report, error) {
	report := unreported()
	if err := start(ctx, s, &report); err != nil {
		return report, err
	}
	m.updateDirection(s)
	evaluations, err := m.search(ctx, s)
	if err == nil && !m.best.found && len(m.pairs.all) > 0 {
		m.begin(s)
		var more int
		more, err = m.search(ctx, s)
		evaluations += more
	}
	switch {
	case err != nil:
		return report, err
	case !m.best.found:
		return report, &StalledError{"no step along the gradient lowers the loss"}
	case m.stagnation.reached(m.best.loss == s.Loss, report.GradientNorm):
		return report, &StalledError{hiddenByRounding}
	}
	m.take(s, &report)
	report.Diagnostics = []Diagnostic{
		{Key: "alpha", Symbol: "α", Meaning: "step length along the direction", Value: m.best.alpha},
		{Key: "evaluations", Symbol: "evaluations", Meaning: "gradients that the line search took", Value: float64(evaluations)},
		{Key: "pairs", Symbol: "pairs", Meaning: "steps and changes of the gradient that the direction is made of", Value: float64(len(m.pairs.all))},
	}
	return report, nil
}

// take moves to the best point of the line search.
func (m *lbfgs) take(s *State, report *Report) {
	floats.AddScaledTo(m.trial, s.W, m.best.alpha, m.d)
	copy(s.W, m.trial)
	copy(m.w, m.trial)
	copy(s.Gradient, m.best.gradient)
	s.Loss, m.ready = m.best.loss, false
	report.Loss, report.StepNorm, report.Accepted = s.Loss, m.best.alpha*vector.Norm(m.d), true
}

// updateDirection makes d belong to the weights, by the pair that the last step left if it was this method's.
func (m *lbfgs) updateDirection(s *State) {
	same := m.pairs.most == PairsKept.Of(s.Settings) && slices.Equal(m.w, s.W)
	switch {
	case same && m.ready:
	case same && m.curved(s.Gradient):
		m.pairs.add(s.W, m.x, s.Gradient, m.g)
		m.pairs.directionTo(m.d, s.Gradient)
		copy(m.x, s.W)
		copy(m.g, s.Gradient)
		m.alpha, m.ready = 1, true
		if !(vector.Dot(m.d, s.Gradient) < 0) || !finite(vector.Norm(m.d)) {
			m.begin(s)
		}
	default:
		m.begin(s)
	}
}

// curved reports whether the last step s met positive curvature, sᵀy > 0 by more than rounding.
func (m *lbfgs) curved(g []float64) bool {
	y := m.gradient
	vector.Sub(y, g, m.g)
	return vector.Dot(m.d, y) > epsilon*vector.Norm(m.d)*vector.Norm(y)
}

// begin drops the pairs: d = −g, and a first step of length 1.
func (m *lbfgs) begin(s *State) {
	m.room(len(s.W))
	m.pairs = pairs{most: PairsKept.Of(s.Settings)}
	m.pairs.directionTo(m.d, s.Gradient)
	m.w = append(m.w[:0], s.W...)
	copy(m.x, s.W)
	copy(m.g, s.Gradient)
	m.alpha, m.ready = 1/floats.Norm(m.d, 2), true
}

// room makes room for n weights.
func (m *lbfgs) room(n int) {
	if len(m.d) != n {
		m.d, m.x, m.g, m.trial = make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
		m.gradient, m.best.gradient = make([]float64, n), make([]float64, n)
	}
}
