package objective

import (
	"gonum.org/v1/gonum/mat"

	"newtop/trainer/krylov"
	"newtop/trainer/optim"
)

var (
	_ optim.JacobianObjective = (*Objective)(nil)
	_ krylov.Counter          = (*product)(nil)
)

// GaussNewtonRows is GaussNewton through explicit Jacobian rows, at their price.
func (o *Objective) GaussNewtonRows(w []float64) krylov.Operator {
	o.Linearize(w)
	return &product{o: o, apply: o.passes.GaussNewtonRowsTo, price: o.cost.Rows/o.cost.Gradient + o.again()}
}

// GaussNewtonMatrixTo charges every part of the assembly when it is done. Passes that were not kept are done once
// for each output.
func (o *Objective) GaussNewtonMatrixTo(dst *mat.SymDense, w []float64, watch func(part, parts int) error) error {
	o.Linearize(w)
	o.chargePasses()
	price := o.cost.Matrix/o.cost.Gradient + float64(o.network.Outputs())*o.again()
	// The sum is the same for any number of parts, of which several processes have others than one.
	before := o.Spent.Equivalents
	charged := before
	return o.passes.GaussNewtonMatrixTo(dst, func(part, parts int) error {
		before += o.Spent.Equivalents - charged // by a race meanwhile
		charged = before + o.Share*price*(float64(part)/float64(parts))
		o.Spent.Equivalents = charged
		if watch == nil {
			return nil
		}
		return watch(part, parts)
	})
}

// Flops returns what a product takes: a multiplication and an addition for each one that is counted, and the
// passes that were not kept.
func (p *product) Flops() float64 { return 2 * p.price * p.o.cost.Gradient * float64(p.o.Rows()) }
