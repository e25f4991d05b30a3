package models

import (
	"gonum.org/v1/gonum/mat"

	"newtop/models/blas"
	"newtop/models/internal/pass"
	"newtop/models/reduce"
)

// Options say how a Linearization computes. The zero value works.
type Options struct {
	// Pool is what computes; nil means the caller's goroutine alone.
	Pool *reduce.Pool
	// Memory bounds the bytes of what is kept for products: inputs, outputs, derivatives. 0 means
	// 1 GiB. Blocks of rows that do not fit are computed anew in every product, to the same bits.
	// Partial sums, at most 32 vectors of weights and for each thread one a level of the Tree, come on top.
	Memory int64
	// Part, if not nil, says of which rows x and t have some. Other processes have the rest.
	Part *reduce.Part
}

// manyTasks is so many for a thread that one more or less is no matter.
const manyTasks = 8

// DefaultMemory is what Options keep when they do not say, in bytes.
const DefaultMemory = 1 << 30

// Linearization is a network on some rows of data, with the forward and backward pass at the weights
// of the last Update kept, so that products with the Hessian and the Gauss–Newton matrix cost no more
// than their own passes. It computes means over the rows. All results are the same to the bit for any
// number of threads, any Memory and any Part whose Joiner adds in the tree's order. One goroutine uses it at a time; its
// methods allocate nothing but, the first time, what rows of the Jacobian and products of wide nets need.
type Linearization struct {
	tapes
	network  *Network
	all      int // rows, with those of other processes
	pool     *reduce.Pool
	part     *reduce.Part
	sums     *reduce.Reducer // of what belongs to weights, and of a tally
	updated  bool
	asked    bool // whether a product was asked for since the last Update; before the first one it is as if
	gradient []float64
	total    Evaluation

	arg   []float64               // of the call under way
	tally [pass.TallySize]float64 // of the last EvaluateAt

	run                                              func(count int, task func(worker, i int)) // tasks over blocks
	recompute                                        func(worker, i int)
	update, evaluate, hessian, gaussNewton, diagonal *reduce.Sum
	rowProducts                                      *reduce.Sum
	matrix                                           *assembly // nil before the first GaussNewtonMatrixTo
	wide                                             *wideSums // nil for a net that is not, or whose passes are not all kept
}

// newLinearization returns a Linearization of rows rows that were checked, of all with those of other processes.
func newLinearization(n *Network, x, t *mat.Dense, rows, all int, o Options) *Linearization {
	dim := n.Dim()
	l := &Linearization{
		tapes:   tapes{net: n.net, x: x, t: t, rows: rows, w: make([]float64, dim)},
		network: n, all: all, pool: o.Pool, part: o.Part, sums: reduce.NewReducer(all, dim, pass.TallySize, o.Pool, o.Part),
		asked: true, gradient: make([]float64, dim+pass.TallySize),
	}
	for range o.Pool.Threads() {
		l.scratches = append(l.scratches, pass.NewScratch(n.net, min(rows, reduce.BlockRows)))
	}
	l.recompute = l.recomputeTask
	l.run = o.Pool.Run
	if n.wide(wideRows) && o.Pool.Threads() > 1 {
		l.run = l.shareNodes
	}
	l.sums.Run = l.run
	l.update = l.sums.Sum(0, dim+pass.TallySize, l.updateLeaf)
	l.evaluate = l.sums.Sum(dim, dim+pass.TallySize, l.evaluateLeaf)
	l.hessian = l.newProduct((*pass.Scratch).AddHessian)
	l.gaussNewton = l.newProduct((*pass.Scratch).AddGaussNewton)
	l.diagonal = l.newProduct(pass.AddDiagonal)
	l.rowProducts = l.newProduct(pass.AddRowProducts)
	l.allocate(o.Memory)
	l.wide = l.newWideSums(o.Memory)
	l.pool.Run(l.sums.Tasks(), func(worker, i int) {
		first, last := l.sums.Blocks(i)
		l.fill(l.scratches[worker], first, last)
	})
	return l
}

// updateLeaf stores the sums of the blocks' gradients and tallies.
func (l *Linearization) updateLeaf(worker int, sum []float64, first, last int) {
	s := l.scratches[worker]
	var total pass.Tally
	start := blas.Zero
	for block := first; block < last; block++ {
		tp, _ := l.prepare(s, block)
		total.Add(l.pass(s, tp, block))
		s.GradientTo(sum[:l.net.Dim], l.w, tp, start)
		start = blas.Add
	}
	total.StoreTo(sum[l.net.Dim:])
}

// recomputeTask does the passes again that Update did not keep.
func (l *Linearization) recomputeTask(worker, i int) {
	s := l.scratches[worker]
	first, last := l.sums.Blocks(i)
	for block := first; block < min(last, l.kept); block++ {
		tp, _ := l.prepare(s, block)
		l.pass(s, tp, block)
	}
}

// shareNodes does tasks over blocks on the caller, who shares the work on wide layers with the pool, unless there are so many
// tasks that threads are done with them at about the same time.
func (l *Linearization) shareNodes(count int, task func(worker, i int)) {
	if count >= manyTasks*l.pool.Threads() {
		l.pool.Run(count, task)
		return
	}
	s := l.scratches[0]
	s.Threads = l.pool
	defer func() { s.Threads = nil }()
	for i := range count {
		task(0, i)
	}
}

// needPasses makes sure that the passes which there is memory for are kept.
func (l *Linearization) needPasses() {
	l.asked = true
	if !l.current {
		l.current = true
		l.run(l.sums.Tasks(), l.recompute)
	}
}

// evaluateLeaf stores the sum of the blocks' tallies at weights l.arg.
func (l *Linearization) evaluateLeaf(worker int, sum []float64, first, last int) {
	s := l.scratches[worker]
	var total pass.Tally
	for block := first; block < last; block++ {
		tp, kept := l.prepare(s, block)
		own := s.Own.U[0]
		if kept {
			s.Own.U[0] = tp.U[0]
		}
		s.Forward(l.arg, &s.Own)
		l.targets(s, block)
		total.Add(s.Measure(&s.Own))
		s.Own.U[0] = own
	}
	total.StoreTo(sum[l.net.Dim:])
}

// newProduct returns the sum of what add adds for a block, in the direction l.arg.
func (l *Linearization) newProduct(add func(s *pass.Scratch, dst, w, d []float64, tp *pass.Tape)) *reduce.Sum {
	return l.sums.Sum(0, l.net.Dim, l.productLeaf(add))
}

// productLeaf returns what stores the sum of what add adds for some blocks.
func (l *Linearization) productLeaf(add func(s *pass.Scratch, dst, w, d []float64, tp *pass.Tape)) func(int, []float64, int, int) {
	return func(worker int, sum []float64, first, last int) {
		s, dst := l.scratches[worker], sum[:l.net.Dim]
		clear(dst)
		for block := first; block < last; block++ {
			tp, kept := l.prepare(s, block)
			if !kept {
				l.pass(s, tp, block)
			}
			add(s, dst, l.w, l.arg, tp)
		}
	}
}

// Update does the forward and backward pass at w, of which it keeps a copy. A loss or gradient that is
// not finite is kept like any other.
//
// To write down what products need takes as long as a good part of the pass, so Update leaves it out if nobody asked for
// a product after the Update before; if somebody does now, the first product does the passes again.
func (l *Linearization) Update(w []float64) {
	l.network.checkWeights("Update", "w", w)
	copy(l.w, w)
	l.current = l.asked || l.wide != nil
	l.asked = false
	if l.wide != nil {
		l.wide.gradientTo(l.gradient)
	} else {
		l.update.To(l.gradient)
	}
	l.total = l.network.evaluation(l.all, pass.TallyOf(l.gradient[l.net.Dim:]))
	l.updated = true
}

// Network returns the network that was bound.
func (l *Linearization) Network() *Network { return l.network }

// Dim returns the number of weights.
func (l *Linearization) Dim() int { return l.net.Dim }

// Rows returns the number of rows, those of other processes included.
func (l *Linearization) Rows() int { return l.all }

// KeptRows returns for how many rows the passes are kept in this process. Those of the others are done again in every
// product, at the cost of their gradient.
func (l *Linearization) KeptRows() int { return min(l.rows, l.kept*reduce.BlockRows) }

// Current reports whether the passes of KeptRows are kept. If not, the next product does them again, once.
func (l *Linearization) Current() bool { return l.current }

// Asked reports whether a product was asked for since the last Update, so that the next one keeps its passes.
func (l *Linearization) Asked() bool { return l.asked }

// Expect makes Asked report that: one Linearization can so serve several users in turn, each of whom finds it as
// he left it.
func (l *Linearization) Expect(products bool) { l.asked = products }

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
	l.arg = w
	l.evaluate.To(l.tally[:])
	l.arg = nil
	return l.network.evaluation(l.all, pass.TallyOf(l.tally[:]))
}

// GradientTo stores ∂E/∂w in dst.
func (l *Linearization) GradientTo(dst []float64) {
	l.checkUpdated("GradientTo")
	l.network.checkWeights("GradientTo", "dst", dst)
	copy(dst, l.gradient)
}

// HessianTo stores the exact product Hv in dst [M, corollary 2]. dst and v must not overlap.
func (l *Linearization) HessianTo(dst, v []float64) {
	l.curvature("HessianTo", dst, v, l.hessian, true)
}

// GaussNewtonTo stores the product (JᵀBJ)v in dst [MD, §2.2], B being the curvature of the loss at the
// outputs. dst and v must not overlap.
func (l *Linearization) GaussNewtonTo(dst, v []float64) {
	l.curvature("GaussNewtonTo", dst, v, l.gaussNewton, false)
}

// GaussNewtonRowsTo stores the product (JᵀBJ)v in dst, as GaussNewtonTo does, by [MD, Algorithm 2]: every row of
// the Jacobian is formed, α = row·v, dst += α·row. It is up to as many times dearer as there are outputs, and
// here to be compared with. dst and v must not overlap.
func (l *Linearization) GaussNewtonRowsTo(dst, v []float64) {
	l.product("GaussNewtonRowsTo", dst, v, l.rowProducts)
}

// GaussNewtonDiagTo stores the diagonal of JᵀBJ in dst, the Jacobi preconditioner of [MD].
func (l *Linearization) GaussNewtonDiagTo(dst []float64) {
	l.product("GaussNewtonDiagTo", dst, l.w, l.diagonal)
}

func (l *Linearization) product(name string, dst, v []float64, sum *reduce.Sum) {
	l.begin(name, dst, v)
	sum.To(dst)
	l.arg = nil
}

// curvature is product for the exact Hessian or the Gauss–Newton matrix.
func (l *Linearization) curvature(name string, dst, v []float64, sum *reduce.Sum, exact bool) {
	if l.wide == nil || !l.wide.room {
		l.product(name, dst, v, sum)
		return
	}
	l.begin(name, dst, v)
	l.wide.productTo(dst, exact)
	l.arg = nil
}

// begin begins a product with v.
func (l *Linearization) begin(name string, dst, v []float64) {
	l.checkUpdated(name)
	l.network.checkWeights(name, "dst", dst)
	l.network.checkWeights(name, "v", v)
	l.needPasses()
	l.arg = v
}

func (l *Linearization) checkUpdated(name string) {
	if !l.updated {
		panic("models: " + name + " before Update")
	}
}
