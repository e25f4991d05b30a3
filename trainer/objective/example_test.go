package objective_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"newtop/models"
	"newtop/trainer/krylov"
	"newtop/trainer/objective"
	"newtop/trainer/optim"
	"newtop/trainer/optim/methods"
)

// exclusiveOr is a network and its four rows.
func exclusiveOr() (*models.Network, *mat.Dense, *mat.Dense) {
	n, err := models.NewNetwork(models.Chain(2, []int{4}, 1, models.Tanh, models.Sigmoid, models.CrossEntropy, models.SkipNone))
	if err != nil {
		panic(err)
	}
	return n, mat.NewDense(4, 2, []float64{0, 0, 0, 1, 1, 0, 1, 1}), mat.NewDense(4, 1, []float64{0, 1, 1, 0})
}

// A method trains a network without a session: the loop is one's own.
func ExampleNew() {
	network, x, t := exclusiveOr()
	info, err := methods.Lookup("tr-newton")
	if err != nil {
		fmt.Println(err)
		return
	}
	state := &optim.State{
		Objective: objective.New(network, x, t, models.Options{}), W: make([]float64, network.Dim()),
		Settings: optim.NewSettings(info.Parameters), Rand: rand.New(rand.NewPCG(1, 1)),
	}
	start, err := models.ParseInit("normal:1")
	if err != nil {
		fmt.Println(err)
		return
	}
	network.InitTo(state.W, start, state.Rand)
	for method := info.New(); state.Epoch < 60; state.Epoch++ {
		if _, err := method.Step(context.Background(), state); errors.Is(err, optim.ErrStalled) {
			break
		} else if err != nil {
			fmt.Println(err)
			return
		}
	}
	u := mat.NewDense(4, 1, nil)
	network.OutputTo(u, state.W, x)
	fmt.Printf("%.1f\n", mat.Col(nil, 0, u))
	// Output: [0.0 1.0 1.0 0.0]
}

// The curvature of a network is an operator that Krylov methods take.
func ExampleObjective_Hessian() {
	network, x, t := exclusiveOr()
	o := objective.New(network, x, t, models.Options{})
	spectrum, err := krylov.Lanczos(o.Hessian(make([]float64, network.Dim())), 1, krylov.LanczosOptions{Seed: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.2f\n", spectrum.Top[0].Value)
	// Output: 0.25
}
