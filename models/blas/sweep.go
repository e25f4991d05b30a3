package blas

import "unsafe"

// sweep is what an assembly function does with a panel of A, some rows high: it goes along the strips of B, whose
// vectors stay in registers for all rows of the panel, and adds to a tile of c for each. All strides are in bytes.
// The generator reads this file.
//
//	        b: depth × 24       the next strip
//	a: 8 × depth    c: 8 × 24   the next tile
type sweep struct {
	c         unsafe.Pointer // first tile's first element
	stride    int            // of c
	a         unsafe.Pointer
	rowStride int
	colStride int
	b         unsafe.Pointer
	bStride   int            // between rows of a strip
	bNext     int            // between strips
	depth     int            // at least 1
	count     int            // of strips, at least 1
	kind      int            // vectors of a strip, and 4 if the last one is masked
	lanes     [4]uint64      // the last vector's of each strip: AVX-512 a mask of bits, AVX2 a mask of vectors
	start     int            // Start
	bias      unsafe.Pointer // first row's
	below     unsafe.Pointer // where c continues after the last tile, which is fetched ahead

	// What is read next is fetched into the second-level cache: four lines for each eight columns of A, aheadRow
	// apart, and the next four aheadStep further on; aheadNext further on for each of aheadStrips strips.
	ahead       unsafe.Pointer
	aheadRow    int
	aheadStep   int
	aheadNext   int
	aheadStrips int
}
