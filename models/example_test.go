package models_test

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"newtop/models"
)

// The Hessian of a single linear node with squared error is the mean of (x, 1)(x, 1)ᵀ.
func ExampleNetwork_Linearize() {
	n, err := models.NewNetwork(models.Chain(1, nil, 1, models.Identity, models.Identity, models.SquaredError, models.SkipNone))
	if err != nil {
		fmt.Println(err)
		return
	}
	x, t := mat.NewDense(2, 1, []float64{1, 3}), mat.NewDense(2, 1, []float64{0, 1})
	l := n.Linearize([]float64{1, 0}, x, t)
	product := make([]float64, n.Dim())
	l.HessianTo(product, []float64{1, 0})
	fmt.Println("loss", l.Loss(), "Hv", product)
	// Output: loss 1.25 Hv [5 2]
}
