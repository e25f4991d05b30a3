package blas

import (
	"math"
	"unsafe"

	"newtop/internal/kernel"
)

// tiling is how a kernel divides c.
type tiling struct {
	bytes  int    // of a vector
	rows   [9]int // most rows of a tile by its vectors, which the generator knows, too
	width  [4]int // most vectors of a tile by c's rows; the last entry is for more rows
	masked bool   // all tiles have a mask, whether it is full or not
}

var tilings = [...]tiling{
	kernel.AVX2:   {bytes: 32, rows: [9]int{0, 12, 6, 4, 2, 2, 2, 1, 1}, width: [4]int{0, 8, 6, 3}},
	kernel.AVX512: {bytes: 64, rows: [9]int{0, 16, 12, 9, 2, 2, 2, 2, 2}, width: [4]int{0, 8, 8, 3}, masked: true},
}

// sizeOf returns how many bytes an element has.
func sizeOf[F Float]() int {
	var x F
	return int(unsafe.Sizeof(x))
}

// panels computes c strip by strip, so that a strip of B stays in the first-level cache for all tiles of A.
func panels[F Float](k kernel.Kernel, c []F, m, n, stride int, start Start, bias []F, terms []Term[F]) {
	by := &tilings[k]
	size := sizeOf[F]()
	lanes := by.bytes / size
	vectors := (n + lanes - 1) / lanes
	widest := by.width[min(m, len(by.width)-1)]
	count := (vectors + widest - 1) / widest
	p := panel{stride: size * stride, start: int(start), count: len(terms)}
	if len(terms) > 0 {
		p.terms = unsafe.Pointer(&terms[0])
	}
	if start == Bias {
		p.bias = unsafe.Pointer(&bias[0])
	}
	for i, j := 0, 0; i < count; i++ {
		width := (vectors + i) / count // some strips are one vector wider than others
		p.c, p.column = unsafe.Pointer(&c[j]), size*j
		j += width * lanes
		p.kind = 64 * width
		if by.masked || j > n {
			p.kind += 32
		}
		by.mask(&p.lanes, min(lanes, lanes+n-j), size)
		tiles := (m + by.rows[width] - 1) / by.rows[width]
		rows := (m + tiles - 1) / tiles
		p.kind += rows
		p.row, p.short = 0, tiles*rows-m
		p.tall = tiles - p.short
		run(k, size, &p)
	}
}

// mask stores what the kernel wants for the first n lanes of a vector, of size bytes each. It writes words, as AVX-512
// reads them: to read in one piece what was just written in several waits until the stores before, those of a strip,
// have left the core.
func (by *tiling) mask(lanes *[4]uint64, n, size int) {
	if by.bytes == 64 {
		lanes[0] = 1<<n - 1
		return
	}
	for i := range lanes {
		inWord := min(max(n*size-8*i, 0), 8) // bytes
		lanes[i] = math.MaxUint64 >> (64 - 8*inWord)
	}
}

const (
	shallow      = 192     // depth up to which strips of B fit in the first-level cache as they are
	shallowSlice = 128     // depth of the slices of B that are deeper
	packedRows   = 64      // from how many rows of c on
	packedSize   = 3 << 14 // and how many elements of B on it pays to go panel by panel,
	packedLess   = 1 << 14 // or these, if c has twice the rows and as many columns
)

// isPacked says whether it pays to go panel by panel through a term of depth k.
func isPacked(m, n, k int) bool {
	return m >= packedRows && k*n >= packedSize || m >= 2*packedRows && n >= packedRows && k*n >= packedLess
}

// sumVector is Sum with the vector instructions of k, for sizes above 0 and slices that were checked.
func sumVector[F Float](k kernel.Kernel, c []F, m, n, stride int, start Start, bias []F, terms []Term[F]) {
	if n == 1 && (stride == 1 || m == 1) {
		sumColumn(k, c[:m], start, bias, terms)
		return
	}
	if n*sizeOf[F]() <= 32 {
		k = kernel.AVX2 // half a vector of AVX-512, and the same bits
	}
	depth, packed := 0, false
	for i := range terms {
		depth += terms[i].K
		packed = packed || isPacked(m, n, terms[i].K)
	}
	if depth <= shallow && depth*n < packedSize && !packed {
		panels(k, c, m, n, stride, start, bias, terms)
		return
	}
	for i := range terms {
		t := &terms[i]
		a := operand[F]{t.A, t.RowStride, t.ColStride}
		b := operand[F]{t.B, t.Stride, 1}
		if isPacked(m, n, t.K) {
			w := getWorkspace[F]()
			w.product(k, c, m, n, stride, start, bias, 1, a, b, t.K)
			w.giveBack()
			start = Add
			continue
		}
		count := (t.K + shallowSlice - 1) / shallowSlice
		for i, p := 0, 0; i < count; i++ {
			depth := (t.K + i) / count
			one := [1]Term[F]{{A: a.from(0, p), RowStride: a.row, ColStride: a.col, B: b.from(p, 0), Stride: b.row,
				K: depth}}
			panels(k, c, m, n, stride, start, bias, one[:])
			start = Add
			p += depth
		}
	}
}

// sumColumn is Sum for a c of one contiguous column.
func sumColumn[F Float](k kernel.Kernel, c []F, start Start, bias []F, terms []Term[F]) {
	switch start {
	case Zero:
		clear(c)
	case Bias:
		copy(c, bias)
	}
	for i := range terms {
		t := &terms[i]
		switch {
		case t.K == 0:
		case t.RowStride == 1:
			// The transpose is a row, bᵀ·Aᵀ, and vectors along it are A's columns.
			one := [1]Term[F]{{A: t.B, RowStride: 1, ColStride: t.Stride, B: t.A, Stride: t.ColStride, K: t.K}}
			panels(k, c, 1, len(c), len(c), Add, nil, one[:])
		default:
			i := column(c, t.A, t.RowStride, t.B, t.Stride, t.K)
			if i < len(c) {
				one := [1]Term[F]{{A: t.A[i*t.RowStride:], RowStride: t.RowStride, ColStride: 1, B: t.B,
					Stride: t.Stride, K: t.K}}
				panels(kernel.AVX2, c[i:], len(c)-i, 1, 1, Add, nil, one[:])
			}
		}
	}
}
