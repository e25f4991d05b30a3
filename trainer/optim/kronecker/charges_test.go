package kronecker

import (
	"testing"

	"gonum.org/v1/gonum/mat"

	"newtop/trainer/optim"
)

// count counts the multiplications of products.
type count float64

// mul returns the product of matrices from left to right.
func (c *count) mul(x mat.Matrix, all ...mat.Matrix) *mat.Dense {
	out := mat.DenseCopyOf(x)
	for _, y := range all {
		rows, inner := out.Dims()
		_, cols := y.Dims()
		*c += count(rows * inner * cols)
		out = mul(out, y)
	}
	return out
}

// square counts GGᵀ, whole, as it is where G has no more rows than a strip.
func (c *count) square(g mat.Matrix) { c.mul(g, g.T()) }

// charges runs a method for some updates on blocks of 5 × 7 and 6 × 3, and returns what it charged for each.
func charges(t *testing.T, name string, updates int, set ...string) (all []float64, matrices []optim.Matrix) {
	matrices = []optim.Matrix{{To: 1, Rows: 5, Cols: 6, Biased: true}, {To: 2, From: 1, Rows: 6, Cols: 3, Offset: 35}}
	const n = 35 + 18
	o := &given{n: n, matrices: matrices, gradients: gradientsOf(n, updates, 1)}
	o.factors = [][]optim.Factors{factorsOf(matrices, newRand(1))}
	m, settings := method(t, name, append([]string{"batch", "0"}, set...)...)
	s := &optim.State{Objective: o, W: make([]float64, n), Settings: settings, Rand: newRand(1)}
	for range updates {
		before := o.charged
		step(t, m, s)
		all = append(all, o.charged-before)
	}
	return all, matrices
}

// TestSOAPCharges: the products of an update, and of what turns a basis; eigenvalues as 4½d³.
func TestSOAPCharges(t *testing.T) {
	for _, side := range []string{"512", "6", "3"} {
		got, matrices := charges(t, "soap", 8, "every", "4", "side", side)
		most := map[string]int{"512": 512, "6": 6, "3": 3}[side]
		for k, got := range got {
			var c count
			orthonormal := 0.0 // at least
			for _, m := range matrices {
				g := mat.NewDense(m.Rows, matCols(m), nil)
				rows, cols := g.Dims()
				for _, left := range []bool{true, false} {
					d, x := cols, mat.Matrix(g.T())
					if left {
						d, x = rows, g
					}
					if d > most {
						continue
					}
					c.square(x)
					q := identity(d)
					there := func() { c.mul(q, x) } // into the basis of this side, or out of it
					switch {
					case k == 0:
						c += count(4.5 * cube(d))
						continue
					case (k+1)%4 == 0:
						c.mul(q, q) // FQ
						orthonormal += float64(d * d * (d - 1))
						there() // M′ out of the old bases, and into the new ones
						there()
					}
					there()
					there()
				}
			}
			if threshold := float64(c) + orthonormal; got < threshold || got > threshold+2*orthonormal || orthonormal == 0 && got != threshold {
				t.Errorf("sides to %s, update %d: %g are charged, products take %g, bases %g or more", side, k+1, got, float64(c), orthonormal)
			}
		}
	}
}

// TestShampooCharges: the products of an update, and where roots are made FQ, the basis, and the root with its FQ.
func TestShampooCharges(t *testing.T) {
	got, matrices := charges(t, "shampoo", 8, "every", "4")
	for k, got := range got {
		var c count
		orthonormal := 0.0
		for _, m := range matrices {
			g := mat.NewDense(m.Rows, matCols(m), nil)
			c.square(g)
			c.square(g.T())
			rows, cols := g.Dims()
			c.mul(identity(rows), g, identity(cols))
			for _, d := range []int{rows, cols} {
				q := identity(d)
				switch {
				case k == 0:
					c += count(4.5 * cube(d))
					c.mul(q, q, q)
				case (k+1)%4 == 0:
					c.mul(q, q)
					c.mul(q, q, q)
					orthonormal += float64(d * d * (d - 1))
				}
			}
		}
		if threshold := float64(c) + orthonormal; got < threshold || got > threshold+2*orthonormal || orthonormal == 0 && got != threshold {
			t.Errorf("update %d: %g are charged, products take %g, bases %g or more", k+1, got, float64(c), orthonormal)
		}
	}
}

// TestMuonCharges: the products of five steps on the shorter side.
func TestMuonCharges(t *testing.T) {
	got, matrices := charges(t, "muon", 2)
	var c count
	for _, m := range matrices {
		x := mat.NewDense(min(m.Rows, m.Cols), max(m.Rows, m.Cols), nil)
		for range 5 {
			a := c.mul(x, x.T())
			c.mul(a, a)
			c.mul(a, x)
		}
	}
	for k, got := range got {
		if got != float64(c) {
			t.Errorf("update %d: %g are charged, products take %g", k+1, got, float64(c))
		}
	}
}

// TestKFACCharges: S⁻¹GA⁻¹, and where inverses are made half of d³ each, by Cholesky's factor and its inverse.
func TestKFACCharges(t *testing.T) {
	for _, side := range []string{"512", "5"} {
		got, matrices := charges(t, "kfac", 9, "every", "4", "side", side)
		most := map[string]int{"512": 512, "5": 5}[side]
		for k, got := range got {
			var c count
			for _, m := range matrices {
				g := mat.NewDense(m.Rows, matCols(m), nil)
				rows, cols := g.Dims()
				inverted := k < 3 || (k+1)%4 == 0
				if rows <= most {
					c.mul(identity(rows), g)
				}
				if cols <= most {
					c.mul(g, identity(cols))
				}
				for _, d := range []int{rows, cols} {
					if d <= most && inverted {
						c += count(cube(d) / 2)
					}
				}
			}
			if got != float64(c) {
				t.Errorf("sides to %s, update %d: %g are charged, products take %g", side, k+1, got, float64(c))
			}
		}
	}
}
