package blas

import (
	"unsafe"

	"newtop/internal/kernel"
)

// Large products go block by block, after Goto and Van de Geijn, "Anatomy of High-Performance Matrix Multiplication"
// (2008): a strip of B stays in the first-level cache while it goes down the panels of a block of A, which stays in the
// second-level cache. Strips are copied, so that their rows lie side by side; panels where A doesn't lie row by row.
// What the next panel is made of is fetched meanwhile, and so is the next tile of c: A may come from memory.
const (
	blockDepth   = 256      // most columns of A and rows of B, but for a turn less one
	stripBytes   = 256 * 96 // of a strip at most
	blockBytes   = 1920     // of a row of B at most: a multiple of all kernels' strips
	blockRows    = 64       // most rows of A
	panelRows    = 8        // most rows of a kernel's panel
	panelGap     = 16       // between copied ones, which would push one another out of a cache
	turn         = 8        // columns of A that a turn of the kernel's loop takes
	triangleSize = 96       // rows and columns that Dsyrk computes of a triangle at a time
)

// panelHeights are the rows of kernels' panels, which the generator knows, too.
var panelHeights = [...]int{kernel.AVX2: 4, kernel.AVX512: panelRows}

// stripVectors returns how many vectors of some lanes the next strip of that many columns has: three, as far as that
// leaves no single one.
func stripVectors(cols, lanes int) int {
	vectors := (cols + lanes - 1) / lanes
	if vectors == 4 {
		return 2
	}
	return min(vectors, 3)
}

// product computes c = start + (α·A)·B for A of m × depth and B of depth × n. It adds to an element in the order in
// which panels does.
func (w *workspace[F]) product(k kernel.Kernel, c []F, m, n, stride int, start Start, bias []F,
	alpha F, a, b operand[F], depth int) {
	size := sizeOf[F]()
	blocks := (n + blockBytes/size - 1) / (blockBytes / size)
	rowBytes := 3 * tilings[k].bytes // of a strip
	most := stripBytes / rowBytes
	slices := (depth + most - 1) / most
	strip := rowBytes / size
	strips := (n + strip - 1) / strip
	for block, j := 0, 0; block < blocks; block++ {
		cols := min(n-j, (strips+block)/blocks*strip)
		start := start
		for slice, p := 0, 0; slice < slices; slice++ {
			depth := sliceDepth(depth, slice, slices)
			w.block(k, c[j:], m, cols, stride, start, bias, alpha, a.sub(0, p), b.sub(p, j), depth)
			start = Add
			p += depth
		}
		j += cols
	}
}

// sliceDepth returns how deep a slice of the depth is: whole turns of the kernel's loop but for the last one.
func sliceDepth(depth, slice, slices int) int {
	from, to := depth*slice/slices&^7, depth*(slice+1)/slices&^7
	if slice == slices-1 {
		to = depth
	}
	return to - from
}

// block adds the product of A and a block of B.
func (w *workspace[F]) block(k kernel.Kernel, c []F, m, cols, stride int, start Start, bias []F,
	alpha F, a, b operand[F], depth int) {
	by, rows, size := &tilings[k], panelHeights[k], sizeOf[F]()
	lanes := by.bytes / size
	w.packB(k, b, cols, depth)
	s := sweep{stride: size * stride, cNext: size * rows * stride, depth: depth, start: int(start)}
	whole := m - m%rows
	for i := 0; i < whole; i += blockRows {
		count := min(blockRows, whole-i) / rows
		panels, next := a.sub(i, 0), rows*a.row
		s.aheadRow, s.aheadStep = size*a.row, size*turn
		if a.col != 1 || alpha != 1 {
			panels, next = w.packA(k, alpha, panels, count, depth)
			s.aheadRow, s.aheadStep = 64, size*rows*turn
		}
		s.rowStride, s.colStride, s.aNext = size*panels.row, size*panels.col, size*next
		s.a, s.count = unsafe.Pointer(&panels.x[0]), count
		if start == Bias {
			s.bias = unsafe.Pointer(&bias[i])
		}
		for j, v := 0, 0; j < cols; j += v * lanes {
			v = stripVectors(cols-j, lanes)
			last := min(cols-j-(v-1)*lanes, lanes) // lanes of the last vector
			s.kind = v
			if by.masked || v < 3 || last < lanes {
				s.kind += 4
				by.mask(&s.lanes, last, size)
			}
			s.c, s.b, s.bStride = unsafe.Pointer(&c[i*stride+j]), unsafe.Pointer(&w.b[j*depth]), size*v*lanes
			runSweep(k, size, &s)
		}
	}
	if whole < m {
		w.rest(k, c[whole*stride:], m-whole, cols, stride, start, bias, whole, alpha, a.sub(whole, 0), depth)
	}
}

// packA copies α times some panels of A, column by column, and returns them and how far they are apart.
func (w *workspace[F]) packA(k kernel.Kernel, alpha F, a operand[F], panels, depth int) (packed operand[F], next int) {
	rows := panelHeights[k]
	next = rows*depth + panelGap
	if a.row == 1 {
		packColumns(k, w.a[:], next, a.x, a.col, depth, panels)
	} else {
		for i := range rows * panels {
			to := w.a[i/rows*next+i%rows:]
			for p, x := range a.x[i*a.row:][:depth] {
				to[p*rows] = x
			}
		}
	}
	if alpha != 1 {
		for i := range w.a[:panels*next] {
			w.a[i] *= alpha
		}
	}
	return operand[F]{w.a[:], 1, rows}, next
}

// packB copies depth rows of B, strip by strip.
func (w *workspace[F]) packB(k kernel.Kernel, b operand[F], cols, depth int) {
	lanes := tilings[k].bytes / sizeOf[F]()
	for j, v := 0, 0; j < cols; j += v * lanes {
		v = stripVectors(cols-j, lanes)
		width, from, to := v*lanes, b.from(0, j), w.b[j*depth:]
		switch cols := min(width, cols-j); {
		case b.col != 1:
			transposeVector(k, to, width, from, b.col, cols, depth)
		case cols == width:
			packVector(k, to, width, from, b.row, depth, v)
		default:
			for p := range depth {
				copy(to[p*width:][:cols], from[p*b.row:])
			}
		}
	}
}

// rest adds the product of the rows of A that make no panel, rows first and beyond.
func (w *workspace[F]) rest(k kernel.Kernel, c []F, m, cols, stride int, start Start, bias []F, first int,
	alpha F, a operand[F], depth int) {
	if alpha != 1 {
		packed := operand[F]{w.a[:], depth, 1}
		for i := range m {
			for p := range depth {
				w.a[i*depth+p] = alpha * a.x[i*a.row+p*a.col]
			}
		}
		a = packed
	}
	if start == Bias {
		bias = bias[first:]
	}
	lanes := tilings[k].bytes / sizeOf[F]()
	for j, v := 0, 0; j < cols; j += v * lanes {
		v = stripVectors(cols-j, lanes)
		one := [1]Term[F]{{A: a.x, RowStride: a.row, ColStride: a.col, B: w.b[j*depth:], Stride: v * lanes, K: depth}}
		panels(k, c[j:], m, min(v*lanes, cols-j), stride, start, bias, one[:])
	}
}
