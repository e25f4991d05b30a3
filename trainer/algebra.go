package trainer

import "newtop/models/blas"

// The factorizations of lm, dogleg, bpls and of projected eigenproblems are LAPACK's, whose time goes into the BLAS that
// gonum is told to use, once and before anything does.
func init() { blas.Use() }
