package models

import (
	"newtop/models/internal/pass"
	"newtop/models/reduce"
)

// wideSums adds up gradients and products of a net whose weights are more than caches hold, or of too few rows for
// threads to take turns with blocks of them. First go the passes, in shares of the rows that take threads about the
// same time; what belongs to a row is computed alike in all. Then a worker takes a piece of the weights at a time and
// adds up what all rows say about it.
type wideSums struct {
	*Linearization
	room   bool                                      // whether γ and Ru of all rows are not too many to keep
	run    func(count int, task func(worker, i int)) // tasks over tapes
	pieces []pass.Piece
	sum    *reduce.Pieces
	of     pass.Factors // of the sum under way
	exact  bool         // whether it is a product with the Hessian
	back   bool         // whether the backward passes were done since the last Update

	forwards, measures, backwards, pushes func(worker, i int) // tasks: the last one computes the tangents
}

const (
	// A piece's sum, and those of the tree's levels that are added to it, fit in a core's second-level cache.
	pieceNodes, pieceSources = 512, 72
	// Rows that go through the net together: fewest where each thread has its own, and most.
	fewRows, manyRows = 48, 192
	// dividedWork is from how many multiplications of a forward pass on it pays to divide the rows of a net that is not
	// wide, 100 µs of them, if threads that take turns with blocks would be idle for an eighth of the time.
	dividedWork = 1 << 21
)

// divided returns how many rows go through the net together, and whether its sums are a wideSums', which needs dense
// blocks of weights, all rows here, and memory for their passes.
func (l *Linearization) divided() (rows int, wide bool) {
	n, threads := l.network, l.pool.Threads()
	if !n.plain() || l.part != nil || l.kept < l.blocks() {
		return 0, false
	}
	each := l.rows >= threads*fewRows
	parts := 1
	if each {
		parts = threads
	}
	parts *= (l.rows + parts*manyRows - 1) / (parts * manyRows)
	turns := (l.blocks() + threads - 1) / threads
	few := each && l.sums.Tasks() == l.blocks() && 8*turns*threads*reduce.BlockRows >= 9*l.rows && threads > 1
	few = few && l.rows*l.net.Dim >= dividedWork
	return evenly(l.rows, (l.rows+parts-1)/parts), n.wide(wideRows) || few
}

func (l *Linearization) newWideSums(room bool) *wideSums {
	s := &wideSums{Linearization: l, run: l.pool.Run, room: room}
	if l.rows < l.pool.Threads()*fewRows {
		s.run = l.shareTasks
	}
	var places []reduce.Piece
	add := func(p pass.Piece, place reduce.Piece) {
		s.pieces, places = append(s.pieces, p), append(places, place)
	}
	for _, b := range l.net.Blocks {
		cols := evenly(b.Cols, pieceSources)
		rows := evenly(b.Rows, min(pieceNodes, l.net.Dim/(2*l.pool.Threads()*cols)+1))
		for i := 0; i < b.Rows; i += rows {
			for j := 0; j < b.Cols; j += cols {
				p := pass.Piece{To: b.To, From: b.From, Node: i, Source: j, Nodes: min(rows, b.Rows-i),
					Sources: min(cols, b.Cols-j)}
				add(p, reduce.Piece{First: b.Offset + i*b.Cols + j, Rows: p.Nodes, Cols: p.Sources, Stride: b.Cols})
			}
		}
	}
	for _, b := range l.net.Biases {
		add(pass.Piece{To: b.Layer, From: -1, Nodes: b.Nodes}, reduce.Piece{First: b.Offset, Rows: 1, Cols: b.Nodes})
	}
	s.sum = l.sums.Pieces(places, func(worker, i int, sum []float64, first, last int) []float32 {
		return s.piece(worker, s.pieces[i], s.of, s.exact, sum, first, last)
	})
	s.forwards, s.measures, s.backwards = l.forward, l.measure, l.backward
	s.pushes = func(worker, i int) {
		if s.exact && !s.back {
			s.backward(worker, i)
		}
		s.tangents(worker, i, s.exact)
	}
	return s
}

// evenly returns how many of count a part has, of parts that have at most most and differ little: whole registers.
func evenly(count, maxRows int) int {
	parts := (count + maxRows - 1) / maxRows
	return ((count+parts-1)/parts + 7) &^ 7
}

// goForward does the forward passes. Products with the Gauss–Newton matrix do without the backward ones, which wait
// until they are needed.
func (s *wideSums) goForward() {
	s.back = false
	s.run(s.tapes(), s.forwards)
	s.pool.Run(s.blocks(), s.measures)
}

// goBack makes sure that the backward passes are done.
func (s *wideSums) goBack() {
	if !s.back {
		s.run(s.tapes(), s.backwards)
		s.back = true
	}
}

func (s *wideSums) gradientTo(dst []float64) {
	s.goBack()
	s.of, s.exact = pass.DeltaU, false
	s.sum.To(dst)
}

// productTo stores the product with the Hessian, if exact, or the Gauss–Newton matrix in dst.
func (s *wideSums) productTo(dst []float64, exact bool) {
	s.of, s.exact, s.requested = pass.GammaU, exact, true
	s.run(s.tapes(), s.pushes)
	s.back = s.back || exact
	s.sum.To(dst)
}
