package models

import (
	"fmt"
	"math/rand/v2"

	"newtop/internal/vector"
	"newtop/models/blas"
	"newtop/models/internal/pass"
)

// Factors are those of one of a network's Matrices W, Rows × Cols, by which K-FAC [Martens & Grosse 2015, §3, §5] takes
// the Gauss–Newton matrix of the weights for A ⊗ S. Both are symmetric, whole, and row-major.
//
// Inputs is A, the mean over rows of ū ūᵀ, k × k: ū are the outputs that W multiplies, k = Cols, or where W is Biased
// the same with a 1 behind them, k = Cols + 1. Outputs is S, the mean over rows of g gᵀ, Rows × Rows: g = ∂(−log
// p(y|x,w))/∂v are the derivatives by the net inputs of W's layer for a target y that is drawn from the network's own
// distribution. Where there is room for a single number it is the mean of the factor's diagonal.
type Factors struct{ Inputs, Outputs []float64 }

// inputs returns k.
func (m *WeightMatrix) inputs() int {
	if m.Biased {
		return m.Cols + 1
	}
	return m.Cols
}

// whole reports whether there is room for all of a factor of d rows.
func whole(factor []float64, d int) bool { return d == 1 || len(factor) > 1 }

// momentsFor returns where sums lie for such factors.
func momentsFor(n *layout, factors []Factors) pass.Moments {
	layers := len(n.net.Nodes)
	inputs, outputs := make([]bool, layers), make([]bool, layers)
	for i, m := range n.matrices {
		inputs[m.From] = inputs[m.From] || whole(factors[i].Inputs, m.inputs())
		outputs[m.To] = outputs[m.To] || whole(factors[i].Outputs, m.Rows)
	}
	return n.net.Moments(inputs, outputs)
}

// batchFactors is what a Batch needs for FactorsTo.
type batchFactors struct {
	layout  pass.Moments // of moments
	rooms   []int        // the lengths of the factors that it is for
	price   float64      // FactorCost
	moments []float64    // as layout says; nil before the first
	drawn   []float64    // what the rows' targets are made of
}

// FactorsTo stores the factors at w of all Matrices over the given rows, for which factors has room as NewFactors makes
// it. The targets are drawn from rng, row by row in the order of rows: with softmax and cross-entropy a class, of a row
// that counts Σt times as its targets sum to that; with sigmoid and cross-entropy every output by itself; with the
// squared error y ~ N(u, I). So the mean of g gᵀ is expected to be the Gauss–Newton matrix of the net inputs. What
// experts of a mixture are fed and feed back goes through the gates as they are at w. A row may be given more than
// once. It allocates nothing but at the first batch of a size.
func (b *Batch) FactorsTo(factors []Factors, w []float64, rows []int, rng *rand.Rand) {
	b.check("FactorsTo", w, rows)
	b.checkFactors(factors)
	size := len(rows) * b.net.net.Draws()
	if len(b.drawn) < size {
		b.drawn = make([]float64, size)
	}
	b.net.net.DrawTo(b.drawn[:size], rng)
	b.factorsTo(factors, w, rows, b.drawn[:size])
}

// factorsTo is FactorsTo for targets that are made of numbers which were drawn.
func (b *Batch) factorsTo(factors []Factors, w []float64, rows []int, drawn []float64) {
	price := b.FactorCost(factors)
	wide := b.wide || wideMoments(&b.net.layout, &b.layout)
	parts := b.divide(len(rows), price, wide)
	b.beginMoments(b.moments, &b.layout, w, rows, drawn, parts)
	b.run(parts, wide)
	b.end()
	for i := range b.net.matrices {
		b.storeFactors(&factors[i], &b.net.matrices[i], 1/float64(len(rows)))
	}
}

// FactorCost returns what FactorsTo costs for such factors, in multiplications a row: its passes, and the squares that
// the factors are the means of.
func (b *Batch) FactorCost(factors []Factors) float64 {
	b.checkFactors(factors)
	if b.laidOut(factors) {
		return b.price
	}
	b.layout = momentsFor(&b.net.layout, factors)
	b.rooms = b.rooms[:0]
	for _, f := range factors {
		b.rooms = append(b.rooms, len(f.Inputs), len(f.Outputs))
	}
	b.moments = make([]float64, b.layout.Size)
	b.price = factorCost(&b.net.layout, &b.layout)
	return b.price
}

// laidOut reports whether moments have their places for such factors.
func (b *Batch) laidOut(factors []Factors) bool {
	for i, f := range factors {
		if 2*i >= len(b.rooms) || b.rooms[2*i] != len(f.Inputs) || b.rooms[2*i+1] != len(f.Outputs) {
			return false
		}
	}
	return b.moments != nil
}

// storeFactors stores a matrix's factors, which are share of the moments.
func (b *Batch) storeFactors(f *Factors, m *WeightMatrix, share float64) {
	n, k := m.Cols, m.inputs()
	in, out := b.layout.Inputs[m.From], b.layout.Outputs[m.To]
	sums := b.moments[in.At:]
	if whole(f.Inputs, k) {
		storeSquare(f.Inputs, k, sums, n, share)
		if m.Biased {
			column := f.Inputs[n*k:]
			vector.Scale(column[:n], share, sums[n*n:][:n])
			for i, mean := range column[:n] {
				f.Inputs[i*k+n] = mean
			}
			column[n] = 1
		}
	} else {
		f.Inputs[0] = share * trace(in, sums, n)
		if m.Biased {
			f.Inputs[0]++
		}
		f.Inputs[0] /= float64(k)
	}
	if sums = b.moments[out.At:]; whole(f.Outputs, m.Rows) {
		storeSquare(f.Outputs, m.Rows, sums, m.Rows, share)
	} else {
		f.Outputs[0] = share * trace(out, sums, m.Rows) / float64(m.Rows)
	}
}

// trace returns the sum of the squares of a layer's n numbers.
func trace(m pass.Moment, sums []float64, n int) float64 {
	if !m.Whole {
		return sums[0]
	}
	t := 0.0
	for i := range n {
		t += sums[i*n+i]
	}
	return t
}

// storeSquare stores share times a symmetric matrix of n × n, of which sum has what is not below the diagonal, in dst,
// whose rows are stride apart.
func storeSquare(dst []float64, stride int, sum []float64, n int, share float64) {
	const strip = 16 // of rows that are mirrored together
	for first := 0; first < n; first += strip {
		last := min(first+strip, n)
		for i := first; i < last; i++ {
			vector.Scale(dst[i*stride+i:][:n-i], share, sum[i*n+i:][:n-i])
			for j := i + 1; j < last; j++ {
				dst[j*stride+i] = dst[i*stride+j]
			}
		}
		if last < n {
			blas.Transpose(dst[last*stride+first:], stride, dst[first*stride+last:], stride, last-first, n-last)
		}
	}
}

// wideMoments reports whether a layer has that many nodes that the pairs of them are too many for a core's second-level
// cache.
func wideMoments(n *layout, m *pass.Moments) bool {
	for l, nodes := range n.net.Nodes {
		if nodes*nodes >= wideBatch && (m.Inputs[l].Whole || m.Outputs[l].Whole) {
			return true
		}
	}
	return false
}

func (b *Batch) checkFactors(factors []Factors) {
	if len(factors) != len(b.net.matrices) {
		panic(fmt.Sprintf("models: FactorsTo: %d factors of %d matrices", len(factors), len(b.net.matrices)))
	}
	fits := func(factor []float64, d int) bool { return len(factor) == d*d || len(factor) == 1 }
	for i, m := range b.net.matrices {
		if f := factors[i]; !fits(f.Inputs, m.inputs()) || !fits(f.Outputs, m.Rows) {
			panic(fmt.Sprintf("models: FactorsTo: factors of %d and %d numbers, matrix %d needs %d² and %d², or 1",
				len(f.Inputs), len(f.Outputs), i, m.inputs(), m.Rows))
		}
	}
}
