//go:build !amd64

package blas

import "newtop/internal/kernel"

// Only kernel.Generic is available.

func run(kernel.Kernel, int, *panel) { panic("blas: no such kernel") }

func runSweep(kernel.Kernel, int, *sweep) { panic("blas: no such kernel") }

func packVector[F Float](kernel.Kernel, []F, int, []F, int, int, int) {
	panic("blas: no such kernel")
}

func packColumns[F Float](kernel.Kernel, []F, int, []F, int, int, int) { panic("blas: no such kernel") }

func transposeVector[F Float](kernel.Kernel, []F, int, []F, int, int, int) {
	panic("blas: no such kernel")
}

func column[F Float](_, _ []F, _ int, _ []F, _, _ int) int { panic("blas: no such kernel") }
