package vector

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestConversions: numbers change their precision as the language converts them, and nothing beside them is written.
func TestConversions(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 32))
	each(t, func(t *testing.T) {
		for n := range 70 {
			wide, single := make([]float64, n), make([]float32, n)
			for i := range n {
				wide[i], single[i] = odd(rng), float32(odd(rng))
				if rng.IntN(2) == 0 {
					wide[i] = math.Ldexp(wide[i], -140+rng.IntN(270)) // among what float32 has
				}
			}
			narrowed, check := guarded([][]float32{make([]float32, n)}, n)
			Narrow(narrowed[0], wide)
			widened, checkWide := guarded([][]float64{make([]float64, n)}, n)
			Widen(widened[0], single)
			added := make([]float64, n)
			AddWidened(added, -3, wide, single)
			for i := range n {
				if !same(narrowed[0][i], float32(wide[i])) {
					t.Fatalf("%d of %d: %v becomes %v, expected %v", i, n, wide[i], narrowed[0][i], float32(wide[i]))
				}
				if !same(widened[0][i], float64(single[i])) || !same(added[i], -3*(wide[i]+float64(single[i]))) {
					t.Fatalf("%d of %d: %v becomes %v, with %v more, times −3, %v", i, n, single[i], widened[0][i], wide[i], added[i])
				}
			}
			for _, check := range []func() error{check, checkWide} {
				if err := check(); err != nil {
					t.Fatalf("%d numbers: %v", n, err)
				}
			}
		}
	})
}
