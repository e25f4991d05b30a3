package models

import (
	"fmt"
	"math/rand/v2"

	"newtop/internal/vector"
	"newtop/models/blas"
)

// Factors are those of one of a network's Matrices W, Rows × Cols, by which K-FAC [Martens & Grosse 2015, §3, §5] takes the
// Gauss–Newton matrix of the weights for A ⊗ S. Both are symmetric, whole, and row-major.
//
// Inputs is A, the mean over rows of ū ūᵀ, k × k: ū are the outputs that W multiplies, k = Cols, or where W is Biased the same with
// a 1 behind them, k = Cols + 1. Outputs is S, the mean over rows of g gᵀ, Rows × Rows: g = ∂(−log p(y|x,w))/∂v are the derivatives
// by the net inputs of W's layer for a target y that is drawn from the network's own distribution.
type Factors struct{ Inputs, Outputs []float64 }

// NewFactors returns room for the factors of all Matrices.
func (n *Network) NewFactors() []Factors {
	var all []Factors
	for _, m := range n.matrices {
		k := m.inputs()
		all = append(all, Factors{make([]float64, k*k), make([]float64, m.Rows*m.Rows)})
	}
	return all
}

// inputs returns k.
func (m *WeightMatrix) inputs() int {
	if m.Biased {
		return m.Cols + 1
	}
	return m.Cols
}

// batchFactors is what a Batch needs for FactorsTo.
type batchFactors struct {
	moments []float64 // as pass.Moments says; nil before the first
	drawn   []float64 // what the rows' targets are made of
}

// FactorsTo stores the factors at w of all Matrices over the given rows, for which factors has room as NewFactors makes it. The
// targets are drawn from rng, row by row in the order of rows: with softmax and cross-entropy a class, of a row that counts Σt times
// as its targets sum to that; with sigmoid and cross-entropy every output by itself; with the squared error y ~ N(u, I). So the
// mean of g gᵀ is expected to be the Gauss–Newton matrix of the net inputs. What experts of a mixture are fed and feed back goes
// through the gates as they are at w. A row may be given more than once. It allocates nothing but at the first batch of a size.
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
	if b.moments == nil {
		b.moments = make([]float64, b.net.moments.Size)
	}
	wide := b.wide || b.net.wideMoments()
	parts := b.divide(len(rows), b.cost.Factors, wide)
	b.beginMoments(b.moments, w, rows, drawn, parts)
	b.run(parts, wide)
	b.end()
	for i := range b.net.matrices {
		b.storeFactors(&factors[i], &b.net.matrices[i], 1/float64(len(rows)))
	}
}

// storeFactors stores a matrix's factors, which are share of the moments.
func (b *Batch) storeFactors(f *Factors, m *WeightMatrix, share float64) {
	inputs, n, k := b.moments[b.net.moments.Inputs[m.From]:], m.Cols, m.inputs()
	storeSquare(f.Inputs, k, inputs, n, share)
	if m.Biased {
		column := f.Inputs[n*k:]
		vector.Scale(column[:n], share, inputs[n*n:][:n])
		for i, mean := range column[:n] {
			f.Inputs[i*k+n] = mean
		}
		column[n] = 1
	}
	storeSquare(f.Outputs, m.Rows, b.moments[b.net.moments.Outputs[m.To]:], m.Rows, share)
}

// storeSquare stores share times a symmetric matrix of n × n, of which sum has what is not below the diagonal, in dst, whose rows
// are stride apart.
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

// wideMoments reports whether a layer has so many nodes that the pairs of them are too many for a core's second-level cache.
func (n *Network) wideMoments() bool {
	for _, m := range n.matrices {
		if max(m.Rows, m.Cols)*max(m.Rows, m.Cols) >= wideBatch {
			return true
		}
	}
	return false
}

func (b *Batch) checkFactors(factors []Factors) {
	if len(factors) != len(b.net.matrices) {
		panic(fmt.Sprintf("models: FactorsTo: %d factors of %d matrices", len(factors), len(b.net.matrices)))
	}
	for i, m := range b.net.matrices {
		k, f := m.inputs(), factors[i]
		if len(f.Inputs) != k*k || len(f.Outputs) != m.Rows*m.Rows {
			panic(fmt.Sprintf("models: FactorsTo: factors of %d and %d numbers, matrix %d needs %d² and %d²",
				len(f.Inputs), len(f.Outputs), i, k, m.Rows))
		}
	}
}
