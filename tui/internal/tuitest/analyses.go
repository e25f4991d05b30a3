package tuitest

import (
	"math"
	"math/rand/v2"

	"newtop/trainer/event"
)

func SpectrumAt(e int) event.SpectrumEvent {
	x := float64(e)
	s := event.SpectrumEvent{Epoch: e, Method: "lanczos", Operator: "hessian", Rows: 16000, Products: 40}
	for i, v := range []float64{-0.31 * math.Exp(-x/30), -0.082, -0.0021, 0.4, 0.72, 1.3, 2.2, 8.4 + x/4} {
		s.Eigenvalues = append(s.Eigenvalues, event.Float(v))
		s.Residuals = append(s.Residuals, event.Float(3e-6*float64(i+1)))
	}
	return s
}

// ErrorsAt are made-up errors of a net with that many classes; of none, of regression.
func ErrorsAt(epoch, classes, side int) event.ErrorsEvent {
	r := rand.New(rand.NewPCG(3, uint64(classes)))
	e := event.ErrorsEvent{Epoch: epoch}
	for i := range classes {
		e.Classes = append(e.Classes, string(rune('A'+i%26)))
		row := make([]int, classes)
		for j := range row {
			if row[j] = r.IntN(40) / 36 * r.IntN(20); i == j {
				row[j] = 100 + r.IntN(80)
			}
		}
		e.Confusion = append(e.Confusion, row)
	}
	if classes == 0 {
		e.Residuals = [][]event.Float{nil, nil}
		for range 500 {
			e.Residuals[0] = append(e.Residuals[0], event.Float(r.NormFloat64()))
			e.Residuals[1] = append(e.Residuals[1], event.Float(10*r.ExpFloat64()))
		}
	}
	for i := range 16 {
		w := event.WorstRow{Row: 17 * i, Loss: event.Float(9.3 - float64(i)/3), Target: -1, Output: -1, Height: side,
			Width: side}
		if classes > 0 {
			w.Target, w.Output = i%classes, (3*i+1)%classes
		} else {
			w.Targets, w.Outputs = []event.Float{0.5, 20}, []event.Float{0.25, 14}
		}
		for k := range max(side*side, 16) {
			w.Inputs = append(w.Inputs, event.Float((k*(i+1))%16))
		}
		e.Worst = append(e.Worst, w)
	}
	return e
}

// WeightsAt are made-up weights of a block; side is that of an image, 0 for none.
func WeightsAt(to, from, rows, cols, side int) event.WeightsEvent {
	e := event.WeightsEvent{Epoch: 3, To: to, From: from, Rows: rows, Cols: cols, Height: side, Width: side}
	for i := range rows * cols {
		e.Values = append(e.Values, event.Float(math.Sin(float64(i%cols)/3+float64(i/cols))))
	}
	return e
}

// DensityAt is a bulk around zero with a few eigenvalues apart from it.
func DensityAt(e int) (*event.Density, *event.Trace) {
	const sigma = 0.1
	d := &event.Density{Sigma: sigma, Probes: 10, Steps: 80}
	top := 8.4 + float64(e)/4
	bell := func(x, at, width float64) float64 {
		z := (x - at) / width
		return math.Exp(-z*z/2) / (width * math.Sqrt(2*math.Pi))
	}
	for x := -1.0; x < top+0.5; x += sigma / 2 {
		v := 0.9*bell(x, 0, sigma) + 0.09*bell(x, 0.4, 0.4)
		for i, at := range []float64{1.3, 2.2, 4.7, top} {
			v += float64(4-i) / 6066 * bell(x, at, sigma)
		}
		d.Grid = append(d.Grid, event.Float(x))
		d.Values = append(d.Values, event.Float(v))
		d.Errors = append(d.Errors, event.Float(v/5))
	}
	return d, &event.Trace{Value: 143.2, Error: 6.31, Probes: 10}
}

// SliceAlong is a made-up look along a step: the loss follows its quadratic model and bends away from it.
func SliceAlong(optimizer string, bend float64) event.SliceEvent {
	e := event.SliceEvent{Epoch: 6, Optimizer: optimizer, StepNorm: 2, Accepted: true}
	for k := -4; k <= 16; k++ {
		t := float64(k) / 8
		q := -0.24*t + 0.12*t*t
		e.At = append(e.At, event.Float(t))
		e.Quadratic = append(e.Quadratic, event.Float(q))
		e.GaussNewton = append(e.GaussNewton, event.Float(q+0.05*t*t))
		e.Loss = append(e.Loss, event.Float(q+bend*t*t*t))
	}
	e.Rho = event.Float((-0.12 + bend) / -0.12)
	return e
}
