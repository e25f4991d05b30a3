package models

import (
	"fmt"

	"newtop/internal/vector"
	"newtop/models/blas"

	"gonum.org/v1/gonum/mat"
)

// Options say how a Linearization computes. The zero value works.
type Options struct {
	// Pool is what computes; nil means the caller's goroutine alone.
	Pool *Pool
	// Memory bounds the bytes of what is kept for products: inputs, outputs, derivatives. 0 means
	// 1 GiB. Blocks of rows that do not fit are computed anew in every product, to the same bits.
	// Partial sums, at most 32 vectors of weights, come on top.
	Memory int64
}

// DefaultMemory is what Options keep when they do not say, in bytes.
const DefaultMemory = 1 << 30

const (
	// A sum over all rows is made of that many partial sums or fewer, one a shard, so that up to that
	// many threads have work. Networks so large that the partial sums would pass sumMemory numbers
	// have fewer shards, but leastShards if there are as many blocks.
	mostShards, leastShards = 32, 4
	sumMemory               = 1 << 25
	// reduceChunk is how many weights one task adds the partial sums of.
	reduceChunk = 4096
)

// Linearization is a network on some rows of data, with the forward and backward pass at the weights
// of the last Update kept, so that products with the Hessian and the Gauss–Newton matrix cost no more
// than their own passes. It computes means over the rows. All results are the same to the bit for any
// number of threads and any Memory. One goroutine uses it at a time; its methods allocate nothing but, the
// first time, what rows of the Jacobian need.
type Linearization struct {
	net      *Network
	x, t     *mat.Dense
	rows     int
	pool     *Pool
	w        []float64 // weights of the last Update
	updated  bool
	asked    bool // whether a product was asked for since the last Update; before the first one it is as if
	current  bool // whether the kept tapes are those at w
	gradient []float64
	total    Evaluation
	slab     []float64 // tapes of the first kept blocks, one after another
	kept     int
	shards   []shard
	spaces   []*space // one a worker

	// Arguments of the call under way, and the tasks that read them.
	arg, dst                                                       []float64
	update, retake, evaluate, hessian, gaussNewton, diagonal, fold func(worker, i int)

	rowProducts func(worker, i int) // nil before the first GaussNewtonRowsTo
	assembly    *assembly           // nil before the first GaussNewtonMatrixTo
}

// shard is a contiguous range of blocks whose sum one worker computes, in the blocks' order.
type shard struct {
	first, last int // blocks [first, last)
	sum         []float64
	tally       tally
}

// Bind returns a Linearization of the network on the rows of x and t, which are rows × Columns and rows
// × Outputs and must not change as long as it is used. It has no weights before the first Update. Inputs
// and targets should be finite: a NaN reaches all that depends on it, but of the generic kernel's products, which skip
// weights that are exactly 0.
func (n *Network) Bind(x, t *mat.Dense, o Options) *Linearization {
	rows, _ := x.Dims()
	if rows == 0 {
		panic("models: Bind: no rows")
	}
	n.checkMatrix("Bind", "x", x, rows, n.Columns())
	n.checkMatrix("Bind", "t", t, rows, n.Outputs())
	if o.Memory < 0 {
		panic(fmt.Sprintf("models: Bind: memory of %d bytes", o.Memory))
	}
	if o.Memory == 0 {
		o.Memory = DefaultMemory
	}
	l := &Linearization{net: n, x: x, t: t, rows: rows, pool: o.Pool,
		w: make([]float64, n.dim), gradient: make([]float64, n.dim), asked: true}
	l.makeShards()
	for range o.Pool.Threads() {
		l.spaces = append(l.spaces, n.newSpace(min(rows, blockRows)))
	}
	l.update, l.retake = l.updateShard, l.retakeShard
	l.evaluate = l.evaluateShard
	l.hessian = l.productShard((*space).addHessian)
	l.gaussNewton = l.productShard((*space).addGaussNewton)
	l.diagonal = l.productShard(func(s *space, dst, w, _ []float64, tp *tape) { s.addDiagonal(dst, w, tp) })
	l.fold = l.foldChunk
	l.keep(o.Memory)
	return l
}

// Linearize is Bind with default Options, on the caller alone, and Update.
func (n *Network) Linearize(w []float64, x, t *mat.Dense) *Linearization {
	l := n.Bind(x, t, Options{})
	l.Update(w)
	return l
}

func (l *Linearization) blocks() int { return (l.rows + blockRows - 1) / blockRows }

// blockSize returns the number of rows of block i; all but the last are full.
func (l *Linearization) blockSize(i int) int { return min(blockRows, l.rows-i*blockRows) }

func (l *Linearization) makeShards() {
	blocks := l.blocks()
	count := min(blocks, max(leastShards, min(mostShards, sumMemory/l.net.dim)))
	sums := make([]float64, count*l.net.dim)
	l.shards = make([]shard, count)
	for i := range l.shards {
		l.shards[i] = shard{first: i * blocks / count, last: (i + 1) * blocks / count,
			sum: sums[i*l.net.dim:][:l.net.dim:l.net.dim]}
	}
}

// keep allocates the tapes of as many blocks as memory allows and fills in their inputs.
func (l *Linearization) keep(memory int64) {
	perRow := int64(l.net.tapeSize())
	rows := min(int64(l.rows), memory/(8*perRow))
	if rows == int64(l.rows) {
		l.kept = l.blocks()
	} else {
		l.kept = int(rows / blockRows)
		rows = int64(l.kept) * blockRows
	}
	l.slab = make([]float64, rows*perRow)
	l.pool.run(len(l.shards), func(worker, i int) {
		s := l.spaces[worker]
		for block := l.shards[i].first; block < min(l.shards[i].last, l.kept); block++ {
			s.setRows(l.blockSize(block))
			gather(l.layKept(s, block).u[0], l.x.RawMatrix(), block*blockRows, s.rows)
		}
	})
}

// layKept returns the view of a kept block's tape.
func (l *Linearization) layKept(s *space, block int) *tape {
	l.net.lay(&s.view, l.slab[block*blockRows*l.net.tapeSize():], s.rows)
	return &s.view
}

// open prepares the space for a block and returns its tape with the inputs filled in, and whether the
// tape outlives the block.
func (l *Linearization) open(s *space, block int) (tp *tape, kept bool) {
	s.setRows(l.blockSize(block))
	if l.current && block < l.kept {
		tp := l.layKept(s, block)
		tp.x = l.inputs(block)
		return tp, true
	}
	s.own.x = l.inputs(block)
	gather(s.own.u[0], l.x.RawMatrix(), block*blockRows, s.rows)
	return &s.own, false
}

// inputs returns the rows of x of a block.
func (l *Linearization) inputs(block int) byRow {
	x := l.x.RawMatrix()
	return byRow{x.Data[block*blockRows*x.Stride:], x.Stride}
}

// pass does the forward and backward pass on a block whose inputs are filled in.
func (l *Linearization) pass(s *space, tp *tape, block int) tally {
	s.forward(l.w, tp)
	gather(s.targets, l.t.RawMatrix(), block*blockRows, s.rows)
	sum := s.loss(tp)
	s.outputDelta(tp)
	s.backward(l.w, tp)
	return sum
}

func (l *Linearization) updateShard(worker, i int) {
	s, part := l.spaces[worker], &l.shards[i]
	part.tally = tally{}
	start := blas.Zero
	for block := part.first; block < part.last; block++ {
		tp, _ := l.open(s, block)
		part.tally.add(l.pass(s, tp, block))
		s.gradientTo(part.sum, l.w, tp, start)
		start = blas.Add
	}
}

// retakeShard does the passes again that Update did not keep.
func (l *Linearization) retakeShard(worker, i int) {
	s, part := l.spaces[worker], &l.shards[i]
	for block := part.first; block < min(part.last, l.kept); block++ {
		tp, _ := l.open(s, block)
		l.pass(s, tp, block)
	}
}

// askForPasses makes sure that the passes which there is memory for are kept.
func (l *Linearization) askForPasses() {
	l.asked = true
	if !l.current {
		l.current = true
		l.pool.run(len(l.shards), l.retake)
	}
}

func (l *Linearization) evaluateShard(worker, i int) {
	s, part := l.spaces[worker], &l.shards[i]
	part.tally = tally{}
	for block := part.first; block < part.last; block++ {
		tp, kept := l.open(s, block)
		own := s.own.u[0]
		if kept {
			s.own.u[0] = tp.u[0]
		}
		s.forward(l.arg, &s.own)
		gather(s.targets, l.t.RawMatrix(), block*blockRows, s.rows)
		part.tally.add(s.loss(&s.own))
		s.own.u[0] = own
	}
}

// productShard returns the task that sums what add adds over a shard, for the direction l.arg.
func (l *Linearization) productShard(add func(s *space, dst, w, d []float64, tp *tape)) func(worker, i int) {
	return func(worker, i int) {
		s, part := l.spaces[worker], &l.shards[i]
		clear(part.sum)
		for block := part.first; block < part.last; block++ {
			tp, kept := l.open(s, block)
			if !kept {
				l.pass(s, tp, block)
			}
			add(s, part.sum, l.w, l.arg, tp)
		}
	}
}

// foldChunk adds the shards' sums, in their order, for one chunk of weights, and takes the mean.
func (l *Linearization) foldChunk(_, i int) {
	first := i * reduceChunk
	dst := l.dst[first:min(first+reduceChunk, len(l.dst))]
	copy(dst, l.shards[0].sum[first:])
	for _, part := range l.shards[1:] {
		vector.Add(dst, dst, part.sum[first:])
	}
	vector.Scale(dst, 1/float64(l.rows), dst)
}

// mean stores the mean over all rows of the shards' sums in dst.
func (l *Linearization) mean(dst []float64) {
	l.dst = dst
	l.pool.run((len(dst)+reduceChunk-1)/reduceChunk, l.fold)
	l.dst = nil
}

func (l *Linearization) evaluation() Evaluation {
	var sum tally
	for i := range l.shards {
		sum.add(l.shards[i].tally)
	}
	return Evaluation{Rows: l.rows, Outputs: l.net.Outputs(), Wrong: sum.wrong,
		Loss: sum.loss / float64(l.rows), SquaredError: sum.squared}
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
	l.pool.run(len(l.shards), l.update)
	l.mean(l.gradient)
	l.total = l.evaluation()
	l.updated = true
}

// Network returns the network that was bound.
func (l *Linearization) Network() *Network { return l.net }

// Dim returns the number of weights.
func (l *Linearization) Dim() int { return l.net.dim }

// KeptRows returns for how many rows the passes are kept. Those of the others are done again in every
// product, at the cost of their gradient.
func (l *Linearization) KeptRows() int { return min(l.rows, l.kept*blockRows) }

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
	l.pool.run(len(l.shards), l.evaluate)
	l.arg = nil
	return l.evaluation()
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

func (l *Linearization) product(name string, dst, v []float64, task func(worker, i int)) {
	l.checkUpdated(name)
	l.net.checkWeights(name, "dst", dst)
	l.net.checkWeights(name, "v", v)
	l.askForPasses()
	l.arg = v
	l.pool.run(len(l.shards), task)
	l.arg = nil
	l.mean(dst)
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
