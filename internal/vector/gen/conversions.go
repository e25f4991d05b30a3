package main

import "github.com/mmcloughlin/avo/reg"

// conversions are the functions between float64 and float32, computed in float64.
func conversions(g *generator) {
	both := func(m *machine, dst, x string, step func(dst, x reg.GPVirtual, i reg.GPVirtual, v int, tail bool)) {
		p := m.pointers(dst, x)
		m.vectors(m.integer("n"), simple, func(i reg.GPVirtual, count int, tail bool) {
			for v := range count {
				step(p[0], p[1], i, v, tail)
			}
		})
		m.end()
	}
	g.double("widen", "func(dst *float64, x *float32, n int)", func(m *machine) {
		both(m, "dst", "x", func(dst, x, i reg.GPVirtual, v int, tail bool) {
			m.store(m.loadHalf(m.atHalf(x, i, v), tail), m.at(dst, i, v), tail)
		})
	})
	g.double("addWidened", "func(dst *float64, a float64, x *float64, y *float32, n int)", func(m *machine) {
		a, x := m.scalars([]string{"a"})[0], m.pointers("x")[0]
		both(m, "dst", "y", func(dst, y, i reg.GPVirtual, v int, tail bool) {
			sum := m.loadHalf(m.atHalf(y, i, v), tail)
			m.addTo(sum, m.load(m.at(x, i, v), tail))
			m.store(m.mul(sum, a), m.at(dst, i, v), tail)
		})
	})
	g.double("narrow", "func(dst *float32, x *float64, n int)", func(m *machine) {
		both(m, "dst", "x", func(dst, x, i reg.GPVirtual, v int, tail bool) {
			m.storeHalf(m.load(m.at(x, i, v), tail), m.atHalf(dst, i, v), tail)
		})
	})
	g.double("sumSquaresWidened", "func(x *float32, n int) float64", func(m *machine) {
		x := m.pointers("x")[0]
		sum := m.reduce(m.integer("n"), func(i reg.GPVirtual, v int, sum value, tail bool) {
			a := m.loadHalf(m.atHalf(x, i, v), tail)
			m.addProduct(sum, a, a)
		})
		m.Store(sum, m.ReturnIndex(0))
		m.end()
	})
}
