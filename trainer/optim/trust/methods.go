package trust

import (
	"newtop/trainer/krylov"
	"newtop/trainer/optim"
)

// Newton is algorithm E of [MD]: the full Hessian by exact products (Møller 1993), which may be indefinite; an
// inner solve that meets negative curvature follows it to the boundary. The paper preconditions by
// diag(JᵀJ); M = I is the default here, since that diagonal says little of an indefinite H and
// the paper itself found it to suit JᵀJ better.
var Newton = optim.Info{
	Name:      "tr-newton",
	Title:     "Trust-region Newton CG, exact Hessian",
	Paper:     "Mizutani & Demmel 2003; Møller 1993",
	Equations: "Algorithm 1 with exact Hessian products (algorithm E); eq. 3–7; Gould et al. 1999 in CG's space",
	Summary: "Truncated CG on the exact Hessian in a trust region, making use of negative curvature; " +
		"the one to look at curvature with, and exact on small problems.",
	Cost:       "1.3, and 2 for each inner iteration",
	Primary:    "radius",
	Inner:      innerBounds,
	Monotone:   true,
	Proposes:   true,
	Needs:      optim.NeedsHessian,
	Diagonal:   scaled,
	Parameters: regionParameters(Preconditioner, Floor),
	New:        func() optim.Method { return &trust{operator: hessian, jacobi: scaled} },
}

// GaussNewton is algorithm C of [MD]: the Gauss–Newton matrix by Pearlmutter's R-pass, M = I. The matrix is positive
// semidefinite, so an inner solve ends on the boundary or at its tolerance. Negative curvature it meets only
// as dᵀGd = 0, or less by rounding, where all outputs that d moves are saturated.
var GaussNewton = optim.Info{
	Name:      "tr-gn",
	Title:     "Trust-region Gauss–Newton CG",
	Paper:     "Mizutani & Demmel 2003",
	Equations: "Algorithm 1 with JᵀJ products (algorithm C); eq. 3–7; Gould et al. 1999 in CG's space",
	Summary: "Truncated CG on the Gauss–Newton matrix in a trust region; steady and hard to upset, " +
		"the second-order method to try first when the full Hessian stalls.",
	Cost:       "1.3, and 1.3 for each inner iteration",
	Primary:    "radius",
	Inner:      innerBounds,
	Monotone:   true,
	Proposes:   true,
	Needs:      optim.NeedsGaussNewton,
	Parameters: blockParameters(Factored, Damping),
	New:        func() optim.Method { return &trust{operator: gaussNewton, kfac: factored} },
}

// GaussNewtonJacobi is algorithm D of [MD]: as C, with M the diagonal of JᵀJ. The trust region becomes an ellipsoid,
// long where the outputs feel a weight little, and CG needs fewer iterations where weights differ in scale.
var GaussNewtonJacobi = optim.Info{
	Name:      "tr-gn-jacobi",
	Title:     "Trust-region Gauss–Newton, diag(JᵀJ)",
	Paper:     "Mizutani & Demmel 2003",
	Equations: "Algorithm 1 with JᵀJ products, M = diag(JᵀJ) (algorithm D); eq. 3–7; Gould et al. 1999 in CG's space",
	Summary: "Gauss–Newton with the Jacobi preconditioner; the paper's fastest on regression, " +
		"where weights differ much in scale.",
	Cost:       "1.3, 1.3 for each inner iteration, and a backward pass for each output",
	Primary:    "radius",
	Inner:      innerBounds,
	Monotone:   true,
	Proposes:   true,
	Needs:      optim.NeedsGaussNewton,
	Parameters: gaussNewtonParameters(Floor),
	Diagonal:   always,
	New:        func() optim.Method { return &trust{operator: gaussNewton, jacobi: always} },
}

// GaussNewtonRows is algorithm B of [MD]: as C, with every product of the Gauss–Newton matrix by explicit rows of the
// Jacobian (Algorithm 2). The steps are those of C in exact arithmetic; a rounded difference of the first step grows
// with every epoch until the two are different runs. An inner iteration is up to as many times dearer as there are
// outputs. It is here for the comparison, and for a second opinion on C.
var GaussNewtonRows = optim.Info{
	Name:      "tr-rows",
	Title:     "Trust-region Gauss–Newton by rows",
	Paper:     "Mizutani & Demmel 2003",
	Equations: "Algorithm 1 with JᵀJ products by Algorithm 2 (algorithm B); eq. 3–7; Gould et al. 1999 in CG's space",
	Summary: "The steps of tr-gn with every Jacobian row formed, as before Pearlmutter's product; " +
		"the yardstick for what that saves.",
	Cost:       "1.3, and 1.3 times up to the number of outputs for each inner iteration",
	Primary:    "radius",
	Inner:      innerBounds,
	Monotone:   true,
	Proposes:   true,
	Needs:      optim.NeedsGaussNewton | optim.NeedsJacobian,
	Parameters: blockParameters(),
	New:        func() optim.Method { return &trust{operator: gaussNewtonRows} },
}

func hessian(o optim.Objective, w []float64) krylov.Operator {
	return o.(optim.HessianObjective).Hessian(w)
}

func gaussNewton(o optim.Objective, w []float64) krylov.Operator {
	return o.(optim.GaussNewtonObjective).GaussNewton(w)
}

func gaussNewtonRows(o optim.Objective, w []float64) krylov.Operator {
	return o.(optim.JacobianObjective).GaussNewtonRows(w)
}
