package blas

import (
	"sync/atomic"

	"newtop/internal/kernel"
)

// Blocks of large products, after Goto and Van de Geijn, "Anatomy of High-Performance Matrix Multiplication"
// (2008): a block of A and some strips of B are copied so that they stay in the second-level cache, and one strip
// in the first-level one. Several strips are copied at a time because rows of B may be a page apart. The rows of
// the block do not lie a power of two apart, where they would push one another out of a cache.
const (
	blockHeight = 512 // rows of A and c
	blockDepth  = 128 // columns of A, rows of B
	blockWidth  = 96  // columns of B and c: a multiple of all kernels' strips
	blockGap    = 8
)

// workspace holds the copies that one call works with.
type workspace[F Float] struct {
	a [blockHeight * (blockDepth + blockGap)]F
	b [blockDepth * blockWidth]F
	c [blockWidth * blockWidth]F
}

// idle keeps workspaces, as many as calls ever ran at the same time or at most the array's length. A sync.Pool
// would let go of them, and calls would allocate again.
type idle[F Float] [16]atomic.Pointer[workspace[F]]

var (
	idleDouble idle[float64]
	idleSingle idle[float32]
)

// idleOf returns those of the precision.
func idleOf[F Float]() *idle[F] {
	if all, ok := any(&idleDouble).(*idle[F]); ok {
		return all
	}
	return any(&idleSingle).(*idle[F])
}

func takeWorkspace[F Float]() *workspace[F] {
	all := idleOf[F]()
	for i := range all {
		if all[i].Load() != nil {
			if w := all[i].Swap(nil); w != nil {
				return w
			}
		}
	}
	return new(workspace[F])
}

func (w *workspace[F]) giveBack() {
	all := idleOf[F]()
	for i := range all {
		if all[i].CompareAndSwap(nil, w) {
			return
		}
	}
}

// operand is a matrix of a product: element (i, j) is x[i·row + j·col], and one of the strides is 1.
type operand[F Float] struct {
	x        []F
	row, col int
}

// from returns the elements from (i, j) on.
func (o operand[F]) from(i, j int) []F { return o.x[i*o.row+j*o.col:] }

// sub returns the matrix from element (i, j) on.
func (o operand[F]) sub(i, j int) operand[F] { return operand[F]{o.from(i, j), o.row, o.col} }

// transposed returns the transpose.
func (o operand[F]) transposed() operand[F] { return operand[F]{o.x, o.col, o.row} }

// product computes c = start + (α·A)·B for A of m × depth and B of depth × n, copying block by block. It adds to
// an element in the order in which panels does.
func (w *workspace[F]) product(k kernel.Kernel, c []F, m, n, stride int, start Start, bias []F,
	alpha F, a, b operand[F], depth int) {
	slices := (depth + blockDepth - 1) / blockDepth
	blocks := (m + blockHeight - 1) / blockHeight
	for slice, p := 0, 0; slice < slices; slice++ {
		depth := (depth + slice) / slices
		for block, i := 0, 0; block < blocks; block++ {
			rows := (m + block) / blocks
			w.packA(k, alpha, a.sub(i, p), rows, depth)
			for j := 0; j < n; j += blockWidth {
				from := bias
				if start == Bias {
					from = bias[i:]
				}
				w.block(k, c[i*stride+j:], rows, min(blockWidth, n-j), stride, start, from, b.sub(p, j), depth)
			}
			i += rows
		}
		start = ahead
		p += depth
	}
}

// block adds the product of the block of A in w and of cols columns of B, at most blockWidth.
func (w *workspace[F]) block(k kernel.Kernel, c []F, rows, cols, stride int, start Start, bias []F,
	b operand[F], depth int) {
	strip := tilings[k].strip(sizeOf[F]())
	if b.col == 1 {
		w.packB(b, depth, cols, strip)
	}
	for j := 0; j < cols; j += strip {
		width := min(strip, cols-j)
		if b.col != 1 {
			transposeVector(k, w.b[j*depth:], width, b.from(0, j), b.col, width, depth)
		}
		one := [1]Term[F]{{A: w.a[:], RowStride: depth + blockGap, ColStride: 1, B: w.b[j*depth:], Stride: width, K: depth}}
		panels(k, c[j:], rows, width, stride, start, bias, one[:])
	}
}

// packA copies α times rows × depth elements row by row.
func (w *workspace[F]) packA(k kernel.Kernel, alpha F, a operand[F], rows, depth int) {
	stride := depth + blockGap
	if a.col == 1 {
		for i := range rows {
			copy(w.a[i*stride:][:depth], a.from(i, 0))
		}
	} else {
		transposeVector(k, w.a[:], stride, a.x, a.col, depth, rows)
	}
	if alpha == 1 {
		return
	}
	for i := range rows {
		row := w.a[i*stride:][:depth]
		for j := range row {
			row[j] *= alpha
		}
	}
}

// packB copies depth rows of cols elements, strip by strip.
func (w *workspace[F]) packB(b operand[F], depth, cols, strip int) {
	last := (cols - 1) / strip * strip // where the last strip begins, which may be narrower
	for p := range depth {
		row := b.from(p, 0)[:cols]
		for j := 0; j < last; j += strip {
			copy(w.b[j*depth+p*strip:][:strip], row[j:])
		}
		row = row[last:]
		copy(w.b[last*depth+p*len(row):], row)
	}
}
