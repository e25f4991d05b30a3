package models

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"newtop/internal/vector"
	"newtop/models/internal/pass"
	"newtop/models/reduce"
)

// OutputTo stores the outputs at weights w for the rows of x in dst. x is rows × Columns and dst is
// rows × Outputs; they must not overlap.
func (n *Network) OutputTo(dst *mat.Dense, w []float64, x Matrix) { n.NewOutputs(w, nil).To(dst, x) }

// Outputs computes a network's outputs at fixed weights, in the precision of its passes. One goroutine uses it at a
// time.
type Outputs struct {
	network *Network
	forward interface {
		to(dst *mat.Dense, x Matrix, rows int)
	}
}

// NewOutputs returns the Outputs at weights w, which must not change as long as they are used. A pool, if not nil,
// computes them, to the same bits.
func (n *Network) NewOutputs(w []float64, pool *reduce.Pool) *Outputs {
	n.checkWeights("OutputTo", "w", w)
	if n.precision == Single {
		return &Outputs{n, newForward[float32](n, w, pool)}
	}
	return &Outputs{n, newForward[float64](n, w, pool)}
}

// To stores the outputs for the rows of x, rows × Columns, in dst, rows × Outputs. They must not overlap.
func (o *Outputs) To(dst *mat.Dense, x Matrix) {
	rows, _ := x.Dims()
	o.network.checkMatrix("OutputTo", "x", x, rows, o.network.Columns())
	o.network.checkMatrix("OutputTo", "dst", dst, rows, o.network.Outputs())
	o.forward.to(dst, x, rows)
}

// forward is what Outputs compute with, in the precision of F.
type forward[F pass.Float] struct {
	net     *Network
	w       []F
	pool    *reduce.Pool
	workers []*forwardWorker[F] // nil before they are needed
	task    func(worker, i int)

	// Of the call under way.
	x          Matrix
	dst        *mat.Dense
	rows, size int // of all, and of a block
}

// forwardWorker is what a worker needs.
type forwardWorker[F pass.Float] struct {
	*pass.Scratch[F]
	maxRows         int
	inputs, outputs []F // of a block row by row, where those of x and dst are of another precision
}

func newForward[F pass.Float](n *Network, w []float64, pool *reduce.Pool) *forward[F] {
	var room []F
	if !isDouble[F]() {
		room = make([]F, len(w))
	}
	f := &forward[F]{net: n, w: rounded(w, room), pool: pool, workers: make([]*forwardWorker[F], pool.Threads())}
	f.task = f.block
	return f
}

// to shares the blocks among threads, of a wide net with few of them the work on nodes.
func (f *forward[F]) to(dst *mat.Dense, x Matrix, rows int) {
	if rows == 0 {
		return
	}
	f.x, f.dst, f.rows, f.size = x, dst, rows, reduce.BlockRows
	wide := f.net.wide(wideBatch)
	if wide {
		f.size = wideBlock
	}
	blocks := (rows + f.size - 1) / f.size
	if wide && f.pool.Threads() > 1 && blocks < manyTasks*f.pool.Threads() {
		f.worker(0).Threads = f.pool
		for i := range blocks {
			f.block(0, i)
		}
		f.worker(0).Threads = nil
	} else {
		f.pool.Run(blocks, f.task)
	}
	f.x, f.dst = nil, nil
}

// worker returns what a worker needs, for the call's blocks.
func (f *forward[F]) worker(i int) *forwardWorker[F] {
	if rows := min(f.size, f.rows); f.workers[i] == nil || f.workers[i].maxRows < rows {
		f.workers[i] = &forwardWorker[F]{Scratch: pass.NewScratch[F](f.net.net, rows), maxRows: rows}
	}
	return f.workers[i]
}

// block computes the outputs of block i.
func (f *forward[F]) block(worker, i int) {
	s, first := f.worker(worker), i*f.size
	s.SetRows(min(f.size, f.rows-first))
	pass.Gather(s.Own.U[0], rowsOf(f.x, first, s.Rows, &s.inputs), 0, s.Rows)
	s.Forward(f.w, &s.Own)
	s.Finish(&s.Own)
	u := s.Own.U[s.Last()]
	if isDouble[F]() {
		pass.Scatter(doubles(f.dst), as[float64](u), first, s.Rows)
		return
	}
	s.outputs = slices.Grow(s.outputs[:0], len(u))[:len(u)]
	pass.Scatter(pass.Matrix[F]{RowMajor: pass.RowMajor[F]{Data: s.outputs, Stride: s.Outputs()}, Cols: s.Outputs()}, u,
		0, s.Rows)
	for row := range s.Rows {
		vector.Widen(f.dst.RawRowView(first+row), as[float32](s.outputs[row*s.Outputs():]))
	}
}

// MeasureOutputs returns how well given outputs u match the targets t, both rows × Outputs, by the network's
// loss. The outputs may come from anywhere, as those of a committee do: they are taken as they are, so that
// with cross-entropy a zero where the target is not gives an infinite loss.
func (n *Network) MeasureOutputs(u *mat.Dense, t Matrix) Evaluation {
	rows, _ := u.Dims()
	n.checkMatrix("MeasureOutputs", "u", u, rows, n.Outputs())
	n.checkMatrix("MeasureOutputs", "t", t, rows, n.Outputs())
	out, loss := n.output()
	var sum pass.Tally
	n.eachBlock(rows, func(s *pass.Scratch[float64], first int) {
		outputs := s.Own.U[s.Last()]
		pass.Gather(outputs, doubles(u), first, s.Rows)
		pass.Gather(s.Targets, gathered(t, first, s.Rows), 0, s.Rows)
		part := pass.Tally{Misclassified: s.CountMisclassified(&s.Own)}
		for i, u := range outputs {
			r := u - s.Targets[i]
			part.Squared += r * r
			part.Loss += loss.Of(u, s.Targets[i], out)
		}
		sum.Add(part)
	})
	return evaluationOf(rows, n.Outputs(), sum)
}

// eachBlock calls do for blocks of rows, with the first row of each.
func (n *Network) eachBlock(rows int, do func(s *pass.Scratch[float64], first int)) {
	s := pass.NewScratch[float64](n.net, min(rows, reduce.BlockRows))
	for first := 0; first < rows; first += reduce.BlockRows {
		s.SetRows(min(reduce.BlockRows, rows-first))
		do(s, first)
	}
}

// RowLoss returns the loss of one row of outputs u for the targets t, of which MeasureOutputs takes the mean.
func (n *Network) RowLoss(u, t []float64) float64 {
	if len(u) != n.Outputs() || len(t) != n.Outputs() {
		panic("models: RowLoss of a row of another length")
	}
	out, loss := n.output()
	sum := 0.0
	for i, u := range u {
		sum += loss.Of(u, t[i], out)
	}
	return sum
}

// GateSharesTo stores the mean of every gate's share g_i over the rows of x in dst. x is rows × Columns.
func (n *Network) GateSharesTo(dst, w []float64, x Matrix) {
	n.checkWeights("GateSharesTo", "w", w)
	rows, _ := x.Dims()
	n.checkMatrix("GateSharesTo", "x", x, rows, n.Columns())
	if count := n.net.GateCount(); len(dst) != count {
		panic(fmt.Sprintf("models: GateSharesTo: dst has %d numbers, the network %d gates", len(dst), count))
	}
	if n.net.Mixture == nil {
		return
	}
	clear(dst)
	n.eachBlock(rows, func(s *pass.Scratch[float64], first int) {
		pass.Gather(s.Own.U[0], gathered(x, first, s.Rows), 0, s.Rows)
		s.AddShares(dst, w, &s.Own)
	})
	for i := range dst {
		dst[i] /= float64(rows)
	}
}
