package models

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"newtop/models/blas"
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

// DefaultMemory is what Options keep when they do not say, in bytes.
const DefaultMemory = 1 << 30

// Linearization is a network on some rows of data, with the forward and backward pass at the weights
// of the last Update kept, so that products with the Hessian and the Gauss–Newton matrix cost no more
// than their own passes. It computes means over the rows. All results are the same to the bit for any
// number of threads, any Memory and any Part whose Joiner adds in the tree's order. One goroutine uses it at a time; its
// methods allocate nothing but, the first time, what rows of the Jacobian need.
type Linearization struct {
	net       *Network
	x, t      *mat.Dense
	rows      int // that are here
	all       int // with those of other processes
	pool      *reduce.Pool
	part      *reduce.Part
	w         []float64 // weights of the last Update
	updated   bool
	asked     bool // whether a product was asked for since the last Update; before the first one it is as if
	current   bool // whether the kept tapes are those at w
	gradient  []float64
	total     Evaluation
	slab      []float64 // tapes of the first kept blocks, one after another
	kept      int
	scratches []*scratch      // one a worker
	sums      *reduce.Reducer // of what belongs to weights, and of a tally

	arg   []float64          // of the call under way
	tally [tallySize]float64 // of the last EvaluateAt

	recompute                                        func(worker, i int)
	update, evaluate, hessian, gaussNewton, diagonal *reduce.Sum

	rowProducts *reduce.Sum // nil before the first GaussNewtonRowsTo
	assembly    *assembly   // nil before the first GaussNewtonMatrixTo
}

// Bind returns a Linearization of the network on the rows of x and t, which are rows × Columns and rows
// × Outputs and must not change as long as it is used. It has no weights before the first Update. Inputs
// and targets should be finite: a NaN reaches all that depends on it, but of the generic kernel's products, which skip
// weights that are exactly 0.
func (n *Network) Bind(x, t *mat.Dense, o Options) *Linearization {
	if o.Memory < 0 {
		panic(fmt.Sprintf("models: Bind: memory of %d bytes", o.Memory))
	}
	if o.Memory == 0 {
		o.Memory = DefaultMemory
	}
	rows, all := n.checkRows(x, t, o.Part)
	l := &Linearization{net: n, x: x, t: t, rows: rows, all: all, pool: o.Pool, part: o.Part,
		w: make([]float64, n.dim), gradient: make([]float64, n.dim+tallySize), asked: true}
	l.sums = reduce.NewReducer(all, n.dim, tallySize, o.Pool, o.Part)
	for range o.Pool.Threads() {
		l.scratches = append(l.scratches, n.newScratch(min(rows, reduce.BlockRows)))
	}
	l.recompute = l.recomputeTask
	l.update = l.sums.Sum(0, n.dim+tallySize, l.updateLeaf)
	l.evaluate = l.sums.Sum(n.dim, n.dim+tallySize, l.evaluateLeaf)
	l.hessian = l.newProduct((*scratch).addHessian)
	l.gaussNewton = l.newProduct((*scratch).addGaussNewton)
	l.diagonal = l.newProduct(func(s *scratch, dst, w, _ []float64, tp *tape) { s.addDiagonal(dst, w, tp) })
	l.allocateTapes(o.Memory)
	return l
}

// checkRows returns how many rows x and t have, and how many there are with other processes'.
func (n *Network) checkRows(x, t *mat.Dense, part *reduce.Part) (rows, all int) {
	if x != nil {
		rows, _ = x.Dims()
	}
	all = rows
	if part != nil {
		if part.Joiner == nil {
			panic("models: Bind: a part without a Joiner")
		}
		all = part.Rows
		if first, last := reduce.NewTree(all).Rows(part.Rank, part.Size); rows != last-first {
			panic(fmt.Sprintf("models: Bind: %d rows, process %d of %d has %d of %d", rows, part.Rank, part.Size, last-first, all))
		}
	}
	if all == 0 {
		panic("models: Bind: no rows")
	}
	if rows > 0 {
		n.checkMatrix("Bind", "x", x, rows, n.Columns())
		n.checkMatrix("Bind", "t", t, rows, n.Outputs())
	}
	return rows, all
}

// Linearize is Bind with default Options, on the caller alone, and Update.
func (n *Network) Linearize(w []float64, x, t *mat.Dense) *Linearization {
	l := n.Bind(x, t, Options{})
	l.Update(w)
	return l
}

// blocks returns how many blocks the rows that are here make.
func (l *Linearization) blocks() int { return (l.rows + reduce.BlockRows - 1) / reduce.BlockRows }

// blockSize returns the number of rows of block i; all but the last are full.
func (l *Linearization) blockSize(i int) int { return min(reduce.BlockRows, l.rows-i*reduce.BlockRows) }

// allocateTapes allocates the tapes of as many blocks as memory allows and fills in their inputs.
func (l *Linearization) allocateTapes(memory int64) {
	perRow := int64(l.net.tapeSize())
	rows := min(int64(l.rows), memory/(8*perRow))
	if rows == int64(l.rows) {
		l.kept = l.blocks()
	} else {
		l.kept = int(rows / reduce.BlockRows)
		rows = int64(l.kept) * reduce.BlockRows
	}
	l.slab = make([]float64, rows*perRow)
	l.pool.Run(l.sums.Tasks(), func(worker, i int) {
		s := l.scratches[worker]
		first, last := l.sums.Blocks(i)
		for block := first; block < min(last, l.kept); block++ {
			s.setRows(l.blockSize(block))
			gather(l.keptTape(s, block).u[0], l.x.RawMatrix(), block*reduce.BlockRows, s.rows)
		}
	})
}

// keptTape returns the view of a kept block's tape.
func (l *Linearization) keptTape(s *scratch, block int) *tape {
	l.net.placeTape(&s.view, l.slab[block*reduce.BlockRows*l.net.tapeSize():], s.rows)
	return &s.view
}

// prepare makes the scratch ready for a block and returns its tape with the inputs filled in, and whether the
// tape outlives the block.
func (l *Linearization) prepare(s *scratch, block int) (tp *tape, kept bool) {
	s.setRows(l.blockSize(block))
	if l.current && block < l.kept {
		tp := l.keptTape(s, block)
		tp.x = l.inputs(block)
		return tp, true
	}
	s.own.x = l.inputs(block)
	gather(s.own.u[0], l.x.RawMatrix(), block*reduce.BlockRows, s.rows)
	return &s.own, false
}

// inputs returns the rows of x of a block.
func (l *Linearization) inputs(block int) byRow {
	x := l.x.RawMatrix()
	return byRow{x.Data[block*reduce.BlockRows*x.Stride:], x.Stride}
}

// pass does the forward and backward pass on a block whose inputs are filled in.
func (l *Linearization) pass(s *scratch, tp *tape, block int) tally {
	s.forward(l.w, tp)
	gather(s.targets, l.t.RawMatrix(), block*reduce.BlockRows, s.rows)
	sum := s.loss(tp)
	s.outputDelta(tp)
	s.backward(l.w, tp)
	return sum
}

// updateLeaf stores the sums of the blocks' gradients and tallies.
func (l *Linearization) updateLeaf(worker int, sum []float64, first, last int) {
	s := l.scratches[worker]
	var total tally
	start := blas.Zero
	for block := first; block < last; block++ {
		tp, _ := l.prepare(s, block)
		total.add(l.pass(s, tp, block))
		s.gradientTo(sum[:l.net.dim], l.w, tp, start)
		start = blas.Add
	}
	total.storeTo(sum[l.net.dim:])
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

// needPasses makes sure that the passes which there is memory for are kept.
func (l *Linearization) needPasses() {
	l.asked = true
	if !l.current {
		l.current = true
		l.pool.Run(l.sums.Tasks(), l.recompute)
	}
}

// evaluateLeaf stores the sum of the blocks' tallies at weights l.arg.
func (l *Linearization) evaluateLeaf(worker int, sum []float64, first, last int) {
	s := l.scratches[worker]
	var total tally
	for block := first; block < last; block++ {
		tp, kept := l.prepare(s, block)
		own := s.own.u[0]
		if kept {
			s.own.u[0] = tp.u[0]
		}
		s.forward(l.arg, &s.own)
		gather(s.targets, l.t.RawMatrix(), block*reduce.BlockRows, s.rows)
		total.add(s.loss(&s.own))
		s.own.u[0] = own
	}
	total.storeTo(sum[l.net.dim:])
}

// newProduct returns the sum of what add adds for a block, in the direction l.arg.
func (l *Linearization) newProduct(add func(s *scratch, dst, w, d []float64, tp *tape)) *reduce.Sum {
	return l.sums.Sum(0, l.net.dim, l.productLeaf(add))
}

// productLeaf returns what stores the sum of what add adds for some blocks.
func (l *Linearization) productLeaf(add func(s *scratch, dst, w, d []float64, tp *tape)) func(int, []float64, int, int) {
	return func(worker int, sum []float64, first, last int) {
		s, dst := l.scratches[worker], sum[:l.net.dim]
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

// evaluation returns what a tally over all rows, as numbers, says.
func (l *Linearization) evaluation(numbers []float64) Evaluation {
	sum := tallyOf(numbers)
	return Evaluation{Rows: l.all, Outputs: l.net.Outputs(), Wrong: sum.wrong,
		Loss: sum.loss / float64(l.all), SquaredError: sum.squared}
}

// Update does the forward and backward pass at w, of which it keeps a copy. A loss or gradient that is
// not finite is kept like any other.
//
// To write down what products need takes as long as a good part of the pass, so Update leaves it out if nobody asked for
// a product after the Update before; if somebody does now, the first product does the passes again.
func (l *Linearization) Update(w []float64) {
	l.net.checkWeights("Update", "w", w)
	copy(l.w, w)
	l.current = l.asked
	l.asked = false
	l.update.To(l.gradient)
	l.total = l.evaluation(l.gradient[l.net.dim:])
	l.updated = true
}

// Network returns the network that was bound.
func (l *Linearization) Network() *Network { return l.net }

// Dim returns the number of weights.
func (l *Linearization) Dim() int { return l.net.dim }

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
	l.net.checkWeights("EvaluateAt", "w", w)
	l.arg = w
	l.evaluate.To(l.tally[:])
	l.arg = nil
	return l.evaluation(l.tally[:])
}

// GradientTo stores ∂E/∂w in dst.
func (l *Linearization) GradientTo(dst []float64) {
	l.checkUpdated("GradientTo")
	l.net.checkWeights("GradientTo", "dst", dst)
	copy(dst, l.gradient)
}

// HessianTo stores the exact product Hv in dst [M, corollary 2]. dst and v must not overlap.
func (l *Linearization) HessianTo(dst, v []float64) { l.product("HessianTo", dst, v, l.hessian) }

// GaussNewtonTo stores the product (JᵀBJ)v in dst [MD, §2.2], B being the curvature of the loss at the
// outputs. dst and v must not overlap.
func (l *Linearization) GaussNewtonTo(dst, v []float64) {
	l.product("GaussNewtonTo", dst, v, l.gaussNewton)
}

// GaussNewtonDiagTo stores the diagonal of JᵀBJ in dst, the Jacobi preconditioner of [MD].
func (l *Linearization) GaussNewtonDiagTo(dst []float64) {
	l.product("GaussNewtonDiagTo", dst, l.w, l.diagonal)
}

func (l *Linearization) product(name string, dst, v []float64, sum *reduce.Sum) {
	l.checkUpdated(name)
	l.net.checkWeights(name, "dst", dst)
	l.net.checkWeights(name, "v", v)
	l.needPasses()
	l.arg = v
	sum.To(dst)
	l.arg = nil
}

func (l *Linearization) checkUpdated(name string) {
	if !l.updated {
		panic("models: " + name + " before Update")
	}
}

func (n *Network) checkWeights(name, which string, w []float64) {
	if len(w) != n.dim {
		panic(fmt.Sprintf("models: %s: %s has %d numbers, the network %d weights", name, which, len(w), n.dim))
	}
}

func (n *Network) checkMatrix(name, which string, m *mat.Dense, rows, cols int) {
	if r, c := m.Dims(); r != rows || c != cols {
		panic(fmt.Sprintf("models: %s: %s is %d × %d, expected %d × %d", name, which, r, c, rows, cols))
	}
}
