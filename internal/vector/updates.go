package vector

import "math"

// The updates of first-order methods, of weights w along the gradient g. The memory of a method is as long as w. The
// conversions keep a compiler from fusing products and sums, so that every kernel returns the same bits; but AVX-512
// may round the step of the last three differently if it is below 2⁻⁹⁰⁰.

// Momentum is the heavy ball (Polyak 1964): v ← μv − ηg, w ← w + v, η being rate and μ mu.
func Momentum(v, w, g []float64, rate, mu float64) {
	if fast(len(v), min(len(w), len(g))) {
		momentum(data(v), data(w), data(g), len(v), rate, mu)
		return
	}
	w, g = w[:len(v)], g[:len(v)]
	for i, g := range g {
		v[i] = float64(mu*v[i]) - float64(rate*g)
		w[i] += v[i]
	}
}

// AdaGrad is Duchi, Hazan & Singer 2011, figure 1, with diagonal matrices: s ← s + g², w ← w − ηg/(δ + √s).
func AdaGrad(w, s, g []float64, rate, delta float64) {
	if fast(len(w), min(len(s), len(g))) {
		adaGrad(data(w), data(s), data(g), len(w), rate, delta)
		return
	}
	s, g = s[:len(w)], g[:len(w)]
	for i, g := range g {
		s[i] += float64(g * g)
		w[i] -= rate * g / (delta + math.Sqrt(s[i]))
	}
}

// RMSProp is Tieleman & Hinton 2012, lecture 6e: r ← γr + (1 − γ)g², w ← w − ηg/(√r + ε), γ being decay.
func RMSProp(w, r, g []float64, rate, decay, epsilon float64) {
	if fast(len(w), min(len(r), len(g))) {
		rmsProp(data(w), data(r), data(g), len(w), rate, decay, 1-decay, epsilon)
		return
	}
	r, g = r[:len(w)], g[:len(w)]
	for i, g := range g {
		r[i] = float64(decay*r[i]) + float64((1-decay)*g*g)
		w[i] -= rate * g / (math.Sqrt(r[i]) + epsilon)
	}
}

// AdamStep is what all weights of one step of Adam have in common.
type AdamStep struct {
	Rate, Beta1, Beta2, Epsilon float64
	Correct1, Correct2          float64 // 1/(1 − β₁ᵗ), 1/(1 − β₂ᵗ)
}

// Adam is Kingma & Ba 2015, algorithm 1, in either precision: what weights have in common is rounded to it.
func Adam[F Float](w, m, v, g []F, s *AdamStep) {
	beta1, rest1, beta2, rest2 := F(s.Beta1), F(1-s.Beta1), F(s.Beta2), F(1-s.Beta2)
	rate, correct1, correct2, epsilon := F(s.Rate), F(s.Correct1), F(s.Correct2), F(s.Epsilon)
	if fast(len(w), min(len(m), len(v), len(g))) {
		adam(data(w), data(m), data(v), data(g), len(w), beta1, rest1, beta2, rest2, rate, correct1, correct2, epsilon)
		return
	}
	m, v, g = m[:len(w)], v[:len(w)], g[:len(w)]
	for i, g := range g {
		m[i] = F(beta1*m[i]) + F(rest1*g)
		v[i] = F(beta2*v[i]) + F(F(rest2*g)*g)
		w[i] -= F(F(m[i]*correct1)*rate) / (F(math.Sqrt(float64(v[i]*correct2))) + epsilon)
	}
}
