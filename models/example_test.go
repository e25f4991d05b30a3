package models_test

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"newtop/models"
	"newtop/models/reduce"
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

// line is a single linear node, u = w₀x + w₁, with squared error, and two rows.
func line() (n *models.Network, x, t *mat.Dense) {
	n, err := models.NewNetwork(models.Chain(1, nil, 1, models.Identity, models.Identity, models.SquaredError, models.SkipNone))
	if err != nil {
		panic(err)
	}
	return n, mat.NewDense(2, 1, []float64{1, 3}), mat.NewDense(2, 1, []float64{0, 1})
}

// A chain of layers: 16 inputs, two hidden layers, 26 classes.
func ExampleChain() {
	a := models.Chain(16, []int{70, 50}, 26, models.Tanh, models.Softmax, models.CrossEntropy, models.SkipNone)
	n, err := models.NewNetwork(a)
	fmt.Println(n.Dim(), "weights,", err)
	// Output: 6066 weights, <nil>
}

// An architecture that makes no sense is refused with the layer that is wrong.
func ExampleNewNetwork() {
	_, err := models.NewNetwork(models.Chain(3, nil, 2, models.Tanh, models.Tanh, models.CrossEntropy, models.SkipNone))
	fmt.Println(err)
	// Output: layer 1 ("output"): tanh outputs are no probabilities: cross-entropy (xent) expected softmax or sigmoid
}

// Any graph of layers: here the outputs see the inputs too, and a hidden node sees two inputs each.
func ExampleArchitecture() {
	a := models.Architecture{
		Inputs: 4,
		Layers: []models.Layer{
			{Name: "hidden", Nodes: 3, Activation: models.ReLU},
			{Name: "output", Nodes: 1, Activation: models.Identity},
		},
		Connections: []models.Connection{
			{To: 1, From: 0, Sources: models.WindowSources(3, 4, 2)},
			{To: 2, From: 1},
			{To: 2, From: 0},
		},
	}
	n, err := models.NewNetwork(a)
	fmt.Println(n.Dim(), "weights,", err)
	// Output: 17 weights, <nil>
}

// Two experts, of which the gates choose by the first input.
func ExampleExperts() {
	gates := models.DefaultGates([]float64{-1, 0, 1}, 2, 0)
	n, err := models.NewNetwork(models.Experts(2, []int{4}, 1, 2, models.Tanh, models.Identity, models.SquaredError,
		models.Mixture{Feature: 0, Gates: gates}))
	if err != nil {
		fmt.Println(err)
		return
	}
	w, shares := make([]float64, n.Dim()), make([]float64, 2)
	n.GateSharesTo(shares, w, mat.NewDense(1, 2, []float64{-1, 0}))
	fmt.Printf("shares %.2f\n", shares)
	// Output: shares [0.98 0.02]
}

// Weights are drawn from a generator, so that a seed gives the same ones.
func ExampleNetwork_InitTo() {
	n, _, _ := line()
	how, err := models.ParseInit("uniform:0.5")
	if err != nil {
		fmt.Println(err)
		return
	}
	w := make([]float64, n.Dim())
	n.InitTo(w, how, rand.New(rand.NewPCG(1, 1)))
	fmt.Println(math.Abs(w[0]) <= 0.5, math.Abs(w[1]) <= 0.5)
	// Output: true true
}

// A linearization is bound to rows once and moved to other weights; several threads share the work, with the same bits.
func ExampleNetwork_Bind() {
	n, x, t := line()
	pool := reduce.NewPool(2)
	defer pool.Close()
	l := n.Bind(x, t, models.Options{Pool: pool})
	gradient := make([]float64, n.Dim())
	for _, w := range [][]float64{{1, 0}, {0.5, -0.5}} {
		l.Update(w)
		l.GradientTo(gradient)
		fmt.Println(l.Loss(), gradient)
	}
	// Output:
	// 1.25 [3.5 1.5]
	// 0 [0 0]
}

func ExampleNetwork_OutputTo() {
	n, x, t := line()
	u := mat.NewDense(2, 1, nil)
	n.OutputTo(u, []float64{1, 0}, x)
	fmt.Println(u.At(0, 0), u.At(1, 0), n.MeasureOutputs(u, t).Loss)
	// Output: 1 3 1.25
}

// A batch takes some of the rows.
func ExampleNetwork_NewBatch() {
	n, x, t := line()
	gradient := make([]float64, n.Dim())
	loss := n.NewBatch(x, t, 1).GradientTo(gradient, []float64{1, 0}, []int{1})
	fmt.Println(loss, gradient)
	// Output: 2 [6 2]
}

// The Gauss–Newton matrix of few weights can be had whole.
func ExampleLinearization_GaussNewtonMatrixTo() {
	n, x, t := line()
	g := mat.NewSymDense(n.Dim(), nil)
	if err := n.Linearize([]float64{1, 0}, x, t).GaussNewtonMatrixTo(g, nil); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(mat.Formatted(g))
	// Output:
	// ⎡5  2⎤
	// ⎣2  1⎦
}

// Factors of the curvature of a dense layer, as K-FAC wants them: from targets that are drawn.
func ExampleNetwork_NewFactors() {
	n, x, t := line()
	factors := n.NewFactors(math.MaxInt)
	n.NewBatch(x, t, 2).FactorsTo(factors, []float64{1, 0}, []int{0, 1}, rand.New(rand.NewPCG(1, 1)))
	fmt.Println("A =", factors[0].Inputs)
	// Output: A = [5 2 2 1]
}

// A loss of one's own is its value and its first two derivatives.
func ExampleRegisterLoss() {
	logCosh := models.RegisterLoss("log-cosh", func(u, t float64) (value, slope, curvature float64) {
		tanh := math.Tanh(u - t)
		return math.Log(math.Cosh(u - t)), tanh, 1 - tanh*tanh
	})
	n, err := models.NewNetwork(models.Chain(1, nil, 1, models.Identity, models.Identity, logCosh, models.SkipNone))
	if err != nil {
		fmt.Println(err)
		return
	}
	_, x, t := line()
	fmt.Printf("%v %.3f\n", logCosh, n.Linearize([]float64{1, 0}, x, t).Loss())
	// Output: log-cosh 0.879
}

// Names are read as files and flags have them.
func ExampleParseActivation() {
	a, err := models.ParseActivation("tanh")
	fmt.Println(a, err)
	_, err = models.ParseActivation("tahn")
	fmt.Println(err)
	// Output:
	// tanh <nil>
	// unknown activation "tahn": expected identity, sigmoid, tanh, softplus, relu or softmax; did you mean tanh?
}

// Rows in float32 take half the memory; a network in that precision computes with them.
func ExampleToSingle() {
	n, x, t := line()
	l := n.In(models.Single).Linearize([]float64{1, 0}, models.ToSingle(x), models.ToSingle(t))
	fmt.Println(l.Loss())
	// Output: 1.25
}
