package krylov

import (
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
)

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
