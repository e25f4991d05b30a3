// Package objective binds a network and rows to what methods minimize, wherever the rows are: a Problem has the data, a
// Linearization the passes over some of their rows, and an Objective is the mean loss over them, with its work
// counted and with what it keeps of the weights it was asked for last.
package objective

import (
	"io"
	"slices"

	"gonum.org/v1/gonum/mat"

	"newtop/datasets"
	"newtop/models"
	"newtop/trainer/krylov"
	"newtop/trainer/optim"
)

// Objective is the mean loss over some rows as methods see it, with the problem's penalty. It keeps the linearization
// of the last weights that it was asked for, and the last evaluation, since a method asks for the loss of a trial step
// and the session for the metrics of the accepted one.
type Objective struct {
	inSingle
	Spent *Work // what it charges

	problem  *Problem
	cost     models.Cost
	binder   Binder
	rows     Rows    // that the mean is over
	rowCount int     // how many these are
	Share    float64 // of all training rows
	options  models.Options
	penalty  penalty

	passes  Linearization
	at      []float64 // the weights of passes
	linear  bool      // whether passes belong to at
	last    evaluation
	batches batches
	samples []*sample // by slot; nil where there is none yet
	parts   []optim.Objective
}

// evaluation is how well weights do.
type evaluation struct {
	models.Evaluation
	at    []float64 // the weights
	known bool
}

// of reports whether it is that of w.
func (e *evaluation) of(w []float64) bool { return e.known && slices.Equal(e.at, w) }

func (e *evaluation) set(w []float64, v models.Evaluation) {
	copy(e.at, w)
	e.Evaluation, e.known = v, true
}

var (
	_ optim.HessianObjective     = (*Objective)(nil)
	_ optim.GaussNewtonObjective = (*Objective)(nil)
	_ optim.RowObjective         = (*Objective)(nil)
	_ optim.BatchedObjective     = (*Objective)(nil)
	_ optim.BlockObjective       = (*Objective)(nil)
	_ optim.JacobianObjective    = (*Objective)(nil)
	_ optim.NoisyObjective       = (*Objective)(nil)
	_ optim.SingleObjective      = (*Objective)(nil)
	_ optim.WeightedObjective    = (*Objective)(nil)
	_ optim.FactorObjective      = (*Objective)(nil)
	_ optim.SquaresObjective     = (*Objective)(nil)
	_ optim.SampledObjective     = (*Objective)(nil)
	_ optim.OfferingObjective    = (*Objective)(nil)
	_ krylov.Counter             = (*product)(nil)
)

// New returns the mean loss of a network over the rows of x and t as methods see it, with everything that
// they may ask for. Sizes are as for models.Network.Bind.
func New(network *models.Network, x, t *mat.Dense, o models.Options) *Objective {
	p := &Problem{Network: network, Train: NewSplit(datasets.Split{Inputs: x, Targets: t})}
	if network.Precision() == models.Single {
		p.Train.X, p.Train.T = models.ToSingle(x), models.ToSingle(t)
	}
	return Bind(p, p, Rows{}, &Work{}, o)
}

// Bind returns the mean loss over some rows, which are wherever on binds to, with what is spent charged to an
// account.
func Bind(p *Problem, on Binder, rows Rows, spent *Work, o models.Options) *Objective {
	penalty := p.penalty()
	passes := penalty.wrap(on.Bind(rows, o))
	bound := &Objective{
		Spent:    spent,
		problem:  p,
		cost:     p.Cost(),
		binder:   on,
		rows:     rows,
		rowCount: passes.Rows(),
		Share:    1,
		options:  o,
		penalty:  penalty,
		passes:   passes,
		at:       make([]float64, p.Dim()),
		last:     evaluation{at: make([]float64, p.Dim())},
		batches:  batches{problem: p, rows: rows, pool: o.Pool},
	}
	bound.inSingle.o = bound
	return bound
}

// Blocks returns the objectives of count parts: part i has the rows i, i + count, i + 2·count, …, so that
// data sorted by class are split evenly too. Together they keep as much for products as the whole may.
func (o *Objective) Blocks(count int) []optim.Objective {
	if count == len(o.parts) {
		return o.parts
	}
	options := o.options
	if options.Memory == 0 {
		options.Memory = models.DefaultMemory
	}
	options.Memory = max(1, options.Memory/int64(count))
	closeParts(o)
	o.parts = make([]optim.Objective, count)
	for i := range o.parts {
		part := Bind(o.problem, o.binder, o.rows.part(i, count), o.Spent, options)
		part.Share = float64(part.Rows()) / float64(o.Rows())
		o.parts[i] = part
	}
	return o.parts
}

// Close releases what other processes hold for the objective, of which nothing is asked any more.
func (o *Objective) Close() {
	closeParts(o)
	if l, ok := o.passes.(io.Closer); ok {
		_ = l.Close() // which ends the process where it fails
	}
}

func closeParts(o *Objective) {
	for _, part := range o.parts {
		part.(*Objective).Close()
	}
	o.parts = nil
}

// Dim returns how many weights there are.
func (o *Objective) Dim() int { return o.problem.Dim() }

// Rows returns over how many rows the mean is.
func (o *Objective) Rows() int { return o.rowCount }

// Loss returns the minimized loss. It charges a forward pass, unless the evaluation at w is the last one.
func (o *Objective) Loss(w []float64) float64 {
	if !o.last.of(w) {
		o.Spent.Losses += o.Share
		o.Spent.Equivalents += o.Share * o.cost.Loss / o.cost.Gradient
	}
	return o.Evaluate(w).Loss + o.penalty.value(w)
}

// Evaluate returns how well w does on the rows, without the penalty, as the last evaluation says where that was at w.
// It charges nothing.
func (o *Objective) Evaluate(w []float64) models.Evaluation {
	if !o.last.of(w) {
		o.last.set(w, o.passes.EvaluateAt(w))
	}
	return o.last.Evaluation
}

// PreserveEvaluation calls f, which may ask for evaluations at other weights. The last one of before stays.
func (o *Objective) PreserveEvaluation(f func()) {
	before := o.last
	before.at = slices.Clone(before.at)
	f()
	o.last = before
}

// GradientTo stores the gradient of the minimized loss at w, and returns that loss.
func (o *Objective) GradientTo(dst, w []float64) float64 {
	o.Linearize(w)
	o.passes.GradientTo(dst)
	return o.passes.Loss()
}

// Linearize does the passes at w. It charges a gradient, unless the last ones were at w.
func (o *Objective) Linearize(w []float64) {
	if o.linear && slices.Equal(o.at, w) {
		return
	}
	o.Spent.addGradients(o.Share)
	o.passes.Update(w)
	copy(o.at, w)
	o.linear = true
	o.last.set(w, o.passes.Evaluation())
}

// Hessian returns the Hessian at w, which counts its products.
func (o *Objective) Hessian(w []float64) krylov.Operator {
	o.Linearize(w)
	return &product{o: o, apply: o.passes.HessianTo, cost: o.cost.Hessian/o.cost.Gradient + recomputation(o)}
}

// GaussNewton returns the generalized Gauss–Newton matrix at w, which counts its products.
func (o *Objective) GaussNewton(w []float64) krylov.Operator {
	o.Linearize(w)
	return &product{o: o, apply: o.passes.GaussNewtonTo, cost: o.cost.GaussNewton/o.cost.Gradient + recomputation(o)}
}

// GaussNewtonRows is GaussNewton through explicit Jacobian rows, at their price.
func (o *Objective) GaussNewtonRows(w []float64) krylov.Operator {
	o.Linearize(w)
	return &product{o: o, apply: o.passes.GaussNewtonRowsTo, cost: o.cost.Rows/o.cost.Gradient + recomputation(o)}
}

// GaussNewtonMatrixTo charges every part of the assembly when it is done. Passes that were not kept are done once
// for each output.
func (o *Objective) GaussNewtonMatrixTo(dst *mat.SymDense, w []float64, watch func(part, parts int) error) error {
	o.Linearize(w)
	o.chargePasses()
	price := o.cost.Matrix/o.cost.Gradient + float64(o.problem.Outputs())*recomputation(o)
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
func (p *product) Flops() float64 { return 2 * p.cost * p.o.cost.Gradient * float64(p.o.Rows()) }

// recomputation returns what every product pays for passes that were not kept, in gradient equivalents.
func recomputation(o *Objective) float64 {
	return 1 - float64(o.passes.RetainedRows())/float64(o.Rows())
}

// chargePasses charges the passes that the next product does again because Update did not keep them.
func (o *Objective) chargePasses() {
	if !o.passes.Current() {
		o.Spent.Equivalents += o.Share * (1 - recomputation(o))
	}
}

// GaussNewtonDiagTo stores the diagonal of the Gauss–Newton matrix at w.
func (o *Objective) GaussNewtonDiagTo(dst, w []float64) {
	o.Linearize(w)
	o.chargePasses()
	o.Spent.Equivalents += o.Share * (o.cost.Diagonal/o.cost.Gradient + recomputation(o))
	o.passes.GaussNewtonDiagTo(dst)
}

// product is a curvature matrix that counts its products.
type product struct {
	o     *Objective
	apply func(dst, v []float64)
	cost  float64 // of one product, in gradient equivalents
}

func (p *product) Dim() int { return p.o.Dim() }

func (p *product) MulVecTo(dst, v []float64) {
	p.o.chargePasses()
	p.o.Spent.Products += p.o.Share
	p.o.Spent.Equivalents += p.o.Share * p.cost
	p.apply(dst, v)
}
