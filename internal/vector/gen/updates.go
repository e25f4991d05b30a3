package main

// updates are the steps of optimizers, but for Adam's in float64; rest is 1 − decay, rest1 and rest2 are 1 − β₁ and
// 1 − β₂.
func updates(g *generator) {
	update := func(e elementwise) { g.double(e.name, e.signature, e.body()) }
	update(elementwise{
		"momentum", "func(v, w, grad *float64, n int, rate, mu float64)",
		[]string{"v", "w", "grad"}, []string{"v", "w"}, []string{"rate", "mu"}, []int{2, 1},
		func(m *machine, in, scalars []value) []value {
			v, w, g := in[0], in[1], in[2]
			v = m.sub(m.mul(v, scalars[1]), m.mul(g, scalars[0]))
			return []value{v, m.add(w, v)}
		},
	})
	update(elementwise{
		"adaGrad", "func(w, s, grad *float64, n int, rate, delta float64)",
		[]string{"w", "s", "grad"}, []string{"w", "s"}, []string{"rate", "delta"}, []int{1},
		func(m *machine, in, scalars []value) []value {
			w, s, g := in[0], in[1], in[2]
			s = m.add(s, m.mul(g, g))
			return []value{m.sub(w, adaptive(m, m.mul(g, scalars[0]), s, scalars[1])), s}
		},
	})
	update(elementwise{
		"rmsProp", "func(w, r, grad *float64, n int, rate, decay, rest, epsilon float64)",
		[]string{"w", "r", "grad"}, []string{"w", "r"}, []string{"rate", "decay", "rest", "epsilon"}, []int{1},
		func(m *machine, in, scalars []value) []value {
			w, r, g := in[0], in[1], in[2]
			r = m.add(m.mul(r, scalars[1]), m.mul(m.mul(g, scalars[2]), g))
			return []value{m.sub(w, adaptive(m, m.mul(g, scalars[0]), r, scalars[3])), r}
		},
	})
	g.elementwise(elementwise{
		"adam", "func(w, m, v, grad *F, n int, beta1, rest1, beta2, rest2, rate, correct1, correct2, epsilon F)",
		[]string{"w", "m", "v", "grad"}, []string{"w", "m", "v"},
		[]string{"beta1", "rest1", "beta2", "rest2", "rate", "correct1", "correct2", "epsilon"}, []int{1},
		func(m *machine, in, scalars []value) []value {
			w, m1, v, g := in[0], in[1], in[2], in[3]
			m1 = m.add(m.mul(m1, scalars[0]), m.mul(g, scalars[1]))
			v = m.add(m.mul(v, scalars[2]), m.mul(m.mul(g, scalars[3]), g))
			step := adaptive(m, m.mul(m.mul(m1, scalars[5]), scalars[4]), m.mul(v, scalars[6]), scalars[7])
			return []value{m.sub(w, step), m1, v}
		},
	})
}
