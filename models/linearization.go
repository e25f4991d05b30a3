package models

import (
	"newtop/models/internal/pass"
	"newtop/models/reduce"
)

// Options say how a Linearization computes. The zero value works.
type Options struct {
	// Pool is what computes; nil means the caller's goroutine alone.
	Pool *reduce.Pool
	// Memory bounds the bytes of what is kept for products: inputs, outputs, derivatives. 0 means
	// 1 GiB. Blocks of rows that do not fit are computed again in every product, to the same bits.
	// Partial sums, at most 32 vectors of weights and for each thread one a level of the Tree, come on top.
	Memory int64
	// Double asks for passes in double precision, whatever the network's is: of what must be certain.
	Double bool
	// Products says that little but products is asked for: Update then leaves out the gradient's sums, and the first
	// GradientTo does the passes once more for them. Where other processes have rows it is ignored.
	Products bool
	// Part, if not nil, says of which rows x and t have some. Other processes have the rest.
	Part *reduce.Part
}

// manyTasks is that many for a thread that one more or less is no matter.
const manyTasks = 8

// DefaultMemory is what Options keep when they do not say, in bytes.
const DefaultMemory = 1 << 30

// Linearization is a network on some rows of data, with the forward and backward pass at the weights of the last Update
// kept, so that products with the Hessian and the Gauss–Newton matrix cost no more than their own passes. It computes
// means over the rows. All results are the same to the bit for any number of threads, any Memory and any Part whose
// Joiner adds in the tree's order. One goroutine uses it at a time; its methods allocate nothing but, the first time,
// room for the passes that are kept, for products of wide nets and for rows of the Jacobian.
type Linearization struct {
	*passes
	computation
	network   *Network
	all       int // rows, with those of other processes
	pool      *reduce.Pool
	part      *reduce.Part
	sums      *reduce.Reducer // of what belongs to weights, and of a tally
	updated   bool
	renewed   bool // whether inputs that were kept are other rows'
	requested bool // whether a product was asked for since the last Update; before the first one it is as if
	summed    bool // whether the gradient is that of the last Update
	lazy      bool // whether Update leaves it out
	gradient  []float64
	total     Evaluation

	tally [pass.TallySize]float64 // of the last EvaluateAt

	run                  func(count int, task func(worker, i int)) // tasks over blocks
	again, filling       func(worker, i int)
	updates, evaluations *reduce.Sum
	tallies              *reduce.Sum // of the passes without the gradient
	products             [rowsProduct + 1]*reduce.Sum
	matrix               *assembly // nil before the first GaussNewtonMatrixTo
	wide                 *wideSums // nil for a net that is not, or whose passes are not all kept
}

// newLinearization returns a Linearization of rows rows that were checked, of all with those of other processes.
func newLinearization(n *Network, x, t Matrix, rows, all int, o Options) *Linearization {
	dim := n.Dim()
	l := &Linearization{
		passes:  &passes{net: n.net, rows: rows, span: reduce.BlockRows},
		network: n, all: all, pool: o.Pool, part: o.Part,
		sums:      reduce.NewReducer(all, dim, pass.TallySize, o.Pool, o.Part),
		requested: true, gradient: make([]float64, dim+pass.TallySize), lazy: o.Products && o.Part == nil,
	}
	single := n.precision == Single && !o.Double
	bytes := int64(8)
	if single {
		bytes = 4
	}
	numbers := o.Memory / bytes
	if l.kept = l.blocks(); numbers/int64(n.net.TapeSize()) < int64(rows) {
		l.kept = int(numbers / int64(n.net.TapeSize()*reduce.BlockRows))
	}
	together, wide := l.divided()
	if wide {
		l.span, l.measured = together, make([]pass.Tally, l.blocks())
	}
	if single {
		l.computation = newTapes[float32](l.passes, x, t, o.Pool)
	} else {
		l.computation = newTapes[float64](l.passes, x, t, o.Pool)
	}
	l.run = o.Pool.Run
	if n.wide(wideRows) && o.Pool.Threads() > 1 {
		l.run = l.shareTasks
	}
	l.sums.Run = l.run
	if wide {
		l.wide = l.newWideSums(int64(rows)*int64(n.net.TapeSize()+n.net.TangentSize()) <= numbers)
	}
	l.again = func(worker, i int) {
		first, last := l.sums.Blocks(i)
		l.recompute(worker, first, last)
	}
	l.updates = l.sums.Sum(0, dim+pass.TallySize, l.update)
	l.tallies = l.sums.Sum(dim, dim+pass.TallySize, l.computation.tally)
	l.evaluations = l.sums.Sum(dim, dim+pass.TallySize, l.evaluate)
	for kind := range l.products {
		l.products[kind] = l.sums.Sum(0, dim, l.computation.product(product(kind)))
	}
	l.filling = l.fill
	l.pool.Run(0, nil) // which panics if the pool is closed, and not at the first Update
	return l
}

// retain says that the passes which come next are kept, as far as there is memory for them. A network that nobody asks
// for products needs no memory for them.
func (l *Linearization) retain() {
	l.current = true
	if l.allocate() || l.renewed {
		l.pool.Run(l.tapes(), l.filling)
	}
	l.renewed = false
}

// Renew says that x and t, which are of the precision of the passes, have other rows now, of which there are as many.
// It leaves the Linearization as Bind returns one, with the memory that it has.
func (l *Linearization) Renew() {
	l.updated, l.current, l.renewed, l.requested = false, false, true, true
}

// shareTasks does tasks over blocks on the caller, who shares the work on wide layers with the pool, unless there are
// that many tasks that threads are done with them at about the same time.
func (l *Linearization) shareTasks(count int, task func(worker, i int)) {
	if count >= manyTasks*l.pool.Threads() {
		l.pool.Run(count, task)
		return
	}
	l.shareNodes(l.pool)
	defer l.shareNodes(nil)
	for i := range count {
		task(0, i)
	}
}

// needPasses makes sure that the passes which there is memory for are kept.
func (l *Linearization) needPasses() {
	l.requested = true
	if l.wide != nil {
		l.wide.goBack()
	} else if !l.current {
		l.retain()
		l.run(l.sums.Tasks(), l.again)
	}
}

// Update does the forward and backward pass at w, of which it keeps a copy. A loss or gradient that is
// not finite is kept like any other.
//
// To write down what products need takes as long as a good part of the pass, so Update leaves it out if nobody asked
// for a product after the Update before; if somebody does now, the first product does the passes again.
func (l *Linearization) Update(w []float64) {
	l.network.checkWeights("Update", "w", w)
	l.setWeights(w)
	if l.current = l.requested || l.lazy || l.wide != nil; l.current {
		l.retain()
	}
	l.requested = false
	if l.wide != nil {
		l.wide.goForward()
	}
	if l.summed = !l.lazy && l.wide == nil; l.summed {
		l.updates.To(l.gradient)
	} else {
		l.tallies.To(l.gradient[l.net.Dim:])
	}
	l.total = evaluationOf(l.all, l.network.Outputs(), pass.TallyOf(l.gradient[l.net.Dim:]))
	l.updated = true
}

// Network returns the network that was bound.
func (l *Linearization) Network() *Network { return l.network }

// Dim returns the number of weights.
func (l *Linearization) Dim() int { return l.net.Dim }

// Rows returns the number of rows, those of other processes included.
func (l *Linearization) Rows() int { return l.all }

// RetainedRows returns for how many rows the passes are kept in this process. Those of the others are done again in
// every product, at the cost of their gradient.
func (l *Linearization) RetainedRows() int { return min(l.rows, l.kept*reduce.BlockRows) }

// Current reports whether the passes of RetainedRows are kept. If not, the next product does them again, once.
func (l *Linearization) Current() bool { return l.current }

// Requested reports whether a product was asked for since the last Update, so that the next one keeps its
// passes.
func (l *Linearization) Requested() bool { return l.requested }

// Expect makes Requested report that: one Linearization can so serve several users in turn, each of whom finds
// it as he left it.
func (l *Linearization) Expect(products bool) { l.requested = products }

// Loss returns E(w) at the weights of the last Update.
func (l *Linearization) Loss() float64 { return l.Evaluation().Loss }

// Evaluation returns how well the network does at the weights of the last Update.
func (l *Linearization) Evaluation() Evaluation {
	l.checkUpdated("Evaluation")
	return l.total
}

// EvaluateAt returns how well the network does at other weights, by a forward pass. What Update kept
// stays.
func (l *Linearization) EvaluateAt(w []float64) Evaluation {
	l.network.checkWeights("EvaluateAt", "w", w)
	l.setArg(w)
	l.evaluations.To(l.tally[:])
	l.setArg(nil)
	return evaluationOf(l.all, l.network.Outputs(), pass.TallyOf(l.tally[:]))
}

// GradientTo stores ∂E/∂w in dst.
func (l *Linearization) GradientTo(dst []float64) {
	l.checkUpdated("GradientTo")
	l.network.checkWeights("GradientTo", "dst", dst)
	if l.wide != nil { // a long gradient is added up where it is asked for, and not kept
		l.wide.gradientTo(dst)
		return
	}
	if !l.summed {
		l.updates.To(l.gradient)
		l.summed = true
	}
	copy(dst, l.gradient)
}

// HessianTo stores the exact product Hv in dst [M, corollary 2]. dst and v must not overlap.
func (l *Linearization) HessianTo(dst, v []float64) { l.productTo("HessianTo", dst, v, hessianProduct) }

// GaussNewtonTo stores the product (JᵀBJ)v in dst [MD, §2.2], B being the curvature of the loss at the
// outputs. dst and v must not overlap.
func (l *Linearization) GaussNewtonTo(dst, v []float64) {
	l.productTo("GaussNewtonTo", dst, v, gaussNewtonProduct)
}

// GaussNewtonRowsTo stores the product (JᵀBJ)v in dst, as GaussNewtonTo does, by [MD, Algorithm 2]: every row of
// the Jacobian is formed, α = row·v, dst += α·row. It is up to as many times dearer as there are outputs, and
// here to be compared with. dst and v must not overlap.
func (l *Linearization) GaussNewtonRowsTo(dst, v []float64) {
	l.productTo("GaussNewtonRowsTo", dst, v, rowsProduct)
}

// GaussNewtonDiagTo stores the diagonal of JᵀBJ in dst, the Jacobi preconditioner of [MD].
func (l *Linearization) GaussNewtonDiagTo(dst []float64) {
	l.productTo("GaussNewtonDiagTo", dst, dst, diagonalProduct)
}

// productTo stores a product in dst; the diagonal has no direction.
func (l *Linearization) productTo(name string, dst, v []float64, kind product) {
	l.checkUpdated(name)
	l.network.checkWeights(name, "dst", dst)
	l.network.checkWeights(name, "v", v)
	l.setArg(v)
	if l.wide != nil && l.wide.room && kind <= gaussNewtonProduct {
		l.wide.productTo(dst, kind == hessianProduct)
	} else {
		l.needPasses()
		l.products[kind].To(dst)
	}
	l.setArg(nil)
}

func (l *Linearization) checkUpdated(name string) {
	if !l.updated {
		panic("models: " + name + " before Update")
	}
}
