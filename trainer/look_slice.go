package trainer

import (
	"strings"

	"gonum.org/v1/gonum/floats"

	"newtop/models"
	"newtop/trainer/event"
	"newtop/trainer/objective"
	"newtop/trainer/optim/methods"
)

// A slice goes along the step in this many points, a tenth of the step apart, from its beginning to half as far again.
const slicePoints = 16

// slice computes the loss along the last proposed step and its two models there, over all training rows. The step
// of a committee is that of the member whose turn was the last; in block mode it is the last block's, from the weights
// within the sweep, with the ρ that it had for its own block; of a mixture whose gates are tuned apart it moves the
// experts alone.
//
//	w  the weights where the step s begins, E the loss, g and H its gradient and Hessian there, G the Gauss–Newton matrix
//	E(w + ts) − E(w)      t·gᵀs + ½t²·sᵀGs      t·gᵀs + ½t²·sᵀHs      t = 0, 0.1, …, 1.5
func (r *run) slice() (event.Event, error) {
	w, s, e := r.proposed.from, r.proposed.step, r.proposed.event
	l, err := r.linearizeAt(w)
	if err != nil {
		return nil, err
	}
	at := make([]float64, len(w))
	l.GradientTo(at)
	slope := floats.Dot(at, s)
	bends := [2]float64{} // sᵀGs and sᵀHs
	for i, product := range []func(dst, v []float64){l.GaussNewtonTo, l.HessianTo} {
		product(at, s)
		bends[i] = floats.Dot(at, s)
		if err := r.goOn(); err != nil {
			return nil, err
		}
	}
	e.StepNorm = event.Float(floats.Norm(s, 2))
	start := 0.0
	for i := range slicePoints {
		t := float64(i) / 10
		loss := l.EvaluateAt(floats.AddScaledTo(at, w, t, s)).Loss
		if i == 0 {
			start = loss
		}
		e.At = append(e.At, event.Float(t))
		e.Loss = append(e.Loss, event.Float(loss-start))
		e.GaussNewton = append(e.GaussNewton, event.Float(t*(slope+t/2*bends[0])))
		e.Quadratic = append(e.Quadratic, event.Float(t*(slope+t/2*bends[1])))
		if err := r.goOn(); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// linearizeAt returns a linearization over all training rows at w, apart from the one that the method works on. It
// keeps no passes, so that a slice needs no memory that grows with the rows.
func (r *run) linearizeAt(w []float64) (objective.Linearization, error) {
	if r.along == nil {
		r.along = r.rows().Bind(objective.Rows{}, models.Options{Pool: r.pool, Memory: 1})
	}
	r.along.Update(w)
	return r.along, r.goOn()
}

// proposers names the methods that slices are of.
func proposers() string {
	var names []string
	for _, i := range methods.All() {
		if i.Proposes {
			names = append(names, i.Name)
		}
	}
	return strings.Join(names, ", ")
}
