package blas

import "sync/atomic"

// Blocks of large products, after Goto and Van de Geijn, "Anatomy of High-Performance Matrix Multiplication"
// (2008): a strip of B of depth × width stays in the first-level cache, a block of A of height × depth in the
// second. Rows of the copies do not lie a power of two apart, where they would push one another out of a cache.
const (
	stripSize   = 24 * 128 // doubles of a strip of B
	blockHeight = 384      // rows of a block of A
	blockSize   = blockHeight * (256 + blockGap)
	blockGap    = 8
)

// workspace holds the copies of blocks that one call works with.
type workspace struct {
	a [blockSize]float64
	b [stripSize]float64
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
