package descent

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/optimize"

	"newtop/internal/vector"
	"newtop/trainer/krylov"
	"newtop/trainer/optim"
)

// maxEvaluations bounds a line search, as in the programs of Moré & Thuente.
const maxEvaluations = 20

// search looks along d for a step that meets the strong Wolfe conditions,
//
//	E(w + αd) ≤ E + c₁αgᵀd and |∂E(w + αd)ᵀd| ≤ c₂|gᵀd|
//
// and leaves it in best: one that meets the first alone where the search ends without meeting both, and none
// where no trial did. A trial at which E is not finite bounds the search.
func (m *lbfgs) search(ctx context.Context, s *optim.State) (evaluations int, err error) {
	m.best.found = false
	d := m.state.Along.D
	slope := vector.Dot(d, s.Gradient)
	if !(slope < 0) || !vector.Finite(slope) || !vector.Finite(m.state.Along.Alpha) {
		return 0, nil
	}
	c1, c2 := SufficientDecrease.Of(s.Settings), Curvature.Of(s.Settings)
	wolfe := &optimize.MoreThuente{DecreaseFactor: c1, CurvatureFactor: c2}
	alpha := m.state.Along.Alpha
	wolfe.Init(s.Loss, slope, alpha)
	for evaluations < maxEvaluations {
		floats.AddScaledTo(m.trial, s.W, alpha, d)
		if slices.Equal(m.trial, s.W) {
			break
		}
		loss, tilt := math.NaN(), math.NaN()
		if vector.Finite(vector.Norm(m.trial)) {
			loss = s.Objective.GradientTo(m.gradient, m.trial)
			tilt = vector.Dot(d, m.gradient)
		}
		evaluations++
		in := optim.Inner{Iteration: krylov.Iteration{Number: evaluations}, Loss: s.Loss}
		if err := s.Watch(ctx, in); err != nil {
			return evaluations, err
		}
		if !vector.Finite(loss) || !vector.Finite(tilt) {
			wolfe = &optimize.MoreThuente{DecreaseFactor: c1, CurvatureFactor: c2, MaximumStep: alpha / 2}
			if alpha /= 10; alpha < optim.MinNormal {
				break
			}
			wolfe.Init(s.Loss, slope, alpha)
			continue
		}
		op, next, err := wolfe.Iterate(loss, tilt)
		done := op == optimize.MajorIteration
		enough := optimize.ArmijoConditionMet(loss, s.Loss, slope, alpha, c1)
		if done || enough && (!m.best.found || loss < m.best.loss) {
			m.recordBest(alpha, loss)
		}
		if done || err != nil {
			break
		}
		alpha = next
	}
	return evaluations, nil
}

// recordBest makes the trial the best.
func (m *lbfgs) recordBest(alpha, loss float64) {
	m.best.gradient, m.gradient = m.gradient, m.best.gradient
	m.best.alpha, m.best.loss, m.best.found = alpha, loss, true
}
