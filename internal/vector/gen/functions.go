package main

// The signatures: pointers to the first elements, and how many there are.
const (
	unary  = "func(dst, x *F, n int)"
	pairOf = "func(dst, x, y *F, n int)"
	push   = "func(dst, u, x *F, n int)"
	curve  = "func(x, u, phi, delta *F, n int)"
	scaled = "func(dst *F, a F, x *F, n int)"
	sumOf  = "func(x *F, n int) F"
)

func transcendental(g *generator) {
	for _, f := range []struct {
		name string
		f    func(m *machine, x value) value
	}{
		{"exp", exp},
		{"tanh", tanh},
		{"sigmoid", sigmoid},
	} {
		g.elementwise(elementwise{
			f.name, unary, []string{"x"}, []string{"dst"}, nil, []int{2, 1},
			func(m *machine, in, _ []value) []value { return []value{f.f(m, in[0])} },
		})
	}
	g.elementwise(elementwise{
		"softplus", "func(dst, slope, x *F, n int)",
		[]string{"x"}, []string{"dst", "slope"}, nil, []int{1},
		func(m *machine, in, _ []value) []value {
			y, slope := softplus(m, in[0])
			return []value{y, slope}
		},
	})
}

func derivatives(g *generator) {
	g.elementwise(elementwise{
		"relu", unary, []string{"x"}, []string{"dst"}, nil, simple,
		func(m *machine, in, _ []value) []value {
			zero := m.zero()
			return []value{m.add(m.max(zero, in[0]), zero)} // +0 for −0
		},
	})
	for _, f := range []struct {
		name string
		f    func(m *machine, u, x value) value
	}{
		{"tanhPush", func(m *machine, u, x value) value {
			return m.mul(m.nfma(u, u, m.c(1)), x)
		}},
		{"sigmoidPush", func(m *machine, u, x value) value {
			return m.mul(m.mul(u, m.sub(m.c(1), u)), x)
		}},
		{"reluPush", func(m *machine, u, x value) value {
			return m.mul(m.where(notEqual, u, m.zero(), m.c(1), m.zero()), x)
		}},
	} {
		g.elementwise(elementwise{
			f.name, push, []string{"u", "x"}, []string{"dst"}, nil, simple,
			func(m *machine, in, _ []value) []value { return []value{f.f(m, in[0], in[1])} },
		})
	}
	// slope is f′, bend f″/f′, both of u.
	for _, f := range []struct {
		name        string
		slope, bend func(m *machine, u value) value
	}{
		{
			"tanhCurve",
			func(m *machine, u value) value { return m.nfma(u, u, m.c(1)) },
			func(m *machine, u value) value { return m.mul(u, m.c(-2)) },
		}, {
			"sigmoidCurve",
			func(m *machine, u value) value { return m.mul(u, m.sub(m.c(1), u)) },
			func(m *machine, u value) value { return m.nfma(u, m.c(2), m.c(1)) },
		}, {
			"softplusCurve",
			func(_ *machine, d value) value { return d },
			func(m *machine, d value) value { return m.sub(m.c(1), d) },
		},
	} {
		g.elementwise(elementwise{
			f.name, curve, []string{"u", "x", "phi", "delta"}, []string{"x"}, nil, []int{2, 1},
			func(m *machine, in, _ []value) []value {
				u, x, phi, delta := in[0], in[1], in[2], in[3]
				y := m.mul(f.slope(m, u), x)
				m.addProduct(y, f.bend(m, u), m.mul(phi, delta))
				return []value{y}
			},
		})
	}
}

func arithmetic(g *generator) {
	for _, f := range []struct {
		name string
		f    func(m *machine, x, y value) value
	}{
		{"add", func(m *machine, x, y value) value { return m.add(x, y) }},
		{"sub", func(m *machine, x, y value) value { return m.sub(x, y) }},
		{"mul", func(m *machine, x, y value) value { return m.mul(x, y) }},
	} {
		g.elementwise(elementwise{
			f.name, pairOf, []string{"x", "y"}, []string{"dst"}, nil, simple,
			func(m *machine, in, _ []value) []value { return []value{f.f(m, in[0], in[1])} },
		})
	}
	g.elementwise(elementwise{
		"mulAdd", pairOf, []string{"dst", "x", "y"}, []string{"dst"}, nil, simple,
		func(m *machine, in, _ []value) []value {
			m.addProduct(in[0], in[1], in[2])
			return in[:1]
		},
	})
	g.elementwise(elementwise{
		"axpy", scaled, []string{"dst", "x"}, []string{"dst"}, []string{"a"}, simple,
		func(m *machine, in, scalars []value) []value {
			m.addProduct(in[0], in[1], scalars[0])
			return in[:1]
		},
	})
	g.elementwise(elementwise{
		"scale", scaled, []string{"x"}, []string{"dst"}, []string{"a"}, simple,
		func(m *machine, in, scalars []value) []value { return []value{m.mul(in[0], scalars[0])} },
	})
}

func reductions(g *generator) {
	x := []string{"x"}
	g.function("sum", sumOf, reduction(x, "", func(m *machine, sum value, in []value) value {
		m.addTo(sum, in[0])
		return nil
	}))
	g.function("dot", "func(x, y *F, n int) F", reduction([]string{"x", "y"}, "",
		func(m *machine, sum value, in []value) value {
			m.addProduct(sum, in[0], in[1])
			return nil
		}))
	g.double("sumSquares", "func(x *float64, n int) float64",
		reduction(x, "", func(m *machine, sum value, in []value) value {
			m.addProduct(sum, in[0], in[0])
			return nil
		}))
	g.double("residual", "func(dst, u, t *float64, n int) float64",
		reduction([]string{"u", "t"}, "dst", func(m *machine, sum value, in []value) value {
			r := m.sub(in[0], in[1])
			m.addProduct(sum, r, r)
			return r
		}))
	addRowSums(g)
}
