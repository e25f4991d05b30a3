package main

import (
	"math/bits"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// addRowSums reduces row after row, of which there is one at least.
func addRowSums(g *generator) {
	g.function("addRowSums", "func(dst, x *F, rows, cols int)", func(m *machine) {
		p := m.pointers("dst", "x")
		dst, x := p[0], p[1]
		rows, cols := m.integer("rows"), m.integer("cols")
		loop := m.label("rows")
		m.Label(loop)
		sum := m.reduce(cols, func(i reg.GPVirtual, v int, sum value, tail bool) {
			m.addTo(sum, m.load(m.at(x, i, v), tail))
		})
		m.addNumber(operand.Mem{Base: dst}, sum)
		m.either(m.VMOVSD, m.VMOVSS)(sum, operand.Mem{Base: dst})
		m.ADDQ(operand.Imm(uint64(m.size())), dst)
		m.LEAQ(operand.Mem{Base: x, Index: cols, Scale: uint8(m.size())}, x)
		m.DECQ(rows)
		m.JNE(operand.LabelRef(loop))
		m.end()
	})
}

// block is some vectors of neighbouring columns, in all rows.
type block struct {
	m      *machine
	first  reg.GPVirtual // the first column
	count  int           // vectors
	tail   bool
	stride reg.GPVirtual // bytes from row to row
	rows   reg.GPVirtual
}

// blocks goes through the columns, the first counts vectors at once, then fewer, as vectors does.
func (m *machine) blocks(counts []int, do func(b *block)) {
	rows, cols := m.integer("rows"), m.integer("cols")
	stride := m.GP64()
	m.MOVQ(cols, stride)
	m.SHLQ(operand.Imm(uint64(bits.TrailingZeros(uint(m.size())))), stride)
	m.vectors(cols, counts, func(i reg.GPVirtual, count int, tail bool) {
		do(&block{m, i, count, tail, stride, rows})
	})
	m.end()
}

// load reads one vector a row of columns from the matrix or the vector of columns at p.
func (b *block) load(p reg.Register, v int) value { return b.m.load(b.at(p, v), b.tail) }

func (b *block) store(x value, p reg.Register, v int) { b.m.store(x, b.at(p, v), b.tail) }

func (b *block) at(p reg.Register, v int) operand.Mem { return b.m.at(p, b.first, v) }

// eachRow goes through the rows; at points to the matrices' row.
func (b *block) eachRow(matrices []reg.GPVirtual, do func(at []reg.GPVirtual)) {
	m := b.m
	at := make([]reg.GPVirtual, len(matrices))
	for k := range at {
		at[k] = m.GP64()
		m.MOVQ(matrices[k], at[k])
	}
	left := m.GP64()
	loop, done := m.label("rows"), m.label("rowsDone")
	m.MOVQ(b.rows, left)
	m.TESTQ(left, left)
	m.JEQ(operand.LabelRef(done))
	m.Label(loop)
	do(at)
	for k := range at {
		m.ADDQ(b.stride, at[k])
	}
	m.DECQ(left)
	m.JNE(operand.LabelRef(loop))
	m.Label(done)
}

// each makes one value for each vector of the block.
func (b *block) each(f func(v int) value) []value {
	all := make([]value, b.count)
	for v := range all {
		all[v] = f(v)
	}
	return all
}

func (b *block) storeAll(all []value, p reg.Register) {
	for v, x := range all {
		b.store(x, p, v)
	}
}

func columns(g *generator) {
	wideBlocks := []int{4, 1}
	g.function("columnMax", "func(top, x *F, rows, cols int)", func(m *machine) {
		p := m.pointers("top", "x")
		top, x := p[0], p[1]
		m.blocks(wideBlocks, func(b *block) {
			best := b.each(func(v int) value { return b.load(x, v) })
			b.eachRow([]reg.GPVirtual{x}, func(at []reg.GPVirtual) {
				for v := range best {
					m.either(m.VMAXPD, m.VMAXPS)(best[v], b.load(at[0], v), best[v])
				}
			})
			b.storeAll(best, top)
		})
	})
	g.function("columnSums", "func(dst, x *F, rows, cols int)", func(m *machine) {
		p := m.pointers("dst", "x")
		dst, x := p[0], p[1]
		m.blocks(wideBlocks, func(b *block) {
			sums := b.each(func(int) value { return m.zero() })
			b.eachRow([]reg.GPVirtual{x}, func(at []reg.GPVirtual) {
				for v := range sums {
					m.addTo(sums[v], b.load(at[0], v))
				}
			})
			b.storeAll(sums, dst)
		})
	})
	g.function("columnDots", "func(dst, x, y *F, rows, cols int)", func(m *machine) {
		p := m.pointers("dst", "x", "y")
		m.blocks(wideBlocks, func(b *block) {
			sums := b.each(func(int) value { return m.zero() })
			b.eachRow(p[1:], func(at []reg.GPVirtual) {
				for v := range sums {
					m.addProduct(sums[v], b.load(at[0], v), b.load(at[1], v))
				}
			})
			b.storeAll(sums, p[0])
		})
	})
	g.function("columnCenter", "func(mean, dst, u, x *F, rows, cols int)", func(m *machine) {
		p := m.pointers("mean", "dst", "u", "x")
		m.blocks(wideBlocks, func(b *block) {
			mean := b.each(func(v int) value { return b.load(p[0], v) })
			b.eachRow(p[1:], func(at []reg.GPVirtual) {
				for v := range mean {
					b.store(m.mul(m.sub(b.load(at[2], v), mean[v]), b.load(at[1], v)), at[0], v)
				}
			})
		})
	})
	columnArgMax(g)
	columnSoftmax(g)
	softmaxColumn(g)
	narrow(g)
}

// columnArgMax keeps the number of the row in all lanes, and the NaN of a column once it has met one.
func columnArgMax(g *generator) {
	const signature = "func(at, top, x *F, rows, cols int)"
	g.function("columnArgMax", signature, func(m *machine) {
		p := m.pointers("at", "top", "x")
		m.blocks([]int{1}, func(b *block) {
			best, at, nan := b.load(p[2], 0), m.zero(), m.zero()
			row := m.zero()
			b.eachRow(p[2:], func(rows []reg.GPVirtual) {
				x := b.load(rows[0], 0)
				m.move(m.where(greater, x, best, row, at), at)
				m.either(m.VMAXPD, m.VMAXPS)(best, x, best)
				m.move(m.where(unordered, x, x, x, nan), nan)
				m.addTo(row, m.operand(m.c(1)))
			})
			b.store(m.where(unordered, nan, nan, nan, at), p[0], 0)
			b.store(best, p[1], 0)
		})
	})
}

func columnSoftmax(g *generator) {
	const signature = "func(sum, top, x *F, rows, cols int)"
	g.function("columnSoftmax", signature, func(m *machine) {
		p := m.pointers("sum", "top", "x")
		m.blocks([]int{2, 1}, func(b *block) {
			top := b.each(func(v int) value { return b.load(p[1], v) })
			sums := b.each(func(int) value { return m.zero() })
			b.eachRow(p[2:], func(at []reg.GPVirtual) {
				for v := range sums {
					e := exp(m, m.sub(b.load(at[0], v), top[v]))
					b.store(e, at[0], v)
					m.addTo(sums[v], e)
				}
			})
			b.storeAll(sums, p[0])
			inverses := b.each(func(v int) value { return m.div(m.c(1), sums[v]) })
			b.eachRow(p[2:], func(at []reg.GPVirtual) {
				for v := range sums {
					b.store(timesInverse(m, b.load(at[0], v), sums[v], inverses[v]), at[0], v)
				}
			})
		})
	})
}

// timesInverse is x/d as x·(1/d), corrected by the remainder. It takes x for its own.
func timesInverse(m *machine, x, d, inverse value) value {
	q := m.mul(x, inverse)
	m.subProduct(x, q, d)
	m.addProduct(q, x, inverse)
	return q
}

// softmaxColumn adds in the order of columnSoftmax, too: one number after another.
func softmaxColumn(g *generator) {
	const signature = "func(sum, top, x *F, n int)"
	g.function("softmaxColumn", signature, func(m *machine) {
		p := m.pointers("sum", "top", "x")
		n := m.integer("n")
		top := m.vector()
		m.broadcast(operand.Mem{Base: p[1]}, top)
		m.eachVector(n, []int{2, 1}, p[2:], p[2:], func(m *machine, in []value) []value {
			return []value{exp(m, m.sub(in[0], top))}
		})

		total, i := m.XMM(), m.GP64()
		m.VXORPD(total, total, total)
		m.XORQ(i, i)
		loop, done := m.label("sum"), m.label("summed")
		m.TESTQ(n, n)
		m.JEQ(operand.LabelRef(done))
		m.Label(loop)
		m.addNumber(operand.Mem{Base: p[2], Index: i, Scale: uint8(m.size())}, total)
		m.INCQ(i)
		m.CMPQ(i, n)
		m.JLT(operand.LabelRef(loop))
		m.Label(done)
		m.either(m.VMOVSD, m.VMOVSS)(total, operand.Mem{Base: p[0]})

		sum := m.vector()
		m.broadcast(total, sum)
		inverse := m.div(m.c(1), sum)
		m.eachVector(n, []int{4, 1}, p[2:], p[2:], func(m *machine, in []value) []value {
			return []value{timesInverse(m, in[0], sum, inverse)}
		})
		m.end()
	})
}

// narrow has what columnSoftmax and columnCenter do, with an operand for each element instead of each column: e^(x −
// top), and its share of the sum, rounded as columnSoftmax does; and u∘(x − mean).
func narrow(g *generator) {
	for _, f := range []elementwise{{
		"softmaxPower", "func(x, top *F, n int)",
		[]string{"x", "top"}, []string{"x"}, nil, []int{2, 1},
		func(m *machine, in, _ []value) []value { return []value{exp(m, m.sub(in[0], in[1]))} },
	}, {
		"softmaxShare", "func(x, sum *F, n int)",
		[]string{"x", "sum"}, []string{"x"}, nil, []int{2, 1},
		func(m *machine, in, _ []value) []value {
			return []value{timesInverse(m, in[0], in[1], m.div(m.c(1), in[1]))}
		},
	}, {
		"center", "func(mean, dst, u, x *F, n int)",
		[]string{"mean", "u", "x"}, []string{"dst"}, nil, []int{2, 1},
		func(m *machine, in, _ []value) []value { return []value{m.mul(m.sub(in[2], in[0]), in[1])} },
	}} {
		g.elementwise(f)
	}
}
