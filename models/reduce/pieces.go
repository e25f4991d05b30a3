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
	p, root, share := s.pieces[i], s.tree.root(), 1/float64(s.rows)
	sum := s.spare[worker][root.Level][:p.Rows*p.Cols]
	rest := s.addNode(worker, i, root, sum, false)
	for first := 0; first < len(sum); first += p.Cols {
		dst, last := s.dst[p.First+first/p.Cols*p.Stride:][:p.Cols], first+p.Cols
		if rest != nil {
			vector.AddWidened(dst, share, sum[first:last], rest[first:last])
		} else {
			vector.Scale(dst, share, sum[first:last])
		}
	}
}

// addNode stores the sum of a piece over a node in sum, or adds it; if it returns something, that is still to be added.
func (s *Pieces) addNode(worker, i int, n Node, sum []float64, add bool) (rest []float32) {
	own := s.spare[worker][n.Level][:len(sum)]
	if n.Level == 0 {
		return s.addLeaf(worker, i, n, sum, own, add)
	}
	left, right, both := s.tree.children(n)
	switch {
	case !both:
		return s.addNode(worker, i, left, sum, add)
	case add:
		addRest(own, s.addNode(worker, i, n, own, false))
		vector.Add(sum, sum, own)
		return nil
	}
	addRest(sum, s.addNode(worker, i, left, sum, false))
	return s.addNode(worker, i, right, sum, true)
}

func (s *Pieces) addLeaf(worker, i int, n Node, sum, own []float64, add bool) (rest []float32) {
	if !add {
		own = sum
	}
	first, last := s.blocks(n)
	single := s.leaf(worker, i, own, first, last)
	switch {
	case add && single == nil:
		vector.Add(sum, sum, own)
	case !add && single != nil:
		vector.Widen(sum, single)
		return nil
	}
	return single
}

func addRest(sum []float64, rest []float32) {
	if rest != nil {
		vector.AddWidened(sum, 1, sum, rest)
	}
}
