package objective

import (
	"errors"
	"fmt"

	"newtop/models"
	"newtop/trainer/optim"
)

// What an objective says of its weights and of what it can do, from which methods choose theirs.

var (
	_ optim.LayeredObjective = (*Objective)(nil)
	_ optim.MatrixObjective  = (*Objective)(nil)
	_ optim.ChargedObjective = (*Objective)(nil)
)

// Chain returns the network as layers in a row, or says which of its layers breaks the row.
func (o *Objective) Chain() (*optim.Chain, error) {
	if o.problem.External != nil {
		return nil, errors.New("the model is another program's: expected a network of newtop's")
	}
	network := o.problem.Network
	arch := network.Architecture()
	if arch.Mixture != nil {
		return nil, errors.New("the network is a mixture of experts: expected layers in a row")
	}
	if !local(o.binder) {
		return nil, errors.New(severalProcesses)
	}
	inputs, targets := o.batches.all()
	rows, _ := inputs.Dims()
	x, t := models.Doubles(inputs, 0, rows), models.Doubles(targets, 0, rows)
	c := &optim.Chain{Inputs: x, Targets: t, Classes: coded(t)}
	for _, bias := range network.Biases() {
		layer := arch.Layers[bias.Layer-1]
		name := fmt.Sprintf("layer %d", bias.Layer)
		if layer.Name != "" {
			name += fmt.Sprintf(" (%q)", layer.Name)
		}
		f, ok := inverses[layer.Activation]
		if !ok {
			return nil, fmt.Errorf("%s: %v has no inverse: expected identity, sigmoid, tanh, softplus or softmax", name,
				layer.Activation)
		}
		f.Name = layer.Activation.String()
		c.Layers = append(c.Layers, optim.Layer{Nodes: bias.Nodes, Biases: bias.Offset, Activation: f})
	}
	for _, b := range network.Blocks() {
		to := &c.Layers[b.To-1]
		switch {
		case b.From != b.To-1:
			return nil, fmt.Errorf(
				"layer %d takes from layer %d: expected layers in a row, each fed by the one before alone", b.To,
				b.From)
		case b.Sources != nil:
			return nil, fmt.Errorf(
				"layer %d takes from chosen nodes: expected every node to take from all of the layer before", b.To)
		}
		to.Sources, to.Weights = b.Cols, b.Offset
	}
	return c, nil
}

// severalProcesses is why nothing can be had of chosen rows.
const severalProcesses = "the rows are several processes': expected one process that has them all"

// local reports whether what binds has all rows in this process.
func local(on Binder) bool {
	_, here := on.(*Problem)
	return here
}

// Offers returns an *optim.CapabilityError for what an external model, or rows of several processes, lack of what a
// method needs.
func (o *Objective) Offers(need optim.Capability) error {
	const chosen = optim.NeedsFactors | optim.NeedsSquares | optim.NeedsSample
	switch {
	case o.problem.External != nil:
		return o.problem.External.Offers(need)
	case need&chosen != 0 && !local(o.binder):
		return &optim.CapabilityError{Reason: severalProcesses}
	case need&optim.NeedsFactors != 0 && len(o.problem.Network.Matrices()) == 0:
		return &optim.CapabilityError{
			Reason: "all connections of the network are sparse: expected a dense one at least"}
	}
	return nil
}

// Matrices returns the dense blocks of weights. Tensors of an external model are their first dimension by all others,
// without biases, as it is not told which of the tensors of one dimension are biases of what.
func (o *Objective) Matrices() []optim.Matrix {
	var all []optim.Matrix
	if external := o.problem.External; external != nil {
		tables := make(map[int]bool) // by their offset
		for _, m := range external.FactorMatrices() {
			tables[m.Offset] = m.DiagonalOutputs
		}
		for _, b := range external.Weights() {
			if b.Size() > 0 {
				all = append(all, optim.Matrix{To: b.To, From: b.From, Rows: b.Rows, Cols: b.Cols, Offset: b.Offset,
					DiagonalOutputs: tables[b.Offset]})
			}
		}
		return all
	}
	for _, m := range o.problem.Network.Matrices() {
		all = append(all, optim.Matrix{To: m.To, From: m.From, Rows: m.Rows, Cols: m.Cols, Offset: m.Offset,
			Biased: m.Biased})
	}
	return all
}

// FactorMatrices returns the Matrices, and of an external model those that it has factors of.
func (o *Objective) FactorMatrices() []optim.Matrix {
	if o.problem.External != nil {
		return o.problem.External.FactorMatrices()
	}
	return o.Matrices()
}

// Charge counts multiplications that a method did by itself, in units of a gradient's.
func (o *Objective) Charge(multiplications float64) {
	o.Spent.Equivalents += o.Share * multiplications / (o.cost.Gradient * float64(o.Rows()))
}

// Weights returns where the weights that decay lie in the flat vector.
func (o *Objective) Weights() []optim.Span { return o.penalty.weights }

// Penalty returns P(w).
func (o *Objective) Penalty(w []float64) float64 { return o.penalty.value(w) }
