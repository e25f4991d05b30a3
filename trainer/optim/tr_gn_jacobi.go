package optim

// Algorithm D of [MD]: as C, with M the diagonal of JᵀJ. The trust region becomes an ellipsoid, long
// where the outputs feel a weight little, and CG needs fewer iterations where weights differ in scale.
func init() {
	register(Info{
		Name:      "tr-gn-jacobi",
		Title:     "Trust-region Gauss–Newton, diag(JᵀJ)",
		Paper:     "Mizutani & Demmel 2003",
		Equations: "Algorithm 1 with JᵀJ products and M = diag(JᵀJ) (algorithm D); eq. 3–7",
		Summary: "Gauss–Newton with the Jacobi preconditioner; the paper's fastest on regression, " +
			"where weights differ much in scale.",
		Cost:       "1.3, 1.3 for each inner iteration, and a backward pass for each output",
		Primary:    "radius",
		Monotone:   true,
		Proposes:   true,
		Needs:      NeedsGaussNewton,
		Parameters: gaussNewtonParameters(Floor),
		New: func() Method {
			return &trust{
				name: "tr-gn-jacobi", needs: NeedsGaussNewton, operator: gaussNewton,
				jacobi: func(*Settings) bool { return true },
			}
		},
	})
}
