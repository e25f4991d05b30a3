package krylov

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"

	"newtop/internal/vector"
)

// defaultProbes is how many random vectors the stochastic estimates use.
const defaultProbes = 10

// TraceOptions are the options of Trace. The zero value works.
type TraceOptions struct {
	Probes int    // random vectors, each a product; 0: 10
	Seed   uint64 // of the probes, which depend on nothing else but the dimension

	// Monitor is called after each product with the number of them so far. It may block; an error ends the
	// estimate.
	Monitor func(products int) error
}

// TraceEstimate is an estimate of tr H, the sum of the eigenvalues.
type TraceEstimate struct {
	Value  float64 // the mean over the probes
	Error  float64 // its standard error, the spread over the probes; NaN with one probe
	Probes int
	Stop   Stop // Limit, or NotFinite or Interrupted, which leave no estimate
}

// Trace estimates the trace of h as the mean of vᵀHv over vectors v of random signs (Hutchinson 1990): their
// variance is twice the sum of the squared entries beside the diagonal, so that a diagonal h needs but one.
// The error is the monitor's. It panics when h has no dimension.
func Trace(h Operator, o TraceOptions) (TraceEstimate, error) {
	n := h.Dim()
	mustFit(n, 1)
	if o.Probes <= 0 {
		o.Probes = defaultProbes
	}
	p := products{h: h, monitor: o.Monitor}
	rng := probes(o.Seed)
	v, hv := make([]float64, n), make([]float64, n)
	values := make([]float64, o.Probes)
	for i := range values {
		signsTo(v, 1, rng)
		if err := p.multiply(hv, v); err != nil {
			return TraceEstimate{Stop: Interrupted}, err
		}
		if values[i] = vector.Dot(v, hv); !vector.Finite(values[i]) {
			return TraceEstimate{Stop: NotFinite}, nil
		}
	}
	mean, deviation := meanError(values)
	return TraceEstimate{Value: mean, Error: deviation, Probes: o.Probes, Stop: Limit}, nil
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
