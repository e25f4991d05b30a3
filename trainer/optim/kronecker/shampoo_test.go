package kronecker

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"newtop/trainer/optim"
	"newtop/trainer/optim/minibatch"
)

// shampooOracle is Shampoo for one block with whole matrices: decaying sums of GGᵀ and GᵀG, their roots in bases that turn, the
// direction S of the gradients' mean, and the length of Adam's step.
type shampooOracle struct {
	w, m, v             *mat.Dense
	left, right         sideOracle
	leftRoot, rightRoot *mat.Dense
}

func newShampooOracle(w *mat.Dense, side int) *shampooOracle {
	m, n := w.Dims()
	return &shampooOracle{
		w: w, m: mat.NewDense(m, n, nil), v: mat.NewDense(m, n, nil), left: newSide(m, side), right: newSide(n, side),
		leftRoot: identity(m), rightRoot: identity(n),
	}
}

func (o *shampooOracle) update(t *testing.T, g *mat.Dense, k int, r *rates, chosen factors) {
	t.Helper()
	o.left.f = combined(r.beta, o.left.f, 1, mul(g, g.T()))
	o.right.f = combined(r.beta, o.right.f, 1, mul(g.T(), g))
	o.m = combined(r.beta1, o.m, 1-r.beta1, g)
	o.v.Apply(func(i, j int, v float64) float64 { return r.beta2*v + (1-r.beta2)*g.At(i, j)*g.At(i, j) }, o.v)
	switch {
	case k == 1:
		o.left.begin(t, chosen.L)
		o.right.begin(t, chosen.R)
	case k%r.every == 0:
		o.left.turn(t, chosen.L)
		o.right.turn(t, chosen.R)
	}
	if k == 1 || k%r.every == 0 {
		p := -0.25
		if o.left.there != o.right.there {
			p = -0.5
		}
		o.leftRoot, o.rightRoot = o.left.root(r.damping, p), o.right.root(r.damping, p)
	}
	s, adam, length := mul(o.leftRoot, o.m, o.rightRoot), 0.0, 0.0
	rows, cols := s.Dims()
	for i := range rows {
		for j := range cols {
			mHat, vHat := o.m.At(i, j)/(1-math.Pow(r.beta1, float64(k))), o.v.At(i, j)/(1-math.Pow(r.beta2, float64(k)))
			d := mHat / (math.Sqrt(vHat) + r.epsilon)
			adam += d * d
			length += s.At(i, j) * s.At(i, j)
		}
	}
	o.w = combined(1, o.w, -r.eta*math.Sqrt(adam/length), s)
}

// root is the power of F + ε·max·I that its basis sees.
func (o *sideOracle) root(epsilon, p float64) *mat.Dense {
	d, _ := o.f.Dims()
	if !o.there {
		return identity(d)
	}
	along := mul(o.q.T(), o.f, o.q)
	values, most := make([]float64, d), 0.0
	for i := range values {
		values[i] = max(0, along.At(i, i))
		most = max(most, values[i])
	}
	for i := range values {
		values[i] = math.Pow(values[i]+epsilon*most, p)
	}
	return mul(o.q, mat.NewDiagDense(d, values), o.q.T())
}

// shampooOf returns Shampoo's update in a method.
func shampooOf(m optim.Method) *shampoo { return m.(*minibatch.Method).Update.(*shampoo) }

// TestShampooAgainstItsFormulas: weights are those of the formulas, update by update, with every bound on sides.
func TestShampooAgainstItsFormulas(t *testing.T) {
	for _, every := range []int{1, 3, 10} {
		for _, side := range []int{1, 3, 4, 512} {
			t.Run(fmt.Sprintf("every %d, sides to %d", every, side), func(t *testing.T) {
				matrices, n := several()
				o := &given{n: n, matrices: matrices, gradients: gradientsOf(n, 64, 17)}
				m, settings := method(t, "shampoo", "batch", "0", "every", fmt.Sprint(every), "side", fmt.Sprint(side))
				r := &rates{beta1: 0.95, beta2: 0.99, beta: 0.95, epsilon: 1e-8, damping: 1e-4, every: every}
				s := &optim.State{Objective: o, W: normals(newRand(8), n), Settings: settings}
				rest := newAdamOracle(s.W)
				var blocks []*shampooOracle
				for _, b := range matrices {
					blocks = append(blocks, newShampooOracle(blockIn(b, s.W), side))
				}
				for k, g := range o.gradients {
					r.eta = 0.01 + 0.001*float64(k%5)
					settings.Set("rate", r.eta)
					step(t, m, s)
					rest.update(g, k+1, r)
					want := slices.Clone(rest.w)
					for i, b := range matrices {
						blocks[i].update(t, blockIn(b, g), k+1, r, shampooOf(m).Moves.Factors[i])
						put(b, want, blocks[i].w)
					}
					if far := apart(s.W, want); !(far <= 1e-10) {
						t.Fatalf("update %d: weights are %.1e off", k+1, far)
					}
				}
			})
		}
	}
}

// matCols returns how many columns a block has.
func matCols(m optim.Matrix) int {
	if m.Biased {
		return m.Cols + 1
	}
	return m.Cols
}

// TestShampooTellsItsFactors: the values are those of roots, as a mean's and in descending order, and the damping a share of the
// largest.
func TestShampooTellsItsFactors(t *testing.T) {
	matrices, n := several()
	o := &given{n: n, matrices: matrices, gradients: gradientsOf(n, 30, 3)}
	m, settings := method(t, "shampoo", "batch", "0", "every", "4", "damping", "0.01")
	s := &optim.State{Objective: o, W: make([]float64, n), Settings: settings}
	for k := range o.gradients {
		r := step(t, m, s)
		for i, f := range r.Preconditioner.Factors {
			side := shampooOf(m).Moves.Factors[i/2].L
			if i%2 == 1 {
				side = shampooOf(m).Moves.Factors[i/2].R
			}
			if side == nil {
				if f.Values != nil {
					t.Errorf("values of a factor that is none: %+v", f)
				}
				continue
			}
			if !slices.IsSortedFunc(f.Values, func(a, b float64) int { return int(math.Copysign(1, b-a)) }) {
				t.Errorf("update %d: values %v", k+1, f.Values)
			}
			if math.Abs(f.Damping-0.01*f.Values[0]) > 1e-15*f.Damping {
				t.Errorf("update %d: a damping of %g for values to %g", k+1, f.Damping, f.Values[0])
			}
			if u := k + 1; u == 1 || u%4 == 0 {
				share := (1 - 0.95) / (1 - math.Pow(0.95, float64(u)))
				along := mul(basisIn(side).T(), upperOf(side.F, side.d), basisIn(side))
				want := mat.Trace(along) * share
				got := 0.0
				for _, v := range f.Values {
					got += v
				}
				if math.Abs(got-want) > 1e-12*want {
					t.Errorf("update %d: values add up to %g, a mean's trace is %g", u, got, want)
				}
			}
		}
	}
}
