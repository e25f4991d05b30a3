// Gen writes the assembly of package blas, from the directory of the package.
package main

import (
	"flag"
	"log"
	"math/bits"
	"os"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/gotypes"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// writer writes functions that know the types of the package.
type writer struct {
	*build.Context
	layout
}

// function begins a function; its signature may use the types.
func (w *writer) function(name, signature string) {
	s, err := gotypes.ParseSignatureInPackage(w.pkg, signature)
	if err != nil {
		log.Fatal(err)
	}
	w.Function(name)
	w.Attributes(attr.NOSPLIT)
	w.Signature(s)
	w.Pragma("noescape")
}

// isa is a set of vector instructions.
type isa struct {
	*writer
	name   string
	single bool // elements are float32, otherwise float64
	bytes  int  // of a vector
	regs   []reg.VecPhysical
	// rows[v] is the number of rows of a tile of v vectors, so that its accumulators and a few operands are
	// all in registers, and there are enough of them (8) to hide the latency of a multiplication.
	rows []int
	// masked has the variants of a tile: AVX-512 reads and writes under a mask at no cost, AVX2 does not.
	masked []bool
}

var avx512 = isa{
	name: "AVX512", bytes: 64,
	regs: []reg.VecPhysical{
		reg.Z0, reg.Z1, reg.Z2, reg.Z3, reg.Z4, reg.Z5, reg.Z6, reg.Z7,
		reg.Z8, reg.Z9, reg.Z10, reg.Z11, reg.Z12, reg.Z13, reg.Z14, reg.Z15,
		reg.Z16, reg.Z17, reg.Z18, reg.Z19, reg.Z20, reg.Z21, reg.Z22, reg.Z23,
		reg.Z24, reg.Z25, reg.Z26, reg.Z27, reg.Z28, reg.Z29, reg.Z30, reg.Z31,
	},
	rows:   []int{1: 16, 2: 12, 3: 9, 4: 2, 5: 2, 6: 2, 7: 2, 8: 2},
	masked: []bool{true},
}

var avx2 = isa{
	name: "AVX2", bytes: 32,
	regs: []reg.VecPhysical{
		reg.Y0, reg.Y1, reg.Y2, reg.Y3, reg.Y4, reg.Y5, reg.Y6, reg.Y7,
		reg.Y8, reg.Y9, reg.Y10, reg.Y11, reg.Y12, reg.Y13, reg.Y14, reg.Y15,
	},
	rows:   []int{1: 12, 2: 6, 3: 4, 4: 2, 5: 2, 6: 2, 7: 1, 8: 1},
	masked: []bool{false, true},
}

// wide says that vectors have 512 bits: lanes are then masked by K1, and there is the broadcast of an operand.
func (s *isa) wide() bool { return s.bytes == 64 }

// inSingle returns the set for float32.
func (s isa) inSingle() *isa {
	s.name, s.single = s.name+"Single", true
	return &s
}

// elementSize is that of an element in bytes.
func (s *isa) elementSize() int {
	if s.single {
		return 4
	}
	return 8
}

// scale multiplies a number of elements by their size.
func (s *isa) scale(r reg.Register) {
	s.SHLQ(Imm(uint64(bits.TrailingZeros(uint(s.elementSize())))), r)
}

// either is the instruction for the elements.
func (s *isa) either(double, single func(ops ...Op)) func(ops ...Op) {
	if s.single {
		return single
	}
	return double
}

func (s *isa) load(from Mem, to reg.VecPhysical) { s.VMOVUPD(from, to) }
func (s *isa) save(from reg.VecPhysical, to Mem) { s.VMOVUPD(from, to) }
func (s *isa) broadcast(from Mem, to reg.VecPhysical) {
	s.either(s.VBROADCASTSD, s.VBROADCASTSS)(from, to)
}
func (s *isa) zero(to reg.VecPhysical) { s.VXORPD(to, to, to) }
func (s *isa) multiplyAdd(a Op, b, to reg.VecPhysical) {
	s.either(s.VFMADD231PD, s.VFMADD231PS)(a, b, to)
}

// loadPart and savePart move the lanes of a mask, which is K1 or in the register mask.
func (s *isa) loadPart(from Mem, mask, to reg.VecPhysical) {
	switch {
	case s.wide() && s.single:
		s.VMOVUPS_Z(from, reg.K1, to)
	case s.wide():
		s.VMOVUPD_Z(from, reg.K1, to)
	case s.single:
		s.VMASKMOVPS(from, mask, to)
	default:
		s.VMASKMOVPD(from, mask, to)
	}
}

func (s *isa) savePart(from, mask reg.VecPhysical, to Mem) {
	switch {
	case s.wide():
		s.either(s.VMOVUPD, s.VMOVUPS)(from, reg.K1, to)
	case s.single:
		s.VMASKMOVPS(from, mask, to)
	default:
		s.VMASKMOVPD(from, mask, to)
	}
}

func main() {
	set := flag.NewFlagSet("gen", flag.ExitOnError)
	flags := build.NewFlags(set)
	if err := set.Parse(os.Args[1:]); err != nil {
		log.Fatal(err)
	}
	types, err := read("panel.go", "sweep.go")
	if err != nil {
		log.Fatal(err)
	}
	w := &writer{build.NewContext(), types}
	w.ConstraintExpr("amd64")
	for _, s := range []*isa{&avx512, &avx2} {
		s.writer = w
		s.transpose()
		for _, s := range []*isa{s, s.inSingle()} {
			s.sum()
			sweep(s)
			pack(s)
			packColumns(s)
		}
	}
	transposeSingle(avx2.inSingle())
	column(&avx2)
	os.Exit(build.Main(flags.Config(), w.Context))
}

// The general registers by name: all are live in the inner loops.
var (
	ax, bx, cx, dx, si, di     = reg.RAX, reg.RBX, reg.RCX, reg.RDX, reg.RSI, reg.RDI
	r8, r9, r10, r11, r12, r13 = reg.R8, reg.R9, reg.R10, reg.R11, reg.R12, reg.R13
	r14, r15                   = reg.R14, reg.R15
)

func at(base reg.Register, offset int) Mem { return Mem{Base: base, Disp: offset} }

func indexed(base, index reg.Register, scale uint8) Mem {
	return Mem{Base: base, Index: index, Scale: scale}
}
