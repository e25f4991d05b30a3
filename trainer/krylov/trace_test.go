package krylov

import (
	"errors"
	"math"
	"newtop/internal/vector"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// TraceOptions are the options of Trace. The zero value works.
type TraceOptions struct {
	Probes int    // random vectors, each a product; 0: 10
	Seed   uint64 // of the probes, which depend on nothing else but the dimension

	// Monitor is called after each product with the number of them so far. It may block; an error ends the
	// estimate.
	Monitor func(products int) error
}

// Trace is the oracle of a density's trace: it estimates that of h as the mean of vᵀHv over vectors v of random signs (Hutchinson 1990): their
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

// TestTraceOfDiagonals: random signs cancel, to the last bit where the entries can be added exactly.
func TestTraceOfDiagonals(t *testing.T) {
	for _, probes := range []int{1, 2, 10} {
		got, err := Trace(scaling{8, -3, 0.5, 0, 1024, -0.25}, TraceOptions{Probes: probes, Seed: 3})
		if err != nil || got.Value != 1029.25 || got.Probes != probes || got.Stop != Limit {
			t.Errorf("%v, %+v", err, got)
		}
		if math.IsNaN(got.Error) != (probes == 1) || got.Error > 0 {
			t.Errorf("%d probes: standard error %g", probes, got.Error)
		}
	}
}

// TestTraceVariance holds the mean and the standard error to Hutchinson's variance, 2 Σ_{i≠j} h_ij².
func TestTraceVariance(t *testing.T) {
	h := withEigenvalues(6, spread(12, 0.1, 10)...)
	variance := 0.0
	for i := range 12 {
		for j := range 12 {
			if i != j {
				variance += 2 * h.a.At(i, j) * h.a.At(i, j)
			}
		}
	}
	const probes = 4000
	got, err := Trace(h, TraceOptions{Probes: probes})
	if err != nil || h.products != probes {
		t.Fatal(err, h.products)
	}
	deviation := math.Sqrt(variance / probes)
	near(t, "trace", got.Value, mat.Trace(h.a), 4*deviation)
	near(t, "standard error", got.Error, deviation, 0.1*deviation)
}

func TestTraceEndsEarly(t *testing.T) {
	h := withEigenvalues(4, 3, 2, 1)
	h.poison = 3
	if got, err := Trace(h, TraceOptions{}); err != nil || got != (TraceEstimate{Stop: NotFinite}) || h.products != 3 {
		t.Errorf("poisoned: %v, %+v", err, got)
	}
	stop := errors.New("enough")
	h = withEigenvalues(4, 3, 2, 1)
	got, err := Trace(h, TraceOptions{Monitor: func(products int) error {
		if products == 2 {
			return stop
		}
		return nil
	}})
	if err != stop || got != (TraceEstimate{Stop: Interrupted}) || h.products != 2 {
		t.Errorf("interrupted: %v, %+v", err, got)
	}
}
