package objective

import (
	"fmt"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"newtop/datasets"
	"newtop/models"
	"newtop/trainer/optim"
)

// sample is an objective on copies of chosen rows.
type sample struct {
	*Objective
	copies [2]models.Matrix // inputs and targets
	bound  *models.Linearization
}

// Sample is for networks of newtop's with all rows in one process. The copies, and what is kept of passes on them, stay
// in memory for the next sample of the slot that has as many rows; the bound of models.Options.Memory is for each slot.
func (o *Objective) Sample(slot int, rows []int) optim.Objective {
	for len(o.samples) <= slot {
		o.samples = append(o.samples, nil)
	}
	s := o.samples[slot]
	if s == nil || s.Rows() != len(rows) {
		s = o.newSample(len(rows))
		o.samples[slot] = s
	}
	x, t := o.all()
	for i, j := range rows {
		if j < 0 || j >= o.Rows() {
			panic(fmt.Sprintf("objective: Sample: row %d of %d", j, o.Rows()))
		}
		copyRow(s.copies[0], i, x, j)
		copyRow(s.copies[1], i, t, j)
	}
	s.renew()
	return s.Objective
}

// newSample returns room for so many rows, bound to the network.
func (o *Objective) newSample(rows int) *sample {
	whole := o.problem
	s := &sample{copies: [2]models.Matrix{whole.newMatrix(rows, whole.Network.Columns()),
		whole.newMatrix(rows, whole.Network.Outputs())}}
	p := &Problem{Network: whole.Network, L2: whole.L2, Noise: whole.Noise}
	p.Train = Split{datasets.Split{Inputs: shapeOf(s.copies[0]), Targets: shapeOf(s.copies[1])}, s.copies[0],
		s.copies[1]}
	s.Objective = Bind(p, p, Rows{}, o.Spent, o.options)
	s.Share = o.shareOf(rows)
	passes := s.passes
	if l, ok := passes.(*penalized); ok {
		passes = l.Linearization
	}
	s.bound = passes.(*models.Linearization)
	return s
}

// renew makes the objective that of other rows, of which nothing is known.
func (s *sample) renew() {
	s.bound.Renew()
	s.linear, s.known = false, false
	s.closeParts()
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
