package main

import (
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

const transposeSignature = "func(dst *float64, dstStride int, src *float64, srcStride, rows, cols int)"

// transpose writes the function that goes down strips of src as wide as a vector, square by square, so that what
// it writes lies together. At a square, the rows of src 0 and 4 are at ax and bx, those of dst at r12 and r13.
func (s *isa) transpose() {
	s.function("transpose"+s.name, transposeSignature)
	if s.wide() {
		s.Doc("transposeAVX512 is Transpose for rows and cols of at least 1.")
	} else {
		s.Doc("transposeAVX2 is Transpose for rows and cols that are positive multiples of 4.")
	}
	s.Load(s.Param("dst"), di)
	s.Load(s.Param("dstStride"), r10)
	s.Load(s.Param("src"), si)
	s.Load(s.Param("srcStride"), r8)
	s.Load(s.Param("cols"), dx)
	s.SHLQ(Imm(3), r8)
	s.SHLQ(Imm(3), r10)
	s.LEAQ(indexed(r8, r8, 2), r9)
	s.LEAQ(indexed(r10, r10, 2), r11)
	if s.wide() {
		s.squares512()
	} else {
		s.squares256()
	}
	s.VZEROUPPER()
	s.RET()
}

// transposeSingle writes the function for float32, which goes down strips of src of 8 columns, 8 rows at a time. At a
// square, the rows of src 0 and 4 are at ax and bx, those of dst at r12 and r13.
func transposeSingle(s *isa) {
	s.function("transposeAVX2Single", "func(dst *float32, dstStride int, src *float32, srcStride, rows, cols int)")
	s.Doc("transposeAVX2Single is Transpose for rows and cols that are positive multiples of 8.")
	s.Load(s.Param("dst"), di)
	s.Load(s.Param("dstStride"), r10)
	s.Load(s.Param("src"), si)
	s.Load(s.Param("srcStride"), r8)
	s.Load(s.Param("cols"), dx)
	s.scale(r8)
	s.scale(r10)
	s.LEAQ(indexed(r8, r8, 2), r9)
	s.LEAQ(indexed(r10, r10, 2), r11)
	src, dst := []reg.GPPhysical{ax, bx}, []reg.GPPhysical{r12, r13}
	s.Label("strip")
	s.Load(s.Param("rows"), cx)
	s.MOVQ(si, ax)
	s.MOVQ(di, r12)
	s.Label("square")
	s.LEAQ(indexed(ax, r8, 4), bx)
	s.LEAQ(indexed(r12, r10, 4), r13)
	for _, col := range []int{0, 4} { // four columns of all rows, of which a register has rows i and i + 4
		x, y := s.regs[:4], s.regs[4:8]
		for i := range x {
			s.VMOVUPS(rowAt(src, r8, r9, i).Offset(4*col), x[i].AsX())
			s.VINSERTF128(Imm(1), rowAt(src, r8, r9, i+4).Offset(4*col), x[i], x[i])
		}
		for i := range 2 {
			s.VUNPCKLPS(x[2*i+1], x[2*i], y[i])
			s.VUNPCKHPS(x[2*i+1], x[2*i], y[2+i])
		}
		for i := range 2 {
			s.VUNPCKLPD(y[2*i+1], y[2*i], x[2*i])
			s.VUNPCKHPD(y[2*i+1], y[2*i], x[2*i+1])
		}
		for i := range x {
			s.VMOVUPS(x[i], rowAt(dst, r10, r11, col+i))
		}
	}
	s.LEAQ(indexed(ax, r8, 8), ax)
	s.ADDQ(Imm(32), r12)
	s.SUBQ(Imm(8), cx)
	s.JNE(LabelRef("square"))
	s.ADDQ(Imm(32), si)
	s.LEAQ(indexed(di, r10, 8), di)
	s.SUBQ(Imm(8), dx)
	s.JNE(LabelRef("strip"))
	s.VZEROUPPER()
	s.RET()
}

func (s *isa) squares256() {
	s.Label("strip")
	s.Load(s.Param("rows"), cx)
	s.MOVQ(si, ax)
	s.MOVQ(di, r12)
	s.Label("square")
	src, dst := []reg.GPPhysical{ax}, []reg.GPPhysical{r12}
	for _, col := range []int{0, 2} {
		x := s.regs[2*col:]
		for i := range 2 {
			s.VMOVUPD(rowAt(src, r8, r9, i).Offset(8*col), x[i].AsX())
			s.VINSERTF128(Imm(1), rowAt(src, r8, r9, i+2).Offset(8*col), x[i], x[i])
		}
		s.VUNPCKLPD(x[1], x[0], x[2])
		s.VUNPCKHPD(x[1], x[0], x[3])
		s.VMOVUPD(x[2], rowAt(dst, r10, r11, col))
		s.VMOVUPD(x[3], rowAt(dst, r10, r11, col+1))
	}
	s.LEAQ(indexed(ax, r8, 4), ax)
	s.ADDQ(Imm(32), r12)
	s.SUBQ(Imm(4), cx)
	s.JNE(LabelRef("square"))
	s.ADDQ(Imm(32), si)
	s.LEAQ(indexed(di, r10, 4), di)
	s.SUBQ(Imm(4), dx)
	s.JNE(LabelRef("strip"))
}

func (s *isa) squares512() {
	src, dst := []reg.GPPhysical{ax, bx}, []reg.GPPhysical{r12, r13}
	s.Label("strip")
	s.upTo8(dx, cx, reg.K1)
	s.Load(s.Param("rows"), r15)
	s.MOVQ(si, ax)
	s.MOVQ(di, r12)

	s.Label("square")
	s.upTo8(r15, r14, reg.K2)
	s.LEAQ(indexed(ax, r8, 4), bx)
	s.LEAQ(indexed(r12, r10, 4), r13)
	s.LEAQ(indexed(r14, cx, 1), r9) // r9 is free until the rows are addressed
	s.CMPQ(r9, Imm(16))
	s.LEAQ(indexed(r8, r8, 2), r9)
	s.JNE(LabelRef("part"))
	s.whole(src, dst)
	s.JMP(LabelRef("next"))
	s.Label("part")
	s.part(src, dst)

	s.Label("next")
	s.LEAQ(indexed(ax, r8, 8), ax)
	s.ADDQ(Imm(64), r12)
	s.SUBQ(r14, r15)
	s.JNE(LabelRef("square"))
	s.ADDQ(Imm(64), si)
	s.LEAQ(indexed(di, r10, 8), di)
	s.SUBQ(cx, dx)
	s.JNE(LabelRef("strip"))
}

// upTo8 stores min(left, 8) in n, and a mask of that many bits.
func (s *isa) upTo8(left, n reg.GPPhysical, mask reg.OpmaskPhysical) {
	s.MOVQ(U32(8), n)
	s.CMPQ(left, n)
	s.CMOVQLT(left, n)
	s.MOVQ(U32(255), r13)
	s.BZHIQ(n, r13, r13)
	s.KMOVB(r13.As32(), mask)
}

// whole transposes 8 × 8. Two halves of rows are put together while they are loaded, which leaves two shuffles
// for a vector: there is one port for them.
func (s *isa) whole(src, dst []reg.GPPhysical) {
	for _, col := range []int{0, 4} {
		x := s.regs[3*col:]
		for i, row := range []int{0, 1, 4, 5} { // x[i] is the half of row, and below it that of row + 2
			s.VMOVUPD(rowAt(src, r8, r9, row).Offset(8*col), x[i].AsY())
			s.VINSERTF64X4(Imm(1), rowAt(src, r8, r9, row+2).Offset(8*col), x[i], x[i])
		}
		for i := range 4 {
			s.unpack(i%2, x[i/2*2+1], x[i/2*2], x[4+i])
		}
		for i := range 4 {
			s.VSHUFF64X2(Imm([]uint64{0x88, 0xdd}[i/2]), x[6+i%2], x[4+i%2], x[8+i])
			s.VMOVUPD(x[8+i], rowAt(dst, r10, r11, col+i))
		}
	}
}

// unpack interleaves the even (0) or odd (1) elements of a and b.
func (s *isa) unpack(odd int, b, a, to reg.VecPhysical) {
	if odd == 0 {
		s.VUNPCKLPD(b, a, to)
	} else {
		s.VUNPCKHPD(b, a, to)
	}
}

// part transposes r14 rows and cx columns, at most 8 each, whose masks are K2 and K1.
func (s *isa) part(src, dst []reg.GPPhysical) {
	z := s.regs
	for i := range 8 {
		s.VMOVUPD_Z(rowAt(src, r8, r9, i), reg.K1, z[i])
		if i < 7 {
			s.CMPQ(r14, Imm(uint64(i+1)))
			s.JEQ(LabelRef("loaded"))
		}
	}
	s.Label("loaded")
	for i := range 8 { // of each four elements that follow: two columns and two rows
		s.unpack(i%2, z[i/2*2+1], z[i/2*2], z[8+i])
	}
	for i := range 8 {
		from := 8 + i/4*4 + i%2
		s.VSHUFF64X2(Imm([]uint64{0x88, 0xdd}[i/2%2]), z[from+2], z[from], z[16+i])
	}
	for col := range 8 {
		from := 16 + col%4
		s.VSHUFF64X2(Imm([]uint64{0x88, 0xdd}[col/4]), z[from+4], z[from], z[24])
		s.VMOVUPD(z[24], reg.K2, rowAt(dst, r10, r11, col))
		if col < 7 {
			s.CMPQ(cx, Imm(uint64(col+1)))
			s.JEQ(LabelRef("next"))
		}
	}
}
