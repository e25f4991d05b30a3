// Package app is the newtop program, for programs that add methods, losses and data sets of their own to it.
package app

import (
	"io"

	"newtop/internal/cli"
	"newtop/models/blas"
)

// Main runs newtop with the arguments behind the program's name, and returns the exit code: 0 where all went well. What
// methods.Register, models.RegisterLoss and datasets.Register added before is known to its flags, lists and screens.
//
// It makes gonum compute with newtop's kernels, see blas.Use.
func Main(args []string, in io.Reader, out, errs io.Writer) int {
	// The factorizations of lm, dogleg, bpls and of projected eigenproblems are LAPACK's, whose time goes into the BLAS
	// that gonum is told to use, once and before anything does.
	blas.Use()
	return cli.Main(args, in, out, errs)
}
