// Package peak measures what the multiply-add units of a core can do at most.
package peak

import (
	"math"
	"runtime"
	"time"

	"newtop/internal/kernel"
)

//go:generate go run ./gen -out kernels_amd64.s -stubs kernels_amd64.go -pkg peak

// Measure returns for about d what one core can do at most with the selected kernel: multiply-adds of float64 whose
// operands are in registers, in GFLOP/s, a multiply-add counting two. It is the best of many short runs.
func Measure(d time.Duration) float64 {
	best := math.Inf(1)
	flops := 0
	for begin := time.Now(); ; {
		start := time.Now()
		flops = multiplyAdds(kernel.Selected(), rounds)
		end := time.Now()
		best = min(best, end.Sub(start).Seconds())
		if end.Sub(begin) >= d {
			return 1e-9 * float64(flops) / best
		}
	}
}

// rounds makes a run long beside the clock's resolution and short beside a scheduler's slice.
const rounds = 4000

// multiplyAddsGeneric does what the compiler makes of independent multiply-adds, and returns how many operations it
// did.
func multiplyAddsGeneric(rounds int) int {
	x, y := 1.0, 0.5
	var a, b, c, d, e, f, g, h float64
	for range rounds {
		a += x * y
		b += x * y
		c += x * y
		d += x * y
		e += x * y
		f += x * y
		g += x * y
		h += x * y
	}
	runtime.KeepAlive(a + b + c + d + e + f + g + h) // or the compiler leaves out the work
	return rounds * 8 * 2
}
