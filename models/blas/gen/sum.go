package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// tile is a block of C whose elements are in registers while the products are summed.
type tile struct {
	*isa
	rows, vectors int
	left          Mem  // the number of terms left
	masked        bool // the last vector may have fewer columns than lanes
}

// kind is the number by which Go asks for the code of a tile.
func (t tile) kind() int {
	kind := 64*t.vectors + t.rows
	if t.masked {
		kind += 32
	}
	return kind
}

// panel and term address a field of the panel and of the current term.
func (s *isa) panel(field string) Mem { return at(r13, s.offset("panel", field)) }
func (s *isa) term(field string) Mem  { return at(r15, s.offset("Term", field)) }

func (t tile) label(part string) string {
	suffix := ""
	if t.masked {
		suffix = "m"
	}
	return fmt.Sprintf("t%dx%d%s_%s", t.rows, t.vectors, suffix, part)
}

// sum writes the function that computes the panel of C that a *panel describes: `tall` tiles of kind and then
// `short` tiles of one row less, one below the other.
func (s *isa) sum() {
	s.function("sum"+s.name, "func(p *panel)")
	s.Doc("sum" + s.name + " computes the tiles of p.")
	left := s.AllocLocal(8)
	var tiles []tile
	for v := 1; v < len(s.rows); v++ {
		for _, masked := range s.masked {
			for r := 1; r <= s.rows[v]; r++ {
				tiles = append(tiles, tile{s, r, v, left, masked})
			}
		}
	}
	s.Load(s.Param("p"), r13)
	s.MOVQ(s.panel("c"), di)
	s.MOVQ(s.panel("stride"), si)
	if s.wide() {
		s.KMOVQ(s.panel("lanes"), reg.K1)
	}
	s.Label("dispatch")
	s.MOVQ(s.panel("kind"), ax)
	s.dispatch(tiles)
	for _, t := range tiles {
		t.body()
	}
	s.Label("tiled")
	s.MOVQ(s.panel("short"), ax)
	s.MOVQ(ax, s.panel("tall"))
	s.MOVQ(U32(0), s.panel("short"))
	s.DECQ(s.panel("kind"))
	s.TESTQ(ax, ax)
	s.JNE(LabelRef("dispatch"))
	s.VZEROUPPER()
	s.RET()
}

// dispatch jumps to the tile whose kind is in AX; tiles are sorted by kind.
func (s *isa) dispatch(tiles []tile) {
	if len(tiles) == 1 {
		s.JMP(LabelRef(tiles[0].label("start")))
		return
	}
	half := len(tiles) / 2
	below := tiles[half].label("below")
	s.CMPQ(ax, U32(tiles[half].kind()))
	s.JLT(LabelRef(below))
	s.dispatch(tiles[half:])
	s.Label(below)
	s.dispatch(tiles[:half])
}

// rowAt addresses row r of a matrix whose rows 0, 4, 8, … are at bases, the rows stride (and three of them
// stride3) bytes apart.
func rowAt(bases []reg.GPPhysical, stride, stride3 reg.Register, r int) Mem {
	if r/4 == len(bases) {
		return indexed(bases[r/4-1], stride, 4)
	}
	base := bases[r/4]
	switch r % 4 {
	case 0:
		return at(base, 0)
	case 3:
		return indexed(base, stride3, 1)
	}
	return indexed(base, stride, uint8(r%4))
}

// bases returns the registers for n rows and computes all but the first, and in r9 three times the stride.
func (s *isa) bases(n int, first reg.GPPhysical, stride reg.Register, rest ...reg.GPPhysical) []reg.GPPhysical {
	if n > 3 {
		s.LEAQ(indexed(stride, stride, 2), r9)
	}
	all := []reg.GPPhysical{first}
	for r := 4; r+1 < n; r += 4 {
		s.LEAQ(indexed(all[len(all)-1], stride, 4), rest[len(all)-1])
		all = append(all, rest[len(all)-1])
	}
	return all
}

func (t tile) acc(r, v int) reg.VecPhysical { return t.regs[r*t.vectors+v] }

// free returns the register i after the accumulators.
func (t tile) free(i int) reg.VecPhysical { return t.regs[t.rows*t.vectors+i] }

// mask returns the register of the last vector's mask, beside the accumulators.
func (t tile) mask() reg.VecPhysical { return t.regs[min(t.rows*t.vectors, len(t.regs)-1)] }

// spare returns the i-th of the registers after the first n that are not accumulators, in turn.
func (t tile) spare(n, i int) reg.VecPhysical {
	left := len(t.regs) - t.rows*t.vectors - n
	return t.free(n + i%left)
}

func (t tile) partial(v int) bool { return t.masked && v == t.vectors-1 }

func (t tile) body() {
	t.Label(t.label("start"))
	t.start()
	t.Label(t.label("terms"))
	t.terms()
	t.store()
	t.JMP(LabelRef("tiled"))
}

// start fills the accumulators.
func (t tile) start() {
	t.MOVQ(t.panel("start"), ax)
	t.CMPQ(ax, Imm(1))
	t.JLT(LabelRef(t.label("zero")))
	t.JEQ(LabelRef(t.label("add")))

	t.MOVQ(t.panel("bias"), ax)
	t.MOVQ(t.panel("row"), cx)
	t.LEAQ(indexed(ax, cx, uint8(t.elementSize())), ax)
	for r := range t.rows {
		t.broadcast(at(ax, t.elementSize()*r), t.acc(r, 0))
		for v := 1; v < t.vectors; v++ {
			t.VMOVAPD(t.acc(r, 0), t.acc(r, v))
		}
	}
	t.JMP(LabelRef(t.label("terms")))

	t.Label(t.label("add"))
	t.eachRow(func(r, v int, m Mem) {
		if t.partial(v) {
			t.loadPart(m, t.mask(), t.acc(r, v))
		} else {
			t.load(m, t.acc(r, v))
		}
	})
	t.JMP(LabelRef(t.label("terms")))

	t.Label(t.label("zero"))
	for r := range t.rows {
		for v := range t.vectors {
			t.zero(t.acc(r, v))
		}
	}
}

// eachRow calls access for every vector of the tile of C, after the mask of the last one is loaded.
func (t tile) eachRow(access func(r, v int, m Mem)) {
	if t.masked && !t.wide() {
		t.load(t.panel("lanes"), t.mask())
	}
	rows := t.bases(t.rows, di, si, ax, bx, r12)
	for r := range t.rows {
		for v := range t.vectors {
			access(r, v, rowAt(rows, si, r9, r).Offset(v*t.bytes))
		}
	}
}

// terms adds the products.
func (t tile) terms() {
	t.MOVQ(t.panel("terms"), r15)
	t.MOVQ(t.panel("count"), ax)
	t.TESTQ(ax, ax)
	t.JE(LabelRef(t.label("store")))
	t.MOVQ(ax, t.left)

	t.Label(t.label("term"))
	t.MOVQ(t.term("K"), cx)
	t.TESTQ(cx, cx)
	t.JE(LabelRef(t.label("next")))
	t.MOVQ(t.term("RowStride"), r8)
	t.scale(r8)
	t.MOVQ(t.panel("row"), ax)
	t.IMULQ(r8, ax)
	t.ADDQ(t.term("A"), ax)
	t.MOVQ(t.term("ColStride"), r10)
	t.scale(r10)
	t.MOVQ(t.term("Stride"), r11)
	t.scale(r11)
	t.MOVQ(t.term("B"), dx)
	t.ADDQ(t.panel("column"), dx)
	rows := t.bases(t.rows, ax, r8, bx, r12, r14)

	t.Label(t.label("k"))
	if t.rows < t.vectors {
		t.streamB(rows)
	} else {
		t.streamA(rows)
	}
	for _, base := range rows {
		t.ADDQ(r10, base)
	}
	t.ADDQ(r11, dx)
	t.DECQ(cx)
	t.JNE(LabelRef(t.label("k")))

	t.Label(t.label("next"))
	t.ADDQ(Imm(t.size("Term")), r15)
	t.DECQ(t.left)
	t.JNE(LabelRef(t.label("term")))
}

// streamA adds column p of A times row p of B: the row stays in registers, the elements of the column pass.
func (t tile) streamA(rows []reg.GPPhysical) {
	for v := range t.vectors {
		t.loadB(v, t.free(v))
	}
	for r := range t.rows {
		a := rowAt(rows, r8, r9, r)
		if t.vectors == 1 && t.wide() {
			t.either(t.VFMADD231PD_BCST, t.VFMADD231PS_BCST)(a, t.free(0), t.acc(r, 0))
			continue
		}
		b := t.spare(t.vectors, r)
		t.broadcast(a, b)
		for v := range t.vectors {
			t.multiplyAdd(t.free(v), b, t.acc(r, v))
		}
	}
}

// streamB adds column p of A times row p of B: the column stays in registers, the vectors of the row pass.
func (t tile) streamB(rows []reg.GPPhysical) {
	for r := range t.rows {
		t.broadcast(rowAt(rows, r8, r9, r), t.free(r))
	}
	for v := range t.vectors {
		if t.rows == 1 && !t.partial(v) {
			t.multiplyAdd(at(dx, v*t.bytes), t.free(0), t.acc(0, v))
			continue
		}
		b := t.spare(t.rows, v)
		t.loadB(v, b)
		for r := range t.rows {
			t.multiplyAdd(b, t.free(r), t.acc(r, v))
		}
	}
}

// loadB loads vector v of a row of B.
func (t tile) loadB(v int, b reg.VecPhysical) {
	m := at(dx, v*t.bytes)
	if !t.partial(v) {
		t.load(m, b)
		return
	}
	if !t.wide() {
		t.load(t.panel("lanes"), b)
	}
	t.loadPart(m, b, b)
}

// store stores the accumulators and goes to the next tile of the same kind, if there is one.
func (t tile) store() {
	t.Label(t.label("store"))
	t.eachRow(func(r, v int, m Mem) {
		if t.partial(v) {
			t.savePart(t.acc(r, v), t.mask(), m)
		} else {
			t.save(t.acc(r, v), m)
		}
	})
	t.IMUL3Q(Imm(uint64(t.rows)), si, ax)
	t.ADDQ(ax, di)
	t.ADDQ(Imm(uint64(t.rows)), t.panel("row"))
	t.DECQ(t.panel("tall"))
	t.JNE(LabelRef(t.label("start")))
}
