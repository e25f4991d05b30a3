package models

import (
	"newtop/internal/vector"
	"newtop/models/blas"
)

// The passes of a block of one row of data, where all that lies node by node is a vector. There is next to no
// arithmetic to a weight, and what counts is that every weight, and every number of the gradient, is met once, in
// the order in which it lies.

// shortRow is up to how many numbers a plain loop takes less time than a call does.
const shortRow = 8

// forwardRow is forward.
func (s *scratch) forwardRow(w []float64, tp *tape) {
	for l := 1; l <= s.last(); l++ {
		v := tp.u[l]
		clear(v[copy(v, s.bias(l).of(w)):])
		for _, b := range s.incoming[l] {
			b.addMulRow(v, b.of(w), tp.u[b.From])
		}
		if l < s.last() {
			s.activate(tp, l)
		}
	}
	if s.mix != nil {
		s.computeGates(w, tp)
		s.combine(tp.u[s.last()], tp.gates.g, tp.u)
	}
}

// backwardRow is backward.
func (s *scratch) backwardRow(w []float64, tp *tape) {
	for l := s.last() - 1; l > 0; l-- {
		delta := tp.delta[l]
		clear(delta)
		for _, b := range s.outgoing[l] {
			b.addMulTransRow(delta, b.of(w), tp.delta[b.To])
		}
		s.addGated(delta, l, tp.gates.g, tp.delta[s.last()])
		s.pullKeep(tp, l)
	}
}

// storeGradientRow stores ∂E_p/∂w in dst. To clear dst and then add to it would go over it three times.
func (s *scratch) storeGradientRow(dst, w []float64, tp *tape) {
	for _, b := range s.blocks {
		b.storeOuterRow(b.of(dst), tp.delta[b.To], tp.u[b.From])
	}
	for _, b := range s.biases {
		copy(b.of(dst), tp.delta[b.Layer])
	}
	if s.mix != nil {
		clear(dst[s.mix.offset:])
		s.addGateGradient(dst, w, tp.delta[s.last()], tp)
	}
}

// addMulRow adds Wx to c, w being the block's weights.
func (b *Block) addMulRow(c, w, x []float64) {
	switch {
	case b.Sources != nil:
		b.Sources.addMul(c, w, x, 1)
	case b.Cols <= shortRow:
		x = x[:b.Cols]
		for i := range c {
			sum := 0.0
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
func (b *Block) addMulTransRow(c, w, x []float64) {
	switch {
	case b.Sources != nil:
		b.Sources.addMulTrans(c, w, x, 1)
	case b.Cols <= shortRow:
		for i, x := range x[:b.Rows] {
			for j, w := range w[i*len(c):][:len(c)] {
				c[j] += w * x
			}
		}
	default:
		// xᵀW, whose rows are as long as W's
		term := [1]blas.Term{{A: x, RowStride: b.Rows, ColStride: 1, B: w, Stride: b.Cols, K: b.Rows}}
		blas.Sum(c, 1, b.Cols, b.Cols, blas.Add, nil, term[:])
	}
}

// storeOuterRow stores xyᵀ in the block's weights dst.
func (b *Block) storeOuterRow(dst, x, y []float64) {
	switch {
	case b.Sources != nil:
		clear(dst)
		b.Sources.addOuter(dst, x, y, 1)
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
