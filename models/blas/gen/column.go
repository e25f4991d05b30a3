package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// column writes the product of a matrix that lies row by row and a vector. Every sum is a chain of its own, in the
// order of the row, so that vectors are down the columns: 4 × 4 elements are transposed in registers.
func column(s *isa) {
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
		columnTile{s, groups}.body()
	}
}

// columnTile is a tile of n groups of four rows.
type columnTile struct {
	*isa
	n int
}

func (t columnTile) label(part string) string { return fmt.Sprintf("groups%d%s", t.n, part) }

func (t columnTile) acc(i int) reg.VecPhysical { return t.regs[i] }

// body writes the code of a tile.
func (t columnTile) body() {
	t.Label(t.label(""))
	t.MOVQ(si, ax)
	rows := []reg.GPPhysical{ax, bx, r12, r14}[:t.n]
	for i := 1; i < t.n; i++ {
		t.LEAQ(indexed(rows[i-1], r8, 4), rows[i])
	}
	for i := range t.n {
		t.VMOVUPD(at(di, 32*i), t.acc(i))
	}
	t.Load(t.Param("b"), dx)
	t.Load(t.Param("k"), cx)
	t.SUBQ(Imm(4), cx)
	t.JLT(LabelRef(t.label("rest")))
	t.squares(rows)
	t.singles(rows)

	t.Label(t.label("store"))
	for i := range t.n {
		t.VMOVUPD(t.acc(i), at(di, 32*i))
	}
	t.IMUL3Q(Imm(uint64(4*t.n)), r8, ax)
	t.ADDQ(ax, si)
	t.ADDQ(Imm(uint64(32*t.n)), di)
	t.SUBQ(Imm(uint64(4*t.n)), r13)
	t.JMP(LabelRef("tile"))
}

// squares adds four columns of A at a time.
func (t columnTile) squares(rows []reg.GPPhysical) {
	b := t.regs[4:8]
	t.Label(t.label("square"))
	for p := range b {
		t.VBROADCASTSD(rowAt([]reg.GPPhysical{dx}, r11, r10, p), b[p])
	}
	for i := range t.n {
		for p := 0; p < 4; p += 2 {
			x := t.regs[8+(i*4+2*p)%8:]
			for r := range 2 { // x[r] is two elements of row r and, above them, of row r + 2
				t.VMOVUPD(rowAt(rows, r8, r9, 4*i+r).Offset(8*p), x[r].AsX())
				t.VINSERTF128(Imm(1), rowAt(rows, r8, r9, 4*i+r+2).Offset(8*p), x[r], x[r])
			}
			// Some processors have two ports for VSHUFPD and one for VUNPCKLPD.
			t.VSHUFPD(Imm(0), x[1], x[0], x[2])
			t.VSHUFPD(Imm(15), x[1], x[0], x[3])
			t.VFMADD231PD(x[2], b[p], t.acc(i))
			t.VFMADD231PD(x[3], b[p+1], t.acc(i))
		}
	}
	for _, row := range rows {
		t.ADDQ(Imm(32), row)
	}
	t.LEAQ(indexed(dx, r11, 4), dx)
	t.SUBQ(Imm(4), cx)
	t.JGE(LabelRef(t.label("square")))
}

// singles adds the columns of A that are left, one at a time.
func (t columnTile) singles(rows []reg.GPPhysical) {
	b, x := t.regs[4], t.regs[8:]
	t.Label(t.label("rest"))
	t.ADDQ(Imm(4), cx)
	t.JEQ(LabelRef(t.label("store")))
	t.Label(t.label("one"))
	t.VBROADCASTSD(at(dx, 0), b)
	for i := range t.n {
		for r := range 2 {
			t.VMOVSD(rowAt(rows, r8, r9, 4*i+2*r), x[r].AsX())
			t.VMOVHPD(rowAt(rows, r8, r9, 4*i+2*r+1), x[r].AsX(), x[r].AsX())
		}
		t.VINSERTF128(Imm(1), x[1].AsX(), x[0], x[0])
		t.VFMADD231PD(x[0], b, t.acc(i))
	}
	for _, row := range rows {
		t.ADDQ(Imm(8), row)
	}
	t.ADDQ(r11, dx)
	t.DECQ(cx)
	t.JNE(LabelRef(t.label("one")))
}
