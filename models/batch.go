package models

import (
	"fmt"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"newtop/internal/vector"
	"newtop/models/blas"
	"newtop/models/internal/pass"
	"newtop/models/reduce"
)

// Batch computes gradients of the mean loss over few rows at a time. One goroutine uses it at a time.
type Batch struct {
	// Pool computes batches that are large enough to gain from it. nil: the caller's goroutine computes all. The
	// results are the same to the bit.
	Pool *reduce.Pool

	net     *Network
	cost    int // multiplications a row
	x, t    blas64.General
	most    int
	wide    bool
	workers []*batchWorker // the caller's, and from the first large batch on one for every thread, unless the net is wide
	parts   []batchPart    // of a large batch

	// Arguments of the call under way, and the task that reads them.
	dst, w []float64
	rows   []int
	add    func(worker, part int)
}

// batchWorker is what a worker needs.
type batchWorker struct {
	*pass.Scratch
	packed, packedTargets []float64 // inputs and targets of the block under way, row by row
}

// batchPart is what some rows of a batch add to it.
type batchPart struct {
	first, last int       // rows [first, last)
	sum         []float64 // nil for the first part, whose sum the caller's vector holds
	loss        float64   // the plain sum over the rows
}

const (
	// partWork is how many multiplications a part of a batch has at least, 15 µs of them: some tens of times what it takes to
	// call a thread that looks for work, and to add the part's sum.
	partWork = 1 << 19
	// evenRows is what the rows of a part are a multiple of: as many as the widest registers hold.
	evenRows = 8
	// mostParts bounds how many sums of the network's size there are.
	mostParts = 8
	// wideBlock is how many rows of a batch go through a wide net together: blas takes the same number at a time.
	wideBlock = 256
)

// newBatch returns a Batch of rows that were checked.
func newBatch(n *Network, x, t *mat.Dense, rows int) *Batch {
	b := &Batch{
		net: n, cost: int(n.Cost().Gradient), x: x.RawMatrix(), t: t.RawMatrix(), most: rows,
		wide: n.wide(wideBatch), parts: make([]batchPart, 1),
	}
	b.add = b.addPart
	b.addWorkers(1)
	return b
}

// addWorkers sees to it that there are that many workers.
func (b *Batch) addWorkers(count int) {
	for rows := min(b.most, b.blockRows()); len(b.workers) < count; {
		b.workers = append(b.workers, &batchWorker{
			Scratch:       pass.NewScratch(b.net.net, rows),
			packed:        make([]float64, rows*b.net.Columns()),
			packedTargets: make([]float64, rows*b.net.Outputs()),
		})
	}
}

// blockRows returns how many rows go through the net together at most.
func (b *Batch) blockRows() int {
	if b.wide {
		return wideBlock
	}
	return reduce.BlockRows
}

// GradientTo stores the gradient at w of the mean loss over the given rows in dst and returns that
// loss. A row may be given more than once. It allocates nothing but at the first large batch.
func (b *Batch) GradientTo(dst, w []float64, rows []int) float64 {
	b.net.checkWeights("GradientTo", "dst", dst)
	b.net.checkWeights("GradientTo", "w", w)
	if len(rows) < 1 || len(rows) > b.most {
		panic(fmt.Sprintf("models: GradientTo: %d rows, expected 1 to %d", len(rows), b.most))
	}
	for _, p := range rows {
		if p < 0 || p >= b.x.Rows {
			panic(fmt.Sprintf("models: GradientTo: row %d of %d", p, b.x.Rows))
		}
	}
	if len(rows) == 1 {
		return b.gradientOfRow(dst, w, rows)
	}
	b.dst, b.w, b.rows = dst, w, rows
	count := b.divide(len(rows))
	switch {
	case count == 1 && b.wide && b.Pool.Threads() > 1:
		b.shareNodes()
	case count == 1:
		b.addPart(0, 0)
	default:
		b.addWorkers(b.Pool.Threads())
		b.Pool.Run(count, b.add)
	}
	loss := b.parts[0].loss
	for _, part := range b.parts[1:count] {
		vector.Add(dst, dst, part.sum)
		loss += part.loss
	}
	b.dst, b.w, b.rows = nil, nil, nil
	return loss / float64(len(rows))
}

// shareNodes computes all of a batch on the caller, who shares the work on wide layers with the pool.
func (b *Batch) shareNodes() {
	s := b.workers[0]
	s.Threads = b.Pool
	defer func() { s.Threads = nil }()
	b.addPart(0, 0)
}

// divide settles the parts of a batch of that many rows and returns how many there are: an even number, if there is work for
// more than one, of as many rows each as whole registers allow. That of a wide net is one part: its sum is long. It does not depend on how many threads there are.
func (b *Batch) divide(rows int) int {
	blocks := (rows + reduce.BlockRows - 1) / reduce.BlockRows
	count := 1
	if !b.wide && rows*b.cost >= 2*partWork {
		count = min((blocks+1)&^1, mostParts)
	}
	size := (rows + count - 1) / count
	size = min((size+evenRows-1)&^(evenRows-1), rows)
	count = (rows + size - 1) / size
	for len(b.parts) < count {
		b.parts = append(b.parts, batchPart{sum: make([]float64, b.net.Dim())})
	}
	for i := range b.parts[:count] {
		b.parts[i].first, b.parts[i].last = i*size, min((i+1)*size, rows)
	}
	return count
}

// addPart sums the gradients of the blocks of a part.
func (b *Batch) addPart(worker, i int) {
	s, part := b.workers[worker], &b.parts[i]
	dst := part.sum
	if i == 0 {
		dst = b.dst
	}
	share := 1 / float64(len(b.rows))
	start := blas.Zero
	part.loss = 0
	most := b.blockRows()
	blocks := (part.last - part.first + most - 1) / most
	size := ((part.last-part.first+blocks-1)/blocks + evenRows - 1) &^ (evenRows - 1)
	for first := part.first; first < part.last; first += size {
		s.prepare(b, b.rows[first:min(first+size, part.last)])
		part.loss += s.Pass(b.w, &s.Own, share).Loss
		s.GradientTo(dst, b.w, &s.Own, start)
		start = blas.Add
	}
}

// gradientOfRow is GradientTo for one row.
func (b *Batch) gradientOfRow(dst, w []float64, rows []int) float64 {
	s := b.workers[0]
	s.prepare(b, rows)
	sum := s.PassRow(w, &s.Own)
	s.StoreGradientRow(dst, w, &s.Own)
	return sum.Loss
}

// prepare prepares the worker for a block of rows.
func (s *batchWorker) prepare(b *Batch, rows []int) {
	s.SetRows(len(rows))
	s.Own.U[0], s.Own.X = fetch(s.Own.U[0], s.packed, b.x, rows)
	s.Targets, _ = fetch(s.Targets, s.packedTargets, b.t, rows)
}

// fetch returns rows of m node by node, in dst, and as they are, in packed. A single row is both where it lies.
func fetch(dst, packed []float64, m blas64.General, rows []int) ([]float64, pass.RowMajor) {
	if len(rows) == 1 {
		row := m.Data[rows[0]*m.Stride:][:m.Cols:m.Cols]
		return row, pass.RowMajor{Data: row, Stride: m.Cols}
	}
	for j, p := range rows {
		copy(packed[j*m.Cols:][:m.Cols], m.Data[p*m.Stride:])
	}
	blas.Transpose(dst, len(rows), packed, m.Cols, len(rows), m.Cols)
	return dst, pass.RowMajor{Data: packed, Stride: m.Cols}
}
