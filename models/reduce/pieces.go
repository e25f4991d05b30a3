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
	leaf   func(worker, i int, sum []float64, first, last int)
	spare  [][][]float64 // of a worker and a level each, as long as the longest piece
	dst    []float64     // of the call under way
	task   func(worker, i int)
}

// Pieces returns the sum of the vectors' means, each of which lies in one of the pieces. leaf stores the numbers of
// piece i, row after row, in sum, for the rows of data of a range of blocks; worker is in [0, Threads) of the pool.
func (r *Reducer) Pieces(pieces []Piece, leaf func(worker, i int, sum []float64, firstBlock, lastBlock int)) *Pieces {
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
	s.addNode(worker, i, root, sum)
	for row := range p.Rows {
		vector.Scale(s.dst[p.First+row*p.Stride:][:p.Cols], 1/float64(s.rows), sum[row*p.Cols:][:p.Cols])
	}
}

// addNode stores the sum of a piece over a node in sum.
func (s *Pieces) addNode(worker, i int, n Node, sum []float64) {
	if n.Level == 0 {
		first, last := s.blocks(n)
		s.leaf(worker, i, sum, first, last)
		return
	}
	left, right, both := s.tree.children(n)
	s.addNode(worker, i, left, sum)
	if both {
		other := s.spare[worker][right.Level][:len(sum)]
		s.addNode(worker, i, right, other)
		vector.Add(sum, sum, other)
	}
}
