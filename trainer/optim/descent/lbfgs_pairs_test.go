package descent

import (
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/optimize"
)

// TestPairsAgainstGonum: the directions are those of gonum's LBFGS, to the bit.
func TestPairsAgainstGonum(t *testing.T) {
	dice := rand.New(rand.NewPCG(1, 2))
	const n = 9
	random := func() []float64 {
		v := make([]float64, n)
		for i := range v {
			v[i] = dice.NormFloat64()
		}
		return v
	}
	for most := 1; most <= 4; most++ {
		oracle, mine := &optimize.LBFGS{Store: most}, pairs{Limit: most}
		x, g := random(), random()
		want, got := make([]float64, n), make([]float64, n)
		oracle.InitDirection(&optimize.Location{X: x, Gradient: g}, want)
		mine.directionTo(got, g)
		for k := range 9 {
			if !slices.Equal(got, want) {
				t.Fatalf("%d pairs at the most, step %d: %v, expected %v", most, k, got, want)
			}
			next, gradient := random(), random()
			oracle.NextDirection(&optimize.Location{X: next, Gradient: gradient}, want)
			mine.add(next, x, gradient, g)
			mine.directionTo(got, gradient)
			x, g = next, gradient
			if len(mine.All) != min(k+1, most) {
				t.Fatalf("%d pairs after step %d: expected %d", len(mine.All), k, min(k+1, most))
			}
		}
	}
}
