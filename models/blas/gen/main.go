// Gen writes the assembly of package blas, from the directory of the package.
package main

import (
	"flag"
	"log"
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
	name  string
	lanes int // doubles in a vector
	regs  []reg.VecPhysical
	// rows[v] is the number of rows of a tile of v vectors, so that its accumulators and a few operands are
	// all in registers, and there are enough of them (8) to hide the latency of a multiplication.
	rows []int
	// masked has the variants of a tile: AVX-512 reads and writes under a mask at no cost, AVX2 does not.
	masked []bool
}

var avx512 = isa{
	name: "AVX512", lanes: 8,
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
	name: "AVX2", lanes: 4,
	regs: []reg.VecPhysical{
		reg.Y0, reg.Y1, reg.Y2, reg.Y3, reg.Y4, reg.Y5, reg.Y6, reg.Y7,
		reg.Y8, reg.Y9, reg.Y10, reg.Y11, reg.Y12, reg.Y13, reg.Y14, reg.Y15,
	},
	rows:   []int{1: 12, 2: 6, 3: 4, 4: 2, 5: 2, 6: 2, 7: 1, 8: 1},
	masked: []bool{false, true},
}

// wide says that vectors have 512 bits: lanes are then masked by K1, and there is the broadcast of an operand.
func (s *isa) wide() bool { return s.lanes == 8 }

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
		s.sum()
		s.sweep()
		s.pack()
		s.transpose()
		peak(s)
	}
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
