package krylov

import "testing"

// counted is an operator that tells what its products cost.
type counted struct {
	*dense
	flops float64
}

func (c counted) Flops() float64 { return c.flops }

// TestFlops counts by hand, on [MD, Algorithm 1]: to begin with the norm of the residual and τ; an iteration
// takes γ and dᵀd, two updates along d, ‖r‖ and, unless it is the last, τ and the next d; at the end the
// predicted decrease. Each is 2 operations for each unknown, of which there are 3.
func TestFlops(t *testing.T) {
	const n, product = 3, 1e6
	h, g := diagonal(1, 2, 5), []float64{1, 1, 1}
	m := []float64{1, 1, 1}
	const iteration, between, beginning, end = 2 + 2 + 2 + 2 + 2, 2 + 2, 2 + 2, 2 + 2
	for _, test := range []struct {
		name     string
		o        TrustRegion
		products int
		each     float64 // operations for each unknown
	}{
		{"one iteration", TrustRegion{Limit: 1}, 1, beginning + iteration + end},
		{"three", TrustRegion{Tolerance: 1e-12}, 3, beginning + 3*iteration + 2*between + end},
		{"preconditioned", TrustRegion{Limit: 2, Diagonal: m}, 2, beginning + 1 + 2*iteration + between + 1 + end},
		// The segment root needs sᵀs, sᵀd and dᵀd, and the step's norm once more.
		{"boundary", TrustRegion{Radius: 0.1}, 1, beginning + iteration + 3*2 + 2 + end},
		// z = −g − Hs takes one, the gap three, the norm two; afterwards sᵀs, sᵀd and dᵀd are taken afresh.
		// Each residual is kept, w is made of z and measured, ‖w‖ taken, a step combined of one vector, measured and put to R, and its
		// residual made and measured: 1, 6, 2 and 2 + 7 and 5 + 2 + 4, beside CG's own decrease.
		{"minimum", TrustRegion{Radius: 0.1, Rule: Minimum}, 1, beginning + 1 + iteration + 3*2 + 2 + end + 6 + 2 + 9 + 11 + end},
		{"Lanczos step", TrustRegion{Radius: 0.1, Rule: Minimum, Lanczos: 1}, 2, beginning + 1 + iteration + 3*2 + 2 + end + 6 + 2 + 10 + 2 + 11 + 11 + end},
		{"true residual", TrustRegion{Limit: 2, RefreshEvery: 1}, 4, beginning + 2*(iteration+1+3+2) + between + 3*2 + end},
	} {
		_, out := solve(t, counted{h, product}, g, test.o)
		if out.Products != test.products {
			t.Fatalf("%s: %d products", test.name, out.Products)
		}
		if want := float64(test.products)*product + n*test.each; out.Flops != want {
			t.Errorf("%s: %g operations, expected %g", test.name, out.Flops, want)
		}
		_, alone := solve(t, h, g, test.o)
		if out.Flops-alone.Flops != float64(test.products)*product {
			t.Errorf("%s: %g operations without the products", test.name, alone.Flops)
		}
	}
}
