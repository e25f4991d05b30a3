package models

import (
	"newtop/internal/vector"
	"newtop/models/blas"
	"newtop/models/internal/pass"
	"newtop/models/reduce"
)

// passes says of which of the rows that a Linearization has here, cut into blocks, the passes are kept.
type passes struct {
	net     *pass.Net
	rows    int  // that are here
	current bool // whether the kept tapes are those at the weights of the last Update
	kept    int  // blocks, the first ones
	span    int  // rows of a kept tape, but for the last one: those of a block, or of a wideSums others

	measured []pass.Tally // of a wideSums' blocks
}

// blocks returns how many blocks the rows that are here make.
func (l *passes) blocks() int { return (l.rows + reduce.BlockRows - 1) / reduce.BlockRows }

// blockSize returns the number of rows of block i; all but the last are full.
func (l *passes) blockSize(i int) int { return min(reduce.BlockRows, l.rows-i*reduce.BlockRows) }

// tapes returns how many are kept.
func (l *passes) tapes() int { return (min(l.rows, l.kept*reduce.BlockRows) + l.span - 1) / l.span }

// tapeRows returns the number of rows of kept tape i.
func (l *passes) tapeRows(i int) int { return min(l.span, l.rows-i*l.span) }

// onTape returns which kept tape has row p of a block, as which of its rows, and how many of the block's from there on.
func (l *passes) onTape(block, p int) (tape, at, rows int) {
	at = block*reduce.BlockRows + p
	tape = at / l.span
	at -= tape * l.span
	return tape, at, min(l.blockSize(block)-p, l.tapeRows(tape)-at)
}

// tapes are the rows of data that a Linearization has here, and the passes of the first blocks, kept as far as memory
// allows.
type tapes[F pass.Float] struct {
	*passes
	x, t      pass.Matrix[F]
	w         []F            // weights of the last Update
	saved     []pass.Tape[F] // of the first rows; nil before they are wanted
	scratches []*pass.Scratch[F]
	sums      [][]F // what a worker adds up over a leaf, unless that is in double precision anyway
	arg       []F   // of the call under way
	argMemory []F
	rowMemory [][]F // of a worker each: what becomes double precision afterwards

	pool     *reduce.Pool
	rounding struct { // of the call under way: what the pool's threads round to, and from
		to    []F
		from  []float64
		piece func(worker, i int)
	}
}

// roundedPiece is how many weights a thread rounds at a time.
const roundedPiece = 1 << 16

// computation is a tapes of either precision. Those methods that are given a worker may be called by several at once.
type computation interface {
	// setWeights keeps a copy of the weights of an Update.
	setWeights(w []float64)
	// setArg is given the direction or the weights that methods below work with; nil: none any more.
	setArg(v []float64)
	// allocate makes room for the passes that are kept, and reports whether there was none before; fill stores the
	// inputs of a tape.
	allocate() bool
	fill(worker, tape int)
	// update stores the sums of the gradients and tallies of the blocks [first, last), and keeps their passes as it
	// should.
	update(worker int, sum []float64, first, last int)
	// recompute does the passes of kept blocks.
	recompute(worker, first, last int)
	// evaluate stores the sum of the blocks' tallies at other weights.
	evaluate(worker int, sum []float64, first, last int)
	// product stores the sum of what a kind of products adds.
	product(kind product) func(worker int, sum []float64, first, last int)
	// formRows and formNodes store what pass.FormRows does of a block's rows, and pass.FormNodes of those from one on.
	formRows(worker, block int, dst []float64)
	formNodes(worker, block, first int, dst *pass.NodeRows[float64])
	// shareNodes has the caller's worker share the work on nodes with a pool; nil: no longer.
	shareNodes(pool *reduce.Pool)

	// Passes without the gradient.
	tally(worker int, sum []float64, first, last int)
	// Of a wideSums: a tape's forward pass, what a block of rows makes of the outputs, a tape's backward pass, its γ
	// and Ru, and what the blocks [first, last) say of a piece of the weights, in sum or, not of float64, by itself.
	forward(worker, tape int)
	measure(worker, block int)
	backward(worker, tape int)
	tangents(worker, tape int, exact bool)
	piece(worker int, p pass.Piece, of pass.Factors, exact bool, sum []float64, first, last int) []float32

	// count adds to the multiplications that were done.
	count(worker, multiplications int)
}

// product is a kind of products.
type product int

const (
	hessianProduct product = iota
	gaussNewtonProduct
	diagonalProduct
	rowsProduct
)

func newTapes[F pass.Float](p *passes, x, t Matrix, pool *reduce.Pool) *tapes[F] {
	workers := pool.Threads()
	l := &tapes[F]{passes: p, x: matrixOf[F](x), t: matrixOf[F](t), w: make([]F, p.net.Dim),
		rowMemory: make([][]F, workers), pool: pool}
	l.rounding.piece = func(_, i int) {
		first, r := i*roundedPiece, &l.rounding
		last := min(first+roundedPiece, len(r.to))
		rounded(r.from[first:last], r.to[first:last])
	}
	for range workers {
		l.scratches = append(l.scratches, pass.NewScratch[F](p.net, min(p.rows, max(p.span, reduce.BlockRows))))
		if !isDouble[F]() {
			l.sums = append(l.sums, make([]F, p.net.Dim))
		}
	}
	if !isDouble[F]() {
		l.argMemory = make([]F, p.net.Dim)
	}
	return l
}

func (l *tapes[F]) allocate() bool {
	if l.saved != nil || l.kept == 0 {
		return false
	}
	size := l.net.TapeSize()
	slab := make([]F, min(l.rows, l.kept*reduce.BlockRows)*size)
	for i := range l.tapes() {
		l.saved = append(l.saved, pass.NewTape(l.net, slab[i*l.span*size:], l.tapeRows(i)))
	}
	return true
}

func (l *tapes[F]) setWeights(w []float64) {
	if isDouble[F]() {
		copy(l.w, as[F](w))
	} else {
		l.round(w, l.w)
	}
}

// round rounds what weights have a number each of.
func (l *tapes[F]) round(from []float64, to []F) {
	l.rounding.from, l.rounding.to = from, to
	l.pool.Run((len(to)+roundedPiece-1)/roundedPiece, l.rounding.piece)
	l.rounding.from = nil
}

func (l *tapes[F]) setArg(v []float64) {
	switch {
	case v == nil:
		l.arg = nil
	case isDouble[F]():
		l.arg = as[F](v)
	default:
		l.arg = l.argMemory
		l.round(v, l.arg)
	}
}

func (l *tapes[F]) fill(_, tape int) {
	pass.Gather(l.saved[tape].U[0], l.x, tape*l.span, l.tapeRows(tape))
}

// prepare makes the scratch ready for a block and returns its tape with the inputs filled in, and whether the
// tape outlives the block.
func (l *tapes[F]) prepare(s *pass.Scratch[F], block int) (tp *pass.Tape[F], outlives bool) {
	s.SetRows(l.blockSize(block))
	x := l.x.From(block * reduce.BlockRows)
	if l.current && block < l.kept && l.span == reduce.BlockRows {
		tp := &l.saved[block]
		tp.X = x
		return tp, true
	}
	s.Own.X = x
	if l.current && block < l.kept {
		l.load(s, block, 0)
		return &s.Own, true
	}
	pass.Gather(s.Own.U[0], l.x, block*reduce.BlockRows, s.Rows)
	return &s.Own, false
}

// pass does the forward and backward pass on a block whose inputs are filled in.
func (l *tapes[F]) pass(s *pass.Scratch[F], tp *pass.Tape[F], block int) pass.Tally {
	l.targets(s, block)
	return s.Pass(l.w, tp, 1)
}

// targets makes the scratch's targets those of a block.
func (l *tapes[F]) targets(s *pass.Scratch[F], block int) {
	pass.Gather(s.Targets, l.t, block*reduce.BlockRows, s.Rows)
}

// leaf returns where a worker adds up what is stored in sum by stored.
func (l *tapes[F]) leaf(worker int, sum []float64) []F {
	if isDouble[F]() {
		return as[F](sum[:l.net.Dim])
	}
	return l.sums[worker]
}

func (l *tapes[F]) stored(leaf []F, sum []float64) {
	if !isDouble[F]() {
		vector.Widen(sum[:l.net.Dim], as[float32](leaf))
	}
}

func (l *tapes[F]) update(worker int, sum []float64, first, last int) {
	s, leaf := l.scratches[worker], l.leaf(worker, sum)
	var total pass.Tally
	start := blas.Zero
	for block := first; block < last; block++ {
		tp, _ := l.prepare(s, block)
		total.Add(l.pass(s, tp, block))
		s.GradientTo(leaf, l.w, tp, start)
		start = blas.Add
	}
	l.stored(leaf, sum)
	total.StoreTo(sum[l.net.Dim:])
}

func (l *tapes[F]) recompute(worker, first, last int) {
	s := l.scratches[worker]
	for block := first; block < min(last, l.kept); block++ {
		tp, _ := l.prepare(s, block)
		l.pass(s, tp, block)
	}
}

func (l *tapes[F]) evaluate(worker int, sum []float64, first, last int) {
	s := l.scratches[worker]
	var total pass.Tally
	for block := first; block < last; block++ {
		s.SetRows(l.blockSize(block))
		own := s.Own.U[0]
		if l.current && block < l.kept && l.span == reduce.BlockRows {
			s.Own.U[0] = l.saved[block].U[0]
		} else {
			pass.Gather(own, l.x, block*reduce.BlockRows, s.Rows)
		}
		s.Forward(l.arg, &s.Own)
		l.targets(s, block)
		total.Add(s.Measure(&s.Own))
		s.Own.U[0] = own
	}
	total.StoreTo(sum[l.net.Dim:])
}

func (l *tapes[F]) product(kind product) func(worker int, sum []float64, first, last int) {
	add := [...]func(s *pass.Scratch[F], dst, w, d []F, tp *pass.Tape[F]){
		hessianProduct: (*pass.Scratch[F]).AddHessian, gaussNewtonProduct: (*pass.Scratch[F]).AddGaussNewton,
		diagonalProduct: pass.AddDiagonal[F], rowsProduct: pass.AddRowProducts[F],
	}[kind]
	return func(worker int, sum []float64, first, last int) {
		s, leaf := l.scratches[worker], l.leaf(worker, sum)
		clear(leaf)
		for block := first; block < last; block++ {
			tp, outlives := l.prepare(s, block)
			if !outlives {
				l.pass(s, tp, block)
			}
			add(s, leaf, l.w, l.arg, tp)
		}
		l.stored(leaf, sum)
	}
}

// passOf returns the scratch and the tape of a block whose passes are done.
func (l *tapes[F]) passOf(worker, block int) (*pass.Scratch[F], *pass.Tape[F]) {
	s := l.scratches[worker]
	tp, outlives := l.prepare(s, block)
	if !outlives {
		l.pass(s, tp, block)
	}
	return s, tp
}

func (l *tapes[F]) formRows(worker, block int, dst []float64) {
	s, tp := l.passOf(worker, block)
	rows := as[F](dst[:s.Rows*l.net.Dim])
	if !isDouble[F]() {
		rows = l.room(worker, s.Rows*l.net.Dim)
	}
	pass.FormRows(s, pass.RowMajor[F]{Data: rows, Stride: l.net.Dim}, l.w, tp)
	if !isDouble[F]() {
		vector.Widen(dst[:len(rows)], as[float32](rows))
	}
}

func (l *tapes[F]) formNodes(worker, block, first int, dst *pass.NodeRows[float64]) {
	s, tp := l.passOf(worker, block)
	if nodes, ok := any(dst).(*pass.NodeRows[F]); ok {
		pass.FormNodes(s, nodes, first, l.w, tp)
		return
	}
	nodes := pass.NodeRows[F]{Rows: dst.Rows}
	memory := l.room(worker, dst.Size())
	take := func(n int) []F {
		part := memory[:n:n]
		memory = memory[n:]
		return part
	}
	nodes.Delta = take(len(dst.Delta))
	for r := range dst.U {
		nodes.U, nodes.ByRow = append(nodes.U, take(len(dst.U[r]))), append(nodes.ByRow, take(len(dst.ByRow[r])))
	}
	pass.FormNodes(s, &nodes, first, l.w, tp)
	vector.Widen(dst.Delta, as[float32](nodes.Delta))
	for r := range dst.U {
		vector.Widen(dst.U[r], as[float32](nodes.U[r]))
		vector.Widen(dst.ByRow[r], as[float32](nodes.ByRow[r]))
	}
}

// room returns a worker's memory of that many numbers.
func (l *tapes[F]) room(worker, size int) []F {
	if len(l.rowMemory[worker]) < size {
		l.rowMemory[worker] = make([]F, size)
	}
	return l.rowMemory[worker][:size]
}

func (l *tapes[F]) count(worker, multiplications int) {
	l.scratches[worker].Multiplications += multiplications
}
