package blas

import "sync/atomic"

// workspace holds the copies that one call works with.
type workspace[F Float] struct {
	a [blockRows*(blockDepth+turn) + blockRows/4*panelGap]F
	b [(blockDepth + turn) * blockBytes / 4]F // what float32 needs
	c [triangleSize * triangleSize]F
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

func getWorkspace[F Float]() *workspace[F] {
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
