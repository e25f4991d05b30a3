package models

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestProducts holds the three products against triple loops, at sizes around every boundary of tiles
// and narrow blocks, and checks that nothing is written beside the result.
func TestProducts(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 5))
	layers := []int{1, 3, tileRows, tileRows + 1, tileCols + 5}
	blocks := []int{1, 2, 15, narrowRows - 1, narrowRows, blockRows}
	random := func(n int) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = rng.NormFloat64()
		}
		return x
	}
	g := product{packed: make([]float64, narrowRows*(tileCols+5))}
	for _, r := range layers {
		for _, s := range layers {
			for _, rows := range blocks {
				w, x, y := random(r*s), random(s*rows), random(r*rows)
				for _, c := range []struct {
					name    string
					m, n, k int
					run     func(c []float64)
					a, b    func(i, j, l int) float64
				}{
					{"addMul", r, rows, s, func(c []float64) { g.addMul(c, w, x, r, rows, s) },
						func(i, _, l int) float64 { return w[i*s+l] }, func(_, j, l int) float64 { return x[l*rows+j] }},
					{"addMulTrans", s, rows, r, func(c []float64) { g.addMulTrans(c, w, y, s, rows, r) },
						func(i, _, l int) float64 { return w[l*s+i] }, func(_, j, l int) float64 { return y[l*rows+j] }},
					{"addOuter", r, s, rows, func(c []float64) { g.addOuter(c, y, x, r, s, rows) },
						func(i, _, l int) float64 { return y[i*rows+l] }, func(_, j, l int) float64 { return x[j*rows+l] }},
				} {
					room := random(c.m*c.n + 2)
					want := append([]float64(nil), room...)
					c.run(room[1 : 1+c.m*c.n])
					for i := range c.m {
						for j := range c.n {
							for l := range c.k {
								want[1+i*c.n+j] += c.a(i, j, l) * c.b(i, j, l)
							}
						}
					}
					for i := range want {
						if math.Abs(room[i]-want[i]) > 1e-12 {
							t.Fatalf("%s %d × %d × %d: number %d is %g, expected %g", c.name, c.m, c.n, c.k, i-1, room[i], want[i])
						}
					}
				}
			}
		}
	}
}
