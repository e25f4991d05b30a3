package objective

import (
	"gonum.org/v1/gonum/mat"

	"newtop/models"
)

// Linearization is a network on some rows, as models.Linearization is, wherever these are. One that is an io.Closer is
// closed when nothing more is asked of it while the session continues.
type Linearization interface {
	Update(w []float64)
	Evaluation() models.Evaluation
	EvaluateAt(w []float64) models.Evaluation
	Loss() float64
	GradientTo(dst []float64)
	HessianTo(dst, v []float64)
	GaussNewtonTo(dst, v []float64)
	GaussNewtonRowsTo(dst, v []float64)
	GaussNewtonDiagTo(dst []float64)
	GaussNewtonMatrixTo(dst *mat.SymDense, watch func(part, parts int) error) error
	Dim() int
	Rows() int // all of them
	RetainedRows() int
	Current() bool
	Requested() bool
	Expect(products bool)
}

var _ Linearization = (*models.Linearization)(nil)

// Approximate is a Linearization whose products may be further from the truth than rounding in float64 is.
type Approximate interface {
	// Accuracy returns the unit roundoff of products, and what estimates the length of the error of one with the
	// Hessian and a vector, nil where there is none but rounding's.
	Accuracy() (roundoff float64, errorOf func(v []float64) float64)
}

// AccuracyOf is Accuracy for any Linearization.
func AccuracyOf(l Linearization) (roundoff float64, errorOf func(v []float64) float64) {
	if a, ok := l.(Approximate); ok {
		return a.Accuracy()
	}
	return 0x1p-53, nil
}

// Binder binds a network to some of its rows, wherever these are. A Problem with all rows is one.
type Binder interface {
	Bind(rows Rows, o models.Options) Linearization
}
