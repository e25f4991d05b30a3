// Package trust has the methods that hold each step against a model of the loss in a region where that is trusted: the
// trust-region methods of Mizutani & Demmel 2003 ([MD]) by truncated conjugate gradients, the dogleg and
// Levenberg–Marquardt on the assembled matrix.
package trust

import (
	"context"
	"math"
	"slices"

	"newtop/internal/vector"
	"newtop/trainer/krylov"
	"newtop/trainer/optim"
)

// trust is the outer iteration of Mizutani & Demmel 2003 ([MD], §2.1), which their algorithms B to E
// share. It differs only in the curvature and the preconditioner:
//
//	w  the weights, E the loss, g its gradient, s the step of the inner solve
//	q  the model, pred = −q(s) the decrease it promises, ared = E(w) − E(w + s) the one that came
//	ρ  = (ared + ε)/(pred + ε) [MD, eq. 4], with ε what rounding leaves of E
//	R  the radius in the norm of M
type trust struct {
	// operator returns the curvature at w.
	operator func(o optim.Objective, w []float64) krylov.Operator
	// jacobi reports whether M is the floored diagonal of the Gauss–Newton matrix, rather than I; nil: never.
	jacobi func(s *optim.Settings) bool
	// kfac reports whether M is K-FAC's matrix; nil: never.
	kfac func(s *optim.Settings) bool

	cg       krylov.CG
	path     path
	s, trial []float64
	scaling  *scaling // of the last solve; nil: M = I, or a diagonal

	sweep sweep // of block mode
	state trustState
}

// trustState is what is carried from step to step.
type trustState struct {
	M     *jacobi `archive:"preconditioner"` // which is charged for once; nil before the first
	K     *roots  `archive:"kfac,late"`      // nil before the first
	Pause int     `archive:"pause"`          // epochs of batch mode after the last sweep, 0 if it was kept
	Left  int     `archive:"pause left"`     // how many of them are to come
	optim.Stagnation
}

var _ optim.Method = (*trust)(nil)

func (t *trust) Carried(*optim.State) any { return &t.state }

// Step solves for one step and takes it, or a shorter one of the same solve, if E falls. It leaves the weights
// alone unless it accepts, so a rejected or interrupted step costs nothing but the work: the gradient and what
// the objective keeps for products at w are used again, only R is another. With blocks it goes through them.
func (t *trust) Step(ctx context.Context, s *optim.State) (optim.Report, error) {
	radius := Radius.Of(s.Settings)
	report := optim.NewReport()
	report.Radius = radius
	if err := ctx.Err(); err != nil {
		return report, err
	}
	if len(t.s) != len(s.W) {
		t.s, t.trial = make([]float64, len(s.W)), make([]float64, len(s.W))
	}
	parts, err := blocks(s)
	if err != nil {
		return report, err
	}
	if parts != nil && t.state.Left == 0 {
		return t.blockEpoch(ctx, s, parts, report)
	}
	if err := optim.Begin(ctx, s, &report); err != nil {
		return report, err
	}
	solve, err := t.solve(ctx, s, s.Objective, part{0, 1}, s.W, s.Gradient, radius)
	report.Inner = []optim.InnerSolve{{Solve: solve}}
	if err != nil {
		return report, err
	}
	if solve.Stop == krylov.NotFinite && solve.StepNorm == 0 {
		return report, &optim.NotFiniteError{What: "curvature"}
	}
	t.state.Left = max(0, t.state.Left-1)
	return t.acceptOrReject(s, &solve, report)
}

// solve is the inner solve at w for the rows that o has: it leaves the step in t.s, and in t.path the shorter
// ones.
func (t *trust) solve(ctx context.Context, s *optim.State, o optim.Objective, rows part, w, g []float64,
	radius float64) (krylov.Solve, error) {
	options := t.options(ctx, s, o, rows, w, radius, vector.Norm(g))
	rule := ruleOf(s.Settings)
	if options.Rule == krylov.Scaling { // whose steps do not lie on the path of longer ones
		rule.retries = 0
	}
	t.path.reset(&t.cg, len(w), rule.retries, radius, rule.shrinkBy, options.Diagonal)
	h := t.operator(o, w)
	if t.kfac == nil || !t.kfac(s.Settings) {
		t.scaling = nil
	} else {
		var err error
		if h, g, err = scale(t, s, rows, w, h, g); err != nil {
			return krylov.Solve{}, err
		}
	}
	solve, err := t.cg.SolveTo(t.s, h, g, options)
	solve.Ritz = slices.Clone(solve.Ritz)
	if t.scaling != nil {
		solve.Preconditioned = true
		t.scaling.backTo(t.s)
		t.scaling.charge()
	}
	return solve, err
}

func (t *trust) options(ctx context.Context, s *optim.State, o optim.Objective, rows part, w []float64, radius,
	gradient float64) krylov.TrustRegion {
	region := krylov.TrustRegion{
		Radius:    radius,
		Tolerance: tolerance(s.Settings, gradient),
		Limit:     Limit.Of(s.Settings),
		Lanczos:   Lanczos.Of(s.Settings),
		Monitor: func(it krylov.Iteration) error {
			t.path.add(t.s, it)
			return s.Watch(ctx, optim.Inner{Block: rows.index, Iteration: it, Loss: math.NaN()})
		},
	}
	switch Boundary.Of(s.Settings) {
	case boundaryScaling:
		region.Rule = krylov.Scaling
	case boundaryMinimum:
		region.Rule = krylov.Minimum
	}
	if t.jacobi != nil && t.jacobi(s.Settings) {
		if t.state.M == nil {
			t.state.M = new(jacobi)
		}
		region.Diagonal = t.state.M.of(o.(optim.GaussNewtonObjective), rows, w, Floor.Of(s.Settings))
	}
	return region
}
