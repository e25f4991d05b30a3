package blas

import "unsafe"

// sweep is what an assembly function does with a strip of B, some vectors wide: it goes down panels of A, each some
// rows high, and adds to a tile of c for each. A row of the strip is in registers for all rows of a panel. All strides
// are in bytes. The generator reads this file.
//
//	                b: depth × 24
//	a: 4 × depth    c: 4 × 24
//	   4 × depth       4 × 24    the next tile
type sweep struct {
	c         unsafe.Pointer // first tile's first element
	stride    int            // of c
	cNext     int            // between tiles
	a         unsafe.Pointer
	rowStride int
	colStride int
	aNext     int // between panels
	b         unsafe.Pointer
	bStride   int            // between rows of the strip
	depth     int            // at least 1
	count     int            // of panels, at least 1
	kind      int            // vectors of the strip, and 4 if the last one is masked
	lanes     [4]uint64      // the last vector's: AVX-512 a mask of bits, AVX2 a mask of vectors
	start     int            // Start
	bias      unsafe.Pointer // first row's

	// The next panel is fetched into the second-level cache: four lines, aheadRow apart, for each eight columns of A,
	// and the next four aheadStep further on.
	aheadRow  int
	aheadStep int
}
