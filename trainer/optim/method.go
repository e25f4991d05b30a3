// Package optim says what a training method is: what it asks of an objective, what it reports of a step, its settings,
// and what of it a checkpoint carries. The methods stand in the packages below it, a file each that reads like its
// paper; methods lists them. None knows an objective but through the interfaces here.
package optim

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"newtop/internal/vector"
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

// SingleObjective can have weights and gradients of batches in single precision, as its passes have them. Where Single
// reports so, SingleGradientTo is BatchGradientTo, and a method may keep all that it has of every weight in float32.
type SingleObjective interface {
	RowObjective
	Single() bool
	SingleGradientTo(dst, w []float32, rows []int) float64
}

// BatchedObjective is a RowObjective that may have its rows in batches alone, as another program reads them: Batches
// returns the rows of each, and the rows that are taken of it are numbers of batches then. nil: rows come one by one.
type BatchedObjective interface {
	RowObjective
	Batches() []int
}

// SquaresObjective has the gradients of single rows, and their squares. BatchGradientSquaresTo is
// BatchGradientTo, and stores in squares the mean over the given rows of the squares of each row's own gradient, that
// of its loss alone: a penalty on weights is in dst and in the loss, and not in squares. So squares are the diagonal of
// the empirical Fisher matrix, with which Martens 2010, §4.7, preconditions, and without a penalty squares − dst² is
// the variance of a row's gradient.
type SquaresObjective interface {
	RowObjective
	BatchGradientSquaresTo(dst, squares, w []float64, rows []int) float64
}

// SampledObjective has the curvature of some of its rows, as Hessian-free methods need it [Martens 2010; Byrd et al.
// 2011]. Sample returns the mean loss over the given rows (indices in [0, Rows), any of them more than once) as an
// objective of its own, which offers what the whole does and has a penalty on weights whole. What is asked of it is
// charged as its share of the rows.
//
// A slot, counted from 0, has room for one sample and what it keeps for products. The next Sample of the slot takes the
// room, so that the one before must not be used any more; others may sample between two steps, so none is kept from one
// step to the next.
type SampledObjective interface {
	RowObjective
	Sample(slot int, rows []int) Objective
}

// NoisyObjective can add noise to the inputs of rows. NoisyGradientTo is BatchGradientTo with normal noise of standard
// deviation Noise on every input, drawn from rng. Where Noise is not 0 methods that go through batches use it for all
// of them.
type NoisyObjective interface {
	RowObjective
	Noise() float64
	NoisyGradientTo(dst, w []float64, rows []int, rng *rand.Rand) float64
}

// JacobianObjective has the Gauss–Newton matrix through its explicit Jacobian rows: products as dear as
// the rows [MD, Algorithm 2], and the matrix itself, which GaussNewtonMatrixTo stores in dst of size Dim. That
// may take long: watch, if it is not nil, is called after each part of the work with the number of parts done
// and of all. An error of watch ends it and is returned; dst is worthless then.
type JacobianObjective interface {
	GaussNewtonObjective
	GaussNewtonRows(w []float64) krylov.Operator
	GaussNewtonMatrixTo(dst *mat.SymDense, w []float64, watch func(part, parts int) error) error
}

// BlockObjective is a mean over rows that can be split. Blocks returns the objectives of count equal
// parts of the rows, in 1 ≤ count ≤ Rows; the mean of their losses, weighted by their rows, is the whole's.
// The parts stay the same as long as count does, offer what the whole offers, and each keeps what it needs
// for products at its own last weights.
type BlockObjective interface {
	Objective
	Rows() int
	Blocks(count int) []Objective
}

// ErrInterrupted is returned by a Monitor, and then by Step, when the outer iteration must be given
// up. The weights are those before the step for a method whose step is one whole, and those after the
// last batch for one that goes through batches.
var ErrInterrupted = errors.New("optim: interrupted")

// ErrStalled is what a *StalledError is.
var ErrStalled = errors.New("optim: no further progress possible")

// Why several methods stall.
var (
	ErrTooShort = &StalledError{"the step is too short to change any weight"}
	ErrHidden   = &StalledError{"no step changes the loss by more than its rounding"}
)

// StalledError is returned by Step when no further progress can be expected, with the reason: a zero
// gradient, a radius or rate too small to change the weights. It ends a run as finished, not as failed.
type StalledError struct{ Reason string }

func (e *StalledError) Error() string { return e.Reason }

// Is reports whether the target is ErrStalled.
func (e *StalledError) Is(target error) bool { return target == ErrStalled }

// NotFiniteError says that a number which the next step would be computed from is NaN or infinite at the
// current weights. What is "loss", "gradient", "curvature", "least-squares problem" or "weights".
type NotFiniteError struct{ What string }

func (e *NotFiniteError) Error() string {
	if e.What == "weights" {
		return "the weights are not finite"
	}
	return "the " + e.What + " is not finite"
}

// Inner is one inner unit of an outer iteration: a CG iteration or another trial of a step, one batch, or a part
// of other work.
type Inner struct {
	Block     int              // which block of rows, 0 in batch mode
	Iteration krylov.Iteration // of a CG solve; Number alone for a batch and a part
	Loss      float64          // the batch's mean loss, or that of the weights for a part; NaN for a CG iteration
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
	Epoch     int        // outer iterations since the method took over
	Epochs    int        // that it has in all, as far as is planned; 0: until the run is stopped
	Rand      *rand.Rand // the only source of randomness
	Monitor   Monitor    // nil: nobody watches
	// Settle stores the weights in W where a method whose step is under way has them elsewhere; nil: they are there.
	// Who reads W meanwhile calls it by Settled.
	Settle func()
	// Run has threads do the tasks 0 … count−1 between them, as reduce.Pool does; nil: there is one thread. What comes
	// of them must not depend on it.
	Run func(count int, task func(worker, i int))
}

// Watch calls the monitor if there is one, and sees a cancelled context either way.
func (s *State) Watch(ctx context.Context, in Inner) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if s.Monitor == nil {
		return nil
	}
	return s.Monitor(in)
}

// Settled returns W as the step under way has left it.
func (s *State) Settled() []float64 {
	if s.Settle != nil {
		s.Settle()
	}
	return s.W
}

// InnerSolve is one inner CG solve of an outer iteration.
type InnerSolve struct {
	Block int
	krylov.Solve
}

// Diagnostic is a number of a method's own that shows how it is doing: a damping, a step length, a rank. Key
// is its name in events; Symbol and Meaning are for readers.
type Diagnostic struct {
	Key, Symbol, Meaning string
	Value                float64
}

// Report is what one outer iteration did. Numbers that a method does not have are NaN.
type Report struct {
	Loss           float64         // E after the iteration; NaN if the method did not compute it
	GradientNorm   float64         // ‖∂E/∂w‖₂ before it; for batches the root mean square over them
	StepNorm       float64         // ‖Δw‖₂
	Radius         float64         // the radius the step was computed with
	Rho            float64         // actual over predicted reduction
	Rate           float64         // the step length along the gradient, of the last batch
	Accepted       bool            // whether the weights moved
	Inner          []InnerSolve    // the inner solves, one a block
	Diagnostics    []Diagnostic    // what else matters for this method, always the same ones in the same order
	Preconditioner *Preconditioner // nil from a method that has none
	// the last step that was tried; nothing from a method that does not hold steps against a model
	Proposal Proposal
}

// Proposal is a step s that was held against a model of the loss, taken or not. Its slices are the method's own and
// hold until its next Step.
type Proposal struct {
	Step     []float64 // s; nil: there is none
	From     []float64 // the weights that it starts from; nil: those before the iteration
	Rho      float64
	Accepted bool
}

// NewReport is a report without numbers.
func NewReport() Report {
	nan := math.NaN()
	return Report{Loss: nan, GradientNorm: nan, StepNorm: nan, Radius: nan, Rho: nan, Rate: nan}
}

// Begin is how a step on all rows begins: it makes loss and gradient belong to the weights and reports them.
// Where the gradient is zero it returns a *StalledError.
func Begin(ctx context.Context, s *State, report *Report) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := evaluate(s); err != nil {
		return err
	}
	report.Loss, report.GradientNorm = s.Loss, vector.Norm(s.Gradient)
	if report.GradientNorm == 0 {
		return &StalledError{"the gradient is zero"}
	}
	return nil
}

// evaluate makes loss and gradient belong to the weights.
func evaluate(s *State) error {
	if s.Evaluated {
		return nil
	}
	if !vector.Finite(vector.Norm(s.W)) {
		return &NotFiniteError{"weights"}
	}
	if len(s.Gradient) != len(s.W) {
		s.Gradient = make([]float64, len(s.W))
	}
	s.Loss = s.Objective.GradientTo(s.Gradient, s.W)
	switch {
	case !vector.Finite(s.Loss):
		return &NotFiniteError{"loss"}
	case !vector.Finite(vector.Norm(s.Gradient)):
		return &NotFiniteError{"gradient"}
	}
	s.Evaluated = true
	return nil
}

// Method is one training method. Step does one outer iteration (an epoch). It returns ErrInterrupted
// or the context's error when it is to stop, a *StalledError when there is nothing left to do, and a
// *NotFiniteError when the loss is not finite. A Method value is used by one goroutine; what it remembers
// between steps (momentum, moments) starts from nothing in a new value.
//
// Carried returns a pointer to what decides how the next Step from the state continues, as an Archive carries it. A new
// value that is given what another one had continues to the same digits, reports and charges.
type Method interface {
	Step(ctx context.Context, s *State) (Report, error)
	Carried(s *State) any
}
