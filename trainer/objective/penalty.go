package objective

import (
	"io"

	"gonum.org/v1/gonum/mat"

	"newtop/internal/vector"
	"newtop/models"
	"newtop/trainer/optim"
)

// Weight decay (Krogh & Hertz 1992) adds to the mean loss E of the data
//
//	P(w) = ½λ Σ_i w_i²      ∂P/∂w_i = λw_i      ∂²P/∂w_i² = λ
//
// over the weights that lead from layer to layer. Biases and the parameters of gates are left out. P does not depend on
// rows, so that every block of rows has it whole, and of several processes only the one that asks adds it.

// Weights returns where the weights that decay lie in the flat vector, in its order.
func (p *Problem) Weights() []optim.Span {
	var blocks []models.Block
	if p.External != nil {
		blocks = p.External.Weights()
	} else {
		blocks = p.Network.Blocks()
	}
	var out []optim.Span
	for _, b := range blocks {
		span := optim.Span{First: b.Offset, Last: b.Offset + b.Size()}
		if n := len(out); n > 0 && out[n-1].Last == span.First {
			out[n-1].Last = span.Last
		} else {
			out = append(out, span)
		}
	}
	return out
}

// Minimized returns what methods minimize over the rows of l: with the penalty. Evaluations are the data's alone.
func (p *Problem) Minimized(l Linearization) Linearization {
	penalty := p.penalty()
	return penalty.wrap(l)
}

func (p *Problem) penalty() penalty { return penalty{p.L2, p.Weights()} }

// LossAt returns the minimized loss at other weights than those of the last Update, by a forward pass.
func LossAt(l Linearization, w []float64) float64 {
	loss := l.EvaluateAt(w).Loss
	if p, ok := l.(*penalized); ok {
		loss += p.penalty.value(w)
	}
	return loss
}

// penalty is P.
type penalty struct {
	lambda  float64
	weights []optim.Span
}

func (p *penalty) wrap(l Linearization) Linearization {
	if p.lambda == 0 {
		return l
	}
	return &penalized{l, *p, make([]float64, l.Dim())}
}

func (p *penalty) value(w []float64) float64 {
	if p.lambda == 0 { // the weights may be infinite
		return 0
	}
	squares := 0.0
	for _, s := range p.weights {
		squares += vector.SumSquares(w[s.First:s.Last])
	}
	return p.lambda / 2 * squares
}

// addTo adds λv to dst: P's gradient if v is w, else the product of its Hessian with v.
func (p *penalty) addTo(dst, v []float64) {
	if p.lambda == 0 {
		return
	}
	for _, s := range p.weights {
		vector.Axpy(dst[s.First:s.Last], p.lambda, v[s.First:s.Last])
	}
}

// penalized is a Linearization with P added.
type penalized struct {
	Linearization
	penalty penalty
	w       []float64 // of the last Update
}

var _ io.Closer = (*penalized)(nil)

func (p *penalized) Update(w []float64) {
	copy(p.w, w)
	p.Linearization.Update(w)
}

// Accuracy is that of the loss without the penalty, whose part of a product is exact.
func (p *penalized) Accuracy() (roundoff float64, errorOf func(v []float64) float64) {
	return AccuracyOf(p.Linearization)
}

func (p *penalized) Loss() float64 { return p.Linearization.Loss() + p.penalty.value(p.w) }

func (p *penalized) GradientTo(dst []float64) {
	p.Linearization.GradientTo(dst)
	p.penalty.addTo(dst, p.w)
}

func (p *penalized) HessianTo(dst, v []float64) {
	p.Linearization.HessianTo(dst, v)
	p.penalty.addTo(dst, v)
}

func (p *penalized) GaussNewtonTo(dst, v []float64) {
	p.Linearization.GaussNewtonTo(dst, v)
	p.penalty.addTo(dst, v)
}

func (p *penalized) GaussNewtonRowsTo(dst, v []float64) {
	p.Linearization.GaussNewtonRowsTo(dst, v)
	p.penalty.addTo(dst, v)
}

func (p *penalized) GaussNewtonDiagTo(dst []float64) {
	p.Linearization.GaussNewtonDiagTo(dst)
	for _, s := range p.penalty.weights {
		for i := s.First; i < s.Last; i++ {
			dst[i] += p.penalty.lambda
		}
	}
}

func (p *penalized) GaussNewtonMatrixTo(dst *mat.SymDense, watch func(part, parts int) error) error {
	if err := p.Linearization.GaussNewtonMatrixTo(dst, watch); err != nil {
		return err
	}
	for _, s := range p.penalty.weights {
		for i := s.First; i < s.Last; i++ {
			dst.SetSym(i, i, dst.At(i, i)+p.penalty.lambda)
		}
	}
	return nil
}

func (p *penalized) Close() error {
	if l, ok := p.Linearization.(io.Closer); ok {
		return l.Close()
	}
	return nil
}
