package objective

import "newtop/trainer/optim"

var (
	_ optim.MatrixObjective  = (*Objective)(nil)
	_ optim.ChargedObjective = (*Objective)(nil)
)

// Matrices returns the dense blocks of weights. Tensors of a model elsewhere are their first dimension by all others,
// without biases, as it is not told which of the tensors of one dimension are biases of what.
func (o *Objective) Matrices() []optim.Matrix {
	var all []optim.Matrix
	if there := o.problem.Elsewhere; there != nil {
		for _, b := range there.Weights() {
			if b.Size() > 0 {
				all = append(all, optim.Matrix{To: b.To, From: b.From, Rows: b.Rows, Cols: b.Cols, Offset: b.Offset})
			}
		}
		return all
	}
	for _, m := range o.problem.Network.Matrices() {
		all = append(all, optim.Matrix(m))
	}
	return all
}

// Charge counts multiplications that a method did by itself, in units of a gradient's.
func (o *Objective) Charge(multiplications float64) {
	o.Spent.Equivalents += o.Share * multiplications / (o.cost.Gradient * float64(o.Rows()))
}
