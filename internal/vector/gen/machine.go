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

// operands has the operands of one function for one set of instructions: registers, and constants in memory or in
// registers.
type operands struct {
	*build.Context
	wide   bool // AVX-512, otherwise AVX2 with FMA
	single bool // float32, otherwise float64

	constants *constants
	used      []operand.Mem           // the constants that this function has wanted in registers
	held      map[string]reg.Register // those that have a register, by name
}

// instructions has the instructions by what they compute. Its methods return new registers and leave their operands
// alone, but for those that say so.
type instructions struct{ operands }

// machine writes one function for one set of instructions.
type machine struct {
	instructions
	labels     int
	tail       reg.Register // the mask of the last elements: K or YMM
	tailOfHalf reg.Register // the same for as many float32, with AVX2
}

func newMachine(context *build.Context, wide, single bool, constants *constants) *machine {
	return &machine{instructions: instructions{operands{Context: context, wide: wide, single: single,
		constants: constants}}}
}

// constants are shared by all functions: as many copies each as AVX2 reads.
type constants struct {
	*build.Context
	known map[string]operand.Mem // by name
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
		return 64 / m.size()
	}
	return 32 / m.size()
}

// size is how many bytes a number has.
func (m *operands) size() int {
	if m.single {
		return 4
	}
	return 8
}

// instruction is a method of build.Context.
type instruction = func(ops ...op)

// either is the instruction for the machine's numbers.
func (m *operands) either(double, single instruction) instruction {
	if m.single {
		return single
	}
	return double
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
	bits, name := math.Float64bits(v), "c%016x"
	if m.single {
		half := uint64(math.Float32bits(float32(v)))
		bits, name = half<<32|half, "s%016x"
	}
	name = fmt.Sprintf(name, bits)
	if known, ok := m.constants.known[name]; ok {
		return known
	}
	var words [4]uint64
	for i := range words {
		words[i] = bits
	}
	return m.constants.add(name, words[:])
}

func (c *constants) add(name string, words []uint64) operand.Mem {
	mem := c.StaticGlobal(name)
	c.DataAttributes(attr.RODATA | attr.NOPTR)
	for i, w := range words {
		c.AddDatum(8*i, operand.U64(w))
	}
	c.known[name] = mem
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
		m.broadcast(a, d)
	} else {
		m.move(a, d)
	}
	return d
}

// broadcast copies a number to all lanes.
func (m *operands) broadcast(from op, to value) { m.either(m.VBROADCASTSD, m.VBROADCASTSS)(from, to) }

// move copies vectors, with a mask between the two where there is one.
func (m *operands) move(ops ...op) { m.either(m.VMOVUPD, m.VMOVUPS)(ops...) }

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

func (m *instructions) binary(f instruction, a, b op) value {
	d := m.vector()
	f(m.operand(b), m.register(a), d)
	return d
}

func (m *instructions) add(a, b op) value { return m.binary(m.either(m.VADDPD, m.VADDPS), a, b) }
func (m *instructions) sub(a, b op) value { return m.binary(m.either(m.VSUBPD, m.VSUBPS), a, b) }
func (m *instructions) mul(a, b op) value { return m.binary(m.either(m.VMULPD, m.VMULPS), a, b) }
func (m *instructions) div(a, b op) value { return m.binary(m.either(m.VDIVPD, m.VDIVPS), a, b) }
func (m *instructions) and(a, b op) value { return m.binary(m.VANDPD, a, b) }
func (m *instructions) or(a, b op) value  { return m.binary(m.VORPD, a, b) }

// max is a if a > b, otherwise b: b where one is a NaN. min likewise.
func (m *instructions) max(a, b op) value { return m.binary(m.either(m.VMAXPD, m.VMAXPS), a, b) }
func (m *instructions) min(a, b op) value { return m.binary(m.either(m.VMINPD, m.VMINPS), a, b) }

func (m *instructions) addInteger(a, b op) value { return m.binary(m.either(m.VPADDQ, m.VPADDD), a, b) }
func (m *instructions) subInteger(a, b op) value { return m.binary(m.either(m.VPSUBQ, m.VPSUBD), a, b) }

func (m *instructions) shiftLeft(a op, bits uint64) value {
	d := m.vector()
	m.either(m.VPSLLQ, m.VPSLLD)(operand.Imm(bits), a, d)
	return d
}

func (m *instructions) sqrt(a op) value {
	d := m.vector()
	m.either(m.VSQRTPD, m.VSQRTPS)(a, d)
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
func (m *instructions) addProduct(d, a value, b op) {
	m.either(m.VFMADD231PD, m.VFMADD231PS)(m.operand(b), a, d)
}

// addTo adds a to d.
func (m *instructions) addTo(d value, a op) { m.either(m.VADDPD, m.VADDPS)(a, d, d) }

// addNumber adds the number at a to the first lane of d.
func (m *instructions) addNumber(a operand.Mem, d value) { m.either(m.VADDSD, m.VADDSS)(a, d, d) }

// subProduct subtracts ab from d.
func (m *instructions) subProduct(d, a value, b op) {
	m.either(m.VFNMADD231PD, m.VFNMADD231PS)(m.operand(b), a, d)
}

// fromProduct makes d what it lacks to ab: ab − d.
func (m *instructions) fromProduct(d, a value, b op) {
	m.either(m.VFMSUB231PD, m.VFMSUB231PS)(m.operand(b), a, d)
}

// timesPlus makes d what Horner's scheme does: dx + c.
func (m *instructions) timesPlus(d, x value, c op) {
	m.either(m.VFMADD213PD, m.VFMADD213PS)(m.operand(c), x, d)
}

// choose is a where the sign of by is set, b elsewhere.
func (m *instructions) choose(by value, a, b op) value {
	if !m.wide {
		return m.blend(by, a, b)
	}
	k := m.K()
	if m.single {
		m.VPMOVD2M(by, k)
	} else {
		m.VPMOVQ2M(by, k)
	}
	d := m.copy(b)
	m.move(m.register(a), k, d)
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
		m.either(m.VCMPPD, m.VCMPPS)(operand.Imm(relation), m.operand(y), m.register(x), mask)
		return m.blend(mask, a, b)
	}
	k := m.K()
	m.either(m.VCMPPD, m.VCMPPS)(operand.Imm(relation), m.operand(y), m.register(x), k)
	d := m.copy(b)
	m.move(m.register(a), k, d)
	return d
}

func (m *instructions) blend(mask value, a, b op) value {
	d := m.vector()
	if m.single {
		m.VBLENDVPS(mask, m.operand(a), m.register(b), d)
	} else {
		m.VBLENDVPD(mask, m.operand(a), m.register(b), d)
	}
	return d
}

// load reads a vector, or its first elements and zeros for the others.
func (m *machine) load(from operand.Mem, tail bool) value {
	d := m.vector()
	switch {
	case !tail:
		m.move(from, d)
	case m.wide:
		if m.single {
			m.VMOVUPS_Z(from, m.tail, d)
		} else {
			m.VMOVUPD_Z(from, m.tail, d)
		}
	default:
		m.moveTail(from, d)
	}
	return d
}

func (m *machine) store(v value, to operand.Mem, tail bool) {
	switch {
	case !tail:
		m.move(v, to)
	case m.wide:
		m.move(v, m.tail, to)
	default:
		m.moveTail(v, to)
	}
}

// moveTail copies the last elements with AVX2.
func (m *machine) moveTail(from, to op) {
	if m.single {
		m.VMASKMOVPS(from, m.tail, to)
	} else {
		m.VMASKMOVPD(from, m.tail, to)
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
	m.VMOVUPD(operand.Mem{Base: at, Index: offset, Scale: uint8(m.size()), Disp: 32}, y)
	m.tail = y
	if !m.single {
		x := m.XMM()
		m.VMOVUPD(operand.Mem{Base: at, Index: offset, Scale: 4, Disp: 32}, x)
		m.tailOfHalf = x
	}
}

// maskTable has a vector of −1 and one of 0.
func (m *machine) maskTable() operand.Mem {
	const name = "mask"
	if known, ok := m.constants.known[name]; ok {
		return known
	}
	const ones = math.MaxUint64
	return m.constants.add(name, []uint64{ones, ones, ones, ones, 0, 0, 0, 0})
}

// loadHalf reads a vector of float64 from float32.
func (m *machine) loadHalf(from operand.Mem, tail bool) value {
	d := m.vector()
	switch {
	case !tail:
		m.VCVTPS2PD(from, d)
	case m.wide:
		m.VCVTPS2PD_Z(from, m.tail, d)
	default:
		half := m.XMM()
		m.VMASKMOVPS(from, m.tailOfHalf, half)
		m.VCVTPS2PD(half, d)
	}
	return d
}

// storeHalf rounds a vector of float64 to float32.
func (m *machine) storeHalf(v value, to operand.Mem, tail bool) {
	if m.wide {
		half := m.YMM()
		m.VCVTPD2PS(v, half)
		if tail {
			m.VMOVUPS(half, m.tail, to)
		} else {
			m.VMOVUPS(half, to)
		}
		return
	}
	half := m.XMM()
	m.VCVTPD2PSY(v, half)
	if tail {
		m.VMASKMOVPS(half, m.tailOfHalf, to)
	} else {
		m.VMOVUPS(half, to)
	}
}
