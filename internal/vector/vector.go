// Package vector has elementwise functions of vectors, reductions, and the updates of first-order methods, in
// double precision.
//
// Slices of one call are equally long; a longer one counts up to the first one's length, a shorter one panics
// before anything is written. dst may be one of the inputs, but must not overlap one partly. An element's value
// depends on the element alone, not on its place or the vector's length; what reductions add in which order depends
// on the length alone. AVX2 and AVX-512 return the same bits; the generic code may differ from them by roundings.
package vector

import "newtop/internal/kernel"

// active is the kernel that runs. Only tests change it.
var active = kernel.Selected()
