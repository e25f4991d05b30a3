// Command method registers a training method, trains with it, and resumes a run of it.
package main

import (
	"context"
	"fmt"
	"log"
	"math"

	"gonum.org/v1/gonum/floats"

	"newtop/models/blas"
	"newtop/trainer"
	"newtop/trainer/event"
	"newtop/trainer/krylov"
	"newtop/trainer/optim"
	"newtop/trainer/optim/methods"
)

// first is a setting of the method: Config.Set and the screen change it by its key.
var first = &optim.Number{Key: "first", Meaning: "Δ₀, the first step of every weight", Default: 0.01, Max: 1,
	Open: true}

// rprop describes the method to those who choose one.
var rprop = optim.Info{
	Name:       "rprop",
	Title:      "Resilient backpropagation",
	Paper:      "Riedmiller & Braun 1993; Igel & Hüsken 2000",
	Equations:  "iRprop⁻",
	Summary:    "A step size for every weight, which grows while the sign of its slope stays.",
	Cost:       "1",
	Parameters: optim.Parameters(first),
	New:        func() optim.Method { return new(resilient) },
}

// resilient moves every weight by its own step Δ against the sign of its slope. Δ grows by 1.2 where the sign is that
// of the last step, and is halved where it is not: then the weight waits for a step.
type resilient struct {
	next  []float64
	state struct {
		Begun *memory `archive:"begun"` // nil before the first step
	}
}

// memory is what one step leaves for the next. The tags name what a checkpoint carries.
type memory struct {
	Steps  []float64 `archive:"steps"`
	Slopes []float64 `archive:"slopes"`
}

// Carried returns what decides how the next step continues, for checkpoints.
func (r *resilient) Carried(*optim.State) any { return &r.state }

// Step is one outer iteration.
func (r *resilient) Step(ctx context.Context, s *optim.State) (optim.Report, error) {
	report := optim.NewReport()
	if err := optim.Begin(ctx, s, &report); err != nil { // loss and gradient at the weights
		return report, err
	}
	// A session pauses, stops and takes commands here. After an error the step must not change anything.
	if err := s.Watch(ctx, optim.Inner{Iteration: krylov.Iteration{Number: 1}, Loss: s.Loss}); err != nil {
		return report, err
	}
	if r.state.Begun == nil {
		r.state.Begun = &memory{Steps: make([]float64, len(s.W)), Slopes: make([]float64, len(s.W))}
		floats.AddConst(first.Of(s.Settings), r.state.Begun.Steps)
	}
	m := r.state.Begun
	r.next = append(r.next[:0], s.W...)
	for i, slope := range s.Gradient {
		switch same := slope * m.Slopes[i]; {
		case same > 0:
			m.Steps[i] = min(1.2*m.Steps[i], 50)
		case same < 0:
			m.Steps[i] = max(0.5*m.Steps[i], 1e-9)
			slope = 0
		}
		if m.Slopes[i] = slope; slope != 0 {
			r.next[i] -= math.Copysign(m.Steps[i], slope)
		}
	}
	report.StepNorm, report.Accepted = floats.Distance(r.next, s.W, 2), true
	copy(s.W, r.next)
	s.Evaluated, report.Loss = false, math.NaN() // both belong to other weights now
	return report, nil
}

// recorder keeps a run's events and its last checkpoint.
type recorder struct {
	events     []event.Event
	loss       event.Float // of the last epoch
	checkpoint *trainer.Checkpoint
}

func (r *recorder) Record(e event.Event) error {
	r.events = append(r.events, e)
	if epoch, ok := e.(event.EpochEvent); ok {
		r.loss = epoch.Loss
	}
	return nil
}

func (r *recorder) Flush() error                     { return nil }
func (r *recorder) Due(end bool) bool                { return end }
func (r *recorder) Keep(c *trainer.Checkpoint) error { r.checkpoint = c; return nil }

func main() {
	blas.Use()
	methods.Register(&rprop)

	config := trainer.Config{Data: "parity", Hidden: []int{20}, Init: "xavier", Optimizer: "rprop",
		Set: []string{"first=0.1"}, Epochs: 200, Seed: 1}
	whole, part, rest := new(recorder), new(recorder), new(recorder)
	train(trainer.New(config, whole))
	fmt.Println("loss below 0.01 after 200 epochs:", whole.loss < 0.01)

	config.Epochs = 80
	train(trainer.New(config, part))
	config.Epochs = 200
	train(trainer.Resume(config, part.checkpoint, part.events, rest))
	fmt.Println("the same digits after a stop at 80 epochs:", rest.loss == whole.loss)
}

func train(session *trainer.Session, err error) {
	if err != nil {
		log.Fatal(err)
	}
	if err := session.Run(context.Background()); err != nil {
		log.Fatal(err)
	}
}
