package trust

import (
	"math"
	"slices"

	"newtop/internal/vector"
	"newtop/trainer/krylov"
	"newtop/trainer/optim"
)

// attempt is a step s that was tried, the last one where several of a solve were.
type attempt struct {
	length     float64 // ‖s‖_M
	promised   float64 // pred
	loss, rho  float64 // after it; NaN where E has no value there
	onBoundary bool    // of the region of its solve
	shortened  bool    // whether longer ones had failed
	accepted   bool
	void       bool // too short to change any weight
	hidden     bool // the model promised less than E could show
	still      bool // so it did, and E shows nothing
}

// reset forgets what came of the step before, for one from w to trial.
func (a *attempt) reset(w, trial []float64) {
	a.loss, a.rho, a.void = math.NaN(), math.NaN(), slices.Equal(trial, w)
}

// evaluate computes the loss at trial, where it was another value before, and ρ. A step is accepted when ρ is above the
// given number, and never uphill.
func (a *attempt) evaluate(o optim.Objective, trial []float64, before, accept float64) {
	if a.void || !vector.Finite(vector.Norm(trial)) {
		return
	}
	a.loss = o.Loss(trial)
	if !vector.Finite(a.loss) {
		return
	}
	a.rho = optim.Ratio(before, a.loss, a.promised)
	a.accepted = a.loss <= before && a.rho > accept
	a.hidden = a.promised <= optim.Rounding(before)
	a.still = a.hidden && a.loss == before
}

// ends reports whether rounding hides all that a step from here could still do. Where the model promises less than E
// could show, a step that fails says so; one that changes nothing is taken, as ρ is 1, and may still bring the
// gradient, now that long, down.
func (a *attempt) ends(seen *optim.Stagnation, gradient float64) bool {
	return a.hidden && !a.accepted || a.accepted && seen.Reached(a.still, gradient)
}

// accept moves the weights to trial.
func (a *attempt) accept(s *optim.State, trial []float64, report *optim.Report) {
	copy(s.W, trial)
	s.Loss, s.Evaluated = a.loss, false
	report.Loss, report.Accepted = a.loss, true
}

// radiusRule is how steps are accepted and R is adapted, each number as regionParameters says of its key.
type radiusRule struct {
	accept, shrinkBelow, shrinkBy, growAbove, growBy, radiusMax float64
	retries                                                     int
}

// textbook is algorithm 4.1 of Nocedal & Wright 2006, with η = 1e-4.
var textbook = radiusRule{accept: 1e-4, shrinkBelow: 0.25, shrinkBy: 0.25, growAbove: 0.75, growBy: 2}

// next returns the radius that follows R after an attempt.
func (r *radiusRule) next(radius float64, a *attempt) float64 {
	switch {
	case !a.accepted || a.rho < r.shrinkBelow:
		return min(radius, r.shrinkBy*a.length)
	case a.shortened:
		return min(radius, a.length)
	case a.onBoundary && a.rho > r.growAbove:
		// A radius set by hand beyond radius-max stays there.
		return max(radius, min(r.growBy*radius, r.radiusMax))
	}
	return radius
}

// outwardRoot returns the h in [0, 1] at which a segment p that goes outwards from s, sᵀp ≥ 0, has ‖s + hp‖ = R, given
// ‖s‖ ≤ R, sᵀp and pᵀp. Of the root's two forms it is the one that subtracts nothing. It differs from
// krylov.BoundaryRoot by roundings, which runs that are resumed would show, and is that where squares over- or
// underflow.
func outwardRoot(norm, sp, pp, radius float64) float64 {
	rest := max(0, (radius-norm)*(radius+norm)) // R² − ‖s‖²
	switch square := sp*sp + pp*rest; {
	case pp == 0:
		return 1
	case pp*rest > optim.MinNormal && vector.Finite(square):
		return min(1, rest/(sp+math.Sqrt(square)))
	}
	return min(1, krylov.BoundaryRoot(norm, sp, pp, radius))
}
