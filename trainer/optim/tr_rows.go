package optim

import "newtop/trainer/krylov"

// Algorithm B of [MD]: as C, with every product of the Gauss–Newton matrix by explicit rows of the Jacobian
// (Algorithm 2). The steps are those of C up to rounding; an inner iteration is up to as many times dearer as
// there are outputs. It is here for the comparison, and for a second opinion on C.
func init() {
	const needs = NeedsGaussNewton | NeedsJacobian
	register(Info{
		Name:      "tr-rows",
		Title:     "Trust-region Gauss–Newton by rows",
		Paper:     "Mizutani & Demmel 2003",
		Equations: "Algorithm 1 with JᵀJ products by Algorithm 2 (algorithm B); eq. 3–7",
		Summary: "The steps of tr-gn with every Jacobian row formed, as before Pearlmutter's product; " +
			"the yardstick for what that saves.",
		Cost:       "1.3, and 1.3 times up to the number of outputs for each inner iteration",
		Primary:    "radius",
		Monotone:   true,
		Proposes:   true,
		Needs:      needs,
		Parameters: gaussNewtonParameters(),
		New: func() Method {
			return &trust{
				name: "tr-rows", needs: needs,
				operator: func(o Objective, w []float64) krylov.Operator { return o.(JacobianObjective).GaussNewtonRows(w) },
				jacobi:   func(*Settings) bool { return false },
			}
		},
	})
}
