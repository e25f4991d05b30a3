// Package vector has elementwise functions of vectors and reductions in double and single precision, conversions
// between the two, and the updates of first-order methods in double precision.
//
// Slices of one call are equally long; a longer one counts up to the first one's length, a shorter one panics before
// anything is written. dst may be one of the inputs, but must not overlap one partly. An element's value depends on the
// element alone, not on its place or the vector's length; what reductions add in which order depends on the length
// alone. AVX2 and AVX-512 return the same bits, but for some steps below 2⁻⁹⁰⁰ of the updates; the generic code may
// differ from them by roundings.
package vector

import (
	"fmt"
	"math"
	"unsafe"

	"newtop/internal/kernel"
)

//go:generate go run ./gen -out kernels_amd64.s -stubs kernels_amd64.go -pkg vector

// active is the kernel that runs, which the assembly looks at too. Only tests change it.
var active = kernel.Selected()

// accelerated says that the assembly runs, not the Go code.
func accelerated() bool { return active != kernel.Generic }

// data is what the assembly takes of a slice.
func data[F Float](x []F) *F { return unsafe.SliceData(x) }

// Float is a number of either precision.
type Float interface{ float32 | float64 }

// size returns how many bytes a number has.
func size[F Float]() int {
	var x F
	return int(unsafe.Sizeof(x))
}

// isSingle says that numbers are float32. It is known where code is compiled.
func isSingle[F Float]() bool { return size[F]() == 4 }

// fast is need, and says that the assembly runs.
func fast(n, have int) bool {
	need(n, have)
	return accelerated()
}

// need panics if a slice has less than the n numbers that the first one asks for.
func need(n, have int) {
	if have < n {
		short(n, have)
	}
}

//go:noinline
func short(n, have int) {
	panic(fmt.Sprintf("vector: %d numbers where there must be %d", have, n))
}

// Finite reports whether x is neither infinite nor NaN.
func Finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// at32 and at64 return a pointer to numbers of F as what it is.
func at32[F Float](p *F) *float32 { return (*float32)(unsafe.Pointer(p)) }
func at64[F Float](p *F) *float64 { return (*float64)(unsafe.Pointer(p)) }
