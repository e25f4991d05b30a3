package trust

import (
	"newtop/internal/vector"
	"newtop/trainer/krylov"
	"newtop/trainer/optim"
)

// shortenUntilAccepted tries the step of a solve at w, where o has the loss now, and where it fails the shorter ones on
// the solve's path. The step of the attempt it returns is in t.s, and the weights it leads to in t.trial.
func (t *trust) shortenUntilAccepted(o optim.Objective, set *optim.Settings, w []float64, now float64,
	solve *krylov.Solve) attempt {
	a := attempt{
		length:     min(solve.StepNorm, solve.Radius), // beyond it where the square of the norm overflows
		promised:   solve.Predicted,
		onBoundary: solve.Stop == krylov.Boundary || solve.Stop == krylov.NegativeCurvature,
	}
	if a.onBoundary { // where it is R up to rounding
		a.length = solve.Radius
	}
	vector.Add(t.trial, w, t.s)
	a.reset(w, t.trial)
	if solve.Stop.Failed() {
		return a
	}
	rule := ruleOf(set)
	for {
		a.evaluate(o, t.trial, now, rule.accept)
		i, ok := t.path.before(a.length, rule.shrinkBy)
		if a.accepted || a.void || !ok || !(t.path.promised[i] > optim.Rounding(now)) { // E would not show the last
			return a
		}
		copy(t.s, t.path.steps[i])
		if t.scaling != nil {
			t.scaling.backTo(t.s)
		}
		a.length, a.promised, a.shortened = t.path.radii[i], t.path.promised[i], true
		vector.Add(t.trial, w, t.s)
		a.reset(w, t.trial)
	}
}

// acceptOrReject takes or rejects the step of a solve on all rows, and adapts R.
func (t *trust) acceptOrReject(s *optim.State, solve *krylov.Solve, report optim.Report) (optim.Report, error) {
	a := t.shortenUntilAccepted(s.Objective, s.Settings, s.W, s.Loss, solve)
	report.StepNorm, report.Rho, report.Accepted = vector.Norm(t.s), a.rho, a.accepted
	report.Proposal = optim.Proposal{Step: t.s, Rho: a.rho, Accepted: a.accepted}
	if a.void {
		return report, optim.ErrTooShort
	}
	rule := ruleOf(s.Settings)
	next := rule.next(report.Radius, &a)
	a.still = a.still && next <= report.Radius // a step from too small a radius makes it grow
	if next < optim.MinNormal || a.ends(&t.state.Stagnation, report.GradientNorm) {
		report.Accepted = false
		return report, optim.ErrHidden
	}
	if a.accepted {
		a.accept(s, t.trial, &report)
	}
	Radius.Follow(s.Settings, report.Radius, next)
	return report, nil
}
