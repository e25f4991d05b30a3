package trust

import (
	"context"
	"fmt"
	"math"

	"newtop/internal/vector"
	"newtop/trainer/krylov"
	"newtop/trainer/optim"
)

// LevenbergMarquardt is Levenberg–Marquardt (Levenberg 1944; Marquardt 1963; for networks Hagan & Menhaj 1994) on the
// assembled matrix, the direct solution of [MD, eq. 3] for a given multiplier μ in place of a radius:
//
//	(JᵀJ + μM) s = −g      M = I, or diag(JᵀJ)
//
// μ falls by a factor after a step that lowers E and rises by it until one does. The matrix is assembled once
// for a place; each trial of μ costs one factorization.
var LevenbergMarquardt = optim.Info{
	Name:      "lm",
	Title:     "Levenberg–Marquardt",
	Paper:     "Marquardt 1963; Hagan & Menhaj 1994",
	Equations: "(JᵀJ + μM)s = −g by Cholesky; Mizutani & Demmel 2003, §2.1",
	Summary: "Exact damped Gauss–Newton steps from the factorized matrix; the fewest epochs to a small loss " +
		"on nets of up to some thousand weights.",
	Cost:       "1.3, 0.1 to 0.35 for each weight, and N³/6 multiplications for each μ",
	Primary:    "mu",
	Monotone:   true,
	Proposes:   true,
	Needs:      needsAssembled,
	Parameters: optim.Parameters(Mu, Decrease, Increase, MuMin, MuMax, Accept, Scaling),
	New:        func() optim.Method { return &lm{} },
}

// The hyperparameters of Levenberg–Marquardt.
var (
	Mu = &optim.Number{
		Key: "mu", Meaning: "μ, the damping of the next step; the method adapts it",
		Default: 1e-3, Max: optim.Inf, Open: true, OpenMax: true,
	}
	Decrease = &optim.Number{
		Key: "decrease", Meaning: "μ is divided by this after a step that lowers the loss",
		Default: 10, Min: 1, Max: optim.Inf, OpenMax: true, Source: "Marquardt 1963, ν",
	}
	Increase = &optim.Number{
		Key: "increase", Meaning: "μ is multiplied by this after one that does not",
		Default: 10, Min: 1, Max: optim.Inf, Open: true, OpenMax: true, Source: "Marquardt 1963, ν",
	}
	MuMin = &optim.Number{Key: "mu-min", Meaning: "how far μ may fall", Default: 1e-20, Max: optim.Inf, Open: true,
		OpenMax: true}
	MuMax = &optim.Number{
		Key: "mu-max", Meaning: "the run ends where no smaller μ lowers the loss",
		Default: 1e10, Max: optim.Inf, Open: true, OpenMax: true,
	}
)

type lm struct {
	assembled
	state struct {
		assembledState
		Assembled bool `archive:"assembled"`
	}
}

var _ optim.Method = (*lm)(nil)

// Carried is whether there is a matrix, which is made again.
func (l *lm) Carried(s *optim.State) any {
	l.state.Assembled = l.current(s)
	return &l.state
}

func (l *lm) Restored(s *optim.State) error {
	if !l.state.Assembled {
		return nil
	}
	return l.assembleAgain(s)
}

// Step tries one μ after the other until a step lowers E. Interrupted, it leaves weights and μ alone.
func (l *lm) Step(ctx context.Context, s *optim.State) (optim.Report, error) {
	report := optim.NewReport()
	if _, err := l.evaluate(ctx, s, &l.state.assembledState, &report); err != nil {
		return report, err
	}
	set := Mu.Of(s.Settings)
	for mu, number := set, 1; ; number++ {
		a, err := l.attempt(ctx, s, mu, number, &report)
		if err != nil {
			return report, err
		}
		if a.ends(&l.state.Stagnation, report.GradientNorm) {
			return report, optim.ErrHidden
		}
		if a.accepted {
			a.accept(s, l.trial, &report)
			Mu.Follow(s.Settings, set, max(mu/Decrease.Of(s.Settings), min(mu, MuMin.Of(s.Settings))))
			return report, nil
		}
		if mu *= Increase.Of(s.Settings); mu > MuMax.Of(s.Settings) {
			return report, &optim.StalledError{Reason: fmt.Sprintf(
				"no step lowers the loss with μ up to %s", optim.Format(MuMax.Of(s.Settings)))}
		}
	}
}

// attempt solves for the step of one μ and evaluates it. A matrix that rounding leaves indefinite is a failure
// like others.
func (l *lm) attempt(ctx context.Context, s *optim.State, mu float64, number int, report *optim.Report) (a attempt,
	err error) {
	nan := math.NaN()
	it := krylov.Iteration{Number: number, Residual: nan, Gradient: report.GradientNorm, StepNorm: nan, Radius: nan,
		Curvature: nan, Model: nan}
	a.promised = nan
	condition, err := l.factorize(ctx, s, mu)
	if err != nil {
		return a, err
	}
	definite := !math.IsNaN(condition)
	if definite {
		l.solveTo(l.s)
		// Gs = −g − μs, so that −q(s) = ½ sᵀ(μs − g) is a sum of positive terms and the residual needs no product.
		a.promised = (mu*vector.Dot(l.s, l.s) - vector.Dot(l.s, l.g)) / 2
		it.StepNorm, it.Model = vector.Norm(l.s), -a.promised
		vector.Mul(l.product, l.s, l.root)
		it.Residual = mu * vector.Norm(l.product)
	}
	report.StepNorm, report.Rho = nan, nan
	report.Diagnostics = []optim.Diagnostic{
		{Key: "mu", Symbol: "μ", Meaning: "the damping that the step was computed with", Value: mu},
		{Key: "attempts", Meaning: "factorizations until a step lowered the loss", Value: float64(number)},
		{Key: "condition", Symbol: "κ", Meaning: "condition number of JᵀJ + μM in the scaling of M, estimated",
			Value: condition},
	}
	if err := s.Watch(ctx, optim.Inner{Iteration: it, Loss: nan}); err != nil || !definite {
		return a, err
	}
	err = l.evaluateStep(s, &a, report)
	return a, err
}
