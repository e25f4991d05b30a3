package blas

import "sync/atomic"

// workspace holds the copies that one call works with.
type workspace struct {
	a [panelRows * (blockDepth + panelGap)]float64
	b [blockDepth * blockWidth]float64
	c [triangleSize * triangleSize]float64
}

// idle keeps workspaces, as many as calls ever ran at the same time or at most the array's length. A sync.Pool
// would let go of them, and calls would allocate again.
var idle [16]atomic.Pointer[workspace]

func takeWorkspace() *workspace {
	for i := range idle {
		if idle[i].Load() != nil {
			if w := idle[i].Swap(nil); w != nil {
				return w
			}
		}
	}
	return new(workspace)
}

func (w *workspace) giveBack() {
	for i := range idle {
		if idle[i].CompareAndSwap(nil, w) {
			return
		}
	}
}

// operand is a matrix of a product: element (i, j) is x[i·row + j·col], and one of the strides is 1.
type operand struct {
	x        []float64
	row, col int
}

// from returns the elements from (i, j) on.
func (o operand) from(i, j int) []float64 { return o.x[i*o.row+j*o.col:] }

// sub returns the matrix from element (i, j) on.
func (o operand) sub(i, j int) operand { return operand{o.from(i, j), o.row, o.col} }

// transposed returns the transpose.
func (o operand) transposed() operand { return operand{o.x, o.col, o.row} }
