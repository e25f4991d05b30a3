package optim

import (
	"context"
	"math"
	"slices"

	"newtop/trainer/krylov"

	"gonum.org/v1/gonum/floats"
)

// trust is the outer iteration of Mizutani & Demmel 2003 ([MD], §2.1), which their algorithms C, D and E
// share. It differs only in the curvature and the preconditioner:
//
//	w  the weights, E the loss, g its gradient, s the step of the inner solve
//	q  the model, pred = −q(s) the decrease it promises, ared = E(w) − E(w + s) the one that came
//	ρ  = (ared + ε)/(pred + ε) [MD, eq. 4], with ε what rounding leaves of E, so that ρ → 1 where both
//	   vanish (Conn, Gould & Toint 2000, §17.4.2)
//	R  the radius in the norm of M
type trust struct {
	name  string
	needs Capability
	// operator returns the curvature at w.
	operator func(o Objective, w []float64) krylov.Operator
	// jacobi reports whether M is the floored diagonal of the Gauss–Newton matrix, rather than I.
	jacobi func(s *Settings) bool

	cg       krylov.CG
	s, trial []float64
	diagonal []float64 // of M
	at       []float64 // the weights that diagonal belongs to
	floor    float64   // that it was made with

	idle  int     // steps taken in a row that E did not show
	least float64 // ‖g‖ when they began, or when it had last halved
}

var _ Method = (*trust)(nil)

// regionParameters are the hyperparameters of the outer loop and of the inner solve.
func regionParameters(more ...Hyperparameter) []Hyperparameter {
	const (
		md = "Mizutani & Demmel 2003, "
		nw = "Nocedal & Wright 2006, "
	)
	inf := math.Inf(1)
	return append([]Hyperparameter{
		{
			Key: "radius", Meaning: "R, the largest ‖s‖_M of the next step; the method adapts it",
			Default: 1, Max: inf, Open: true, OpenMax: true,
		},
		{Key: "radius-max", Meaning: "how far R may grow", Default: 1000, Max: inf, Open: true, OpenMax: true},
		{
			Key: "xi", Meaning: "ξ, the inner solve ends at ‖g + Hs‖ ≤ ξ‖g‖",
			Default: 0.01, Max: 1, Open: true, OpenMax: true, Source: md + "eq. 7",
		},
		{
			Key: "forcing", Meaning: "ξ as set, or min(½, √‖g‖), loose while the gradient is large",
			Choices: []string{"fixed", "sqrt"}, Source: md + "eq. 7; " + nw + "algorithm 7.1",
		},
		{
			// The paper allows as many as weights. Once a classifier separates its classes its curvature
			// vanishes, the system turns ill-conditioned, and such solves take hundreds of products for
			// nothing that the test error shows.
			Key: "limit", Meaning: "k_limit, the most inner iterations; 0 for as many as weights",
			Default: 100, Max: 1e9, Integer: true, Source: md + "eq. 7",
		},
		{
			Key: "boundary", Meaning: "cut at the boundary along the last segment, or by scaling the step",
			Choices: []string{"segment", "scaling"}, Source: md + "eq. 5 and 6",
		},
		{Key: "accept", Meaning: "a step is taken when ρ is above", Default: 1e-4, Max: 0.25},
		{Key: "shrink-below", Meaning: "R shrinks when ρ is below", Default: 0.25, Max: 1, Source: nw + "algorithm 4.1"},
		{
			Key: "shrink-by", Meaning: "to this times the length of the step",
			Default: 0.25, Max: 1, Open: true, OpenMax: true, Source: nw + "algorithm 4.1",
		},
		{
			Key: "grow-above", Meaning: "R grows when ρ is above and the step ended on the boundary",
			Default: 0.75, Max: 1, Source: nw + "algorithm 4.1",
		},
		{
			Key: "grow-by", Meaning: "to this times R",
			Default: 2, Min: 1, Max: inf, OpenMax: true, Source: nw + "algorithm 4.1",
		},
	}, more...)
}

// floorParameter bounds the preconditioner's spread: a weight that no output feels has a zero in
// diag(JᵀJ), and M must be positive definite.
var floorParameter = Hyperparameter{
	Key: "floor", Meaning: "smallest entry of diag(JᵀJ), relative to its largest", Default: 1e-3, Max: 1, Open: true,
}

func (t *trust) Name() string      { return t.name }
func (t *trust) Needs() Capability { return t.needs }

// Step solves for one step and takes it if E falls. It leaves the weights alone unless it accepts, so a
// rejected or interrupted step costs nothing but the work: the gradient and what the objective keeps for
// products at w are used again, only R is another.
func (t *trust) Step(ctx context.Context, s *State) (Report, error) {
	radius := s.Settings.Get("radius")
	nan := math.NaN()
	report := Report{Loss: nan, GradientNorm: nan, StepNorm: nan, Radius: radius, Rho: nan}
	if err := ctx.Err(); err != nil {
		return report, err
	}
	if err := evaluate(s); err != nil {
		return report, err
	}
	report.Loss, report.GradientNorm = s.Loss, norm(s.Gradient)
	if report.GradientNorm == 0 {
		return report, &StalledError{"the gradient is zero"}
	}
	if len(t.s) != len(s.W) {
		t.s, t.trial = make([]float64, len(s.W)), make([]float64, len(s.W))
	}
	solve, err := t.cg.SolveTo(t.s, t.operator(s.Objective, s.W), s.Gradient, t.options(ctx, s, radius, report.GradientNorm))
	solve.Ritz = slices.Clone(solve.Ritz)
	report.Inner = []InnerSolve{{Solve: solve}}
	if err != nil {
		return report, err
	}
	if solve.Stop == krylov.NotFinite && solve.StepNorm == 0 {
		return report, &NotFiniteError{"curvature"}
	}
	return t.try(s, &solve, report)
}

// evaluate makes loss and gradient belong to the weights.
func evaluate(s *State) error {
	if s.Evaluated {
		return nil
	}
	if !finite(norm(s.W)) {
		return &NotFiniteError{"weights"}
	}
	if len(s.Gradient) != len(s.W) {
		s.Gradient = make([]float64, len(s.W))
	}
	s.Loss = s.Objective.GradientTo(s.Gradient, s.W)
	switch {
	case !finite(s.Loss):
		return &NotFiniteError{"loss"}
	case !finite(norm(s.Gradient)):
		return &NotFiniteError{"gradient"}
	}
	s.Evaluated = true
	return nil
}

func (t *trust) options(ctx context.Context, s *State, radius, gradient float64) krylov.TrustRegion {
	o := krylov.TrustRegion{
		Radius:    radius,
		Tolerance: s.Settings.Get("xi"),
		Limit:     int(s.Settings.Get("limit")),
		Monitor: func(it krylov.Iteration) error {
			return s.watch(ctx, Inner{Iteration: it, Loss: math.NaN()})
		},
	}
	if s.Settings.Choice("forcing") == "sqrt" {
		o.Tolerance = min(0.5, math.Sqrt(gradient))
	}
	if s.Settings.Choice("boundary") == "scaling" {
		o.Rule = krylov.Scaling
	}
	if t.jacobi(s.Settings) {
		o.Diagonal = t.preconditioner(s.Objective.(GaussNewtonObjective), s.W, s.Settings.Get("floor"))
	}
	return o
}

// preconditioner returns diag(JᵀJ) at w, floored. It is computed once for each w.
func (t *trust) preconditioner(o GaussNewtonObjective, w []float64, floor float64) []float64 {
	if floor == t.floor && slices.Equal(t.at, w) {
		return t.diagonal
	}
	if len(t.diagonal) != len(w) {
		t.diagonal = make([]float64, len(w))
	}
	o.GaussNewtonDiagTo(t.diagonal, w)
	t.at, t.floor = append(t.at[:0], w...), floor
	largest := 0.0
	for _, m := range t.diagonal {
		if finite(m) {
			largest = max(largest, m)
		}
	}
	least := floor * largest
	if !(least >= minNormal) { // no output feels any weight: there is nothing to scale by
		least = 1
	}
	for i, m := range t.diagonal {
		if !(m >= least) || math.IsInf(m, 1) {
			t.diagonal[i] = least
		}
	}
	return t.diagonal
}

// minNormal is the smallest normal number: below it a radius or a divisor has lost its digits.
const minNormal = 0x1p-1022

// try computes the loss after the step, takes or rejects it, and adapts R.
func (t *trust) try(s *State, solve *krylov.Solve, report Report) (Report, error) {
	floats.AddTo(t.trial, s.W, t.s)
	report.StepNorm = norm(t.s)
	if slices.Equal(t.trial, s.W) {
		return report, &StalledError{"the step is too short to change any weight"}
	}
	loss := math.NaN()
	if !solve.Stop.Failed() && finite(norm(t.trial)) {
		loss = s.Objective.Loss(t.trial)
	}
	noise := 10 * epsilon * max(1, math.Abs(s.Loss))
	if finite(loss) {
		report.Rho = (s.Loss - loss + noise) / (solve.Predicted + noise)
		report.Accepted = loss <= s.Loss && report.Rho > s.Settings.Get("accept")
	}
	next := adapt(s.Settings, solve, &report)
	// Where the model promises less than E could show, a step that fails says that it is over; one that
	// changes nothing is taken, as ρ is 1, and may still bring the gradient down.
	hidden := finite(loss) && solve.Predicted <= noise
	still := hidden && loss == s.Loss && next <= report.Radius // a step from too small a radius makes it grow
	if next < minNormal || hidden && !report.Accepted || report.Accepted && t.lingers(still, report.GradientNorm) {
		report.Accepted = false
		return report, &StalledError{"no step changes the loss by more than its rounding"}
	}
	if report.Accepted {
		copy(s.W, t.trial)
		s.Loss, s.Evaluated = loss, false
		report.Loss = loss
	}
	// A radius that was set by hand while the step was being solved for is left alone.
	if s.Settings.Get("radius") == report.Radius {
		if err := s.Settings.Put("radius", next); err != nil {
			panic("optim: " + err.Error())
		}
	}
	return report, nil
}

// patience is how many steps that E does not show are taken before the gradient must have halved.
const patience = 10

// lingers counts the steps that E does not show, and reports whether rounding is all that moves them.
func (t *trust) lingers(still bool, gradient float64) bool {
	switch {
	case !still:
		t.idle = 0
	case t.idle == 0 || gradient <= t.least/2:
		t.idle, t.least = 1, gradient
	default:
		t.idle++
	}
	return t.idle > patience
}

// adapt returns the radius of the next step.
func adapt(s *Settings, solve *krylov.Solve, report *Report) float64 {
	radius := report.Radius
	onBoundary := solve.Stop == krylov.Boundary || solve.Stop == krylov.NegativeCurvature
	length := min(solve.StepNorm, radius) // beyond it where the square of the norm overflows
	if onBoundary {                       // where it is R up to rounding
		length = radius
	}
	switch {
	case !report.Accepted || report.Rho < s.Get("shrink-below"):
		return min(radius, s.Get("shrink-by")*length)
	case onBoundary && report.Rho > s.Get("grow-above"):
		// A radius set by hand beyond radius-max stays there.
		return max(radius, min(s.Get("grow-by")*radius, s.Get("radius-max")))
	}
	return radius
}
