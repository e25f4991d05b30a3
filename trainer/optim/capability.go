package optim

import (
	"cmp"
	"fmt"
)

// Capability is a set of what a method needs from its objective beyond loss and gradient.
type Capability uint16

// The capabilities, most of them one for each optional interface.
const (
	NeedsHessian Capability = 1 << iota
	NeedsGaussNewton
	NeedsRows
	NeedsJacobian
	NeedsLayers
	NeedsMatrix // of a JacobianObjective of at most MaxMatrixDim weights
	NeedsMatrices
	NeedsFactors
	NeedsSquares
	NeedsSample
)

// OfferingObjective has the interfaces of capabilities that it may lack all the same, as where its rows are in other
// processes. Offers returns an error that says so in words, on one line, for what it lacks of need.
type OfferingObjective interface {
	Objective
	Offers(need Capability) error
}

// CapabilityError says what an objective lacks that a method needs.
type CapabilityError struct{ Reason string }

func (e *CapabilityError) Error() string { return e.Reason }

// Offers returns an error, a *CapabilityError or o's own, unless o has all the capabilities, so that a method can be
// refused before a run instead of failing in the middle of one.
func Offers(o Objective, need Capability) error {
	if o, ok := o.(OfferingObjective); ok {
		if err := o.Offers(need); err != nil {
			return err
		}
	}
	missing := func(c Capability, ok bool, what string) error {
		if need&c == 0 || ok {
			return nil
		}
		return &CapabilityError{Reason: "the objective has no " + what}
	}
	_, hessian := o.(HessianObjective)
	_, gaussNewton := o.(GaussNewtonObjective)
	_, rows := o.(RowObjective)
	_, jacobian := o.(JacobianObjective)
	_, matrices := o.(MatrixObjective)
	_, factors := o.(FactorObjective)
	_, squares := o.(SquaresObjective)
	_, sample := o.(SampledObjective)
	return cmp.Or(
		missing(NeedsHessian, hessian, "products with the Hessian"),
		missing(NeedsGaussNewton, gaussNewton, "products with the Gauss–Newton matrix"),
		missing(NeedsRows, rows, "rows to take some of"),
		missing(NeedsJacobian, jacobian, "explicit Jacobian rows"),
		missing(NeedsMatrices, matrices, "weights that are matrices"),
		missing(NeedsFactors, factors, "factors of its curvature"),
		missing(NeedsSquares, squares, "squares of its rows' gradients"),
		missing(NeedsSample, sample, "products over some of its rows"),
		missingLayers(o, need),
		missingMatrix(o, need),
	)
}

// missingLayers is nil unless layers are needed and o is no chain of them.
func missingLayers(o Objective, need Capability) error {
	if need&NeedsLayers == 0 {
		return nil
	}
	layered, ok := o.(LayeredObjective)
	if !ok {
		return &CapabilityError{Reason: "the objective has no layers to solve one by one"}
	}
	if _, err := layered.Chain(); err != nil {
		return &CapabilityError{Reason: err.Error()}
	}
	return nil
}

// MaxMatrixDim is the largest number of weights that methods with NeedsMatrix work on: the matrix of all pairs
// of them, which has room for its factor, takes 970 MB.
const MaxMatrixDim = 11000

// missingMatrix is nil unless the assembled matrix is needed and o has none or too large a one.
func missingMatrix(o Objective, need Capability) error {
	if need&NeedsMatrix == 0 {
		return nil
	}
	if _, ok := o.(JacobianObjective); !ok {
		return &CapabilityError{Reason: "the objective has no Gauss–Newton matrix to factorize"}
	}
	if n := o.Dim(); n > MaxMatrixDim {
		return &CapabilityError{Reason: fmt.Sprintf(
			"the matrix of %d weights is too large to factorize: expected at most %d weights", n, MaxMatrixDim)}
	}
	return nil
}
