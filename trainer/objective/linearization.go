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

// Binder binds a network to some of its rows, wherever these are. A Problem with all rows is one.
type Binder interface {
	Bind(rows Rows, o models.Options) Linearization
}
