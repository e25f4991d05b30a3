package pass

import (
	"math/rand/v2"

	"newtop/internal/vector"
	"newtop/models/blas"
)

// K-FAC [Martens & Grosse 2015, §3, §5] takes the Gauss–Newton matrix of the weights W^{lr} for A ⊗ S. In the terms of
// one row:
//
//	ū   the outputs u^r that W^{lr} multiplies, and a 1 behind them for biases    A = E[ū ūᵀ]
//	y   a target that is drawn from the model's own distribution p(y|u^L)
//	g   δ^l for y, that is ∂(−log p(y|u^L))/∂v^l                                 S = E[g gᵀ]
//
// The expectation over y of g gᵀ is the Gauss–Newton matrix of v^l, whatever the loss.

// Moments says where sums over rows lie in a vector of Size numbers: those of u^r, the inputs of blocks, of every layer
// r that a dense block leads from, and those of g, the outputs, of every layer l that one leads to.
type Moments struct {
	Inputs, Outputs []Moment
	Size            int
}

// Moment says where the sums of a layer's numbers x lie: from At on Σ x xᵀ, N × N, of which what is below the diagonal
// need not be filled in, and of inputs Σ x behind it; or where these are not asked for Σ ‖x‖² alone.
type Moment struct {
	At    int // −1: the layer has none
	Whole bool
}

// Moments returns those of the net, with whole ones where these say so for a layer.
func (n *Net) Moments(wholeInputs, wholeOutputs []bool) Moments {
	m := Moments{Inputs: make([]Moment, len(n.Nodes)), Outputs: make([]Moment, len(n.Nodes))}
	reserve := func(blocks []Block, whole bool, size int) Moment {
		for _, b := range blocks {
			if b.Sparse == nil {
				at := m.Size
				if !whole {
					size = 1
				}
				m.Size += size
				return Moment{at, whole}
			}
		}
		return Moment{At: -1}
	}
	for l, nodes := range n.Nodes {
		m.Inputs[l] = reserve(n.Outgoing[l], wholeInputs[l], nodes*nodes+nodes)
		m.Outputs[l] = reserve(n.Incoming[l], wholeOutputs[l], nodes*nodes)
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

// PassDrawn is Pass for targets that are made of numbers which DrawTo drew; s.Targets says how much a row counts, where
// the loss has it there.
func PassDrawn[F Float](s *Scratch[F], w []F, tp *Tape[F], drawn []float64) {
	s.Forward(w, tp)
	s.loss.measure(s, tp)
	s.loss.drawnDelta(s, tp, drawn)
	s.Backward(w, tp)
}

// MomentsTo stores the sums over a block's rows, of which a PassDrawn was done, in dst, or with blas.Add adds them.
func MomentsTo[F Float](s *Scratch[F], dst []F, m *Moments, tp *Tape[F], start blas.Start) {
	s.transposeOutputs(tp)
	for l, nodes := range s.Nodes {
		switch in := m.Inputs[l]; {
		case in.At < 0:
		case in.Whole:
			s.squareTo(dst[in.At:], nodes, tp.U[l], s.uRows[l], start)
			sums := dst[in.At+nodes*nodes:][:nodes]
			if start == blas.Zero {
				clear(sums)
			}
			s.addRowSums(sums, tp.U[l])
		default:
			addMoment(s, &dst[in.At], tp.U[l][:nodes*s.Rows], start) // gates see further columns
		}
		switch out := m.Outputs[l]; {
		case out.At < 0:
		case out.Whole:
			s.squareTo(dst[out.At:], nodes, tp.Delta[l], s.transposeTo(s.ruRowsMemory[l], tp.Delta[l], nodes), start)
		default:
			addMoment(s, &dst[out.At], tp.Delta[l], start)
		}
	}
}

// addMoment stores Σ x² in dst, or with blas.Add adds it.
func addMoment[F Float](s *Scratch[F], dst *F, x []F, start blas.Start) {
	if start == blas.Zero {
		*dst = 0
	}
	*dst += vector.Dot(x, x)
	s.Multiplications += len(x)
}
