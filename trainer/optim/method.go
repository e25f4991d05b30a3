// Package optim holds the training methods, one file each, each reading like its paper. It knows an
// objective only through the interfaces below and never what stands behind it.
package optim

import (
	"context"
	"errors"
	"math/rand/v2"

	"newtop/trainer/krylov"
)

// Objective is what a method minimizes: the mean loss over the training rows as a function of the flat
// weight vector. Dim is the number of weights. Loss returns E(w). GradientTo stores ∂E/∂w in dst and
// returns E(w). Neither modifies or keeps w, and both may return NaN or infinities where E has none.
type Objective interface {
	Dim() int
	Loss(w []float64) float64
	GradientTo(dst, w []float64) float64
}

// HessianObjective has exact products with ∂²E/∂w². The operator stays valid until the next
// GradientTo, Hessian or GaussNewton call with other weights.
type HessianObjective interface {
	Objective
	Hessian(w []float64) krylov.Operator
}

// GaussNewtonObjective has products with the positive semidefinite Gauss–Newton matrix and its
// diagonal, valid as long as a HessianObjective's operator.
type GaussNewtonObjective interface {
	Objective
	GaussNewton(w []float64) krylov.Operator
	GaussNewtonDiagTo(dst, w []float64)
}

// RowObjective is a mean over rows, of which some can be taken alone. BatchGradientTo stores the
// gradient of the mean loss over the given rows (indices in [0, Rows)) and returns that loss.
type RowObjective interface {
	Objective
	Rows() int
	BatchGradientTo(dst, w []float64, rows []int) float64
}

// Capability is a set of what a method needs from its objective beyond loss and gradient.
type Capability uint8

// The capabilities, one for each optional interface.
const (
	NeedsHessian Capability = 1 << iota
	NeedsGaussNewton
	NeedsRows
)

// Missing returns those of the needed capabilities that o lacks, so that a method can be refused
// before a run instead of failing in the middle of one.
func Missing(o Objective, need Capability) Capability {
	var have Capability
	if _, ok := o.(HessianObjective); ok {
		have |= NeedsHessian
	}
	if _, ok := o.(GaussNewtonObjective); ok {
		have |= NeedsGaussNewton
	}
	if _, ok := o.(RowObjective); ok {
		have |= NeedsRows
	}
	return need &^ have
}

// ErrInterrupted is returned by a Monitor, and then by Step, when the outer iteration must be given
// up. The weights are those before the step for a method whose step is one whole, and those after the
// last batch for one that goes through batches.
var ErrInterrupted = errors.New("optim: interrupted")

// ErrStalled is returned by Step when no further progress can be expected: a zero gradient, a radius
// or rate too small to change the weights. It ends a run as finished, not as failed.
var ErrStalled = errors.New("optim: no further progress possible")

// NotFiniteError says that a number which the next step would be computed from is NaN or infinite at the
// current weights. What is "loss", "gradient", "curvature" or "weights".
type NotFiniteError struct{ What string }

func (e *NotFiniteError) Error() string {
	if e.What == "weights" {
		return "the weights are not finite"
	}
	return "the " + e.What + " is not finite"
}

// Inner is one inner unit of an outer iteration: a CG iteration, or one batch.
type Inner struct {
	Block     int              // which block of rows, 0 in batch mode
	Iteration krylov.Iteration // of a CG solve; Number alone for a batch method
	Loss      float64          // the batch's mean loss; NaN for a CG iteration
	Total     int              // how many units the outer iteration has; 0 if not known beforehand
}

// Monitor is called between inner units, never concurrently. It may block (a paused run) and ends the
// outer iteration by returning ErrInterrupted or the context's error.
type Monitor func(Inner) error

// State is what a method works on. The session owns it; a method changes W, Loss, Gradient and its own
// settings and keeps everything else to itself.
type State struct {
	Objective Objective
	W         []float64  // the weights
	Loss      float64    // E(W); meaningful when Evaluated
	Gradient  []float64  // ∂E/∂w at W; meaningful when Evaluated
	Evaluated bool       // whether Loss and Gradient belong to W
	Settings  *Settings  // the method's hyperparameters; may change between steps
	Rand      *rand.Rand // the only source of randomness
	Monitor   Monitor    // nil: nobody watches
}

// watch calls the monitor if there is one, and sees a cancelled context either way.
func (s *State) watch(ctx context.Context, in Inner) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if s.Monitor == nil {
		return nil
	}
	return s.Monitor(in)
}

// InnerSolve is one inner CG solve of an outer iteration.
type InnerSolve struct {
	Block int
	krylov.Solve
}

// Report is what one outer iteration did. Numbers that a method does not have are NaN.
type Report struct {
	Loss         float64      // E after the iteration; NaN if the method did not compute it
	GradientNorm float64      // ‖∂E/∂w‖₂ before it; for batches the root mean square over them
	StepNorm     float64      // ‖Δw‖₂
	Radius       float64      // the radius the step was computed with
	Rho          float64      // actual over predicted reduction
	Accepted     bool         // whether the weights moved
	Inner        []InnerSolve // the inner solves, one a block
}

// Method is one training method. Step does one outer iteration (an epoch). It returns ErrInterrupted
// or the context's error when told to stop, ErrStalled when there is nothing left to do, and a
// *NotFiniteError when the loss is not finite. A Method value is used by one goroutine; what it remembers
// between steps (momentum, moments) starts from nothing in a new value.
type Method interface {
	Name() string
	Needs() Capability
	Step(ctx context.Context, s *State) (Report, error)
}
