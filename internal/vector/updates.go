package vector

import "math"

// The updates of first-order methods, of weights w along the gradient g. The memory of a method is as long as w.

// Momentum is the heavy ball (Polyak 1964): v ← μv − ηg, w ← w + v, η being rate and μ mu.
func Momentum(v, w, g []float64, rate, mu float64) {
	w, g = w[:len(v)], g[:len(v)]
	for i, g := range g {
		v[i] = mu*v[i] - rate*g
		w[i] += v[i]
	}
}

// AdaGrad is Duchi, Hazan & Singer 2011, figure 1, with diagonal matrices: s ← s + g², w ← w − ηg/(δ + √s).
func AdaGrad(w, s, g []float64, rate, delta float64) {
	s, g = s[:len(w)], g[:len(w)]
	for i, g := range g {
		s[i] += g * g
		w[i] -= rate * g / (delta + math.Sqrt(s[i]))
	}
}

// RMSProp is Tieleman & Hinton 2012, lecture 6e: r ← γr + (1 − γ)g², w ← w − ηg/(√r + ε), γ being decay.
func RMSProp(w, r, g []float64, rate, decay, epsilon float64) {
	r, g = r[:len(w)], g[:len(w)]
	for i, g := range g {
		r[i] = decay*r[i] + (1-decay)*g*g
		w[i] -= rate * g / (math.Sqrt(r[i]) + epsilon)
	}
}

// AdamStep is what all weights of one step of Adam have in common.
type AdamStep struct {
	Rate, Beta1, Beta2, Epsilon float64
	Correct1, Correct2          float64 // 1/(1 − β₁ᵗ), 1/(1 − β₂ᵗ)
}

// Adam is Kingma & Ba 2015, algorithm 1.
func Adam(w, m, v, g []float64, s *AdamStep) {
	m, v, g = m[:len(w)], v[:len(w)], g[:len(w)]
	for i, g := range g {
		m[i] = s.Beta1*m[i] + (1-s.Beta1)*g
		v[i] = s.Beta2*v[i] + (1-s.Beta2)*g*g
		w[i] -= s.Rate * (m[i] * s.Correct1) / (math.Sqrt(v[i]*s.Correct2) + s.Epsilon)
	}
}
