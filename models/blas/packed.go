package blas

import (
	"unsafe"

	"newtop/internal/kernel"
)

// Large products go panel by panel, after Goto and Van de Geijn, "Anatomy of High-Performance Matrix Multiplication"
// (2008): a block of B stays in the second-level cache, strip by strip, and every panel of A, some rows high, goes
// along its strips. What the next panel is made of is fetched meanwhile, and so is the next tile of c: A may come from
// memory.
const (
	blockDepth   = 256  // most columns of A and rows of B
	blockBytes   = 1920 // of a row of B at most: a multiple of all kernels' strips
	panelRows    = 8    // most rows of a kernel's panel
	panelGap     = 8    // between rows of a copied one, which would push one another out of a cache
	closeBytes   = 2048 // up to how far apart rows of B are read where they lie
	turn         = 8    // columns of A that a turn of the kernel's loop takes
	triangleSize = 96   // rows and columns that Dsyrk computes of a triangle at a time
)

// panelHeights are the rows of kernels' panels, which the generator knows, too.
var panelHeights = [...]int{kernel.AVX2: 4, kernel.AVX512: panelRows}

// stripGroup is count strips of as many vectors side by side, of which width columns are there.
type stripGroup struct {
	count, vectors, width int
}

// stripGroups returns how a block of some columns is divided for vectors of that many lanes: into strips of three
// vectors, as far as that leaves no single one, and the last strip apart if its last vector is not full.
func (by *tiling) stripGroups(cols, lanes int) (groups [4]stripGroup, n int) {
	vectors := (cols + lanes - 1) / lanes
	counts := [4]int{3: vectors / 3}
	switch {
	case vectors%3 == 2:
		counts[2] = 1
	case vectors%3 == 1 && vectors > 1:
		counts[3]--
		counts[2] = 2
	case vectors == 1:
		counts[1] = 1
	}
	for v := 3; v > 0; v-- {
		if counts[v] > 0 {
			groups[n] = stripGroup{counts[v], v, counts[v] * v * lanes}
			n++
		}
	}
	if missing := vectors*lanes - cols; missing > 0 {
		last := &groups[n-1]
		last.count--
		last.width -= last.vectors * lanes
		one := stripGroup{1, last.vectors, last.vectors*lanes - missing}
		if last.count == 0 {
			n--
		}
		groups[n] = one
		n++
	}
	return groups, n
}

// product computes c = start + (α·A)·B for A of m × depth and B of depth × n. It adds to an element in the order in
// which panels does.
func (w *workspace[F]) product(k kernel.Kernel, c []F, m, n, stride int, start Start, bias []F,
	alpha F, a, b operand[F], depth int) {
	size := sizeOf[F]()
	blocks := (n + blockBytes/size - 1) / (blockBytes / size)
	slices := (depth + blockDepth - 1) / blockDepth
	strip := tilings[k].strip(size)
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
	groups, n := by.stripGroups(cols, by.bytes/size)
	strips := w.packB(k, b, groups[:n], depth)
	s := sweep{stride: size * stride, depth: depth, start: int(start)}
	i := 0
	for ; i+rows <= m; i += rows {
		panel := a.sub(i, 0)
		if a.col != 1 || alpha != 1 {
			panel = w.packA(k, alpha, panel, rows, depth)
		}
		s.a, s.rowStride, s.colStride = unsafe.Pointer(&panel.x[0]), size*panel.row, size*panel.col
		if start == Bias {
			s.bias = unsafe.Pointer(&bias[i])
		}
		next := 0
		if i+2*rows <= m {
			next = i + rows
		}
		s.below = unsafe.Pointer(&c[next*stride])
		fetch(&s, a.sub(next, 0))
		along(&s, k, c[i*stride:], strips, groups[:n])
	}
	if i < m {
		w.rest(k, c[i*stride:], m-i, stride, start, bias, i, alpha, a.sub(i, 0), strips, groups[:n], depth)
	}
}

// fetch makes the sweep fetch a panel.
func fetch[F Float](s *sweep, a operand[F]) {
	size := sizeOf[F]()
	s.ahead = unsafe.Pointer(&a.x[0])
	s.aheadStrips = 2
	if a.col == 1 {
		s.aheadRow, s.aheadStep = size*a.row, size*turn
		s.aheadNext = 4*s.aheadRow - s.depth/turn*s.aheadStep
		return
	}
	s.aheadRow = size * a.col
	s.aheadStep, s.aheadNext = 4*s.aheadRow, 0
}

// along goes along the strips of B with a panel.
func along[F Float](s *sweep, k kernel.Kernel, c []F, b strips[F], groups []stripGroup) {
	by, size := &tilings[k], sizeOf[F]()
	lanes := by.bytes / size
	for i := range groups {
		g := &groups[i]
		width := g.vectors * lanes
		s.c, s.b = unsafe.Pointer(&c[0]), unsafe.Pointer(&b.x[0])
		row, next := b.strides(width, s.depth)
		s.bStride, s.bNext = size*row, size*next
		s.count, s.kind = g.count, g.vectors
		full := g.width == g.count*width
		if by.masked || !full || g.vectors < len(by.width)-1 {
			s.kind += 4
			left := lanes
			if !full {
				left = g.width - (width - lanes)
			}
			by.mask(&s.lanes, left, size)
		}
		runSweep(k, size, s)
		if i+1 < len(groups) {
			c, b.x = c[g.width:], b.x[g.count*next:]
		}
	}
}

// packA copies α times rows × depth elements.
func (w *workspace[F]) packA(k kernel.Kernel, alpha F, a operand[F], rows, depth int) operand[F] {
	packed := operand[F]{w.a[:], 1, rows}
	if a.row == 1 && a.col != 1 {
		w.packColumns(k, a, rows, depth)
	} else {
		packed = operand[F]{w.a[:], depth + panelGap, 1}
		for i := range rows {
			copy(w.a[i*packed.row:][:depth], a.from(i, 0))
		}
	}
	if alpha != 1 {
		for i := range w.a[:rows*(depth+panelGap)] {
			w.a[i] *= alpha
		}
	}
	return packed
}

// packColumns copies columns of a panel, which are a vector of float64, or half of one of float32.
func (w *workspace[F]) packColumns(k kernel.Kernel, a operand[F], rows, depth int) {
	if half := sizeOf[F]() == 4; !half || k == kernel.AVX512 {
		if half {
			k = kernel.AVX2
		}
		packVector(k, w.a[:], rows, a.x, a.col, depth, 1)
		return
	}
	for p := range depth {
		to, from := w.a[p*rows:][:4], a.x[p*a.col:][:4]
		to[0], to[1], to[2], to[3] = from[0], from[1], from[2], from[3]
	}
}

// strips are those of a block of B, one after another, or side by side where the block lies.
type strips[F Float] struct {
	x   []F
	row int // between the rows of the block; 0: the strips were copied
}

// strides returns how far the rows of a strip are apart, and the strips, for strips of some columns.
func (s strips[F]) strides(width, depth int) (row, next int) {
	if s.row == 0 {
		return width, width * depth
	}
	return s.row, width
}

// packB copies depth rows, strip by strip, unless they lie close together.
func (w *workspace[F]) packB(k kernel.Kernel, b operand[F], groups []stripGroup, depth int) strips[F] {
	if b.col == 1 && b.row <= closeBytes/sizeOf[F]() {
		return strips[F]{b.x, b.row}
	}
	to, lanes, j := w.b[:], tilings[k].bytes/sizeOf[F](), 0
	for _, g := range groups {
		width := g.vectors * lanes
		for i := range g.count {
			cols := min(width, g.width-i*width)
			switch from := b.from(0, j); {
			case b.col != 1:
				transposeVector(k, to, width, from, b.col, cols, depth)
			case cols == width:
				packVector(k, to, width, from, b.row, depth, g.vectors)
			default:
				for p := range depth {
					copy(to[p*width:][:cols], from[p*b.row:])
				}
			}
			to = to[depth*width:]
			j += cols
		}
	}
	return strips[F]{x: w.b[:]}
}

// rest adds the product of the rows of A that make no panel, rows first and beyond.
func (w *workspace[F]) rest(k kernel.Kernel, c []F, m, stride int, start Start, bias []F, first int,
	alpha F, a operand[F], b strips[F], groups []stripGroup, depth int) {
	if alpha != 1 {
		packed := operand[F]{w.a[:], depth + panelGap, 1}
		for i := range m {
			for p := range depth {
				w.a[i*packed.row+p] = alpha * a.x[i*a.row+p*a.col]
			}
		}
		a = packed
	}
	if start == Bias {
		bias = bias[first:]
	}
	lanes, j := tilings[k].bytes/sizeOf[F](), 0
	for _, g := range groups {
		width := g.vectors * lanes
		row, next := b.strides(width, depth)
		for i := range g.count {
			cols := min(width, g.width-i*width)
			one := [1]Term[F]{{A: a.x, RowStride: a.row, ColStride: a.col, B: b.x, Stride: row, K: depth}}
			panels(k, c[j:], m, cols, stride, start, bias, one[:])
			if j += cols; cols == width {
				b.x = b.x[min(next, len(b.x)):]
			}
		}
	}
}
