package sheet

import (
	"math"
	"math/bits"
)

// sketchBits is the logarithm of how many registers a sketch has. Its estimate has a standard error of 1.04/√registers:
// 1.6 %.
const sketchBits = 12

// sketch estimates how many different fields there are in memory of a fixed size, whatever their order and however
// often they come: P. Flajolet, É. Fusy, O. Gandouet, F. Meunier, "HyperLogLog", 2007.
type sketch [1 << sketchBits]uint8

// add counts a field.
func (s *sketch) add(field []byte) {
	h := uint64(14695981039346656037) // FNV-1a, and mixed so that all bits depend on all
	for _, c := range field {
		h = (h ^ uint64(c)) * 1099511628211
	}
	h = (h ^ h>>33) * 0xff51afd7ed558ccd
	h = (h ^ h>>33) * 0xc4ceb9fe1a85ec53
	h ^= h >> 33
	r := &s[h>>(64-sketchBits)]
	*r = max(*r, uint8(bits.LeadingZeros64(h<<sketchBits|1<<(sketchBits-1))+1))
}

// join counts what another counted.
func (s *sketch) join(other *sketch) {
	for i, v := range other {
		s[i] = max(s[i], v)
	}
}

// count estimates how many different fields were added.
func (s *sketch) count() int {
	const m = 1 << sketchBits
	sum, empty := 0.0, 0
	for _, v := range s {
		sum += math.Ldexp(1, -int(v))
		if v == 0 {
			empty++
		}
	}
	estimate := 0.7213 / (1 + 1.079/m) * m * m / sum
	if estimate <= 2.5*m && empty > 0 {
		estimate = m * math.Log(m/float64(empty))
	}
	return int(math.Round(estimate))
}
