package analysis

import (
	"gonum.org/v1/gonum/floats"

	"newtop/trainer/event"
	"newtop/trainer/objective"
)

// slicePoints is in how many points a slice goes along the step, a tenth of the step apart, from its beginning to half
// as far again.
const slicePoints = 16

// Slice fills in the minimized loss along a step s from w and its two models there, over the rows of l, which is at w.
// poll is called in between; an error of it ends the analysis.
//
//	E the loss, g and H its gradient and Hessian at w, G the Gauss–Newton matrix
//	E(w + ts) − E(w)      t·gᵀs + ½t²·sᵀGs      t·gᵀs + ½t²·sᵀHs      t = 0, 0.1, …, 1.5
func Slice(l objective.Linearization, w, s []float64, e *event.SliceEvent, poll func() error) error {
	at := make([]float64, len(w))
	l.GradientTo(at)
	slope := floats.Dot(at, s)
	bends := [2]float64{} // sᵀGs and sᵀHs
	for i, product := range []func(dst, v []float64){l.GaussNewtonTo, l.HessianTo} {
		product(at, s)
		bends[i] = floats.Dot(at, s)
		if err := poll(); err != nil {
			return err
		}
	}
	e.StepNorm = event.Float(floats.Norm(s, 2))
	start := 0.0
	for i := range slicePoints {
		t := float64(i) / 10
		loss := objective.LossAt(l, floats.AddScaledTo(at, w, t, s))
		if i == 0 {
			start = loss
		}
		e.At = append(e.At, event.Float(t))
		e.Loss = append(e.Loss, event.Float(loss-start))
		e.GaussNewton = append(e.GaussNewton, event.Float(t*(slope+t/2*bends[0])))
		e.Quadratic = append(e.Quadratic, event.Float(t*(slope+t/2*bends[1])))
		if err := poll(); err != nil {
			return err
		}
	}
	return nil
}
