package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// column writes the product of a matrix that lies row by row and a vector. Every sum is a chain of its own, in the
// order of the row, so that vectors are down the columns: 4 × 4 elements are transposed in registers.
func (s *isa) column() {
	const most = 4 // groups of four rows of a tile, whose chains hide the latency
	s.function("column"+s.name, "func(c *float64, rows int, a *float64, rowStride int, b *float64, stride, k int)")
	s.Doc("column"+s.name+" adds A·b to c for A of rows × k, with rows a positive multiple of 4, and a vector b",
		"whose elements are stride apart.")
	s.Load(s.Param("c"), di)
	s.Load(s.Param("rows"), r13)
	s.Load(s.Param("a"), si)
	s.Load(s.Param("rowStride"), r8)
	s.Load(s.Param("stride"), r11)
	s.SHLQ(Imm(3), r8)
	s.SHLQ(Imm(3), r11)
	s.LEAQ(indexed(r8, r8, 2), r9)
	s.LEAQ(indexed(r11, r11, 2), r10)

	s.Label("tile")
	s.CMPQ(r13, Imm(4*most))
	s.JGE(LabelRef(fmt.Sprintf("groups%d", most)))
	for groups := most - 1; groups > 0; groups-- {
		s.CMPQ(r13, Imm(uint64(4*groups)))
		s.JEQ(LabelRef(fmt.Sprintf("groups%d", groups)))
	}
	s.VZEROUPPER()
	s.RET()
	for groups := 1; groups <= most; groups++ {
		s.groups(groups)
	}
}

// groups writes the code of a tile of n groups of rows.
func (s *isa) groups(n int) {
	label := func(part string) string { return fmt.Sprintf("groups%d%s", n, part) }
	acc, b, x := s.regs[:n], s.regs[4:8], s.regs[8:]
	s.Label(label(""))
	s.MOVQ(si, ax)
	rows := []reg.GPPhysical{ax, bx, r12, r14}[:n]
	for i := 1; i < n; i++ {
		s.LEAQ(indexed(rows[i-1], r8, 4), rows[i])
	}
	for i := range n {
		s.VMOVUPD(at(di, 32*i), acc[i])
	}
	s.Load(s.Param("b"), dx)
	s.Load(s.Param("k"), cx)
	s.SUBQ(Imm(4), cx)
	s.JLT(LabelRef(label("rest")))

	s.Label(label("square"))
	for p := range b {
		s.VBROADCASTSD(rowAt([]reg.GPPhysical{dx}, r11, r10, p), b[p])
	}
	for i := range n {
		for p := 0; p < 4; p += 2 {
			x := x[(i*4+2*p)%8:]
			for r := range 2 { // x[r] is two elements of row r and, above them, of row r + 2
				s.VMOVUPD(rowAt(rows, r8, r9, 4*i+r).Offset(8*p), x[r].AsX())
				s.VINSERTF128(Imm(1), rowAt(rows, r8, r9, 4*i+r+2).Offset(8*p), x[r], x[r])
			}
			// Some processors have two ports for VSHUFPD and one for VUNPCKLPD.
			s.VSHUFPD(Imm(0), x[1], x[0], x[2])
			s.VSHUFPD(Imm(15), x[1], x[0], x[3])
			s.VFMADD231PD(x[2], b[p], acc[i])
			s.VFMADD231PD(x[3], b[p+1], acc[i])
		}
	}
	for _, row := range rows {
		s.ADDQ(Imm(32), row)
	}
	s.LEAQ(indexed(dx, r11, 4), dx)
	s.SUBQ(Imm(4), cx)
	s.JGE(LabelRef(label("square")))

	s.Label(label("rest"))
	s.ADDQ(Imm(4), cx)
	s.JEQ(LabelRef(label("store")))
	s.Label(label("one"))
	s.VBROADCASTSD(at(dx, 0), b[0])
	for i := range n {
		for r := range 2 {
			s.VMOVSD(rowAt(rows, r8, r9, 4*i+2*r), x[r].AsX())
			s.VMOVHPD(rowAt(rows, r8, r9, 4*i+2*r+1), x[r].AsX(), x[r].AsX())
		}
		s.VINSERTF128(Imm(1), x[1].AsX(), x[0], x[0])
		s.VFMADD231PD(x[0], b[0], acc[i])
	}
	for _, row := range rows {
		s.ADDQ(Imm(8), row)
	}
	s.ADDQ(r11, dx)
	s.DECQ(cx)
	s.JNE(LabelRef(label("one")))

	s.Label(label("store"))
	for i := range n {
		s.VMOVUPD(acc[i], at(di, 32*i))
	}
	s.IMUL3Q(Imm(uint64(4*n)), r8, ax)
	s.ADDQ(ax, si)
	s.ADDQ(Imm(uint64(32*n)), di)
	s.SUBQ(Imm(uint64(4*n)), r13)
	s.JMP(LabelRef("tile"))
}
