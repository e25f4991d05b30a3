// Gen writes the assembly of package peak, from the directory of the package.
package main

import (
	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// chains is the number of independent multiply-adds of a round: more than ports times latency.
const chains = 12

func main() {
	ConstraintExpr("amd64")
	peak("AVX512", ZMM)
	peak("AVX2", YMM)
	Generate()
}

// peak writes the loop that measures what the multiply-add units can do.
func peak(name string, vector func() reg.VecVirtual) {
	TEXT("peak"+name, attr.NOSPLIT, "func(rounds int)")
	Doc("peak" + name + " does rounds × 12 independent multiply-adds of vectors; rounds ≥ 1.")
	rounds := Load(Param("rounds"), GP64())
	zero := func() reg.VecVirtual {
		r := vector()
		VXORPD(r, r, r)
		return r
	}
	var sums [chains]reg.VecVirtual
	for i := range sums {
		sums[i] = zero()
	}
	x, y := zero(), zero()
	Label("loop")
	for _, sum := range sums {
		VFMADD231PD(x, y, sum)
	}
	DECQ(rounds)
	JNE(LabelRef("loop"))
	VZEROUPPER()
	RET()
}
