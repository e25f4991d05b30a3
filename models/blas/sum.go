package blas

import "newtop/internal/kernel"

// Sum computes c = start + Σ_t A_t·B_t for a matrix c of m × n with rows stride apart. bias has m numbers with
// Bias and is ignored otherwise. Terms with K = 0 add nothing. c must not overlap the terms. It allocates
// nothing, starts no goroutine, and an element's value depends on the element alone, not on its place: the
// products are added one after another, in the order of the terms and of p.
func Sum(c []float64, m, n, stride int, start Start, bias []float64, terms []Term) {
	sum(kernel.Selected(), c, m, n, stride, start, bias, terms)
}

func sum(k kernel.Kernel, c []float64, m, n, stride int, start Start, bias []float64, terms []Term) {
	if m < 0 || n < 0 {
		panic("blas: negative size")
	}
	if m == 0 || n == 0 {
		return
	}
	check(c, m, n, stride, start, bias, terms)
	if k == kernel.Generic {
		sumGeneric(c, m, n, stride, start, bias, terms)
		return
	}
	sumVector(k, c, m, n, stride, start, bias, terms)
}

// check panics unless all elements that m × n and the terms speak of are in their slices: assembly would read
// and write outside.
func check(c []float64, m, n, stride int, start Start, bias []float64, terms []Term) {
	if !holds(c, m, n, stride) {
		panic("blas: short c")
	}
	if start > Bias {
		panic("blas: unknown start")
	}
	if start == Bias && len(bias) < m {
		panic("blas: short bias")
	}
	for i := range terms {
		t := &terms[i]
		if t.K <= 0 {
			if t.K < 0 {
				panic("blas: negative K")
			}
			continue
		}
		if !holds(t.B, t.K, n, t.Stride) {
			panic("blas: short B")
		}
		switch {
		case t.ColStride == 1 && holds(t.A, m, t.K, t.RowStride):
		case t.RowStride == 1 && holds(t.A, t.K, m, t.ColStride):
		default:
			panic("blas: short A, or one without a stride of 1")
		}
	}
}

// holds says whether x holds a matrix of rows × cols, both at least 1, with rows stride apart.
func holds(x []float64, rows, cols, stride int) bool {
	return (stride >= cols || rows == 1) && (rows-1)*stride+cols <= len(x)
}

// sumGeneric is Sum in Go.
func sumGeneric(c []float64, m, n, stride int, start Start, bias []float64, terms []Term) {
	for i := range m {
		row := c[i*stride:][:n]
		switch start {
		case Zero:
			clear(row)
		case Bias:
			for j := range row {
				row[j] = bias[i]
			}
		}
		for _, t := range terms {
			for p := range t.K {
				a := t.A[i*t.RowStride+p*t.ColStride]
				for j, b := range t.B[p*t.Stride:][:n] {
					row[j] += a * b
				}
			}
		}
	}
}
