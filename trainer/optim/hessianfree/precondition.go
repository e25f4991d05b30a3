package hessianfree

import (
	"math"

	"newtop/internal/vector"
	"newtop/trainer/krylov"
	"newtop/trainer/optim"
	"newtop/trainer/optim/kronecker"
	"newtop/trainer/optim/minibatch"
)

// damped is G + λI.
type damped struct {
	g      krylov.Operator
	lambda float64
}

func (d *damped) Dim() int { return d.g.Dim() }

func (d *damped) MulVecTo(dst, v []float64) {
	d.g.MulVecTo(dst, v)
	vector.Axpy(dst, d.lambda, v)
}

// Flops returns those of a product, as far as G counts them.
func (d *damped) Flops() float64 {
	if c, ok := d.g.(krylov.Counter); ok {
		return c.Flops() + 2*float64(d.Dim())
	}
	return 0
}

// precondition returns M⁻¹, nil for M = I, from rows that curvature comes from.
func (h *hessianFree) precondition(s *optim.State, rows []int) (func(dst, r []float64), error) {
	chosen := Preconditioner.Of(s.Settings)
	if chosen != preconditionKFAC {
		h.curvature, h.memory.Moves.Factors = nil, nil
	}
	switch chosen {
	case preconditionDiagonal:
		return h.byDiagonal(s, rows)
	case preconditionKFAC:
		return h.byFactors(s, rows)
	}
	return nil, nil
}

// byDiagonal has M = (diag(Σ g_p∘g_p)/n + λ)^(3/4) (Martens 2010, section 4.7).
func (h *hessianFree) byDiagonal(s *optim.State, rows []int) (func(dst, r []float64), error) {
	o, ok := s.Objective.(optim.SquaresObjective)
	if !ok {
		return nil, &optim.CapabilityError{Reason: "the objective has no squares of its rows' gradients"}
	}
	if n := len(s.W); len(h.diagonal) != n {
		h.diagonal, h.squares = make([]float64, n), make([]float64, n)
	}
	o.BatchGradientSquaresTo(h.diagonal, h.squares, s.W, rows)
	for i, v := range h.squares {
		h.diagonal[i] = math.Pow(v+h.memory.Moves.Lambda, -0.75)
	}
	return func(dst, r []float64) { vector.Mul(dst, h.diagonal, r) }, nil
}

// What the preconditioner kfac does as kronecker.KFAC does.
const (
	factorDecay = 0.95
	factorShare = 0.5 // of the rows that products come from
	factorEvery = 5   // steps from one inversion to the next
	factorSide  = 512
)

// byFactors has the K-FAC matrix over these rows and those of steps before for M.
func (h *hessianFree) byFactors(s *optim.State, rows []int) (func(dst, r []float64), error) {
	if err := optim.Offers(s.Objective, optim.NeedsFactors); err != nil {
		return nil, err
	}
	k := h.memory.Moves
	if h.curvature == nil {
		h.curvature = kronecker.NewCurvature(s.Objective, len(s.W), factorSide)
		k.Factors = &h.curvature.Factors
	}
	h.curvature.Update(s.W, minibatch.Share(rows, factorShare), factorDecay, s.Rand)
	if u := h.curvature.Factors.Updates; u <= 3 || u%factorEvery == 0 {
		spent, err := h.curvature.Invert(s, k.Lambda)
		h.spent += spent
		if err != nil {
			return nil, err
		}
	}
	return func(dst, r []float64) { h.spent += h.curvature.SolveTo(s, dst, r) }, nil
}
