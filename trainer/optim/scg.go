package optim

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"newtop/internal/vector"
	"newtop/trainer/krylov"
)

func init() {
	register(Info{
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
		Needs:      NeedsHessian,
		Parameters: Parameters(Lambda),
		New:        func() Method { return &scg{name: "scg", needs: NeedsHessian, product: exactProduct} },
	})
}

// The scale λ stays within these bounds: below the lower one it is nothing beside any curvature, beyond the
// upper one no step is left that would change a weight.
const leastLambda, mostLambda = 1e-20, 1e20

// Lambda is the scale.
var Lambda = &Number{
	Key: "lambda", Meaning: "λ, added to the curvature along the direction; the method adapts it",
	Default: 1e-6, Min: leastLambda, Max: mostLambda, Source: "Møller 1993, SCG step 1: 0 < λ ≤ 1e-6",
}

// scg is the scaled conjugate gradient algorithm ([S], Møller, Neural Networks 6, 1993), one iteration a
// Step:
//
//	w  the weights, E the loss · r = −E'(w), here −g · p the direction · s = E''(w)p
//	δ  = pᵀs, then pᵀ(E'' + λ̄I)p with λ̄ the part of λ that it already has, made positive where it is not
//	μ  = pᵀr · α = μ/δ the step length
//	Δ  = 2δ(E(w) − E(w + αp))/μ², the decrease that came over the one promised, ½αμ
//
// Beyond the paper: both sides of Δ are offset by the rounding of E, so that Δ → 1 where both vanish; a step
// that fails is shortened a hundredfold at the most, also where E is not finite; p starts again from r when it
// is no direction of descent, when the weights are not those it left, and once before it gives up.
type scg struct {
	name  string
	needs Capability
	// product stores E''(w)p in dst.
	product func(dst []float64, s *State, p []float64) error

	w, p, s    []float64 // w: what the rest belongs to
	trial, g   []float64 // w + αp and the gradient there
	delta      float64
	square     float64 // ‖p‖²
	bent       float64 // pᵀE''p/‖p‖²
	bar        float64 // λ̄
	known      bool    // whether δ belongs to p: there is no product after a failure
	taken      int     // successes since p was r
	stagnation stagnation
}

var _ Method = (*scg)(nil)

func exactProduct(dst []float64, s *State, p []float64) error {
	s.Objective.(HessianObjective).Hessian(s.W).MulVecTo(dst, p)
	return nil
}

func (m *scg) Name() string      { return m.name }
func (m *scg) Needs() Capability { return m.needs }

// Remember carries the direction and what is known of the curvature along it.
func (m *scg) Remember(s *State, k *Archive) {
	if !k.Here("goes on", &m.w, s.W) {
		return
	}
	m.room(len(s.W))
	k.Vector("direction", &m.p, len(s.W))
	k.Number("delta", &m.delta)
	k.Number("square", &m.square)
	k.Number("curvature", &m.bent)
	k.Number("lambda", &m.bar)
	k.Flag("known", &m.known)
	k.Count("taken", &m.taken, MostCount)
	m.stagnation.remember(k)
}

// Step is steps 1 to 5. Where it fails, or is interrupted, the weights stay and δ is kept.
func (m *scg) Step(ctx context.Context, s *State) (Report, error) {
	report := unreported()
	if err := start(ctx, s, &report); err != nil {
		return report, err
	}
	if !slices.Equal(m.w, s.W) {
		m.begin(s)
	}
	if err := m.curvature(s); err != nil {
		return report, err
	}
	first := Lambda.Of(s.Settings)
	lambda := m.scale(first)
	if err := s.watch(ctx, Inner{Iteration: krylov.Iteration{Number: 1}, Loss: s.Loss, Total: 1}); err != nil {
		return report, err
	}
	next, err := m.try(s, lambda, &report)
	if err != nil {
		return report, err
	}
	Lambda.Follow(s.Settings, first, next)
	return report, nil
}

// begin starts from steepest descent at the weights.
func (m *scg) begin(s *State) {
	m.room(len(s.W))
	m.w = append(m.w[:0], s.W...)
	m.stagnation = stagnation{}
	m.restart(s.Gradient)
}

// room makes room for n weights.
func (m *scg) room(n int) {
	if len(m.p) != n {
		m.p, m.s, m.trial, m.g = make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	}
}

// restart makes p = r.
func (m *scg) restart(g []float64) {
	vector.Scale(m.p, -1, g)
	m.known, m.taken = false, 0
}

// curvature is step 1: the second-order information, if the last step succeeded.
func (m *scg) curvature(s *State) error {
	if m.known {
		return nil
	}
	m.square = vector.Dot(m.p, m.p)
	if m.square < minNormal {
		return &StalledError{"the gradient is too small to step along"}
	}
	if err := m.product(m.s, s, m.p); err != nil {
		return err
	}
	m.delta, m.bar = vector.Dot(m.p, m.s), 0
	m.bent = m.delta / m.square
	if !finite(m.bent) {
		return &NotFiniteError{"curvature"}
	}
	m.known = true
	return nil
}

// scale is step 2: it adds λ to the curvature, raises it where that is not positive yet, and returns it.
func (m *scg) scale(lambda float64) float64 {
	m.delta += (lambda - m.bar) * m.square
	if m.delta <= 0 {
		raised := 2 * (lambda - m.delta/m.square)
		m.delta = -m.delta + lambda*m.square
		lambda = raised
	}
	m.bar = lambda
	return lambda
}

// try is steps 3 to 5. It returns the λ of the next Step.
func (m *scg) try(s *State, lambda float64, report *Report) (next float64, err error) {
	mu := -vector.Dot(m.p, s.Gradient)
	alpha := mu / m.delta
	report.StepNorm = math.Abs(alpha) * math.Sqrt(m.square)
	report.Diagnostics = []Diagnostic{
		{Key: "lambda", Symbol: "λ", Meaning: "added to the curvature along the direction", Value: lambda},
		{Key: "alpha", Symbol: "α", Meaning: "step length along the direction", Value: alpha},
		{Key: "curvature", Symbol: "pᵀHp/‖p‖²", Meaning: "curvature along the direction", Value: m.bent},
	}
	floats.AddScaledTo(m.trial, s.W, alpha, m.p)
	if slices.Equal(m.trial, s.W) {
		return 0, &StalledError{"the step is too short to change any weight"}
	}
	loss := math.NaN()
	if finite(vector.Norm(m.trial)) {
		loss = s.Objective.GradientTo(m.g, m.trial)
	}
	const shortest = -98 // what Δ counts as at least: δ grows a hundredfold
	comparison := float64(shortest)
	predicted := alpha * mu / 2
	if finite(loss) && finite(vector.Norm(m.g)) {
		report.Rho = ratio(s.Loss, loss, predicted)
		comparison = max(report.Rho, shortest)
		report.Accepted = loss <= s.Loss && comparison >= 0
	}
	vector.Scale(m.s, alpha, m.p) // Hp has gone into δ
	report.Proposal = Proposal{Step: m.s, Rho: report.Rho, Accepted: report.Accepted}
	if lambda, err = m.decide(s, loss, lambda, comparison, predicted <= rounding(s.Loss), report); err != nil {
		return 0, err
	}
	if lambda > mostLambda {
		return 0, &StalledError{"λ has grown beyond 1e20 and no step lowers the loss"}
	}
	return max(lambda, leastLambda), nil
}

// decide is steps 4 and 5 once Δ is known; hidden says that the decrease promised is below E's rounding.
func (m *scg) decide(s *State, loss, lambda, comparison float64, hidden bool, report *Report) (float64, error) {
	still := hidden && report.Accepted && loss == s.Loss
	if report.Accepted && m.stagnation.reached(still, report.GradientNorm) {
		report.Accepted = false
		return 0, &StalledError{hiddenByRounding}
	}
	if comparison < 0.25 {
		lambda += m.delta * (1 - comparison) / m.square
	}
	switch {
	case report.Accepted:
		if comparison >= 0.75 {
			lambda /= 4
		}
		m.succeed(s, loss)
		report.Loss = loss
	case hidden && m.taken == 0:
		return 0, &StalledError{hiddenByRounding}
	case hidden:
		m.restart(s.Gradient)
	}
	return lambda, nil
}

// succeed moves to w + αp and turns p: β = (‖r⁺‖² − r⁺ᵀr)/μ, p ← r⁺ + βp, or r⁺ every N steps.
func (m *scg) succeed(s *State, loss float64) {
	mu := -vector.Dot(m.p, s.Gradient)
	beta := (vector.Dot(m.g, m.g) - vector.Dot(m.g, s.Gradient)) / mu
	copy(s.W, m.trial)
	copy(m.w, m.trial)
	copy(s.Gradient, m.g)
	s.Loss = loss
	m.known = false
	m.taken++
	vector.Scale(m.p, beta, m.p)
	vector.Sub(m.p, m.p, m.g)
	if m.taken%len(m.p) == 0 || !(vector.Dot(m.p, m.g) < 0) || !finite(vector.Norm(m.p)) {
		m.restart(m.g)
	}
}
