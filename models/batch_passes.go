package models

import (
	"newtop/internal/vector"
	"newtop/models/blas"
	"newtop/models/internal/pass"
	"newtop/models/reduce"
)

// batchPasses is what a Batch computes with, in the precision of F.
type batchPasses[F pass.Float] struct {
	net     *Network
	x, t    pass.Matrix[F]
	maxRows int               // rows of a batch
	workers []*batchWorker[F] // the caller's, and from the first large batch on one for every thread
	sums    partSums[F]       // of gradients
	squares partSums[F]       // of the squares of rows' own
	moments partSums[F]       // of K-FAC's factors

	// Of the call under way.
	w      []F
	rows   []int
	drawn  []float64     // what targets are made of
	layout *pass.Moments // of moments

	rounded []F // room for w; nil before it is needed
}

// batchWorker is what a worker needs.
type batchWorker[F pass.Float] struct {
	*pass.Scratch[F]
	packed, packedTargets []F // inputs and targets of the block under way, row by row
}

func newBatchPasses[F pass.Float](n *Network, x, t Matrix, rows int) *batchPasses[F] {
	b := &batchPasses[F]{net: n, x: matrixOf[F](x), t: matrixOf[F](t), maxRows: rows}
	b.sums.size, b.squares.size = n.Dim(), n.Dim()
	return b
}

func (b *batchPasses[F]) addWorkers(count int) {
	for rows := min(b.maxRows, b.blockRows()); len(b.workers) < count; {
		b.workers = append(b.workers, &batchWorker[F]{
			Scratch:       pass.NewScratch[F](b.net.net, rows),
			packed:        make([]F, rows*b.x.Cols),
			packedTargets: make([]F, rows*b.t.Cols),
		})
	}
}

// blockRows returns how many rows go through the net together at most.
func (b *batchPasses[F]) blockRows() int {
	if b.net.wide(wideBatch) {
		return wideBlock
	}
	return reduce.BlockRows
}

func (b *batchPasses[F]) shareNodes(pool *reduce.Pool) {
	if pool == nil {
		b.workers[0].Threads = nil
	} else {
		b.workers[0].Threads = pool
	}
}

func (b *batchPasses[F]) beginGradient(dst, w []float64, rows []int, parts int) {
	b.w, b.rows = b.round(w), rows
	b.sums.begin(dst, parts)
}

// round returns the weights in the precision of the passes.
func (b *batchPasses[F]) round(w []float64) []F {
	if !isDouble[F]() && b.rounded == nil {
		b.rounded = make([]F, b.net.Dim())
	}
	return rounded(w, b.rounded)
}

func (b *batchPasses[F]) beginSingle(dst, w []float32, rows []int, parts int) {
	b.w, b.rows = as[F](w), rows
	b.sums.beginOwn(as[F](dst), parts)
}

func (b *batchPasses[F]) beginSquares(dst []float64, parts int) { b.squares.begin(dst, parts) }

func (b *batchPasses[F]) beginMoments(dst []float64, layout *pass.Moments, w []float64, rows []int, drawn []float64,
	parts int) {
	b.w, b.rows, b.drawn, b.layout = b.round(w), rows, drawn, layout
	if b.moments.size != layout.Size {
		b.moments = partSums[F]{size: layout.Size}
	}
	b.moments.begin(dst, parts)
}

func (b *batchPasses[F]) end() {
	b.sums.end()
	b.squares.end()
	b.moments.end()
	b.w, b.rows, b.drawn, b.layout = nil, nil, nil, nil
}

func (b *batchPasses[F]) addPart(worker, i int, part *batchPart) {
	s := b.workers[worker]
	start := blas.Zero
	part.loss = 0
	maxRows := b.blockRows()
	blocks := (part.last - part.first + maxRows - 1) / maxRows
	size := ((part.last-part.first+blocks-1)/blocks + evenRows - 1) &^ (evenRows - 1)
	for first := part.first; first < part.last; first += size {
		last := min(first+size, part.last)
		s.prepare(b, b.rows[first:last])
		if b.moments.active() {
			draws := b.net.net.Draws()
			pass.PassDrawn(s.Scratch, b.w, &s.Own, b.drawn[first*draws:last*draws])
			pass.MomentsTo(s.Scratch, b.moments.of[i], b.layout, &s.Own, start)
		} else {
			part.loss += b.addGradient(s, i, start)
		}
		start = blas.Add
	}
}

// addGradient adds what the rows of a block add to the gradient, and to the squares if these are asked for, and returns
// their loss.
func (b *batchPasses[F]) addGradient(s *batchWorker[F], part int, start blas.Start) float64 {
	share := 1 / float64(len(b.rows))
	loss := s.Pass(b.w, &s.Own, share).Loss
	s.GradientTo(b.sums.of[part], b.w, &s.Own, start)
	if b.squares.active() {
		pass.SquaresTo(s.Scratch, b.squares.of[part], &s.Own, share, start)
	}
	return loss
}

func (b *batchPasses[F]) ofRow() float64 {
	s := b.workers[0]
	s.prepare(b, b.rows)
	loss := pass.PassRow(s.Scratch, b.w, &s.Own).Loss
	pass.StoreGradientRow(s.Scratch, b.sums.of[0], b.w, &s.Own)
	return loss
}

// prepare prepares the worker for a block of rows.
func (s *batchWorker[F]) prepare(b *batchPasses[F], rows []int) {
	s.SetRows(len(rows))
	s.Own.U[0], s.Own.X = fetch(s.Own.U[0], s.packed, &b.x, rows)
	s.Targets, _ = fetch(s.Targets, s.packedTargets, &b.t, rows)
}

// fetch returns rows of m node by node, in dst, and as they are, in packed. A single row is both where it lies.
func fetch[F pass.Float](dst, packed []F, m *pass.Matrix[F], rows []int) ([]F, pass.RowMajor[F]) {
	if len(rows) == 1 {
		row := m.Data[rows[0]*m.Stride:][:m.Cols:m.Cols]
		return row, pass.RowMajor[F]{Data: row, Stride: m.Cols}
	}
	for j, p := range rows {
		copy(packed[j*m.Cols:][:m.Cols], m.Data[p*m.Stride:])
	}
	blas.Transpose(dst, len(rows), packed, m.Cols, len(rows), m.Cols)
	return dst, pass.RowMajor[F]{Data: packed, Stride: m.Cols}
}

// partSums are what the parts of a batch add up, size numbers each. The first part's are the vector of the caller's
// where that is of the precision.
type partSums[F pass.Float] struct {
	size int
	of   [][]F

	// Of the call under way.
	dst   []float64 // what the sum is stored in; nil if that is the first part's
	parts int       // 0: there is nothing to sum up
	room  []F       // the first part's in a call that needs it
}

// begin is given where the sum of that many parts will be stored.
func (s *partSums[F]) begin(dst []float64, parts int) {
	if isDouble[F]() {
		s.beginOwn(as[F](dst), parts)
		return
	}
	if s.room == nil {
		s.room = make([]F, s.size)
	}
	s.beginOwn(s.room, parts)
	s.dst = dst
}

// beginOwn is begin for a vector of the precision.
func (s *partSums[F]) beginOwn(dst []F, parts int) {
	if s.of == nil {
		s.of = make([][]F, 1)
	}
	for s.of[0], s.parts = dst, parts; len(s.of) < parts; {
		s.of = append(s.of, make([]F, s.size))
	}
}

// active reports whether there is something to sum up.
func (s *partSums[F]) active() bool { return s.parts > 0 }

// end stores the sum, if there is one, and takes away what begin was given.
func (s *partSums[F]) end() {
	if !s.active() {
		return
	}
	if s.dst != nil {
		vector.Widen(s.dst, as[float32](s.of[0]))
	}
	for _, sum := range s.of[1:s.parts] {
		if s.dst != nil {
			vector.AddWidened(s.dst, 1, s.dst, as[float32](sum))
		} else {
			vector.Add(s.of[0], s.of[0], sum)
		}
	}
	s.of[0], s.dst, s.parts = nil, nil, 0
}
