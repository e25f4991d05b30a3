package peak

import "newtop/internal/kernel"

// multiplyAdds does independent multiply-adds and returns how many operations that were.
func multiplyAdds(k kernel.Kernel, rounds int) int {
	switch k {
	case kernel.AVX512:
		peakAVX512(rounds)
		return rounds * 12 * 8 * 2
	case kernel.AVX2:
		peakAVX2(rounds)
		return rounds * 12 * 4 * 2
	}
	return multiplyAddsGeneric(rounds)
}
