package krylov

import (
	"fmt"
	"math"

	"newtop/internal/vector"
)

// BoundaryRule is how a step that would leave the region is cut.
type BoundaryRule uint8

// The rules. They give the same step when R ≤ ‖s_Cauchy‖_M, where the first iteration leaves the region, but for
// Lanczos steps after that.
const (
	Segment BoundaryRule = iota // stop where the segment crosses the boundary [MD, eq. 5]
	Scaling                     // shorten the whole step to R, which leans to the Newton direction [MD, eq. 6]
	Minimum                     // take the model's minimizer over the Krylov space and ‖s‖_M ≤ R (Gould et al. 1999)
)

// TrustRegion are the options of a solve. The zero value is plain CG with [MD]'s tolerance.
type TrustRegion struct {
	Radius    float64      // R > 0 in the norm of M; 0 or +Inf: no region
	Tolerance float64      // ξ in (0, 1), ‖g + Hs‖₂ ≤ ξ‖g‖₂ ends a solve; 0: 0.01 [MD, eq. 7]
	Limit     int          // k_limit, the most iterations; 0: n
	Diagonal  []float64    // of M, n positive finite numbers; nil: M = I
	Rule      BoundaryRule // how a step is cut at the boundary
	// Inverse stores M⁻¹r in dst for an M that is no diagonal, symmetric positive definite, where there is no region;
	// nil: M is as Diagonal says. ‖s‖_M is then what recurrences say.
	Inverse      func(dst, r []float64)
	RefreshEvery int // iterations from one true residual to the next; 0: 50, negative: never

	// Lanczos is by how many steps, a product each, the rule Minimum may widen the Krylov space of CG; 0: none. They
	// end where ‖g + (H + λM)s‖₂ ≤ ξ‖g‖₂, and count for Limit.
	Lanczos int
	// Memory is how many bytes the rule Minimum may take for the Krylov space, 8n for each iteration; 0: 256 MiB. A
	// solve of more iterations, or of more than ritzLimit, is cut as by Segment. The workspace keeps them.
	Memory int

	// Monitor is called after each iteration, when s is its iterate, and after each Lanczos step, when s is still CG's.
	// It may block; an error ends the solve, and ErrProgress is none.
	Monitor func(Iteration) error
}

// filled returns o with its defaults for n unknowns in place, and panics where o makes no sense.
func (o TrustRegion) filled(n int) TrustRegion {
	if o.Radius == 0 {
		o.Radius = math.Inf(1)
	}
	if o.Tolerance == 0 {
		o.Tolerance = 0.01
	}
	if o.Limit == 0 {
		o.Limit = n
	}
	if o.RefreshEvery == 0 {
		o.RefreshEvery = 50
	}
	if o.Memory == 0 {
		o.Memory = 256 << 20
	}
	switch {
	case !(o.Radius > 0):
		panic(fmt.Sprintf("krylov: radius %v: expected a positive number", o.Radius))
	case !(o.Tolerance > 0 && o.Tolerance < 1):
		panic(fmt.Sprintf("krylov: tolerance %v: expected a number between 0 and 1", o.Tolerance))
	case o.Limit < 0:
		panic(fmt.Sprintf("krylov: limit %d: expected none below 0", o.Limit))
	case o.Lanczos < 0 || o.Memory < 0:
		panic(fmt.Sprintf("krylov: %d Lanczos steps in %d bytes: expected none below 0", o.Lanczos, o.Memory))
	case o.Diagonal != nil && len(o.Diagonal) != n:
		panic(fmt.Sprintf("krylov: diagonal of length %d for %d unknowns", len(o.Diagonal), n))
	}
	if o.Inverse != nil && (o.Diagonal != nil || !math.IsInf(o.Radius, 1)) {
		panic("krylov: an inverse beside a diagonal or a region")
	}
	for i, m := range o.Diagonal {
		if !(m > 0) || math.IsInf(m, 1) {
			panic(fmt.Sprintf("krylov: diagonal entry %d is %v: expected a positive finite number", i, m))
		}
	}
	return o
}

// Inner returns aᵀMb for the diagonal of M; nil: M = I.
func Inner(a, b, diagonal []float64) float64 {
	if diagonal == nil {
		return vector.Dot(a, b)
	}
	sum := 0.0
	for i, m := range diagonal {
		sum += a[i] * m * b[i]
	}
	return sum
}

// BoundaryRoot returns the h ≥ 0 at which ‖s + hd‖ = R, given ‖s‖ ≤ R, sᵀd and ‖d‖². In the
// unit of ‖d‖ it is the positive root of h² + 2bh − (R² − ‖s‖²) = 0; of its two forms the one is taken
// that adds numbers of one sign.
func BoundaryRoot(norm, sd, dd, radius float64) float64 {
	unit := math.Sqrt(dd)
	if norm >= radius {
		return 0
	}
	b := sd / unit
	rest := math.Sqrt(radius-norm) * math.Sqrt(radius+norm)
	far := math.Abs(b) + math.Hypot(b, rest)
	if b < 0 {
		return far / unit
	}
	return rest * (rest / far) / unit
}
