package main

import (
	"fmt"
	"math/bits"
	"strings"

	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

const (
	// sweepVectors is how many vectors a tile of a sweep is wide, and sweepUnroll how many columns of A a turn of its
	// loop has.
	sweepVectors, sweepUnroll = 3, 8
)

// sweepRows is the number of rows of a sweep's tile: its accumulators, a row of B and an element of A are in registers.
func sweepRows(s *isa) int {
	if s.wide() {
		return 8
	}
	return 4
}

// sweepState is what changes from tile to tile and has no register: how many are left, their rows of A and of the bias.
type sweepState struct{ left, a, bias Mem }

// sweepTile is the code of a sweep along a strip of some vectors.
type sweepTile struct {
	*isa
	vectors int
	masked  bool // the last vector may have fewer columns than lanes
}

func sweepField(s *isa, field string) Mem { return at(r13, s.offset("sweep", field)) }

// sweep writes the function that computes the tiles of a *sweep. In its loops ax and bx are at rows 0 and 4 of A, which
// are r8 (three of them r9) apart, its columns r10; dx at a row of B, r11 from the next; r12 at what is fetched ahead,
// r14 (three of them r15) apart; di at c, whose rows are si apart.
func sweep(s *isa) {
	s.function("sweep"+s.name, "func(p *sweep)")
	s.Doc("sweep" + s.name + " computes the tiles of p.")
	state := sweepState{left: s.AllocLocal(8), a: s.AllocLocal(8), bias: s.AllocLocal(8)}
	s.Load(s.Param("p"), r13)
	s.MOVQ(sweepField(s, "c"), di)
	s.MOVQ(sweepField(s, "stride"), si)
	s.MOVQ(sweepField(s, "rowStride"), r8)
	s.MOVQ(sweepField(s, "colStride"), r10)
	s.MOVQ(sweepField(s, "bStride"), r11)
	s.MOVQ(sweepField(s, "aheadRow"), r14)
	s.LEAQ(indexed(r14, r14, 2), r15)
	s.MOVQ(sweepField(s, "count"), ax)
	s.MOVQ(ax, state.left)
	s.MOVQ(sweepField(s, "a"), ax)
	s.MOVQ(ax, state.a)
	s.MOVQ(sweepField(s, "bias"), ax)
	s.MOVQ(ax, state.bias)
	var tiles []sweepTile
	for v := sweepVectors; v > 0; v-- {
		for _, masked := range s.masked {
			if masked || v == sweepVectors {
				tiles = append(tiles, sweepTile{s, v, masked})
			}
		}
	}
	if s.wide() {
		s.KMOVQ(sweepField(s, "lanes"), reg.K1)
	}
	for _, t := range tiles {
		s.CMPQ(sweepField(s, "kind"), Imm(t.kind()))
		s.JEQ(LabelRef(t.label("tile")))
	}
	s.Label("done")
	s.VZEROUPPER()
	s.RET()
	for _, t := range tiles {
		t.body(state)
	}
}

func (t sweepTile) label(part string) string {
	suffix := ""
	if t.masked {
		suffix = "m"
	}
	return fmt.Sprintf("s%d%s_%s", t.vectors, suffix, part)
}

// kind is the number by which Go asks for the code of a tile.
func (t sweepTile) kind() uint64 {
	if t.masked {
		return uint64(t.vectors) + 4
	}
	return uint64(t.vectors)
}

func (t sweepTile) acc(r, v int) reg.VecPhysical { return t.regs[r*t.vectors+v] }
func (t sweepTile) rowB(v int) reg.VecPhysical   { return t.regs[sweepRows(t.isa)*t.vectors+v] }
func (t sweepTile) partial(v int) bool           { return t.masked && v == t.vectors-1 }
func (t sweepTile) mask() reg.VecPhysical        { return t.regs[len(t.regs)-1] }
func (t sweepTile) element(r int) reg.VecPhysical {
	first := (sweepRows(t.isa) + 1) * t.vectors
	return t.regs[first+r%(len(t.regs)-first)]
}

func (t sweepTile) body(state sweepState) {
	t.Label(t.label("tile"))
	t.start(state.bias)
	t.fetchTile()
	t.MOVQ(r8, r9)
	t.LEAQ(indexed(r9, r9, 2), r9)
	t.MOVQ(state.a, ax)
	t.MOVQ(ax, r12)
	t.ADDQ(sweepField(t.isa, "aNext"), r12)
	t.MOVQ(r12, state.a)
	if sweepRows(t.isa) > 4 {
		t.LEAQ(indexed(ax, r8, 4), bx)
	}
	t.MOVQ(sweepField(t.isa, "b"), dx)
	t.products()

	t.eachRow(func(r, v int, m Mem) {
		if t.partial(v) {
			t.savePart(t.acc(r, v), t.mask(), m)
		} else {
			t.save(t.acc(r, v), m)
		}
	})
	t.ADDQ(sweepField(t.isa, "cNext"), di)
	t.ADDQ(Imm(uint64(sweepRows(t.isa)*t.elementSize())), state.bias)
	t.DECQ(state.left)
	t.JNE(LabelRef(t.label("tile")))
	t.JMP(LabelRef("done"))
}

// eachRow calls access for every vector of the tile of c, after the mask of the last one is loaded.
func (t sweepTile) eachRow(access func(r, v int, m Mem)) {
	if t.masked && !t.wide() {
		t.load(sweepField(t.isa, "lanes"), t.mask())
	}
	rows := t.bases(sweepRows(t.isa), di, si, bx)
	for r := range sweepRows(t.isa) {
		for v := range t.vectors {
			access(r, v, rowAt(rows, si, r9, r).Offset(v*t.bytes))
		}
	}
}

// start fills the accumulators.
func (t sweepTile) start(bias Mem) {
	t.MOVQ(sweepField(t.isa, "start"), ax)
	t.CMPQ(ax, Imm(1))
	t.JLT(LabelRef(t.label("zero")))
	t.JEQ(LabelRef(t.label("add")))

	t.MOVQ(bias, ax)
	for r := range sweepRows(t.isa) {
		t.broadcast(at(ax, t.elementSize()*r), t.acc(r, 0))
		for v := 1; v < t.vectors; v++ {
			t.VMOVAPD(t.acc(r, 0), t.acc(r, v))
		}
	}
	t.JMP(LabelRef(t.label("fetch")))

	t.Label(t.label("add"))
	t.eachRow(func(r, v int, m Mem) {
		if t.partial(v) {
			t.loadPart(m, t.mask(), t.acc(r, v))
		} else {
			t.load(m, t.acc(r, v))
		}
	})
	t.JMP(LabelRef(t.label("fetch")))

	t.Label(t.label("zero"))
	for r := range sweepRows(t.isa) {
		for v := range t.vectors {
			t.zero(t.acc(r, v))
		}
	}
	t.Label(t.label("fetch"))
}

// fetchTile fetches the next tile of c, also after the last one: it may be the next block's.
func (t sweepTile) fetchTile() {
	t.MOVQ(sweepField(t.isa, "cNext"), cx)
	t.ADDQ(di, cx)
	rows := t.bases(sweepRows(t.isa), cx, si, bx)
	for r := range sweepRows(t.isa) {
		for b := 0; b < t.vectors*t.bytes; b += 64 {
			t.PREFETCHT0(rowAt(rows, si, r9, r).Offset(b))
		}
	}
}

// products adds the products of the columns of A and the rows of B.
func (t sweepTile) products() {
	t.MOVQ(sweepField(t.isa, "depth"), cx)
	t.SUBQ(Imm(sweepUnroll), cx)
	t.JLT(LabelRef(t.label("rest")))
	t.Label(t.label("turn"))
	for p := range sweepUnroll {
		t.product()
		if p%2 == 0 {
			t.PREFETCHT1(rowAt([]reg.GPPhysical{r12}, r14, r15, p/2))
		}
	}
	t.ADDQ(sweepField(t.isa, "aheadStep"), r12)
	t.SUBQ(Imm(sweepUnroll), cx)
	t.JGE(LabelRef(t.label("turn")))

	t.Label(t.label("rest"))
	t.ADDQ(Imm(sweepUnroll), cx)
	t.JEQ(LabelRef(t.label("end")))
	t.Label(t.label("one"))
	t.product()
	t.DECQ(cx)
	t.JNE(LabelRef(t.label("one")))
	t.Label(t.label("end"))
}

// product adds a column of A times a row of B: the row stays in registers, the elements of the column pass.
func (t sweepTile) product() {
	for v := range t.vectors {
		b := at(dx, v*t.bytes)
		switch {
		case !t.partial(v):
			t.load(b, t.rowB(v))
		case t.wide():
			t.loadPart(b, nil, t.rowB(v))
		default:
			t.load(sweepField(t.isa, "lanes"), t.rowB(v))
			t.loadPart(b, t.rowB(v), t.rowB(v))
		}
	}
	rows := []reg.GPPhysical{ax, bx}[:(sweepRows(t.isa)+3)/4]
	for r := range sweepRows(t.isa) {
		t.broadcast(rowAt(rows, r8, r9, r), t.element(r))
		for v := range t.vectors {
			t.multiplyAdd(t.rowB(v), t.element(r), t.acc(r, v))
		}
	}
	for _, base := range rows {
		t.ADDQ(r10, base)
	}
	t.ADDQ(r11, dx)
}

// pack writes the function that copies vectors which lie stride apart.
func pack(s *isa) {
	signature := "func(dst *float64, dstStride int, src *float64, srcStride int, rows, vectors int)"
	if s.single {
		signature = strings.ReplaceAll(signature, "float64", "float32")
	}
	s.function("pack"+s.name, signature)
	s.Doc("pack" + s.name + " copies rows of 1 to 3 vectors, at least one row.")
	s.Load(s.Param("dst"), di)
	s.Load(s.Param("dstStride"), r10)
	s.Load(s.Param("src"), si)
	s.Load(s.Param("srcStride"), r8)
	s.Load(s.Param("rows"), cx)
	s.Load(s.Param("vectors"), ax)
	s.scale(r8)
	s.scale(r10)
	for v := sweepVectors; v > 1; v-- {
		s.CMPQ(ax, Imm(uint64(v)))
		s.JEQ(LabelRef(fmt.Sprintf("row%d", v)))
	}
	for v := 1; v <= sweepVectors; v++ {
		s.Label(fmt.Sprintf("row%d", v))
		for i := range v {
			s.load(at(si, i*s.bytes), s.regs[i])
		}
		for i := range v {
			s.save(s.regs[i], at(di, i*s.bytes))
		}
		s.ADDQ(r8, si)
		s.ADDQ(r10, di)
		s.DECQ(cx)
		s.JNE(LabelRef(fmt.Sprintf("row%d", v)))
		s.VZEROUPPER()
		s.RET()
	}
}

// packColumns writes the function that copies what panels of a sweep have of columns of A that lie one after another.
func packColumns(s *isa) {
	const ahead = 8 // columns, which lie far apart
	signature := "func(dst *float64, next int, src *float64, srcStride int, columns, panels int)"
	if s.single {
		signature = strings.ReplaceAll(signature, "float64", "float32")
	}
	s.function("packColumns"+s.name, signature)
	s.Doc("packColumns" + s.name + " copies columns, at least one, of panels that are next apart in dst.")
	s.Load(s.Param("dst"), di)
	s.Load(s.Param("next"), r10)
	s.Load(s.Param("src"), si)
	s.Load(s.Param("srcStride"), r8)
	s.Load(s.Param("columns"), dx)
	s.Load(s.Param("panels"), cx)
	s.scale(r8)
	s.scale(r10)
	s.MOVQ(r8, r9)
	s.SHLQ(Imm(uint64(bits.TrailingZeros(ahead))), r9)
	size := sweepRows(s) * s.elementSize()
	vector := map[int]reg.VecPhysical{16: reg.X0, 32: reg.Y0, 64: reg.Z0}[size]
	s.Label("column")
	s.MOVQ(si, r11)
	s.MOVQ(di, r12)
	s.MOVQ(cx, ax)
	s.Label("panel")
	s.load(at(r11, 0), vector)
	s.PREFETCHT1(indexed(r11, r9, 1))
	s.save(vector, at(r12, 0))
	s.ADDQ(Imm(uint64(size)), r11)
	s.ADDQ(r10, r12)
	s.DECQ(ax)
	s.JNE(LabelRef("panel"))
	s.ADDQ(r8, si)
	s.ADDQ(Imm(uint64(size)), di)
	s.DECQ(dx)
	s.JNE(LabelRef("column"))
	s.VZEROUPPER()
	s.RET()
}
