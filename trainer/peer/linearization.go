package peer

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"newtop/models"
	"newtop/trainer/objective"
)

// linearization is a model at some weights. Several of one model share its point, which goes where the one is that is
// asked.
type linearization struct {
	m       *Model
	test    bool
	rows    []int     // of the training rows; nil: all
	w       []float64 // the weights that it is at
	slope   []float64 // the gradient there
	metrics Metrics
	known   bool // whether metrics and slope are those there
}

var (
	_ objective.Linearization = (*linearization)(nil)
	_ objective.Approximate   = (*linearization)(nil)
)

// Update moves to w.
func (l *linearization) Update(w []float64) {
	copy(l.w, w)
	l.known = false
	if l.m.at == l {
		l.m.at = nil
	}
}

// movePoint moves the model's point to the linearization's weights.
func (l *linearization) movePoint() {
	m := l.m
	if m.observed || m.at == l {
		return
	}
	if m.at = nil; !same(m.point, l.w) || !slices.Equal(m.rows, l.rows) {
		m.point = m.point[:0]
		m.must(m.end.At(l.w, l.rows))
		m.point, m.rows = append(m.point, l.w...), l.rows
	}
	m.at = l
}

// evaluate asks for loss and gradient, which a model computes together.
func (l *linearization) evaluate() {
	if l.known {
		return
	}
	l.movePoint()
	if l.slope == nil {
		l.slope = make([]float64, len(l.w))
	}
	var err error
	l.metrics, err = l.m.end.GradientTo(l.slope)
	l.m.must(err)
	l.known = true
}

// Evaluation reports how well the weights do.
func (l *linearization) Evaluation() models.Evaluation {
	if l.test {
		return l.EvaluateAt(l.w)
	}
	l.evaluate()
	if l.m.about.Classes > 0 && math.IsNaN(l.metrics.Error) {
		metrics, err := l.m.end.Loss(nil, nil)
		l.m.must(err)
		l.metrics.Error = metrics.Error
	}
	return l.evaluation(l.metrics)
}

// EvaluateAt reports how well w does.
func (l *linearization) EvaluateAt(w []float64) models.Evaluation {
	var metrics Metrics
	var err error
	if l.test {
		metrics, err = l.m.end.Eval(w)
	} else {
		metrics, err = l.m.end.Loss(w, l.rows)
	}
	l.m.must(err)
	return l.evaluation(metrics)
}

// evaluation is metrics as a network's: what the model does not tell is −1 wrong rows, and a squared error of NaN.
func (l *linearization) evaluation(f Metrics) models.Evaluation {
	rows := l.Rows() * objective.RowParts
	e := models.Evaluation{Rows: rows, Outputs: 1, Misclassified: -1, Loss: f.Loss,
		SquaredError: f.RMSE * f.RMSE * float64(rows)}
	if f.Error >= 0 {
		e.Misclassified = int(math.Round(f.Error * float64(rows)))
	}
	return e
}

// Loss returns that of the weights.
func (l *linearization) Loss() float64 {
	l.evaluate()
	return l.metrics.Loss
}

// GradientTo stores that of the loss.
func (l *linearization) GradientTo(dst []float64) {
	l.evaluate()
	copy(dst, l.slope)
}

// HessianTo stores a product with the Hessian.
func (l *linearization) HessianTo(dst, v []float64) {
	if !l.m.about.Can(HasHessian) {
		l.m.must(l.m.differenceTo(dst, l.w, v, l.m.step(l.w, v), l.rows))
		return
	}
	l.movePoint()
	l.m.must(l.m.end.HessianTo(dst, v))
}

// Accuracy returns the unit roundoff of the model's numbers, and for Hessian products from differences what estimates
// their error: how far those with twice the step are off, three times the error of order h² and rounding.
func (l *linearization) Accuracy() (roundoff float64, errorOf func(v []float64) float64) {
	roundoff = unitRoundoff(l.m.about)
	if l.m.about.Can(HasHessian) {
		return roundoff, nil
	}
	return roundoff, func(v []float64) float64 {
		near, far, h := make([]float64, len(v)), make([]float64, len(v)), l.m.step(l.w, v)
		l.m.must(l.m.differenceTo(near, l.w, v, h, l.rows))
		l.m.must(l.m.differenceTo(far, l.w, v, 2*h, l.rows))
		return floats.Distance(near, far, 2)
	}
}

// GaussNewtonTo stores a product with the Gauss–Newton matrix, which is not a number where the model has none.
func (l *linearization) GaussNewtonTo(dst, v []float64) {
	if !l.m.about.Can(HasGaussNewton) {
		for i := range dst {
			dst[i] = math.NaN()
		}
		return
	}
	l.movePoint()
	l.m.must(l.m.end.GaussNewtonTo(dst, v))
}

// GaussNewtonRowsTo is GaussNewtonTo: an external model gives no rows of its Jacobian.
func (l *linearization) GaussNewtonRowsTo(dst, v []float64) { l.GaussNewtonTo(dst, v) }

// GaussNewtonDiagTo stores the diagonal of the Gauss–Newton matrix.
func (l *linearization) GaussNewtonDiagTo(dst []float64) {
	l.movePoint()
	l.m.must(l.m.end.DiagonalTo(dst))
}

// GaussNewtonMatrixTo stores the Gauss–Newton matrix, by one product for each column.
func (l *linearization) GaussNewtonMatrixTo(dst *mat.SymDense, watch func(part, parts int) error) error {
	n := l.Dim()
	unit, column := make([]float64, n), make([]float64, n)
	for j := range n {
		unit[j] = 1
		l.GaussNewtonTo(column, unit)
		unit[j] = 0
		for i := range j + 1 {
			dst.SetSym(i, j, column[i])
		}
		if watch != nil {
			if err := watch(j+1, n); err != nil {
				return err
			}
		}
	}
	return nil
}

// Dim returns how many weights there are.
func (l *linearization) Dim() int { return l.m.Dim() }

// Rows returns how many rows losses are means over; 1 where the model does not tell.
func (l *linearization) Rows() int {
	if l.test {
		return max(1, l.m.about.TestRows)
	}
	if l.rows == nil {
		return max(1, l.m.about.Rows)
	}
	return l.m.about.rowsIn(l.rows)
}

// RetainedRows returns as many: the model keeps its passes, as far as anyone here knows.
func (l *linearization) RetainedRows() int { return l.Rows() }

// Current reports that nothing has to be done again.
func (l *linearization) Current() bool { return true }

// Requested reports that there is nothing to restore.
func (l *linearization) Requested() bool { return false }

// Expect does nothing: the model decides what it keeps.
func (l *linearization) Expect(bool) {}

// same reports whether two vectors have the same bits.
func same(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool { return math.Float64bits(x) == math.Float64bits(y) })
}
