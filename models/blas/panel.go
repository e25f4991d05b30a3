package blas

import "unsafe"

// Float is an element of either precision.
type Float interface{ float32 | float64 }

// Term is one product A·B of a sum of products. One of A's strides is 1: ColStride where A lies row by row,
// RowStride where it lies transposed.
type Term[F Float] struct {
	A                    []F // m × K: element (i, p) is A[i·RowStride + p·ColStride]
	RowStride, ColStride int
	B                    []F // K × n: element (p, j) is B[p·Stride + j]
	Stride               int
	K                    int
}

// Start is what a sum of products begins with.
type Start uint8

// The beginnings.
const (
	Zero Start = iota // c is overwritten, whatever was there, NaN included
	Add               // c is added to
	Bias              // row i of c is overwritten, beginning with bias[i]
)

// panel is a strip of c, some vectors wide, for an assembly function to compute. It goes down the strip tile by
// tile: first the tall tiles, whose code is kind, then the short ones of one row less, whose code is kind − 1.
// The generator reads this file.
type panel struct {
	c      unsafe.Pointer // first element
	stride int            // of c, in bytes
	bias   unsafe.Pointer // first row's
	terms  unsafe.Pointer // first Term
	count  int            // of terms
	column int            // first column, in bytes
	start  int
	kind   int // 64·vectors + 32 if the last vector is masked + rows of a tall tile
	tall   int // tiles, at least 1
	short  int
	row    int       // first row of the next tile: 0 at first
	lanes  [4]uint64 // the last vector's: AVX-512 a mask of bits, AVX2 one of vectors
}
