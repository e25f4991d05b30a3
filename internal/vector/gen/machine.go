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

// operands has the operands of one function for one set of instructions: registers, and constants in memory or in registers.
type operands struct {
	*build.Context
	wide bool // AVX-512, otherwise AVX2 with FMA

	constants *constants
	used      []operand.Mem           // the constants that this function has wanted in registers
	held      map[string]reg.Register // those that have a register, by name
}

// instructions has the instructions by what they compute. Its methods return new registers and leave their operands alone, but
// for those that say so.
type instructions struct{ operands }

// machine writes one function for one set of instructions.
type machine struct {
	instructions
	labels int
	tail   reg.Register // the mask of the last elements: K or YMM
}

func newMachine(context *build.Context, wide bool, constants *constants) *machine {
	return &machine{instructions: instructions{operands{Context: context, wide: wide, constants: constants}}}
}

// constants are shared by all functions: four copies each, as AVX2 reads them.
type constants struct {
	*build.Context
	known map[uint64]operand.Mem
}

// registers is how many constants of a function AVX-512 keeps in registers; the rest are read where needed.
const registers = 20

func (m *operands) vector() value {
	if m.wide {
		return m.ZMM()
	}
	return m.YMM()
}

// lanes is how many numbers a vector has.
func (m *operands) lanes() int {
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

func (m *operands) memory(v float64) operand.Mem {
	bits := math.Float64bits(v)
	if known, ok := m.constants.known[bits]; ok {
		return known
	}
	var words [4]uint64
	for i := range words {
		words[i] = bits
	}
	return m.constants.put(bits, fmt.Sprintf("c%016x", bits), words[:])
}

func (c *constants) put(key uint64, name string, words []uint64) operand.Mem {
	mem := c.StaticGlobal(name)
	c.DataAttributes(attr.RODATA | attr.NOPTR)
	for i, w := range words {
		c.AddDatum(8*i, operand.U64(w))
	}
	c.known[key] = mem
	return mem
}

// c is the constant v, in memory. The methods below have it in all lanes.
func (m *operands) c(v float64) op { return m.memory(v) }

// register is a, or a register with the constant a.
func (m *operands) register(a op) op {
	mem, constant := a.(operand.Mem)
	if !constant {
		return a
	}
	if held, ok := m.held[mem.Symbol.Name]; ok {
		return held
	}
	m.used = append(m.used, mem)
	return m.copy(a)
}

// operand is a as the first of Go's operands, which AVX2 takes from memory.
func (m *operands) operand(a op) op {
	if m.wide {
		return m.register(a)
	}
	return a
}

// copy is a in a register that may change. To load a constant costs less than to move it.
func (m *operands) copy(a op) value {
	d := m.vector()
	if operand.IsMem(a) {
		m.VBROADCASTSD(a, d)
	} else {
		m.VMOVUPD(a, d)
	}
	return d
}

// hold loads constants into registers for the whole function.
func (m *operands) hold(constants []operand.Mem) {
	m.held = map[string]reg.Register{}
	if !m.wide {
		return
	}
	for _, c := range constants {
		if _, ok := m.held[c.Symbol.Name]; !ok && len(m.held) < registers {
			m.held[c.Symbol.Name] = m.copy(c)
		}
	}
}

// signBit has nothing but the sign.
var signBit = math.Copysign(0, -1)

func (m *operands) zero() value {
	d := m.vector()
	m.VXORPD(d, d, d)
	return d
}

func (m *instructions) binary(f func(ops ...op), a, b op) value {
	d := m.vector()
	f(m.operand(b), m.register(a), d)
	return d
}

func (m *instructions) add(a, b op) value { return m.binary(m.VADDPD, a, b) }
func (m *instructions) sub(a, b op) value { return m.binary(m.VSUBPD, a, b) }
func (m *instructions) mul(a, b op) value { return m.binary(m.VMULPD, a, b) }
func (m *instructions) div(a, b op) value { return m.binary(m.VDIVPD, a, b) }
func (m *instructions) and(a, b op) value { return m.binary(m.VANDPD, a, b) }
func (m *instructions) or(a, b op) value  { return m.binary(m.VORPD, a, b) }

// max is a if a > b, otherwise b: b where one is a NaN. min likewise.
func (m *instructions) max(a, b op) value { return m.binary(m.VMAXPD, a, b) }
func (m *instructions) min(a, b op) value { return m.binary(m.VMINPD, a, b) }

func (m *instructions) addInteger(a, b op) value { return m.binary(m.VPADDQ, a, b) }
func (m *instructions) subInteger(a, b op) value { return m.binary(m.VPSUBQ, a, b) }

func (m *instructions) shiftLeft(a op, bits uint64) value {
	d := m.vector()
	m.VPSLLQ(operand.Imm(bits), a, d)
	return d
}

func (m *instructions) sqrt(a op) value {
	d := m.vector()
	m.VSQRTPD(a, d)
	return d
}

// fma is ab + c.
func (m *instructions) fma(a value, b, c op) value {
	d := m.copy(c)
	m.addProduct(d, a, b)
	return d
}

// nfma is c − ab.
func (m *instructions) nfma(a value, b, c op) value {
	d := m.copy(c)
	m.subProduct(d, a, b)
	return d
}

// addProduct adds ab to d.
func (m *instructions) addProduct(d, a value, b op) { m.VFMADD231PD(m.operand(b), a, d) }

// subProduct subtracts ab from d.
func (m *instructions) subProduct(d, a value, b op) { m.VFNMADD231PD(m.operand(b), a, d) }

// fromProduct makes d what it lacks to ab: ab − d.
func (m *instructions) fromProduct(d, a value, b op) { m.VFMSUB231PD(m.operand(b), a, d) }

// timesPlus makes d what Horner's scheme does: dx + c.
func (m *instructions) timesPlus(d, x value, c op) { m.VFMADD213PD(m.operand(c), x, d) }

// choose is a where the sign of by is set, b elsewhere.
func (m *instructions) choose(by value, a, b op) value {
	if !m.wide {
		return m.blend(by, a, b)
	}
	k := m.K()
	m.VPMOVQ2M(by, k)
	d := m.copy(b)
	m.VMOVUPD(m.register(a), k, d)
	return d
}

// The predicates of VCMPPD.
const (
	notEqual  = 0x04 // or not ordered
	unordered = 0x03
	less      = 0x11
	greater   = 0x1e
	atLeast   = 0x1d
)

// where is a where x is in the relation to y, b elsewhere.
func (m *instructions) where(relation uint64, x, y op, a, b op) value {
	if !m.wide {
		mask := m.vector()
		m.VCMPPD(operand.Imm(relation), m.operand(y), m.register(x), mask)
		return m.blend(mask, a, b)
	}
	k := m.K()
	m.VCMPPD(operand.Imm(relation), m.operand(y), m.register(x), k)
	d := m.copy(b)
	m.VMOVUPD(m.register(a), k, d)
	return d
}

func (m *instructions) blend(mask value, a, b op) value {
	d := m.vector()
	m.VBLENDVPD(mask, m.operand(a), m.register(b), d)
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
	const ones = math.MaxUint64
	return m.constants.put(key, "mask", []uint64{ones, ones, ones, ones, 0, 0, 0, 0})
}
