package optim

import "newtop/trainer/krylov"

// Algorithm E of [MD]: the full Hessian by exact products (Møller 1993), which may be indefinite; an
// inner solve that meets negative curvature follows it to the boundary. The paper preconditions by
// diag(JᵀJ); M = I is the default here, since that diagonal says little of an indefinite H and
// the paper itself found it to suit JᵀJ better.
func init() {
	const needs = NeedsHessian | NeedsGaussNewton
	register(Info{
		Name:      "tr-newton",
		Title:     "Trust-region Newton CG, exact Hessian",
		Paper:     "Mizutani & Demmel 2003; Møller 1993",
		Equations: "Algorithm 1 with exact Hessian products (algorithm E); eq. 3–7",
		Summary: "Truncated CG on the exact Hessian in a trust region, making use of negative curvature; " +
			"fewest products to a good solution on classification.",
		Cost:       "1.3, and 2 for each inner iteration",
		Primary:    "radius",
		Monotone:   true,
		Proposes:   true,
		Needs:      needs,
		Parameters: regionParameters(Preconditioner, Floor),
		New: func() Method {
			return &trust{
				name: "tr-newton", needs: needs,
				operator: func(o Objective, w []float64) krylov.Operator { return o.(HessianObjective).Hessian(w) },
				jacobi:   func(s *Settings) bool { return Preconditioner.Of(s) == preconditionerJacobi },
			}
		},
	})
}
