package descent

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"newtop/internal/vector"
	"newtop/trainer/krylov"
	"newtop/trainer/optim"
)

// SCG is scaled conjugate gradients with exact products.
var SCG = optim.Info{
	Name:      "scg",
	Title:     "Scaled conjugate gradients, exact Hp",
	Paper:     "Møller 1993 (Neural Networks 6; and exact products)",
	Equations: "SCG steps 1–9 with s = E''(w)p exact",
	Summary: "Conjugate gradients whose step length comes from one curvature product instead of a line search; " +
		"nothing to tune, good on full batches of any size.",
	Cost:       "3, and 1 where a step fails",
	Primary:    "lambda",
	Monotone:   true,
	Proposes:   true,
	Needs:      optim.NeedsHessian,
	Parameters: optim.Parameters(Lambda, Form),
	New:        func() optim.Method { return &scg{product: exactProduct} },
}

// The scale λ stays within these bounds: below the lower one it is nothing beside any curvature, beyond the
// upper one no step is left that would change a weight.
const minLambda, maxLambda = 1e-20, 1e20

// Lambda is the scale.
var Lambda = &optim.Number{
	Key: "lambda", Meaning: "λ, added to the curvature along the direction; the method adapts it",
	Default: 1e-6, Min: minLambda, Max: maxLambda, Source: "Møller 1993, SCG step 1: 0 < λ ≤ 1e-6",
}

// Form is whether SCG has what keeps it going where the published algorithm would not.
var Form = &optim.Choice{
	Key: "form", Meaning: "with bounds and restarts of its own, or as published",
	Choices: []string{"guarded", formPublished}, Source: "published: Møller 1993, SCG",
}

const formPublished = "published"

// scg is the scaled conjugate gradient algorithm ([S], Møller, Neural Networks 6, 1993), one iteration a
// Step:
//
//	w  the weights, E the loss · r = −E'(w), here −g · p the direction · s = E''(w)p
//	δ  = pᵀs, then pᵀ(E'' + λ̄I)p with λ̄ the part of λ that it already has, made positive where it is not
//	μ  = pᵀr · α = μ/δ the step length
//	Δ  = 2δ(E(w) − E(w + αp))/μ², the decrease that came over the one promised, ½αμ
//
// Beyond the paper: both sides of Δ are offset by the rounding of E, so that Δ → 1 where both vanish; a step that fails
// is shortened a hundredfold at the most, also where E is not finite; p starts again from r when it is no direction of
// descent, when the weights are not those it left, and once before it gives up; and restarts fall due every N
// successes. With form=published it has none of these but where a number is not finite, and restarts fall due every N
// iterations, failed ones counted.
type scg struct {
	// product stores E''(w)p in dst.
	product func(dst []float64, s *optim.State, p []float64) error

	s, trial, g []float64 // w + αp and the gradient there
	state       struct {
		Along *conjugate `archive:"goes on"` // nil before the first step
	}
}

// conjugate is the direction, and what is known of the curvature along it.
type conjugate struct {
	At        optim.Position
	P         []float64 `archive:"direction"`
	Delta     float64   `archive:"delta"`
	Square    float64   `archive:"square"`    // ‖p‖²
	Bent      float64   `archive:"curvature"` // pᵀE''p/‖p‖²
	Bar       float64   `archive:"lambda"`    // λ̄
	Known     bool      `archive:"known"`     // whether δ belongs to p: there is no product after a failure
	Successes int       `archive:"taken"`     // successes since p was r; as published, iterations
	optim.Stagnation
}

var _ optim.Method = (*scg)(nil)

func exactProduct(dst []float64, s *optim.State, p []float64) error {
	s.Objective.(optim.HessianObjective).Hessian(s.W).MulVecTo(dst, p)
	return nil
}

func (m *scg) Carried(*optim.State) any { return &m.state }

// Step is steps 1 to 5. Where it fails, or is interrupted, the weights stay and δ is kept.
func (m *scg) Step(ctx context.Context, s *optim.State) (optim.Report, error) {
	report := optim.NewReport()
	if err := optim.Begin(ctx, s, &report); err != nil {
		return report, err
	}
	if len(m.s) != len(s.W) {
		m.s, m.trial, m.g = make([]float64, len(s.W)), make([]float64, len(s.W)), make([]float64, len(s.W))
	}
	if m.state.Along == nil || !m.state.Along.At.Is(s.W) {
		// Steepest descent at the weights.
		m.state.Along = &conjugate{At: slices.Clone(s.W), P: make([]float64, len(s.W))}
		m.state.Along.restart(s.Gradient)
	}
	if err := m.curvature(s); err != nil {
		return report, err
	}
	first := Lambda.Of(s.Settings)
	lambda := m.state.Along.scale(first)
	if err := s.Watch(ctx, optim.Inner{Iteration: krylov.Iteration{Number: 1}, Loss: s.Loss, Total: 1}); err != nil {
		return report, err
	}
	next, err := m.try(s, lambda, &report)
	if err != nil {
		return report, err
	}
	Lambda.Follow(s.Settings, first, next)
	return report, nil
}

// restart makes p = r.
func (c *conjugate) restart(g []float64) {
	vector.Scale(c.P, -1, g)
	c.Known, c.Successes = false, 0
}

// curvature is step 1: the second-order information, if the last step succeeded.
func (m *scg) curvature(s *optim.State) error {
	c := m.state.Along
	if c.Known {
		return nil
	}
	c.Square = vector.Dot(c.P, c.P)
	if c.Square < optim.MinNormal {
		return &optim.StalledError{Reason: "the gradient is too small to step along"}
	}
	if err := m.product(m.s, s, c.P); err != nil {
		return err
	}
	c.Delta, c.Bar = vector.Dot(c.P, m.s), 0
	c.Bent = c.Delta / c.Square
	if !vector.Finite(c.Bent) {
		return &optim.NotFiniteError{What: "curvature"}
	}
	c.Known = true
	return nil
}

// scale is step 2: it adds λ to the curvature, raises it where that is not positive yet, and returns it.
func (c *conjugate) scale(lambda float64) float64 {
	c.Delta += (lambda - c.Bar) * c.Square
	if c.Delta <= 0 {
		raised := 2 * (lambda - c.Delta/c.Square)
		c.Delta = -c.Delta + lambda*c.Square
		lambda = raised
	}
	c.Bar = lambda
	return lambda
}

// try is steps 3 to 5. It returns the λ of the next Step.
func (m *scg) try(s *optim.State, lambda float64, report *optim.Report) (next float64, err error) {
	c := m.state.Along
	mu := -vector.Dot(c.P, s.Gradient)
	alpha := mu / c.Delta
	report.StepNorm = math.Abs(alpha) * math.Sqrt(c.Square)
	report.Diagnostics = []optim.Diagnostic{
		{Key: "lambda", Symbol: "λ", Meaning: "added to the curvature along the direction", Value: lambda},
		{Key: "alpha", Symbol: "α", Meaning: "step length along the direction", Value: alpha},
		{Key: "curvature", Symbol: "pᵀHp/‖p‖²", Meaning: "curvature along the direction", Value: c.Bent},
	}
	floats.AddScaledTo(m.trial, s.W, alpha, c.P)
	if slices.Equal(m.trial, s.W) {
		return 0, optim.ErrTooShort
	}
	loss := math.NaN()
	if vector.Finite(vector.Norm(m.trial)) {
		loss = s.Objective.GradientTo(m.g, m.trial)
	}
	const shortest = -98 // what Δ counts as at least: δ grows a hundredfold
	comparison := float64(shortest)
	predicted := alpha * mu / 2
	if vector.Finite(loss) && vector.Finite(vector.Norm(m.g)) {
		report.Rho = optim.Ratio(s.Loss, loss, predicted)
		comparison = max(report.Rho, shortest)
		if Form.Of(s.Settings) == formPublished {
			report.Rho = (s.Loss - loss) / predicted
			comparison = report.Rho
		}
		report.Accepted = loss <= s.Loss && comparison >= 0
	}
	vector.Scale(m.s, alpha, c.P) // Hp has gone into δ
	report.Proposal = optim.Proposal{Step: m.s, Rho: report.Rho, Accepted: report.Accepted}
	if lambda, err = m.decide(s, loss, lambda, comparison, predicted <= optim.Rounding(s.Loss), report); err != nil {
		return 0, err
	}
	if lambda > maxLambda {
		return 0, &optim.StalledError{Reason: "λ has grown beyond 1e20 and no step lowers the loss"}
	}
	return max(lambda, minLambda), nil
}

// decide is steps 4 and 5 once Δ is known; hidden says that the decrease promised is below E's rounding.
func (m *scg) decide(s *optim.State, loss, lambda, comparison float64, hidden bool, report *optim.Report) (float64,
	error) {
	c := m.state.Along
	still := hidden && report.Accepted && loss == s.Loss
	if report.Accepted && c.Reached(still, report.GradientNorm) {
		report.Accepted = false
		return 0, optim.ErrHidden
	}
	if comparison < 0.25 {
		lambda += c.Delta * (1 - comparison) / c.Square
	}
	switch {
	case report.Accepted:
		if comparison >= 0.75 {
			lambda /= 4
		}
		m.succeed(s, loss)
		report.Loss = loss
	case hidden && (c.Successes == 0 || Form.Of(s.Settings) == formPublished):
		return 0, optim.ErrHidden
	case hidden:
		c.restart(s.Gradient)
	case Form.Of(s.Settings) == formPublished:
		c.Successes++
	}
	return lambda, nil
}

// succeed moves to w + αp and turns p: β = (‖r⁺‖² − r⁺ᵀr)/μ, p ← r⁺ + βp, or r⁺ every N steps.
func (m *scg) succeed(s *optim.State, loss float64) {
	c := m.state.Along
	mu := -vector.Dot(c.P, s.Gradient)
	beta := (vector.Dot(m.g, m.g) - vector.Dot(m.g, s.Gradient)) / mu
	copy(s.W, m.trial)
	copy(c.At, m.trial)
	copy(s.Gradient, m.g)
	s.Loss = loss
	c.Known = false
	c.Successes++
	vector.Scale(c.P, beta, c.P)
	vector.Sub(c.P, c.P, m.g)
	uphill := !(vector.Dot(c.P, m.g) < 0) && Form.Of(s.Settings) != formPublished
	if c.Successes%len(c.P) == 0 || uphill || !vector.Finite(vector.Norm(c.P)) {
		c.restart(m.g)
	}
}
