// Command newtop trains feed-forward networks with exact curvature and shows how it goes, in a
// terminal.
package main

import (
	"os"

	"newtop/internal/cli"
	"newtop/models/blas"
)

func main() {
	// The factorizations of lm, dogleg, bpls and of projected eigenproblems are LAPACK's, whose time goes into the BLAS
	// that gonum is told to use, once and before anything does.
	blas.Use()
	os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
