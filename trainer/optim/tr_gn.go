package optim

import "newtop/trainer/krylov"

// Algorithm C of [MD]: the Gauss–Newton matrix by Pearlmutter's R-pass, M = I. The matrix is positive
// semidefinite, so an inner solve ends on the boundary or at its tolerance. Negative curvature it meets only
// as dᵀGd = 0, or less by rounding, where all outputs that d moves are saturated.
func init() {
	register(Info{
		Name:      "tr-gn",
		Title:     "Trust-region Gauss–Newton CG",
		Paper:     "Mizutani & Demmel 2003",
		Equations: "Algorithm 1 with JᵀJ products (algorithm C); eq. 3–7",
		Summary: "Truncated CG on the Gauss–Newton matrix in a trust region; steady and hard to upset, " +
			"the second-order method to try first when the full Hessian stalls.",
		Cost:       "1.3, and 1.3 for each inner iteration",
		Primary:    "radius",
		Monotone:   true,
		Proposes:   true,
		Needs:      NeedsGaussNewton,
		Parameters: gaussNewtonParameters(),
		New: func() Method {
			return &trust{
				name: "tr-gn", needs: NeedsGaussNewton, operator: gaussNewton,
				jacobi: func(*Settings) bool { return false },
			}
		},
	})
}

func gaussNewton(o Objective, w []float64) krylov.Operator {
	return o.(GaussNewtonObjective).GaussNewton(w)
}
