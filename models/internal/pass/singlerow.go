package pass

import (
	"newtop/internal/vector"
	"newtop/models/blas"
)

// The passes of a block of one row of data, where all that lies node by node is a vector. There is next to no
// arithmetic to a weight, and what counts is that every weight, and every number of the gradient, is met once, in
// the order in which it lies.

// shortRow is up to how many numbers a plain loop takes less time than a call does.
const shortRow = 8

// PassRow is Pass for a block of one row.
func PassRow[F Float](s *Scratch[F], w []F, tp *Tape[F]) Tally {
	forwardRow(s, w, tp)
	sum := s.Measure(tp)
	s.loss.delta(s, tp)
	backwardRow(s, w, tp)
	return sum
}

// forwardRow is Forward.
func forwardRow[F Float](s *Scratch[F], w []F, tp *Tape[F]) {
	for l := 1; l <= s.Last(); l++ {
		v := tp.U[l]
		clear(v[copy(v, biasesOf(s.bias(l), w)):])
		for _, b := range s.Incoming[l] {
			addMulRow(&b, v, weightsOf(&b, w), tp.U[b.From])
		}
		if l < s.Last() {
			s.layer(tp, l).activate()
		}
	}
	if s.Mixture != nil {
		s.gates.compute(w, tp)
		s.gates.combine(tp.U[s.Last()], tp.gates.g, tp.U)
	}
}

// backwardRow is backward.
func backwardRow[F Float](s *Scratch[F], w []F, tp *Tape[F]) {
	for l := s.Last() - 1; l > 0; l-- {
		delta := tp.Delta[l]
		clear(delta)
		for _, b := range s.Outgoing[l] {
			addMulTransRow(&b, delta, weightsOf(&b, w), tp.Delta[b.To])
		}
		s.gates.addGated(delta, s.GateOf[l], tp.gates.g, tp.Delta[s.Last()])
		s.layer(tp, l).pullKeep()
	}
}

// StoreGradientRow stores ∂E_p/∂w in dst. To clear dst and then add to it would go over it three times.
func StoreGradientRow[F Float](s *Scratch[F], dst, w []F, tp *Tape[F]) {
	for _, b := range s.Blocks {
		storeOuterRow(&b, weightsOf(&b, dst), tp.Delta[b.To], tp.U[b.From])
	}
	for _, b := range s.Biases {
		copy(biasesOf(b, dst), tp.Delta[b.Layer])
	}
	if s.Mixture != nil {
		clear(dst[s.Mixture.Offset:])
		s.gates.addGradient(dst, w, tp.Delta[s.Last()], tp)
	}
}

// addMulRow adds Wx to c, w being the block's weights.
func addMulRow[F Float](b *Block, c, w, x []F) {
	switch {
	case b.Sparse != nil:
		addMul(b.Sparse, c, w, x, 1)
	case b.Cols <= shortRow:
		x = x[:b.Cols]
		for i := range c {
			sum := F(0)
			for j, w := range w[i*len(x):][:len(x)] {
				sum += w * x[j]
			}
			c[i] += sum
		}
	default:
		x = x[:b.Cols]
		for i := range c {
			c[i] += vector.Dot(w[i*len(x):][:len(x)], x)
		}
	}
}

// addMulTransRow adds Wᵀx to c, w being the block's weights.
func addMulTransRow[F Float](b *Block, c, w, x []F) {
	switch {
	case b.Sparse != nil:
		addMulTrans(b.Sparse, c, w, x, 1)
	case b.Cols <= shortRow:
		for i, x := range x[:b.Rows] {
			for j, w := range w[i*len(c):][:len(c)] {
				c[j] += w * x
			}
		}
	default:
		// xᵀW, whose rows are as long as W's
		term := [1]blas.Term[F]{{A: x, RowStride: b.Rows, ColStride: 1, B: w, Stride: b.Cols, K: b.Rows}}
		blas.Sum(c, 1, b.Cols, b.Cols, blas.Add, nil, term[:])
	}
}

// storeOuterRow stores xyᵀ in the block's weights dst.
func storeOuterRow[F Float](b *Block, dst, x, y []F) {
	switch {
	case b.Sparse != nil:
		clear(dst)
		addOuter(b.Sparse, dst, x, y, 1)
	case b.Cols <= shortRow:
		y = y[:b.Cols]
		for i, x := range x[:b.Rows] {
			row := dst[i*len(y):][:len(y)]
			for j, y := range y {
				row[j] = x * y
			}
		}
	default:
		y = y[:b.Cols]
		for i, x := range x[:b.Rows] {
			vector.Scale(dst[i*len(y):][:len(y)], x, y)
		}
	}
}
