package minibatch_test

import (
	"context"
	"fmt"
	"math/rand/v2"

	"newtop/trainer/optim"
	"newtop/trainer/optim/minibatch"
)

// mean is E = the mean of ½(w − x)² over some numbers x, whose minimum is their mean.
type mean []float64

func (m mean) Dim() int                 { return 1 }
func (m mean) Rows() int                { return len(m) }
func (m mean) Loss(w []float64) float64 { return m.GradientTo(make([]float64, 1), w) }
func (m mean) GradientTo(dst, w []float64) float64 {
	return m.BatchGradientTo(dst, w, []int{0, 1, 2, 3})
}

func (m mean) BatchGradientTo(dst, w []float64, rows []int) (loss float64) {
	dst[0] = 0
	for _, i := range rows {
		r := w[0] - m[i]
		loss += r * r / 2 / float64(len(rows))
		dst[0] += r / float64(len(rows))
	}
	return loss
}

// descent is w ← w − ηg for every batch.
type descent struct{ eta float64 }

func (d *descent) Begin(_ *optim.State, rate float64) { d.eta = rate }
func (d *descent) Carried() any                       { return &struct{}{} }

func (d *descent) Move(w, g []float64, _ int) {
	for i := range w {
		w[i] -= d.eta * g[i]
	}
}

// A method that goes through batches is an update of the weights: the rest is Method's.
func ExampleMethod() {
	method := &minibatch.Method{Update: new(descent)}
	state := &optim.State{
		Objective: mean{1, 2, 3, 6}, W: []float64{0}, Rand: rand.New(rand.NewPCG(1, 1)), Epochs: 60,
		Settings: optim.NewSettings(minibatch.Parameters(minibatch.Rate.Starting(0.2, ""), minibatch.Size.Starting(2))),
	}
	if err := state.Settings.SetText("schedule", "cosine"); err != nil {
		fmt.Println(err)
		return
	}
	for ; state.Epoch < state.Epochs; state.Epoch++ {
		if _, err := method.Step(context.Background(), state); err != nil {
			fmt.Println(err)
			return
		}
	}
	fmt.Printf("%.1f\n", state.W[0])
	// Output: 3.0
}

// What is planned for the rate after so many epochs.
func ExamplePlanned() {
	settings := optim.NewSettings(minibatch.Parameters(minibatch.Rate.Starting(0.2, ""), minibatch.Size))
	fmt.Println(settings.SetText("schedule", "linear"))
	fmt.Println(minibatch.Planned(settings, 5, 10))
	// Output:
	// <nil>
	// 0.1
}
