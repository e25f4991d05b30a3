package pass

import (
	"math"

	"newtop/internal/vector"
)

// Elementwise is a loss that a program brings: E_p = Σ_k ℓ(u_k, t_k), whose B is diagonal. It keeps b = ∂²ℓ/∂u² of
// every output and row.
type Elementwise struct {
	Called string // its name
	// At returns ℓ and its first two derivatives by u.
	At func(u, t float64) (value, slope, curvature float64)
}

type elementwiseOn[F Float] struct {
	at func(u, t float64) (value, slope, curvature float64)
}

func (e Elementwise) Name() string { return e.Called }

func (Elementwise) Refuse(Activation) string { return "" }

func (e Elementwise) Of(u, t float64, _ Activation) float64 {
	value, _, _ := e.At(u, t)
	return value
}

func (Elementwise) keeps(out Activation, outputs int) int { return (out.keeps() + 1) * outputs }

// draws returns as many as there are outputs. δ^L is drawn from the normal distribution that has its covariance, since
// nothing is known of p.
func (Elementwise) draws(_ Activation, outputs int) int { return outputs }

func (Elementwise) normal() bool { return true }

func (e elementwiseOn[F]) measure(s *Scratch[F], tp *Tape[F]) (loss, squared float64) {
	s.Finish(tp)
	for i, u := range tp.U[s.Last()] {
		value, _, _ := e.at(float64(u), float64(s.Targets[i]))
		loss += value
	}
	return loss, s.residual(tp)
}

// curvatures returns where b is kept.
func (elementwiseOn[F]) curvatures(s *Scratch[F], tp *Tape[F]) []F {
	last := s.Last()
	return tp.kept[last][s.out().keeps()*len(tp.U[last]):]
}

// derive stores ε^L = ∂ℓ/∂u in tp.Delta, and b.
func (e elementwiseOn[F]) derive(s *Scratch[F], tp *Tape[F]) {
	last, b := s.Last(), e.curvatures(s, tp)
	for i, u := range tp.U[last] {
		_, slope, curvature := e.at(float64(u), float64(s.Targets[i]))
		if curvature < 0 {
			panic("models: a registered loss has a negative second derivative")
		}
		tp.Delta[last][i], b[i] = F(slope), F(curvature)
	}
}

// delta carries ε^L back through the activation.
func (e elementwiseOn[F]) delta(s *Scratch[F], tp *Tape[F]) {
	e.derive(s, tp)
	s.layer(tp, s.Last()).pullKeep()
}

// drawnDelta carries ε^L = √b·z back through the activation, z being what was drawn.
func (e elementwiseOn[F]) drawnDelta(s *Scratch[F], tp *Tape[F], drawn []float64) {
	e.derive(s, tp)
	last, outputs, b := s.Last(), s.Outputs(), e.curvatures(s, tp)
	for k := range outputs {
		epsilon, b := s.node(tp.Delta[last], k), s.node(b, k)
		for j := range epsilon {
			epsilon[j] = F(math.Sqrt(float64(b[j])) * drawn[j*outputs+k])
		}
	}
	s.layer(tp, last).pullKeep()
}

func (e elementwiseOn[F]) curve(s *Scratch[F], tp *Tape[F], exact bool) {
	last := s.Last()
	gamma, out := s.gamma[last], s.layer(tp, last)
	vector.Mul(gamma, e.curvatures(s, tp), s.ru[last]) // Rε^L
	if exact {
		out.curve(gamma, s.phi[last], s.ru[last])
	} else {
		out.pull(gamma)
	}
}

// factor stores f′_k·√b_k, or u_k·√b_k after softmax: B' = JBJ, and S = J√B.
func (e elementwiseOn[F]) factor(c []F, s *Scratch[F], tp *Tape[F]) {
	if s.out() == Softmax {
		copy(c, tp.U[s.Last()])
	} else {
		s.layer(tp, s.Last()).slopes(c)
	}
	for i, b := range e.curvatures(s, tp) {
		c[i] *= F(math.Sqrt(float64(b)))
	}
}

// diagonal stores c², or after softmax c²(1 − u)² + u² Σ_{k≠j} c_k².
func (elementwiseOn[F]) diagonal(dst, c []F, s *Scratch[F], tp *Tape[F]) {
	if s.out() != Softmax {
		vector.Mul(dst, c, c)
		return
	}
	u := tp.U[s.Last()]
	vector.ColumnDots(s.ra, c, c)
	for i := 0; i < len(u); i += s.Rows {
		for j, norm := range s.ra {
			u, c := u[i+j], c[i+j]
			dst[i+j] = c*c*(1-u)*(1-u) + u*u*(norm-c*c)
		}
	}
}
