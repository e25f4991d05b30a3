package blas

import (
	"math"

	"newtop/internal/kernel"
)

const (
	shallow    = 192     // depth up to which strips of B fit in the first-level cache as they are
	packedRows = 64      // from how many rows of c on
	packedSize = 1 << 16 // and how many elements of B on it pays to copy strips of B and blocks of A
)

//go:generate go run ./gen -out kernels_amd64.s -stubs kernels_amd64.go -pkg blas

// tiling is how a kernel divides c.
type tiling struct {
	lanes int
	rows  [9]int // most rows of a tile by its vectors
	width [4]int // most vectors of a tile by c's rows; the last entry is for more rows
}

// The generator knows the rows, too.
var tilings = [...]tiling{
	kernel.AVX2:   {lanes: 4, rows: [9]int{0, 12, 6, 4, 2, 2, 2, 1, 1}, width: [4]int{0, 8, 6, 3}},
	kernel.AVX512: {lanes: 8, rows: [9]int{0, 16, 12, 9, 3, 3, 3, 3, 3}, width: [4]int{0, 8, 8, 3}},
}

// sumVector is Sum with the vector instructions of k, for sizes above 0 and slices that were checked.
func sumVector(k kernel.Kernel, c []float64, m, n, stride int, start Start, bias []float64, terms []Term) {
	if n <= 4 {
		k = kernel.AVX2 // half a vector of AVX-512, and the same bits
	}
	depth := 0
	for i := range terms {
		depth += terms[i].K
	}
	if depth <= shallow {
		panels(k, c, m, n, stride, start, bias, terms)
		return
	}
	deep(k, c, m, n, stride, start, bias, terms)
}

// deep computes c slice by slice of the terms' columns and rows, one after the other.
func deep(k kernel.Kernel, c []float64, m, n, stride int, start Start, bias []float64, terms []Term) {
	var w *workspace
	deepest := stripSize / (3 * tilings[k].lanes)
	for i := range terms {
		t := &terms[i]
		if pays := m >= packedRows && t.K*n >= packedSize; pays && w == nil {
			w = takeWorkspace()
		}
		count := (t.K + deepest - 1) / deepest
		for i, p := 0, 0; i < count; i++ {
			depth := (t.K + i) / count
			one := [1]Term{{A: t.A[p*t.ColStride:], RowStride: t.RowStride, ColStride: t.ColStride,
				B: t.B[p*t.Stride:], Stride: t.Stride, K: depth}}
			if w != nil {
				w.panels(k, c, m, n, stride, start, bias, &one)
			} else {
				panels(k, c, m, n, stride, start, bias, one[:])
			}
			start = Add
			p += depth
		}
	}
	if w != nil {
		w.giveBack()
	}
}

// panels is the function panels for one term, of which it copies block by block.
func (w *workspace) panels(k kernel.Kernel, c []float64, m, n, stride int, start Start, bias []float64, one *[1]Term) {
	t := one[0]
	width := 3 * tilings[k].lanes
	gap := t.K + blockGap
	for i := 0; i < m; i += blockHeight {
		rows := min(blockHeight, m-i)
		a := t.A[i*t.RowStride:]
		if t.ColStride == 1 {
			for r := range rows {
				copy(w.a[r*gap:][:t.K], a[r*t.RowStride:])
			}
		} else {
			transposeVector(k, w.a[:], gap, a, t.ColStride, t.K, rows)
		}
		if start == Bias {
			bias = bias[min(i, blockHeight):]
		}
		for j := 0; j < n; j += width {
			cols := min(width, n-j)
			for p := range t.K {
				copy(w.b[p*cols:][:cols], t.B[p*t.Stride+j:])
			}
			one[0] = Term{A: w.a[:], RowStride: gap, ColStride: 1, B: w.b[:], Stride: cols, K: t.K}
			panels(k, c[i*stride+j:], rows, cols, stride, start, bias, one[:])
		}
	}
}

// panels computes c strip by strip, so that a strip of B stays in the first-level cache for all tiles of A.
func panels(k kernel.Kernel, c []float64, m, n, stride int, start Start, bias []float64, terms []Term) {
	by := &tilings[k]
	vectors := (n + by.lanes - 1) / by.lanes
	widest := by.width[min(m, len(by.width)-1)]
	count := (vectors + widest - 1) / widest
	p := panel{stride: 8 * stride, start: int(start), count: len(terms)}
	if len(terms) > 0 {
		p.terms = &terms[0]
	}
	if start == Bias {
		p.bias = &bias[0]
	}
	for i, j := 0, 0; i < count; i++ {
		width := (vectors + i) / count // some strips are one vector wider than others
		p.c, p.column = &c[j], 8*j
		j += width * by.lanes
		p.kind = 64 * width
		if j > n {
			p.kind += 32
		}
		p.lanes = by.mask(min(by.lanes, by.lanes+n-j))
		tiles := (m + by.rows[width] - 1) / by.rows[width]
		rows := (m + tiles - 1) / tiles
		p.kind += rows
		p.row, p.short = 0, tiles*rows-m
		p.tall = tiles - p.short
		if k == kernel.AVX512 {
			sumAVX512(&p)
		} else {
			sumAVX2(&p)
		}
	}
}

// mask returns what the kernel wants for the first n lanes of a vector.
func (t *tiling) mask(n int) (lanes [4]uint64) {
	if t.lanes == 8 {
		lanes[0] = 1<<n - 1
		return lanes
	}
	for i := range n {
		lanes[i] = math.MaxUint64
	}
	return lanes
}
