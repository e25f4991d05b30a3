package objective

import (
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"newtop/datasets"
	"newtop/models"
)

// sample is an objective on copies of chosen rows.
type sample struct {
	*Objective
	copies [2]models.Matrix // inputs and targets
	bound  *models.Linearization
}

// newSample returns room for that many rows, bound to the network.
func newSample(o *Objective, rows int) *sample {
	whole := o.problem
	s := &sample{copies: [2]models.Matrix{whole.newMatrix(rows, whole.Network.Columns()),
		whole.newMatrix(rows, whole.Network.Outputs())}}
	p := &Problem{Network: whole.Network, L2: whole.L2, Noise: whole.Noise}
	p.Train = Split{datasets.Split{Inputs: shapeOf(s.copies[0]), Targets: shapeOf(s.copies[1])}, s.copies[0],
		s.copies[1]}
	options := o.options
	options.Products = true
	s.Objective = Bind(p, p, Rows{}, o.Spent, options)
	s.Share = o.shareOf(rows)
	passes := s.passes
	if l, ok := passes.(*penalized); ok {
		passes = l.Linearization
	}
	s.bound = passes.(*models.Linearization)
	return s
}

// externalSample binds an external model to chosen rows.
type externalSample struct {
	rows []int
	External
}

func (s externalSample) Bind(Rows, models.Options) Linearization { return s.BindSample(s.rows) }

// renew makes the objective that of other rows, of which nothing is known.
func (s *sample) renew() {
	s.bound.Renew()
	s.linear, s.last.known = false, false
	closeParts(s.Objective)
}

// shapeOf returns a matrix itself, or of one in single precision its dimensions without numbers.
func shapeOf(m models.Matrix) *mat.Dense {
	if d, ok := m.(*mat.Dense); ok {
		return d
	}
	rows, columns := m.Dims()
	var shape mat.Dense
	shape.SetRawMatrix(blas64.General{Rows: rows, Cols: columns, Stride: columns})
	return &shape
}
