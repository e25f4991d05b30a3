package optim

import "gonum.org/v1/gonum/mat"

// LayeredObjective is the loss of a net of dense layers in a row, each fed by the one before and by nothing
// else, as a method needs it that solves layer by layer. Chain returns that net, the same one every time, or an
// error that says in words why the net is not such a chain.
type LayeredObjective interface {
	ChargedObjective
	Chain() (*Chain, error)
}

// Span is the numbers of the flat vector from First to before Last.
type Span struct{ First, Last int }

// WeightedObjective knows which of the numbers it is a function of are weights that lead from layer to layer, and no
// biases or parameters of gates. Weights returns where they lie, in order.
type WeightedObjective interface {
	Objective
	Weights() []Span
}

// Chain is a net of dense layers in a row with the rows it is trained on. Nothing of it may be modified.
type Chain struct {
	Layers  []Layer    // from the first one behind the inputs to the outputs, at least one
	Inputs  *mat.Dense // P × N_0
	Targets *mat.Dense // P × N_L
	Classes bool       // whether each row's largest target names its class
}

// Layer is one dense layer: where its weights lie in the flat vector, and what follows them.
type Layer struct {
	Sources, Nodes int  // N_{l−1} and N_l
	Weights        int  // offset of W^l, N_l × N_{l−1}, row-major
	Biases         int  // offset of b^l, N_l numbers
	Unbiased       bool // b^l stays 0
	Activation     Activation
}

// Activation is an invertible activation f of a whole layer. Its maps work in place on one row.
type Activation struct {
	Name string
	// Value replaces net inputs v by f(v).
	Value func(v []float64)
	// Clip moves numbers that f does not reach to where it does, at least κ away from the ends of its range.
	Clip func(u []float64, kappa float64)
	// Inverse replaces clipped outputs u by net inputs v with f(v) = u. Of several such v it takes the shortest.
	Inverse func(u []float64)
}
