package pass

import "newtop/internal/vector"

// squaredError is ½‖u − t‖², whose B is the identity.
type squaredError struct{}

type squaredErrorOn[F Float] struct{}

func (squaredError) Name() string { return "mse" }

func (squaredError) Refuse(Activation) string { return "" }

func (squaredError) Of(u, t float64, _ Activation) float64 { return (u - t) * (u - t) / 2 }

func (squaredError) keeps(out Activation, outputs int) int { return out.keeps() * outputs }

// draws returns as many as there are outputs: p is normal, with the mean u and the covariance I.
func (squaredError) draws(_ Activation, outputs int) int { return outputs }

func (squaredError) normal() bool { return true }

func (squaredErrorOn[F]) measure(s *Scratch[F], tp *Tape[F]) (loss, squared float64) {
	s.Finish(tp)
	squared = s.residual(tp)
	return squared / 2, squared
}

// delta carries ε^L = u − t back through the activation.
func (squaredErrorOn[F]) delta(s *Scratch[F], tp *Tape[F]) { s.layer(tp, s.Last()).pullKeep() }

// drawnDelta carries ε^L = u − y back through the activation, which is what was drawn.
func (squaredErrorOn[F]) drawnDelta(s *Scratch[F], tp *Tape[F], drawn []float64) {
	last, outputs := s.Last(), s.Outputs()
	for k := range outputs {
		epsilon := s.node(tp.Delta[last], k)
		for j := range epsilon {
			epsilon[j] = F(drawn[j*outputs+k])
		}
	}
	s.layer(tp, last).pullKeep()
}

func (squaredErrorOn[F]) curve(s *Scratch[F], tp *Tape[F], exact bool) {
	last := s.Last()
	gamma, out := s.gamma[last], s.layer(tp, last)
	copy(gamma, s.ru[last]) // Rε^L
	if exact {
		out.curve(gamma, s.phi[last], s.ru[last])
	} else {
		out.pull(gamma)
	}
}

// factor stores f′_k, or u_k after softmax: B' = J², and S = J.
func (squaredErrorOn[F]) factor(c []F, s *Scratch[F], tp *Tape[F]) {
	if s.out() == Softmax {
		copy(c, tp.U[s.Last()])
		return
	}
	s.layer(tp, s.Last()).slopes(c)
}

// diagonal stores c², or after softmax u²((1 − u)² + Σ_{k≠j} u_k²) = u²(1 − 2u + ⟨u, u⟩).
func (squaredErrorOn[F]) diagonal(dst, c []F, s *Scratch[F], tp *Tape[F]) {
	if s.out() != Softmax {
		vector.Mul(dst, c, c)
		return
	}
	u := tp.U[s.Last()]
	vector.ColumnDots(s.ra, u, u)
	for i := 0; i < len(u); i += s.Rows {
		for j, norm := range s.ra {
			x := u[i+j]
			dst[i+j] = x * x * ((1-x)*(1-x) + (norm - x*x))
		}
	}
}
