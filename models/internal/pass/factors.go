package pass

import (
	"math/rand/v2"

	"newtop/models/blas"
)

// K-FAC [Martens & Grosse 2015, §3, §5] takes the Gauss–Newton matrix of the weights W^{lr} for A ⊗ S. In the terms of one row:
//
//	ū   the outputs u^r that W^{lr} multiplies, and a 1 behind them for biases    A = E[ū ūᵀ]
//	y   a target that is drawn from the model's own distribution p(y|u^L)
//	g   δ^l for y, that is ∂(−log p(y|u^L))/∂v^l                                 S = E[g gᵀ]
//
// The expectation over y of g gᵀ is the Gauss–Newton matrix of v^l, whatever the loss.

// Moments says where sums over rows lie in a vector of Size numbers: from Inputs[r] on Σ u^r (u^r)ᵀ, N_r × N_r, and behind it Σ u^r,
// of every layer r that a dense block leads from; from Outputs[l] on Σ g gᵀ, N_l × N_l, of every layer l that one leads to. Of other
// layers there is −1. Of a matrix that is its own transpose what is below the diagonal need not be filled in.
type Moments struct {
	Inputs, Outputs []int
	Size            int
}

// Moments returns those of the net.
func (n *Net) Moments() Moments {
	m := Moments{Inputs: make([]int, len(n.Nodes)), Outputs: make([]int, len(n.Nodes))}
	place := func(blocks []Block, size int) int {
		for _, b := range blocks {
			if b.Sparse == nil {
				m.Size += size
				return m.Size - size
			}
		}
		return -1
	}
	for l, nodes := range n.Nodes {
		m.Inputs[l] = place(n.Outgoing[l], nodes*nodes+nodes)
		m.Outputs[l] = place(n.Incoming[l], nodes*nodes)
	}
	return m
}

// DrawTo draws the numbers that targets of as many rows as dst has room for are made of, Draws for each, row by row.
func (n *Net) DrawTo(dst []float64, rng *rand.Rand) {
	draw := rng.Float64
	if n.Loss.normal() {
		draw = rng.NormFloat64
	}
	for i := range dst {
		dst[i] = draw()
	}
}

// Draws returns how many numbers a row's drawn target is made of.
func (n *Net) Draws() int { return n.Loss.draws(n.out(), n.Outputs()) }

// PassDrawn is Pass for targets that are made of numbers which DrawTo drew; s.Targets says how much a row counts, where the loss has
// it there.
func (s *Scratch[F]) PassDrawn(w []F, tp *Tape[F], drawn []float64) {
	s.Forward(w, tp)
	s.loss.measure(s, tp)
	s.loss.drawnDelta(s, tp, drawn)
	s.backward(w, tp)
}

// MomentsTo stores the sums over a block's rows, of which a PassDrawn was done, in dst, or with blas.Add adds them.
func (s *Scratch[F]) MomentsTo(dst []F, m *Moments, tp *Tape[F], start blas.Start) {
	s.transposeOutputs(tp)
	for l, nodes := range s.Nodes {
		if at := m.Inputs[l]; at >= 0 {
			s.squareTo(dst[at:], nodes, tp.U[l], s.uRows[l], start)
			sums := dst[at+nodes*nodes:][:nodes]
			if start == blas.Zero {
				clear(sums)
			}
			s.addRowSums(sums, tp.U[l])
		}
		if at := m.Outputs[l]; at >= 0 {
			s.squareTo(dst[at:], nodes, tp.Delta[l], s.transposeTo(s.ruRowsMemory[l], tp.Delta[l], nodes), start)
		}
	}
}
