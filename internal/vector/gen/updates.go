package main

func (g *generator) updates() {
	g.elementwise(elementwise{
		"momentum", "func(v, w, g *float64, n int, rate, mu float64)", "momentum is Momentum.",
		[]string{"v", "w", "g"}, []string{"v", "w"}, []int{2, 1},
		func(m *machine) func(in []value) []value {
			rate, mu := m.scalar("rate"), m.scalar("mu")
			return func(in []value) []value {
				v := m.sub(m.mul(in[0], mu), m.mul(in[2], rate))
				return []value{v, m.add(in[1], v)}
			}
		},
	})
	g.elementwise(elementwise{
		"adaGrad", "func(w, s, g *float64, n int, rate, delta float64)", "adaGrad is AdaGrad.",
		[]string{"w", "s", "g"}, []string{"w", "s"}, []int{1},
		func(m *machine) func(in []value) []value {
			rate, delta := m.scalar("rate"), m.scalar("delta")
			return func(in []value) []value {
				w, s, g := in[0], in[1], in[2]
				s = m.add(s, m.mul(g, g))
				return []value{m.sub(w, m.adaptive(m.mul(g, rate), s, delta)), s}
			}
		},
	})
	g.elementwise(elementwise{
		"rmsProp", "func(w, r, g *float64, n int, rate, decay, rest, epsilon float64)",
		"rmsProp is RMSProp; rest is 1 − decay.",
		[]string{"w", "r", "g"}, []string{"w", "r"}, []int{1},
		func(m *machine) func(in []value) []value {
			rate, decay, rest, epsilon := m.scalar("rate"), m.scalar("decay"), m.scalar("rest"), m.scalar("epsilon")
			return func(in []value) []value {
				w, r, g := in[0], in[1], in[2]
				r = m.add(m.mul(r, decay), m.mul(m.mul(g, rest), g))
				return []value{m.sub(w, m.adaptive(m.mul(g, rate), r, epsilon)), r}
			}
		},
	})
	g.elementwise(elementwise{
		"adam", "func(w, m, v, g *float64, n int, c *[8]float64)",
		"adam is Adam, c being β₁, 1 − β₁, β₂, 1 − β₂, the rate, the two corrections and ε.",
		[]string{"w", "m", "v", "g"}, []string{"w", "m", "v"}, []int{1},
		func(m *machine) func(in []value) []value {
			p := m.integer("c")
			c := m.fields(p, 8)
			return func(in []value) []value {
				w, m1, v, g := in[0], in[1], in[2], in[3]
				m1 = m.add(m.mul(m1, c(0)), m.mul(g, c(1)))
				v = m.add(m.mul(v, c(2)), m.mul(m.mul(g, c(3)), g))
				step := m.adaptive(m.mul(m.mul(m1, c(5)), c(4)), m.mul(v, c(6)), c(7))
				return []value{m.sub(w, step), m1, v}
			}
		},
	})
}
