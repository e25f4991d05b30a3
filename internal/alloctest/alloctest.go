// Package alloctest counts allocations in tests, on a busy machine too.
package alloctest

import "testing"

// PerRun is the least of up to five calls of testing.AllocsPerRun, which counts what all goroutines of the process
// allocate: what f allocates is in each call, what the garbage collector's workers do as they start is not.
func PerRun(runs int, f func()) float64 {
	least := testing.AllocsPerRun(runs, f)
	for try := 1; try < 5 && least > 0; try++ {
		least = min(least, testing.AllocsPerRun(runs, f))
	}
	return least
}
