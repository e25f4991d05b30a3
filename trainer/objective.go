package trainer

import (
	"slices"

	"gonum.org/v1/gonum/mat"

	"newtop/datasets"
	"newtop/models"
	"newtop/trainer/krylov"
	"newtop/trainer/optim"
)

// work counts what a run has spent. Equivalents charges every pass by its counted multiplications, in
// units of one gradient over all training rows.
type work struct{ gradients, products, losses, equivalents float64 }

// objective is the mean training loss as optim sees it. It keeps the linearization of the last weights
// it was asked for, and the figures of the last two evaluations, since a method asks for the loss of a
// trial step and the session for the figures of the accepted one.
type objective struct {
	network *models.Network
	cost    models.Cost
	on      binder
	rows    Rows // that the mean is over
	count   int  // how many these are
	kept    Linearization
	at      []float64 // the weights of kept
	linear  bool      // whether kept belongs to at
	batch   *models.Batch
	most    int // rows that batch takes at once
	figures models.Evaluation
	figured []float64 // the weights of figures
	known   bool
	spent   *work
	share   float64 // of all training rows
	options models.Options
	parts   []optim.Objective
}

var (
	_ optim.HessianObjective     = (*objective)(nil)
	_ optim.GaussNewtonObjective = (*objective)(nil)
	_ optim.RowObjective         = (*objective)(nil)
	_ optim.BlockObjective       = (*objective)(nil)
)

// NewObjective returns the mean loss of a network over the rows of x and t as methods see it, with everything that
// they may ask for. Sizes are as for models.Network.Bind.
func NewObjective(network *models.Network, x, t *mat.Dense, o models.Options) optim.Objective {
	return newObjective(network, x, t, o)
}

func newObjective(network *models.Network, x, t *mat.Dense, o models.Options) *objective {
	p := &Problem{Network: network, Train: datasets.Split{Inputs: x, Targets: t}}
	return bindObjective(network, alone{p}, Rows{}, o)
}

// bindObjective returns the mean loss over some rows, which are wherever on binds to.
func bindObjective(network *models.Network, on binder, rows Rows, o models.Options) *objective {
	kept := on.Bind(rows, o)
	return &objective{
		network: network,
		cost:    network.Cost(),
		on:      on,
		rows:    rows,
		count:   kept.Rows(),
		kept:    kept,
		at:      make([]float64, network.Dim()),
		figured: make([]float64, network.Dim()),
		spent:   &work{},
		share:   1,
		options: o,
	}
}

// Blocks returns the objectives of count parts: part i has the rows i, i + count, i + 2·count, …, so that
// data sorted by class are split evenly too. Together they keep as much for products as the whole may.
func (o *objective) Blocks(count int) []optim.Objective {
	if count == len(o.parts) {
		return o.parts
	}
	options := o.options
	if options.Memory == 0 {
		options.Memory = models.DefaultMemory
	}
	options.Memory = max(1, options.Memory/int64(count))
	o.parts = make([]optim.Objective, count)
	for i := range o.parts {
		part := bindObjective(o.network, o.on, o.rows.part(i, count), options)
		part.spent, part.share = o.spent, float64(part.Rows())/float64(o.Rows())
		o.parts[i] = part
	}
	return o.parts
}

func (o *objective) Dim() int { return o.network.Dim() }

func (o *objective) Rows() int { return o.count }

// Loss charges a forward pass, unless the figures at w are the last ones that were computed.
func (o *objective) Loss(w []float64) float64 {
	if !o.known || !slices.Equal(o.figured, w) {
		o.spent.losses += o.share
		o.spent.equivalents += o.share * o.cost.Loss / o.cost.Gradient
	}
	return o.evaluate(w).Loss
}

// evaluate returns the figures at w, from memory where it can. It charges nothing.
func (o *objective) evaluate(w []float64) models.Evaluation {
	if !o.known || !slices.Equal(o.figured, w) {
		o.remember(w, o.kept.EvaluateAt(w))
	}
	return o.figures
}

func (o *objective) remember(w []float64, e models.Evaluation) {
	copy(o.figured, w)
	o.figures, o.known = e, true
}

func (o *objective) GradientTo(dst, w []float64) float64 {
	o.linearize(w)
	o.kept.GradientTo(dst)
	return o.kept.Loss()
}

func (o *objective) linearize(w []float64) {
	if o.linear && slices.Equal(o.at, w) {
		return
	}
	o.spent.gradients += o.share
	o.spent.equivalents += o.share
	o.kept.Update(w)
	copy(o.at, w)
	o.linear = true
	o.remember(w, o.kept.Evaluation())
}

func (o *objective) Hessian(w []float64) krylov.Operator {
	o.linearize(w)
	return &product{o: o, apply: o.kept.HessianTo, price: o.cost.Hessian/o.cost.Gradient + o.again()}
}

func (o *objective) GaussNewton(w []float64) krylov.Operator {
	o.linearize(w)
	return &product{o: o, apply: o.kept.GaussNewtonTo, price: o.cost.GaussNewton/o.cost.Gradient + o.again()}
}

// again returns what every product pays for passes that were not kept, in gradient equivalents.
func (o *objective) again() float64 {
	return 1 - float64(o.kept.KeptRows())/float64(o.Rows())
}

// chargePasses charges the passes that the next product does again because Update did not keep them.
func (o *objective) chargePasses() {
	if !o.kept.Current() {
		o.spent.equivalents += o.share * (1 - o.again())
	}
}

func (o *objective) GaussNewtonDiagTo(dst, w []float64) {
	o.linearize(w)
	o.chargePasses()
	o.spent.equivalents += o.share * (o.cost.Diagonal/o.cost.Gradient + o.again())
	o.kept.GaussNewtonDiagTo(dst)
}

// BatchGradientTo is for one process that has all rows. A run in several refuses methods that would call it.
func (o *objective) BatchGradientTo(dst, w []float64, rows []int) float64 {
	if len(rows) > o.most {
		o.most = len(rows)
		x, t := o.on.(alone).all(o.rows)
		o.batch = o.network.NewBatch(x, t, o.most)
		o.batch.Pool = o.options.Pool
	}
	share := o.share * float64(len(rows)) / float64(o.Rows())
	o.spent.gradients += share
	o.spent.equivalents += share
	return o.batch.GradientTo(dst, w, rows)
}

// product is a curvature matrix that counts its products.
type product struct {
	o     *objective
	apply func(dst, v []float64)
	price float64 // of one product, in gradient equivalents
}

func (p *product) Dim() int { return p.o.Dim() }

func (p *product) MulVecTo(dst, v []float64) {
	p.o.chargePasses()
	p.o.spent.products += p.o.share
	p.o.spent.equivalents += p.o.share * p.price
	p.apply(dst, v)
}
