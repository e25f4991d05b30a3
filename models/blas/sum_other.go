//go:build !amd64

package blas

import "newtop/internal/kernel"

func sumVector(_ kernel.Kernel, c []float64, m, n, stride int, start Start, bias []float64, terms []Term) {
	sumGeneric(c, m, n, stride, start, bias, terms)
}
