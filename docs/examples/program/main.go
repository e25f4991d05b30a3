// Command program is newtop with a method, a loss and a data set more: its screen, lists, flags and records know them.
//
//	go run ./docs/examples/program --data rings --opt sign --loss log-cosh --set init=xavier
package main

import (
	"math"
	"math/rand/v2"
	"os"

	"gonum.org/v1/gonum/mat"

	"newtop/datasets"
	"newtop/models"
	"newtop/trainer/app"
	"newtop/trainer/optim"
	"newtop/trainer/optim/methods"
	"newtop/trainer/optim/minibatch"
)

func main() {
	register()
	os.Exit(app.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

func register() {
	methods.Register(&sign)
	models.RegisterLoss("log-cosh", logCosh)
	datasets.Register(datasets.Info{
		Name: "rings", Title: "two rings, one in the other", Rows: 600, Inputs: 2, Outputs: 2, Classes: 2,
		Task: datasets.Classification, Source: "docs/examples/program",
	}, rings)
}

// sign goes through batches, which package minibatch does for all methods that do: their order, the schedule of the
// rate and weight decay.
var sign = optim.Info{
	Name:       "sign",
	Title:      "Sign descent",
	Paper:      "Bernstein et al. 2018",
	Equations:  "algorithm 1, w ← w − η·sign(g)",
	Summary:    "Moves every weight by the rate, whatever the size of its slope.",
	Cost:       "1",
	Primary:    "rate",
	Needs:      optim.NeedsRows,
	Planned:    minibatch.Planned,
	Parameters: minibatch.Parameters(minibatch.Rate.Starting(0.01, ""), minibatch.Size.Starting(32)),
	New:        func() optim.Method { return &minibatch.Method{Update: new(signUpdate)} },
}

type signUpdate struct{ rate float64 }

// Begin reads the settings for one batch.
func (u *signUpdate) Begin(_ *optim.State, rate float64) { u.rate = rate }

// Move moves some of the weights along their gradient g.
func (u *signUpdate) Move(w, g []float64, _ int) {
	for i, slope := range g {
		if slope != 0 {
			w[i] -= math.Copysign(u.rate, slope)
		}
	}
}

// Carried returns what the next batch needs of those before it: nothing.
func (u *signUpdate) Carried() any { return &struct{}{} }

// logCosh is log cosh r of the residual r = u − t, with its first two derivatives.
func logCosh(u, t float64) (value, slope, curvature float64) {
	r := math.Abs(u - t)
	tanh := math.Tanh(u - t)
	return r + math.Log1p(math.Exp(-2*r)) - math.Ln2, tanh, 1 - tanh*tanh
}

// rings draws points from two rings around the origin.
func rings(o datasets.Options) (*datasets.Rows, error) {
	const rows = 600
	rng := rand.New(rand.NewPCG(o.Seed, 0))
	set := &datasets.Rows{
		Inputs: mat.NewDense(rows, 2, nil), Labels: make([]int, rows),
		Classes: []string{"inner", "outer"}, InputNames: []string{"x", "y"},
	}
	for i := range rows {
		class := i % 2
		sin, cos := math.Sincos(2 * math.Pi * rng.Float64())
		radius := 1 + float64(class) + 0.1*rng.NormFloat64()
		set.Inputs.SetRow(i, []float64{radius * cos, radius * sin})
		set.Labels[i] = class
	}
	return set, nil
}
