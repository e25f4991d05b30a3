package reduce

import "newtop/internal/vector"

// Piece is a part of a vector: rows of cols numbers, stride apart, from first on.
type Piece struct{ First, Rows, Cols, Stride int }

// Pieces is a sum over the rows of data of vectors' means that is computed piece by piece: a worker takes a piece, and
// adds it up over all rows. It has the bits of Sum. Where vectors are long, what it adds up stays in caches, and the
// tasks' sums are not needed. It is for a process that has all rows.
type Pieces struct {
	*Reducer
	pieces []Piece
	leaf   func(worker, i int, sum []float64, first, last int) []float32
	spare  [][][]float64 // of a worker and a level each, as long as the longest piece
	dst    []float64     // of the call under way
	task   func(worker, i int)
}

// Pieces returns the sum of the vectors' means, each of which lies in one of the pieces. leaf stores the numbers of
// piece i, row after row, in sum, for the rows of data of a range of blocks, or leaves sum and returns them in single
// precision; worker is in [0, Threads) of the pool.
func (r *Reducer) Pieces(pieces []Piece, leaf func(worker, i int, sum []float64, firstBlock, lastBlock int) []float32,
) *Pieces {
	if r.part != nil {
		panic("reduce: Pieces where other processes have rows")
	}
	s := &Pieces{Reducer: r, pieces: pieces, leaf: leaf}
	bound := 0
	for _, p := range pieces {
		bound = max(bound, p.Rows*p.Cols)
	}
	for range r.pool.Threads() {
		s.spare = append(s.spare, vectors(r.tree.root().Level+1, bound))
	}
	s.task = s.addPiece
	return s
}

// To stores the means over all rows in dst.
func (s *Pieces) To(dst []float64) {
	s.dst = dst
	s.pool.Run(len(s.pieces), s.task)
	s.dst = nil
}

// addPiece adds up a piece and takes the mean.
func (s *Pieces) addPiece(worker, i int) {
	p, root := s.pieces[i], s.tree.root()
	sum := s.spare[worker][root.Level][:p.Rows*p.Cols]
	s.addNode(worker, i, root, sum, false)
	for row := range p.Rows {
		vector.Scale(s.dst[p.First+row*p.Stride:][:p.Cols], 1/float64(s.rows), sum[row*p.Cols:][:p.Cols])
	}
}

// addNode stores the sum of a piece over a node in sum, or adds it.
func (s *Pieces) addNode(worker, i int, n Node, sum []float64, add bool) {
	own := s.spare[worker][n.Level][:len(sum)]
	if n.Level == 0 {
		s.addLeaf(worker, i, n, sum, own, add)
		return
	}
	left, right, both := s.tree.children(n)
	if add && both {
		s.addNode(worker, i, n, own, false)
		vector.Add(sum, sum, own)
		return
	}
	s.addNode(worker, i, left, sum, add)
	if both {
		s.addNode(worker, i, right, sum, true)
	}
}

func (s *Pieces) addLeaf(worker, i int, n Node, sum, own []float64, add bool) {
	if !add {
		own = sum
	}
	first, last := s.blocks(n)
	single := s.leaf(worker, i, own, first, last)
	switch {
	case single != nil && add:
		vector.AddWidened(sum, single)
	case single != nil:
		vector.Widen(sum, single)
	case add:
		vector.Add(sum, sum, own)
	}
}
