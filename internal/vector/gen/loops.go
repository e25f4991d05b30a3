package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"newtop/internal/kernel"
)

// generator collects the functions of the package.
type generator struct {
	context   *build.Context
	constants *constants
	stubs     []stub
	generic   []stub // those of a pair of functions
}

type stub struct{ name, signature string }

// function writes one function for float64 and one for float32, name and signature being those of the Go function that
// has either, F its numbers.
func (g *generator) function(name, signature string, body func(m *machine)) {
	g.generic = append(g.generic, stub{name, signature})
	g.one(name+"64", strings.ReplaceAll(signature, "F", "float64"), false, body)
	g.one(name+"32", strings.ReplaceAll(signature, "F", "float32"), true, body)
}

// double writes one function that computes in float64.
func (g *generator) double(name, signature string, body func(m *machine)) {
	g.one(name, signature, false, body)
}

// one writes one function twice, for AVX-512 and for AVX2, behind one name that looks which is active. body
// is called once more for each, to see which constants it uses.
func (g *generator) one(name, signature string, single bool, body func(m *machine)) {
	g.stubs = append(g.stubs, stub{name, signature})
	declare := func(c *build.Context) {
		c.Function(name)
		c.Attributes(attr.NOSPLIT)
		c.Pragma("noescape")
		c.SignatureExpr(signature)
	}
	declare(g.context)
	g.context.CMPB(operand.Mem{Symbol: operand.Symbol{Name: "·active"}, Base: reg.StaticBase},
		operand.U8(kernel.AVX512))
	g.context.JNE(operand.LabelRef("avx2"))
	for _, wide := range []bool{true, false} {
		rehearsal := newMachine(build.NewContext(), wide, single, g.constants)
		declare(rehearsal.Context)
		body(rehearsal)

		m := newMachine(g.context, wide, single, g.constants)
		if !wide {
			m.Label("avx2")
		}
		m.hold(rehearsal.used)
		body(m)
	}
}

// pointers loads the arguments that are pointers.
func (m *machine) pointers(names ...string) []reg.GPVirtual {
	regs := make([]reg.GPVirtual, len(names))
	for i, name := range names {
		regs[i] = m.integer(name)
	}
	return regs
}

func (m *machine) integer(name string) reg.GPVirtual {
	r := m.GP64()
	m.Load(m.Param(name), r)
	return r
}

// scalars loads the arguments that are numbers, each into all lanes of a register.
func (m *machine) scalars(names []string) []value {
	all := make([]value, len(names))
	for i := range all {
		a, err := m.Param(names[i]).Resolve()
		if err != nil {
			panic(err)
		}
		all[i] = m.vector()
		m.broadcast(a.Addr, all[i])
	}
	return all
}

func (m *machine) end() {
	m.VZEROUPPER()
	m.RET()
}

// vectors goes through n elements: step gets the index of the first of its count·lanes elements. Of counts, which
// fall, each is used as long as there are elements for it; the last is 1, with the tail after it.
func (m *machine) vectors(n reg.GPVirtual, counts []int, step func(i reg.GPVirtual, count int, tail bool)) {
	i, left := m.GP64(), m.GP64()
	m.XORQ(i, i)
	m.MOVQ(n, left)
	for _, count := range counts {
		loop, next := m.label("loop"), m.label("next")
		size := count * m.lanes()
		m.SUBQ(operand.Imm(uint64(size)), left)
		m.JL(operand.LabelRef(next))
		m.Label(loop)
		step(i, count, false)
		m.ADDQ(operand.Imm(uint64(size)), i)
		m.SUBQ(operand.Imm(uint64(size)), left)
		m.JGE(operand.LabelRef(loop))
		m.Label(next)
		m.ADDQ(operand.Imm(uint64(size)), left)
	}
	done := m.label("done")
	m.JEQ(operand.LabelRef(done))
	m.setTail(left)
	step(i, 1, true)
	m.Label(done)
}

func (m *machine) at(base, index reg.Register, vectors int) operand.Mem {
	return operand.Mem{Base: base, Index: index, Scale: uint8(m.size()), Disp: m.size() * m.lanes() * vectors}
}

// atHalf is at for float32, of as many numbers as a vector has of float64.
func (m *machine) atHalf(base, index reg.Register, vectors int) operand.Mem {
	return operand.Mem{Base: base, Index: index, Scale: 4, Disp: 4 * m.lanes() * vectors}
}

// elementwise is a function of vectors: some that are read, some that are written (a name may be both), each of n
// elements, unroll of them at once. f is the function of one vector.
type elementwise struct {
	name, signature  string
	in, out, scalars []string
	unroll           []int
	f                func(m *machine, in, scalars []value) (out []value)
}

func (g *generator) elementwise(e elementwise) { g.function(e.name, e.signature, e.body()) }

func (e *elementwise) body() func(m *machine) {
	return func(m *machine) {
		names := slices.Clone(e.in)
		for _, name := range e.out {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
		pointers := m.pointers(names...)
		n := m.integer("n")
		scalars := m.scalars(e.scalars)
		var to []reg.GPVirtual
		for _, name := range e.out {
			to = append(to, pointers[slices.Index(names, name)])
		}
		m.eachVector(n, e.unroll, pointers[:len(e.in)], to, func(m *machine, in []value) []value {
			return e.f(m, in, scalars)
		})
		m.end()
	}
}

// eachVector goes through n elements, as vectors does, and stores what f makes of those at from at to.
func (m *machine) eachVector(n reg.GPVirtual, counts []int, from, to []reg.GPVirtual,
	f func(m *machine, in []value) []value) {
	m.vectors(n, counts, func(i reg.GPVirtual, count int, tail bool) {
		m.interleave(count, func(m *machine, v int) {
			var in []value
			for _, p := range from {
				in = append(in, m.load(m.at(p, i, v), tail))
			}
			for k, out := range f(m, in) {
				m.store(out, m.at(to[k], i, v), tail)
			}
		})
	})
}

// interleave writes what f does for v = 0 … n−1, one instruction of each in turn: the processor looks only so far
// ahead for instructions that need not wait.
func (m *machine) interleave(n int, f func(m *machine, v int)) {
	if n == 1 {
		f(m, 0)
		return
	}
	all := make([][]*ir.Instruction, n)
	longest := 0
	for v := range all {
		apart := *m
		apart.Context = build.NewContext()
		apart.Function("apart")
		apart.Collection = m.Collection
		f(&apart, v)
		file, err := apart.Result()
		if err != nil {
			panic(err)
		}
		all[v] = file.Functions()[0].Instructions()
		longest = max(longest, len(all[v]))
		m.used = apart.used
	}
	for i := range longest {
		for _, one := range all {
			if i < len(one) {
				m.Instruction(one[i])
			}
		}
	}
}

// simple is the unrolling of functions that memory limits.
var simple = []int{4, 1}

// reduction sums over n elements in 32 lanes, element i in lane i mod 32, and then the lanes in a tree. term adds
// to sum what the vector contributes; out, if any, is stored at the name of the first argument.
func reduction(in []string, out string, term func(m *machine, sum value, in []value) value) func(m *machine) {
	return func(m *machine) {
		pointers := m.pointers(in...)
		var to reg.GPVirtual
		if out != "" {
			to = m.integer(out)
		}
		n := m.integer("n")
		sum := m.reduce(n, func(i reg.GPVirtual, v int, sum value, tail bool) {
			var x []value
			for _, p := range pointers {
				x = append(x, m.load(m.at(p, i, v), tail))
			}
			if r := term(m, sum, x); out != "" {
				m.store(r, m.at(to, i, v), tail)
			}
		})
		m.Store(sum, m.ReturnIndex(0))
		m.end()
	}
}

// reduce is the loop of reductions over n elements; it returns the sum.
func (m *machine) reduce(n reg.GPVirtual, term func(i reg.GPVirtual, v int, sum value, tail bool)) reg.VecVirtual {
	sums := make([]value, 32/m.lanes())
	for k := range sums {
		sums[k] = m.zero()
	}
	i, left := m.GP64(), m.GP64()
	m.XORQ(i, i)
	m.MOVQ(n, left)
	loop, rest, done := m.label("loop"), m.label("rest"), m.label("done")
	m.SUBQ(operand.Imm(32), left)
	m.JL(operand.LabelRef(rest))
	m.Label(loop)
	for k := range sums {
		term(i, k, sums[k], false)
	}
	m.ADDQ(operand.Imm(32), i)
	m.SUBQ(operand.Imm(32), left)
	m.JGE(operand.LabelRef(loop))
	m.Label(rest)
	m.ADDQ(operand.Imm(32), left)
	m.JEQ(operand.LabelRef(done))
	// Of the last 31 elements at most, every sum gets its vector, full or not.
	lanes := uint64(m.lanes())
	last := m.GP64()
	m.MOVQ(left, last)
	m.ANDQ(operand.Imm(lanes-1), last)
	m.setTail(last)
	partial := func(k int) string { return fmt.Sprintf("%s_partial%d", rest, k) }
	for k := range sums {
		m.CMPQ(left, operand.Imm(lanes))
		m.JL(operand.LabelRef(partial(k)))
		term(i, 0, sums[k], false)
		m.ADDQ(operand.Imm(lanes), i)
		m.SUBQ(operand.Imm(lanes), left)
		m.JEQ(operand.LabelRef(done))
	}
	for k := range sums {
		m.Label(partial(k))
		term(i, 0, sums[k], true)
		m.JMP(operand.LabelRef(done))
	}
	m.Label(done)
	return m.fold(sums)
}

// fold adds 32 lanes: vectors 16 lanes apart, 8, 4, 2, 1.
func (m *machine) fold(sums []value) reg.VecVirtual {
	for ; len(sums) > 1; sums = sums[:len(sums)/2] {
		for k := range len(sums) / 2 {
			m.addTo(sums[k], sums[k+len(sums)/2])
		}
	}
	add := m.either(m.VADDPD, m.VADDPS)
	y := sums[0]
	if m.wide {
		high := m.YMM()
		m.VEXTRACTF64X4(operand.Imm(1), sums[0], high)
		y = m.YMM()
		add(high, sums[0].AsY(), y)
	}
	x, high := m.XMM(), m.XMM()
	m.VEXTRACTF128(operand.Imm(1), y, high)
	add(high, y.AsX(), x)
	m.VPERMILPD(operand.Imm(1), x, high)
	if m.single {
		m.VADDPS(high, x, x)
		m.VMOVSHDUP(x, high)
		m.VADDSS(high, x, x)
	} else {
		m.VADDSD(high, x, x)
	}
	return x
}
