package main

import (
	"fmt"
	"math"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

type (
	value = reg.VecVirtual // one vector of numbers
	op    = operand.Op     // a value, or a constant in memory
)

// machine writes one function for one set of instructions. Its methods return new registers and leave their
// operands alone, but for those that say so.
type machine struct {
	*build.Context
	wide bool // AVX-512, otherwise AVX2 with FMA

	constants *constants
	used      []float64               // the constants of this function, in order of use
	held      map[uint64]reg.Register // those that have a register
	labels    int
	tail      reg.Register // the mask of the last elements: K or YMM
}

// constants are shared by all functions: four copies each, as AVX2 reads them.
type constants struct{ known map[uint64]operand.Mem }

// registers is how many constants of a function AVX-512 keeps in registers; the rest are read where needed.
const registers = 14

func (m *machine) vector() value {
	if m.wide {
		return m.ZMM()
	}
	return m.YMM()
}

// lanes is how many numbers a vector has.
func (m *machine) lanes() int {
	if m.wide {
		return 8
	}
	return 4
}

func (m *machine) label(what string) string {
	m.labels++
	isa := "avx2"
	if m.wide {
		isa = "avx512"
	}
	return fmt.Sprintf("%s_%s%d", isa, what, m.labels)
}

func (m *machine) memory(v float64) operand.Mem {
	bits := math.Float64bits(v)
	if known, ok := m.constants.known[bits]; ok {
		return known
	}
	mem := m.StaticGlobal(fmt.Sprintf("c%016x", bits))
	m.DataAttributes(attr.RODATA | attr.NOPTR)
	for i := range 4 {
		m.AddDatum(8*i, operand.U64(bits))
	}
	m.constants.known[bits] = mem
	return mem
}

// c is the constant v in all lanes.
func (m *machine) c(v float64) op {
	bits := math.Float64bits(v)
	if !m.wide {
		return m.memory(v)
	}
	if held, ok := m.held[bits]; ok {
		return held
	}
	m.used = append(m.used, v)
	d := m.vector()
	m.VBROADCASTSD(m.memory(v), d)
	if m.held == nil {
		m.held = map[uint64]reg.Register{}
	}
	return d
}

// hold loads constants into registers for the whole function.
func (m *machine) hold(constants []float64) {
	m.held = map[uint64]reg.Register{}
	for _, v := range constants {
		if _, ok := m.held[math.Float64bits(v)]; !ok && len(m.held) < registers {
			d := m.vector()
			m.VBROADCASTSD(m.memory(v), d)
			m.held[math.Float64bits(v)] = d
		}
	}
}

// signBit has nothing but the sign.
var signBit = math.Copysign(0, -1)

func (m *machine) copy(a op) value {
	d := m.vector()
	m.VMOVUPD(a, d)
	return d
}

func (m *machine) zero() value {
	d := m.vector()
	m.VXORPD(d, d, d)
	return d
}

func (m *machine) binary(f func(ops ...op), a, b op) value {
	d := m.vector()
	f(b, m.register(a), d)
	return d
}

// register makes sure that a is not in memory.
func (m *machine) register(a op) op {
	if operand.IsMem(a) {
		return m.copy(a)
	}
	return a
}

func (m *machine) add(a, b op) value { return m.binary(m.VADDPD, a, b) }
func (m *machine) sub(a, b op) value { return m.binary(m.VSUBPD, a, b) }
func (m *machine) mul(a, b op) value { return m.binary(m.VMULPD, a, b) }
func (m *machine) div(a, b op) value { return m.binary(m.VDIVPD, a, b) }
func (m *machine) and(a, b op) value { return m.binary(m.VANDPD, a, b) }
func (m *machine) or(a, b op) value  { return m.binary(m.VORPD, a, b) }

// max is a if a > b, otherwise b: b where one is a NaN. min likewise.
func (m *machine) max(a, b op) value { return m.binary(m.VMAXPD, a, b) }
func (m *machine) min(a, b op) value { return m.binary(m.VMINPD, a, b) }

func (m *machine) addInteger(a, b op) value { return m.binary(m.VPADDQ, a, b) }
func (m *machine) subInteger(a, b op) value { return m.binary(m.VPSUBQ, a, b) }

func (m *machine) shiftLeft(a op, bits uint64) value {
	d := m.vector()
	m.VPSLLQ(operand.Imm(bits), a, d)
	return d
}

func (m *machine) sqrt(a op) value {
	d := m.vector()
	m.VSQRTPD(a, d)
	return d
}

// fma is ab + c.
func (m *machine) fma(a value, b, c op) value {
	if operand.IsMem(c) && !operand.IsMem(b) {
		d := m.copy(a)
		m.VFMADD213PD(c, b, d)
		return d
	}
	d := m.copy(c)
	m.VFMADD231PD(b, a, d)
	return d
}

// nfma is c − ab.
func (m *machine) nfma(a value, b, c op) value {
	if operand.IsMem(c) && !operand.IsMem(b) {
		d := m.copy(a)
		m.VFNMADD213PD(c, b, d)
		return d
	}
	d := m.copy(c)
	m.VFNMADD231PD(b, a, d)
	return d
}

// fms is ab − c.
func (m *machine) fms(a, b value, c op) value {
	d := m.copy(a)
	m.VFMSUB213PD(c, b, d)
	return d
}

// accumulate adds ab to sum.
func (m *machine) accumulate(sum, a value, b op) { m.VFMADD231PD(b, a, sum) }

// choose is a where the sign of by is set, b elsewhere.
func (m *machine) choose(by value, a, b op) value {
	d := m.vector()
	if m.wide {
		k := m.K()
		m.VPMOVQ2M(by, k)
		m.VBLENDMPD(a, m.register(b), k, d)
	} else {
		m.VBLENDVPD(by, a, m.register(b), d)
	}
	return d
}

// The predicates of VCMPPD.
const (
	notEqual  = 0x04 // or not ordered
	unordered = 0x03
	greater   = 0x1e
	atLeast   = 0x1d
)

// where is a where x is in the relation to y, b elsewhere.
func (m *machine) where(relation uint64, x, y op, a, b op) value {
	d := m.vector()
	if m.wide {
		k := m.K()
		m.VCMPPD(operand.Imm(relation), y, m.register(x), k)
		m.VBLENDMPD(a, m.register(b), k, d)
	} else {
		mask := m.YMM()
		m.VCMPPD(operand.Imm(relation), y, m.register(x), mask)
		m.VBLENDVPD(mask, a, m.register(b), d)
	}
	return d
}

// load reads a vector, or its first elements and zeros for the others.
func (m *machine) load(from operand.Mem, tail bool) value {
	d := m.vector()
	switch {
	case !tail:
		m.VMOVUPD(from, d)
	case m.wide:
		m.VMOVUPD_Z(from, m.tail, d)
	default:
		m.VMASKMOVPD(from, m.tail, d)
	}
	return d
}

func (m *machine) store(v value, to operand.Mem, tail bool) {
	switch {
	case !tail:
		m.VMOVUPD(v, to)
	case m.wide:
		m.VMOVUPD(v, m.tail, to)
	default:
		m.VMASKMOVPD(v, m.tail, to)
	}
}

// setTail makes the mask of the first n elements of a vector.
func (m *machine) setTail(n reg.GPVirtual) {
	if m.wide {
		bits := m.GP64()
		k := m.K()
		m.MOVQ(operand.I64(-1), bits)
		m.BZHIQ(n, bits, bits)
		m.KMOVW(bits.As32(), k)
		m.tail = k
		return
	}
	const name = "mask"
	at := m.GP64()
	y := m.YMM()
	m.LEAQ(m.maskTable(), at)
	offset := m.GP64()
	m.MOVQ(n, offset)
	m.NEGQ(offset)
	m.VMOVUPD(operand.Mem{Base: at, Index: offset, Scale: 8, Disp: 32}, y)
	m.tail = y
}

// maskTable has four times −1 and four times 0.
func (m *machine) maskTable() operand.Mem {
	const key = 1 // no constant is the smallest subnormal number
	if known, ok := m.constants.known[key]; ok {
		return known
	}
	mem := m.StaticGlobal("mask")
	m.DataAttributes(attr.RODATA | attr.NOPTR)
	for i := range 8 {
		bits := uint64(math.MaxUint64)
		if i >= 4 {
			bits = 0
		}
		m.AddDatum(8*i, operand.U64(bits))
	}
	m.constants.known[key] = mem
	return mem
}
