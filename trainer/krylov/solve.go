// Package krylov holds the iterative methods that see a matrix only through products with it:
// truncated conjugate gradients in a trust region and the Lanczos process.
//
// Notation, after Mizutani & Demmel 2003 ([MD], Algorithm 1) and Steihaug 1983:
//
//	H  the symmetric operator, n × n, possibly indefinite
//	g  the gradient, n
//	M  the preconditioner, symmetric positive definite
//	R  the trust-region radius in the norm ‖s‖_M = √(sᵀMs)
//	q  the quadratic model, q(s) = gᵀs + ½ sᵀHs
//	λ  the multiplier of the region, 0 but for a minimizer on its boundary
package krylov

import (
	"errors"
	"fmt"
)

// ErrProgress is what a Monitor returns to end a solve for Progress, which is then no error.
var ErrProgress = errors.New("too little progress")

// Operator is a symmetric linear map known by its products. MulVecTo stores the product with v in
// dst; both have length Dim, they do not overlap, v is not modified and nothing keeps either.
// The operator must stay the same from the first product of a solve to its last.
type Operator interface {
	Dim() int
	MulVecTo(dst, v []float64)
}

// Counter is an Operator that knows what its products cost. Flops returns the floating-point operations of
// one product, a multiplication and an addition being two.
type Counter interface {
	Operator
	Flops() float64
}

// Stop is the reason why an inner solve ended.
type Stop uint8

// The reasons, in the order of [MD, eq. 7] where it has them.
const (
	NegativeCurvature Stop = iota + 1 // dᵀHd ≤ 0: the step goes to the boundary along d
	Boundary                          // ‖s‖_M reached R
	Residual                          // ‖g + Hs‖₂ ≤ ξ‖g‖₂
	Limit                             // the allowed number of iterations was spent
	NotFinite                         // a product or an inner product was NaN or infinite
	Interrupted                       // the monitor or the context asked to stop
	Progress                          // q fell by too little over the last iterations, says the monitor
)

var stops = [...]struct {
	name, words string
	letter      byte
	early, bad  bool
}{
	NegativeCurvature: {"negative-curvature", "negative curvature", 'N', true, false},
	Boundary:          {"boundary", "trust-region boundary", 'B', true, false},
	Residual:          {"residual", "residual small enough", 'R', false, false},
	Limit:             {"limit", "iteration limit", 'L', true, false},
	NotFinite:         {"not-finite", "a number was not finite", '!', true, true},
	Interrupted:       {"interrupted", "interrupted", 'I', true, false},
	Progress:          {"progress", "too little progress", 'P', true, false},
}

// Stops lists every reason in the order in which they are shown.
func Stops() []Stop {
	return []Stop{NegativeCurvature, Boundary, Residual, Progress, Limit, NotFinite, Interrupted}
}

func (s Stop) valid() bool { return s >= NegativeCurvature && s <= Progress }

// String returns the name that events carry.
func (s Stop) String() string {
	if !s.valid() {
		return "running"
	}
	return stops[s].name
}

// Text returns the reason as a reader would say it.
func (s Stop) Text() string {
	if !s.valid() {
		return "running"
	}
	return stops[s].words
}

// Letter returns the one capital that stands for the reason where there is no room for more.
func (s Stop) Letter() byte {
	if !s.valid() {
		return '.'
	}
	return stops[s].letter
}

// Early reports whether the linear system was left before its residual was small enough.
func (s Stop) Early() bool { return s.valid() && stops[s].early }

// Failed reports whether the step that the solve returned must not be used.
func (s Stop) Failed() bool { return s.valid() && stops[s].bad }

// MarshalText returns the reason's name.
func (s Stop) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText accepts what MarshalText writes.
func (s *Stop) UnmarshalText(text []byte) error {
	for _, r := range append(Stops(), 0) {
		if r.String() == string(text) {
			*s = r
			return nil
		}
	}
	return fmt.Errorf("krylov: unknown stop reason %q", text)
}

// Iteration is the state of a solve after one inner iteration.
type Iteration struct {
	Number    int     // 1 for the first
	Residual  float64 // ‖g + Hs‖₂ by CG's recurrence, of a Lanczos step ‖g + (H + λM)s‖₂
	Gradient  float64 // ‖g‖₂, what Residual is measured against
	StepNorm  float64 // ‖s‖_M
	Radius    float64 // R
	Curvature float64 // dᵀHd / dᵀd along this iteration's direction
	Model     float64 // q(s), negative when the model promises a decrease
}

// Solve is the outcome of an inner solve.
type Solve struct {
	Iterations     int       // products spent on directions, the Lanczos steps among them
	LanczosSteps   int       // after CG met the boundary or negative curvature
	Products       int       // all products, those of the true residual included
	Stop           Stop      // why it ended
	StepNorm       float64   // ‖s‖_M
	Radius         float64   // R
	GradientNorm   float64   // ‖g‖₂, what Residual is measured against
	Multiplier     float64   // λ ≥ 0 of a minimizer over the Krylov space; NaN where the step is CG's
	Steihaug       float64   // the decrease that CG's own step promised; NaN where no other was looked for
	Residual       float64   // ‖g + (H + λM)s‖₂ by recurrence; λ = 0 where the step is CG's
	TrueResidual   float64   // ‖g + (H + λM)s‖₂ by one extra product; NaN when none was spent
	Gap            float64   // the largest ‖r − r_true‖₂ that an extra product showed; NaN when none was spent
	Curvature      float64   // dᵀHd / dᵀd of CG's last direction; NaN when there was none
	Predicted      float64   // −q(s) = ½ sᵀ(r − g) ≥ 0 with r = −g − Hs: the decrease the model promises
	Ritz           []float64 // ascending Ritz values of M^-½ H M^-½ from the coefficients of CG and Lanczos
	Preconditioned bool      // whether M ≠ I, so that Ritz values are not those of H
	// Flops is what the whole solve took in floating-point operations: the vectors of CG, and the products
	// where the operator is a Counter.
	Flops float64
}
