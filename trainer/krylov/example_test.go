package krylov_test

import (
	"fmt"
	"math"

	"newtop/trainer/krylov"
)

// matrix is a small symmetric matrix as an operator.
type matrix [][]float64

func (m matrix) Dim() int { return len(m) }

func (m matrix) MulVecTo(dst, v []float64) {
	for i, row := range m {
		dst[i] = krylov.Inner(row, v, nil)
	}
}

var (
	definite   = matrix{{4, 1, 0}, {1, 3, 1}, {0, 1, 2}}
	indefinite = matrix{{2, 0}, {0, -1}}
)

// Without a region and to a small residual CG solves Hs = −g.
func ExampleCG() {
	var (
		cg krylov.CG
		s  = make([]float64, 3)
	)
	solve, err := cg.SolveTo(s, definite, []float64{-5, -5, -3}, krylov.TrustRegion{Tolerance: 1e-10})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("s = %.3f after %d iterations: %v\n", s, solve.Iterations, solve.Stop.Text())
	fmt.Printf("the model promises a decrease of %.2f\n", solve.Predicted)
	// Output:
	// s = [1.000 1.000 1.000] after 3 iterations: residual small enough
	// the model promises a decrease of 6.50
}

// An indefinite model is followed along its negative curvature to the boundary of the region.
func ExampleTrustRegion() {
	var (
		cg krylov.CG
		s  = make([]float64, 2)
	)
	solve, err := cg.SolveTo(s, indefinite, []float64{0.1, 1}, krylov.TrustRegion{Radius: 2, Rule: krylov.Minimum})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("‖s‖ = %.1f, %v\n", solve.StepNorm, solve.Stop)
	// Output: ‖s‖ = 2.0, negative-curvature
}

// ShorterTo has the step of the same solve in a smaller region, without another product.
func ExampleCG_ShorterTo() {
	var (
		cg krylov.CG
		s  = make([]float64, 3)
	)
	if _, err := cg.SolveTo(s, definite, []float64{-5, -5, -3}, krylov.TrustRegion{Radius: 1, Rule: krylov.Minimum}); err != nil {
		fmt.Println(err)
		return
	}
	_, ok := cg.ShorterTo(s, 0.5)
	fmt.Printf("%t, ‖s‖ = %.2f\n", ok, math.Sqrt(krylov.Inner(s, s, nil)))
	// Output: true, ‖s‖ = 0.50
}

func ExampleLanczos() {
	spectrum, err := krylov.Lanczos(definite, 1, krylov.LanczosOptions{Seed: 1, Tolerance: 1e-8})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("eigenvalues from %.3f to %.3f\n", spectrum.Bottom[0].Value, spectrum.Top[0].Value)
	// Output: eigenvalues from 1.268 to 4.732
}

// The power method finds the eigenvalues that are largest in size, with their signs.
func ExamplePower() {
	dominant, err := krylov.Power(matrix{{1, 0}, {0, -3}}, 1, krylov.PowerOptions{Seed: 1, Tolerance: 1e-8})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.3f\n", dominant.Pairs[0].Value)
	// Output: -3.000
}

// Stochastic Lanczos quadrature estimates how the eigenvalues are spread, and their moments.
func ExampleSpectralDensity() {
	density, err := krylov.SpectralDensity(definite, krylov.DensityOptions{Probes: 200, Seed: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	mean, deviation := density.Moment(1)
	fmt.Println("the mean eigenvalue is 3 within three standard errors:", math.Abs(mean-3) <= 3*deviation)
	// Output: the mean eigenvalue is 3 within three standard errors: true
}
