package main

import (
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// chains is the number of independent multiply-adds of a round: more than ports times latency.
const chains = 12

// peak writes the loop that measures what the multiply-add units can do.
func peak(s *isa) {
	s.function("peak"+s.name, "func(rounds int)")
	s.Doc("peak" + s.name + " does rounds × 12 independent multiply-adds of vectors; rounds ≥ 1.")
	s.Load(s.Param("rounds"), cx)
	for i := range chains {
		s.VXORPD(s.regs[i], s.regs[i], s.regs[i])
	}
	x, y := s.regs[chains], s.regs[chains+1]
	for _, r := range []reg.VecPhysical{x, y} {
		s.VXORPD(r, r, r)
	}
	s.Label("loop")
	for i := range chains {
		s.multiplyAdd(x, y, s.regs[i])
	}
	s.DECQ(cx)
	s.JNE(LabelRef("loop"))
	s.VZEROUPPER()
	s.RET()
}
