package vector

import (
	"fmt"
	"math"
	"unsafe"

	"gonum.org/v1/gonum/floats"
)

// Sum returns Σ x.
func Sum[F Float](x []F) F {
	if accelerated() {
		return sum(data(x), len(x))
	}
	sum := F(0)
	for _, v := range x {
		sum += v
	}
	return sum
}

// Dot returns xᵀy.
func Dot[F Float](x, y []F) F {
	if fast(len(x), len(y)) {
		return dot(data(x), data(y), len(x))
	}
	sum := F(0)
	for i, y := range y[:len(x)] {
		sum += x[i] * y
	}
	return sum
}

// SumSquares returns Σ x², added up in double precision.
func SumSquares[F Float](x []F) float64 {
	if accelerated() {
		if isSingle[F]() {
			return sumSquaresWidened((*float32)(unsafe.Pointer(unsafe.SliceData(x))), len(x))
		}
		return sumSquares((*float64)(unsafe.Pointer(unsafe.SliceData(x))), len(x))
	}
	sum := 0.0
	for _, v := range x {
		sum += float64(v) * float64(v)
	}
	return sum
}

// Norm returns √Σ x², also where the squares would overflow or lose their digits.
func Norm(x []float64) float64 {
	// Below it, squares among the subnormal numbers could have a share in the sum.
	const small = 0x1p-960
	if s := SumSquares(x); s >= small && s <= math.MaxFloat64 {
		return math.Sqrt(s)
	}
	return floats.Norm(x, 2)
}

// Residual stores u − t in dst and returns Σ (u − t)², added up in double precision.
func Residual[F Float](dst, u, t []F) float64 {
	if fast(len(dst), min(len(u), len(t))) {
		if isSingle[F]() {
			sub(data(dst), data(u), data(t), len(dst))
			return SumSquares(dst)
		}
		p := func(x []F) *float64 { return (*float64)(unsafe.Pointer(unsafe.SliceData(x))) }
		return residual(p(dst), p(u), p(t), len(dst))
	}
	sum := 0.0
	u, t = u[:len(dst)], t[:len(dst)]
	for i, u := range u {
		r := u - t[i]
		dst[i] = r
		sum += float64(r) * float64(r)
	}
	return sum
}

// AddRowSums adds the sum of row i of x, len(dst) × cols, to dst[i].
func AddRowSums[F Float](dst, x []F, cols int) {
	if len(dst) == 0 {
		return
	}
	if cols < 0 || cols > len(x)/len(dst) {
		panic(fmt.Sprintf("vector: %d numbers in %d rows of %d", len(x), len(dst), cols))
	}
	if accelerated() {
		addRowSums(data(dst), data(x), len(dst), cols)
		return
	}
	for i := range dst {
		dst[i] += Sum(x[i*cols:][:cols])
	}
}
