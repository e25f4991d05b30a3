package optim

import (
	"math"
	"slices"

	"newtop/internal/vector"
	"newtop/trainer/krylov"
)

// minNormal is the smallest normal number: below it a radius or a divisor has lost its digits.
const minNormal = 0x1p-1022

// attempt is a step that was tried, the last one where several of a solve were.
type attempt struct {
	length     float64 // ‖s‖_M
	promised   float64 // pred
	rounding   float64 // ε
	loss, rho  float64 // NaN where E has no value there
	onBoundary bool    // of the region of its solve
	shortened  bool    // whether longer ones had failed
	accepted   bool
	void       bool // too short to change any weight
}

// rounding returns what rounding leaves of a loss.
func rounding(loss float64) float64 { return 10 * epsilon * max(1, math.Abs(loss)) }

// shortenUntilAccepted tries the step of a solve at w, where o has the loss now, and where it fails the shorter ones on the
// solve's path. The step of the attempt it returns is in t.s, and the weights it leads to in t.trial.
func (t *trust) shortenUntilAccepted(o Objective, set *Settings, w []float64, now float64, solve *krylov.Solve) attempt {
	a := attempt{
		length:   min(solve.StepNorm, solve.Radius), // beyond it where the square of the norm overflows
		promised: solve.Predicted, rounding: rounding(now),
		onBoundary: solve.Stop == krylov.Boundary || solve.Stop == krylov.NegativeCurvature,
	}
	if a.onBoundary { // where it is R up to rounding
		a.length = solve.Radius
	}
	if solve.Stop.Failed() {
		t.setTrial(w, &a)
		return a
	}
	rule := ruleOf(set)
	for {
		t.evaluateStep(o, rule.accept, w, now, &a)
		i, ok := t.path.before(a.length, rule.shrinkBy)
		if a.accepted || a.void || !ok || !(t.path.promised[i] > a.rounding) { // E would not show the last
			return a
		}
		copy(t.s, t.path.steps[i])
		a.length, a.promised, a.shortened = t.path.radii[i], t.path.promised[i], true
	}
}

// setTrial makes t.trial the weights after the step.
func (t *trust) setTrial(w []float64, a *attempt) {
	vector.Add(t.trial, w, t.s)
	a.loss, a.rho, a.void = math.NaN(), math.NaN(), slices.Equal(t.trial, w)
}

// evaluateStep computes the loss after the step and ρ.
func (t *trust) evaluateStep(o Objective, accept float64, w []float64, now float64, a *attempt) {
	t.setTrial(w, a)
	if a.void || !finite(vector.Norm(t.trial)) {
		return
	}
	a.loss = o.Loss(t.trial)
	if finite(a.loss) {
		a.rho = (now - a.loss + a.rounding) / (a.promised + a.rounding)
		a.accepted = a.loss <= now && a.rho > accept
	}
}

// updateRadius returns the radius that follows R after an attempt.
func updateRadius(set *Settings, radius float64, a *attempt) float64 {
	rule := ruleOf(set)
	switch {
	case !a.accepted || a.rho < rule.shrinkBelow:
		return min(radius, rule.shrinkBy*a.length)
	case a.shortened:
		return min(radius, a.length)
	case a.onBoundary && a.rho > rule.growAbove:
		// A radius set by hand beyond radius-max stays there.
		return max(radius, min(rule.growBy*radius, set.Get("radius-max")))
	}
	return radius
}

// takeOrReject takes or rejects the step of a solve on all rows, and adapts R.
func (t *trust) takeOrReject(s *State, solve *krylov.Solve, report Report) (Report, error) {
	a := t.shortenUntilAccepted(s.Objective, s.Settings, s.W, s.Loss, solve)
	report.StepNorm, report.Rho, report.Accepted = vector.Norm(t.s), a.rho, a.accepted
	report.Proposal = Proposal{Step: t.s, Rho: a.rho, Accepted: a.accepted}
	if a.void {
		return report, &StalledError{"the step is too short to change any weight"}
	}
	next := updateRadius(s.Settings, report.Radius, &a)
	// Where the model promises less than E could show, a step that fails says that it is over; one that
	// changes nothing is taken, as ρ is 1, and may still bring the gradient down.
	hidden := finite(a.loss) && a.promised <= a.rounding
	still := hidden && a.loss == s.Loss && next <= report.Radius // a step from too small a radius makes it grow
	if next < minNormal || hidden && !a.accepted || a.accepted && t.stagnation.reached(still, report.GradientNorm) {
		report.Accepted = false
		return report, errLost
	}
	if a.accepted {
		copy(s.W, t.trial)
		s.Loss, s.Evaluated = a.loss, false
		report.Loss = a.loss
	}
	s.Settings.follow("radius", report.Radius, next)
	return report, nil
}

var errLost = &StalledError{hiddenByRounding}
