//go:build !amd64

package blas

import "newtop/internal/kernel"

// Only kernel.Generic is available.

func run(kernel.Kernel, *panel) { panic("blas: no such kernel") }

func runSweep(kernel.Kernel, *sweep) { panic("blas: no such kernel") }

func packVector(kernel.Kernel, []float64, int, []float64, int, int, int) {
	panic("blas: no such kernel")
}

func transposeVector(kernel.Kernel, []float64, int, []float64, int, int, int) {
	panic("blas: no such kernel")
}

func column(_, _ []float64, _ int, _ []float64, _, _ int) { panic("blas: no such kernel") }

func multiplyAdds(_ kernel.Kernel, rounds int) int { return multiplyAddsGeneric(rounds) }
