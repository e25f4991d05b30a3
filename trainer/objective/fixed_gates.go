package objective

import (
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"newtop/trainer/krylov"
	"newtop/trainer/optim"
)

// FixedGates is the loss as a function of the experts' weights, with the gates as they are. The flat vector of a
// mixture has its gates' parameters last, so that w is its beginning and Gates its end.
type FixedGates struct {
	Gates []float64 // of the net whose turn it is

	whole     *Objective
	w, v, dst []float64     // the whole vector of each
	matrix    *mat.SymDense // the whole one; nil before the first is asked for
	parts     []optim.Objective
	samples   []*FixedGates // by slot; nil where there is none yet
	squares   []float64     // the whole vector; nil before the first are asked for
}

var (
	_ optim.HessianObjective  = (*FixedGates)(nil)
	_ optim.JacobianObjective = (*FixedGates)(nil)
	_ optim.RowObjective      = (*FixedGates)(nil)
	_ optim.BlockObjective    = (*FixedGates)(nil)
	_ optim.NoisyObjective    = (*FixedGates)(nil)
	_ optim.WeightedObjective = (*FixedGates)(nil)
	_ optim.FactorObjective   = (*FixedGates)(nil)
	_ optim.SquaresObjective  = (*FixedGates)(nil)
	_ optim.SampledObjective  = (*FixedGates)(nil)
	_ optim.OfferingObjective = (*FixedGates)(nil)
	_ optim.ChargedObjective  = (*FixedGates)(nil)
)

// FixGates returns the loss of a mixture's experts.
func FixGates(whole *Objective) *FixedGates {
	n := whole.Dim()
	return &FixedGates{whole: whole, w: make([]float64, n), v: make([]float64, n), dst: make([]float64, n)}
}

// at returns the whole vector of the experts' weights w.
func (s *FixedGates) at(w []float64) []float64 {
	copy(s.w[copy(s.w, w):], s.Gates)
	return s.w
}

func (s *FixedGates) Dim() int { return s.whole.problem.ExpertDim() }

func (s *FixedGates) Rows() int { return s.whole.Rows() }

func (s *FixedGates) Loss(w []float64) float64 { return s.whole.Loss(s.at(w)) }

func (s *FixedGates) GradientTo(dst, w []float64) float64 {
	loss := s.whole.GradientTo(s.dst, s.at(w))
	copy(dst, s.dst)
	return loss
}

func (s *FixedGates) BatchGradientTo(dst, w []float64, rows []int) float64 {
	loss := s.whole.BatchGradientTo(s.dst, s.at(w), rows)
	copy(dst, s.dst)
	return loss
}

func (s *FixedGates) BatchGradientSquaresTo(dst, squares, w []float64, rows []int) float64 {
	if s.squares == nil {
		s.squares = make([]float64, s.whole.Dim())
	}
	loss := s.whole.BatchGradientSquaresTo(s.dst, s.squares, s.at(w), rows)
	copy(dst, s.dst)
	copy(squares, s.squares)
	return loss
}

func (s *FixedGates) BatchFactorsTo(factors []optim.Factors, w []float64, rows []int, rng *rand.Rand) {
	s.whole.BatchFactorsTo(factors, s.at(w), rows, rng)
}

func (s *FixedGates) Noise() float64 { return s.whole.Noise() }

func (s *FixedGates) NoisyGradientTo(dst, w []float64, rows []int, rng *rand.Rand) float64 {
	loss := s.whole.NoisyGradientTo(s.dst, s.at(w), rows, rng)
	copy(dst, s.dst)
	return loss
}

func (s *FixedGates) Weights() []optim.Span { return s.whole.Weights() }

func (s *FixedGates) Matrices() []optim.Matrix { return s.whole.Matrices() }

func (s *FixedGates) FactorMatrices() []optim.Matrix { return s.whole.FactorMatrices() }

func (s *FixedGates) Offers(need optim.Capability) error { return s.whole.Offers(need) }

func (s *FixedGates) Charge(multiplications float64) { s.whole.Charge(multiplications) }

func (s *FixedGates) GaussNewtonDiagTo(dst, w []float64) {
	s.whole.GaussNewtonDiagTo(s.dst, s.at(w))
	copy(dst, s.dst)
}

func (s *FixedGates) Hessian(w []float64) krylov.Operator { return s.leading(s.whole.Hessian(s.at(w))) }

func (s *FixedGates) GaussNewton(w []float64) krylov.Operator {
	return s.leading(s.whole.GaussNewton(s.at(w)))
}

func (s *FixedGates) GaussNewtonRows(w []float64) krylov.Operator {
	return s.leading(s.whole.GaussNewtonRows(s.at(w)))
}

func (s *FixedGates) GaussNewtonMatrixTo(dst *mat.SymDense, w []float64, watch func(part, parts int) error) error {
	if s.matrix == nil {
		s.matrix = mat.NewSymDense(s.whole.Dim(), nil)
	}
	if err := s.whole.GaussNewtonMatrixTo(s.matrix, s.at(w), watch); err != nil {
		return err
	}
	dst.CopySym(s.matrix.SliceSym(0, s.Dim()))
	return nil
}

func (s *FixedGates) Blocks(count int) []optim.Objective {
	parts := s.whole.Blocks(count)
	if len(s.parts) != len(parts) || s.parts[0].(*FixedGates).whole != parts[0] { // the whole has bound them again
		s.parts = nil
		for _, part := range parts {
			s.parts = append(s.parts, FixGates(part.(*Objective)))
		}
	}
	for _, part := range s.parts {
		part.(*FixedGates).Gates = s.Gates
	}
	return s.parts
}

func (s *FixedGates) Sample(slot int, rows []int) optim.Objective {
	whole := s.whole.Sample(slot, rows).(*Objective)
	for len(s.samples) <= slot {
		s.samples = append(s.samples, nil)
	}
	if s.samples[slot] == nil || s.samples[slot].whole != whole { // of as many rows as before
		s.samples[slot] = FixGates(whole)
	}
	s.samples[slot].Gates = s.Gates
	return s.samples[slot]
}

func (s *FixedGates) leading(h krylov.Operator) krylov.Operator { return &leading{s, h} }

// leading is the leading principal submatrix that belongs to the experts.
type leading struct {
	s *FixedGates
	h krylov.Operator
}

var _ krylov.Counter = (*leading)(nil)

func (l *leading) Dim() int { return l.s.Dim() }

func (l *leading) Flops() float64 { return l.h.(krylov.Counter).Flops() }

func (l *leading) MulVecTo(dst, v []float64) {
	copy(l.s.v, v) // and zeros for the gates, which nothing else is ever stored there
	l.h.MulVecTo(l.s.dst, l.s.v)
	copy(dst, l.s.dst)
}
