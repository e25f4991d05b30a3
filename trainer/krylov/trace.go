package krylov

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
)

// defaultProbes is how many random vectors the stochastic estimates use.
const defaultProbes = 10

// TraceEstimate is an estimate of tr H, the sum of the eigenvalues.
type TraceEstimate struct {
	Value  float64 // the mean over the probes
	Error  float64 // its standard error, the spread over the probes; NaN with one probe
	Probes int
	Stop   Stop // Limit, or NotFinite or Interrupted, which leave no estimate
}

// probes is the generator of random signs: the same seed gives the same probes, in every estimate.
func probes(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0x70726f626573)) }

// signsTo stores entries of the given size and random signs (Rademacher).
func signsTo(dst []float64, size float64, rng *rand.Rand) {
	var bits uint64
	for i := range dst {
		if i%64 == 0 {
			bits = rng.Uint64()
		}
		dst[i] = size
		if bits&1 == 0 {
			dst[i] = -size
		}
		bits >>= 1
	}
}

// meanError returns the mean of values and its standard error, NaN for one value alone.
func meanError(values []float64) (mean, deviation float64) {
	n := float64(len(values))
	mean = floats.Sum(values) / n
	squares := 0.0
	for _, v := range values {
		squares += (v - mean) * (v - mean)
	}
	return mean, math.Sqrt(squares / (n - 1) / n)
}
