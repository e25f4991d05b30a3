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

// rates are the settings that the oracles of SOAP and Shampoo read.
type rates struct {
	eta, beta1, beta2, beta, epsilon, damping float64
	every                                     int
}

// soapOracle is algorithm 3 of Vyas et al. 2024 for one block as it is printed: the first moment M stays in the original basis and
// is rotated for every update, the factors are means, bases are Q of Householder's QR. A side without a factor has I for its basis.
type soapOracle struct {
	w, m, v     *mat.Dense
	left, right sideOracle
}

// sideOracle is a factor with its basis.
type sideOracle struct {
	there bool
	f, q  *mat.Dense
}

func newSide(d, most int) sideOracle {
	return sideOracle{there: d > 1 && d <= most, f: mat.NewDense(d, d, nil), q: identity(d)}
}

func newSOAPOracle(w *mat.Dense, side int) *soapOracle {
	m, n := w.Dims()
	return &soapOracle{w: w, m: mat.NewDense(m, n, nil), v: mat.NewDense(m, n, nil), left: newSide(m, side), right: newSide(n, side)}
}

func (o *soapOracle) absorb(g *mat.Dense, beta float64) {
	o.left.f = combined(beta, o.left.f, 1-beta, mul(g, g.T()))
	o.right.f = combined(beta, o.right.f, 1-beta, mul(g.T(), g))
}

// begin takes the first gradient in. Bases are those that the method has chosen, as its first factors may have directions without
// curvature, in which any basis is as good; they must be eigenvectors.
func (o *soapOracle) begin(t *testing.T, g *mat.Dense, r *rates, chosen factors) {
	t.Helper()
	o.absorb(g, r.beta)
	o.left.begin(t, chosen.L)
	o.right.begin(t, chosen.R)
}

func (o *sideOracle) begin(t *testing.T, chosen *factor) {
	t.Helper()
	if o.there != (chosen != nil) {
		t.Fatalf("a factor: %v, want %v", chosen != nil, o.there)
	}
	if !o.there {
		return
	}
	o.q = basisIn(chosen)
	values, _ := eigen(o.f)
	d := len(values)
	if off := distance(mul(o.q.T(), o.q), identity(d)); !(off <= 1e-13) {
		t.Fatalf("the first basis is orthonormal to %.1e", off)
	}
	if off := distance(mul(o.q.T(), o.f, o.q), mat.NewDiagDense(d, values)); !(off <= 1e-13*values[0]) {
		t.Fatalf("the first basis leaves %.1e beside the eigenvalues", off)
	}
}

// update is update number k, the first gradient being number 1. What the method has chosen counts as in begin.
func (o *soapOracle) update(t *testing.T, g *mat.Dense, k int, r *rates, chosen factors) {
	t.Helper()
	in := mul(o.left.q.T(), g, o.right.q)
	o.m = combined(r.beta1, o.m, 1-r.beta1, g)
	m := mul(o.left.q.T(), o.m, o.right.q)
	o.v.Apply(func(i, j int, v float64) float64 { return r.beta2*v + (1-r.beta2)*in.At(i, j)*in.At(i, j) }, o.v)
	n := mat.DenseCopyOf(m)
	n.Apply(func(i, j int, m float64) float64 {
		mHat, vHat := m/(1-math.Pow(r.beta1, float64(k-1))), o.v.At(i, j)/(1-math.Pow(r.beta2, float64(k-1)))
		return mHat / (math.Sqrt(vHat) + r.epsilon)
	}, n)
	o.w = combined(1, o.w, -r.eta, mul(o.left.q, n, o.right.q.T()))
	o.absorb(g, r.beta)
	if k%r.every != 0 {
		return
	}
	rows, cols := o.v.Dims()
	v := mat.DenseCopyOf(o.v)
	leftOrder, rightOrder := o.left.turn(t, chosen.L), o.right.turn(t, chosen.R)
	for i := range rows {
		for j := range cols {
			o.v.Set(i, j, v.At(leftOrder[i], rightOrder[j]))
		}
	}
}

// turn is a step of orthogonal iteration. Where FQ has a null space, Q's last columns are a matter of choice.
func (o *sideOracle) turn(t *testing.T, chosen *factor) (order []int) {
	t.Helper()
	if !o.there {
		d, _ := o.f.Dims()
		for i := range d {
			order = append(order, i)
		}
		return order
	}
	fq, order, _ := turnedColumns(o.f, o.q)
	if o.q = qrOf(fq); mat.Cond(fq, 2) > 1e8 {
		o.q = basisIn(chosen)
		d := len(order)
		if off := distance(mul(o.q.T(), o.q), identity(d)); !(off <= 1e-13) {
			t.Fatalf("a basis is orthonormal to %.1e", off)
		}
		r := mul(o.q.T(), fq)
		for j := range d {
			for i := j + 1; i < d; i++ {
				if !(math.Abs(r.At(i, j)) <= 1e-12*mat.Norm(fq.ColView(j), 2)) {
					t.Fatalf("QᵀFQ₀ has %.1e in row %d of column %d", r.At(i, j), i, j)
				}
			}
		}
	}
	return order
}

// adamOracle is Adam on single numbers (Kingma & Ba 2015, algorithm 1).
type adamOracle struct{ w, m, v []float64 }

func newAdamOracle(w []float64) *adamOracle {
	return &adamOracle{slices.Clone(w), make([]float64, len(w)), make([]float64, len(w))}
}

func (o *adamOracle) update(g []float64, k int, r *rates) {
	for i, g := range g {
		o.m[i] = r.beta1*o.m[i] + (1-r.beta1)*g
		o.v[i] = r.beta2*o.v[i] + (1-r.beta2)*g*g
		mHat, vHat := o.m[i]/(1-math.Pow(r.beta1, float64(k))), o.v[i]/(1-math.Pow(r.beta2, float64(k)))
		o.w[i] -= r.eta * mHat / (math.Sqrt(vHat) + r.epsilon)
	}
}

// gradientsOf returns gradients of n numbers of many sizes, which change from one to the next by more than their noise.
func gradientsOf(n, count int, seed uint64) (all [][]float64) {
	rng := newRand(seed)
	scale := make([]float64, n)
	for i := range scale {
		scale[i] = math.Exp(1.5 * rng.NormFloat64())
	}
	g := normals(rng, n)
	for range count {
		next := make([]float64, n)
		for i := range g {
			g[i] = 0.7*g[i] + rng.NormFloat64()
			next[i] = scale[i] * g[i]
		}
		all = append(all, next)
	}
	return all
}

// soapOf returns SOAP's update in a method.
func soapOf(m optim.Method) *soap { return m.(*minibatch.Method).Update.(*soap) }

// TestSOAPAgainstItsFormulas: weights are those of the paper's algorithm, update by update, with every bound on sides.
func TestSOAPAgainstItsFormulas(t *testing.T) {
	for _, every := range []int{1, 3, 10} {
		for _, side := range []int{1, 3, 4, 512} {
			t.Run(fmt.Sprintf("every %d, sides to %d", every, side), func(t *testing.T) {
				matrices, n := several()
				o := &given{n: n, matrices: matrices, gradients: gradientsOf(n, 64, 7)}
				m, settings := method(t, "soap", "batch", "0", "every", fmt.Sprint(every), "side", fmt.Sprint(side))
				r := &rates{eta: 0.01, beta1: 0.95, beta2: 0.95, beta: 0.95, epsilon: 1e-8, every: every}
				s := &optim.State{Objective: o, W: normals(newRand(8), n), Settings: settings}
				before, rest := slices.Clone(s.W), newAdamOracle(s.W)
				in := inBlocks(matrices, n)
				var blocks []*soapOracle
				for _, b := range matrices {
					blocks = append(blocks, newSOAPOracle(blockIn(b, s.W), side))
				}
				for k, g := range o.gradients {
					r.eta = 0.01 + 0.001*float64(k%5)
					settings.Set("rate", r.eta)
					step(t, m, s)
					if k == 0 {
						if !slices.Equal(s.W, before) {
							t.Fatal("the first batch moves weights")
						}
						for i, b := range matrices {
							blocks[i].begin(t, blockIn(b, g), r, soapOf(m).Moves.Factors[i])
						}
						continue
					}
					rest.update(g, k, r)
					want := slices.Clone(rest.w)
					for i, b := range matrices {
						blocks[i].update(t, blockIn(b, g), k+1, r, soapOf(m).Moves.Factors[i])
						put(b, want, blocks[i].w)
					}
					for i, w := range want {
						if tolerance := 1e-9; !(math.Abs(s.W[i]-w) <= tolerance) {
							t.Fatalf("update %d: weight %d is %.12g, want %.12g (in a block: %v)", k+1, i, s.W[i], w, in[i])
						}
					}
				}
			})
		}
	}
}

// squares are matrices whose first gradients are of full rank on both sides, so that no basis is a matter of choice.
func squares() (all []optim.Matrix, n int) {
	return inOrder(optim.Matrix{Rows: 4, Cols: 4}, optim.Matrix{Rows: 3, Cols: 2, Biased: true}, optim.Matrix{Rows: 5, Cols: 5})
}

// TestSOAPTellsItsFactors: values are the mean factors' along the vectors when the bases were last made, in descending order.
func TestSOAPTellsItsFactors(t *testing.T) {
	const beta = 0.8
	matrices, n := several()
	o := &given{n: n, matrices: matrices, gradients: gradientsOf(n, 20, 3)}
	m, settings := method(t, "soap", "batch", "0", "side", "4", "every", "6", "factor-decay", fmt.Sprint(beta))
	s := &optim.State{Objective: o, W: make([]float64, n), Settings: settings}
	means := make([][2]*mat.Dense, len(matrices))
	refreshed := make([][2][]float64, len(matrices))
	bases := make([][2]*mat.Dense, len(matrices))
	for k, g := range o.gradients {
		made := k == 0 || (k+1)%6 == 0
		for i, b := range matrices {
			x := blockIn(b, g)
			for side, moment := range []*mat.Dense{mul(x, x.T()), mul(x.T(), x)} {
				if means[i][side] == nil {
					means[i][side] = combined(0, moment, 0, moment)
				}
				means[i][side] = combined(beta, means[i][side], 1-beta, moment)
			}
		}
		if k > 0 && made {
			for i, f := range soapOf(m).Moves.Factors {
				for side, f := range []*factor{f.L, f.R} {
					if f != nil {
						bases[i][side] = basisIn(f)
					}
				}
			}
		}
		r := step(t, m, s)
		if len(r.Preconditioner.Factors) != 2*len(matrices) {
			t.Fatalf("%d factors of %d blocks", len(r.Preconditioner.Factors), len(matrices))
		}
		if want := map[bool]int{true: 1}[made]; r.Preconditioner.Refreshes != want {
			t.Errorf("update %d: %d refreshes, want %d", k+1, r.Preconditioner.Refreshes, want)
		}
		for i, b := range matrices {
			for side := range 2 {
				f := r.Preconditioner.Factors[2*i+side]
				d, _ := means[i][side].Dims()
				if f.To != b.To || f.From != b.From || f.Outputs != (side == 0) || f.Size != d || !math.IsNaN(f.Damping) {
					t.Errorf("update %d: factor %+v of %+v", k+1, f, b)
				}
				if d == 1 || d > 4 {
					if f.Values != nil {
						t.Errorf("update %d: values of a factor of %d rows", k+1, d)
					}
					continue
				}
				if made {
					mean := combined(1/(1-math.Pow(beta, float64(k+1))), means[i][side], 0, means[i][side])
					want, _ := eigen(mean)
					if k > 0 {
						along := mul(bases[i][side].T(), mean, bases[i][side])
						for j := range want {
							want[j] = along.At(j, j)
						}
						slices.SortFunc(want, func(a, b float64) int { return int(math.Copysign(1, b-a)) })
					}
					refreshed[i][side] = want
				}
				if far := apart(f.Values, refreshed[i][side]); !(far <= 1e-12*largest(refreshed[i][side])) {
					t.Fatalf("update %d: values %v, want %v as of the last refresh", k+1, f.Values, refreshed[i][side])
				}
			}
		}
	}
}
