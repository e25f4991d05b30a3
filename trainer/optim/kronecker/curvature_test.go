package kronecker

import (
	"errors"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"newtop/trainer/optim"
	"newtop/trainer/optim/internal/optimtest"
)

// curvatureOracle is the damped curvature of all blocks as one matrix for each: S ⊗ A written out and inverted.
type curvatureOracle struct {
	matrices []optim.Matrix
	side     int
	a, s     []*mat.Dense // running means
	updates  int

	inverses []*mat.Dense
	gamma    float64
}

func newCurvatureOracle(matrices []optim.Matrix, side int) *curvatureOracle {
	o := &curvatureOracle{matrices: matrices, side: side}
	for _, m := range matrices {
		o.a, o.s = append(o.a, mat.NewDense(matCols(m), matCols(m), nil)), append(o.s, mat.NewDense(m.Rows, m.Rows, nil))
		o.inverses = append(o.inverses, nil)
	}
	return o
}

// update takes factors in: of k of them the plain mean, as long as 1 − 1/k is less than the decay.
func (o *curvatureOracle) update(factors []optim.Factors, decay float64) {
	o.updates++
	share := min(1-1/float64(o.updates), decay)
	for i, f := range factors {
		a, s := o.a[i], o.s[i]
		n, _ := a.Dims()
		m, _ := s.Dims()
		o.a[i] = combined(share, a, 1-share, mat.NewDense(n, n, f.Inputs))
		o.s[i] = combined(share, s, 1-share, mat.NewDense(m, m, f.Outputs))
	}
}

// whole returns a factor as it counts: of a long side the mean eigenvalue times I.
func (o *curvatureOracle) whole(f *mat.Dense) *mat.Dense {
	if d, _ := f.Dims(); d > o.side {
		return combined(mat.Trace(f)/float64(d), identity(d), 0, f)
	}
	return f
}

func (o *curvatureOracle) invert(gamma float64) {
	o.gamma = gamma
	for i := range o.matrices {
		a, s := o.whole(o.a[i]), o.whole(o.s[i])
		n, _ := a.Dims()
		m, _ := s.Dims()
		pi := 1.0
		if ta, ts := mat.Trace(a)/float64(n), mat.Trace(s)/float64(m); ta > 0 && ts > 0 {
			pi = math.Sqrt(ta / ts)
		}
		var product, inverse mat.Dense
		product.Kronecker(combined(1, s, math.Sqrt(gamma)/pi, identity(m)), combined(1, a, math.Sqrt(gamma)*pi, identity(n)))
		if err := inverse.Inverse(&product); err != nil {
			panic(err)
		}
		o.inverses[i] = &inverse
	}
}

// solve returns the inverse times r: of a block its rows one after the other, of what is in none over the mean eigenvalue of all.
func (o *curvatureOracle) solve(r []float64) []float64 {
	out := make([]float64, len(r))
	trace, count := 0.0, 0
	for i, m := range o.matrices {
		x := blockIn(m, r)
		rows, cols := x.Dims()
		var y mat.VecDense
		y.MulVec(o.inverses[i], mat.NewVecDense(rows*cols, x.RawMatrix().Data))
		put(m, out, mat.NewDense(rows, cols, y.RawVector().Data))
		var product mat.Dense
		product.Kronecker(o.s[i], o.a[i])
		trace, count = trace+mat.Trace(&product), count+rows*cols
	}
	for i, in := range inBlocks(o.matrices, len(r)) {
		if !in {
			out[i] = r[i] / (trace/float64(count) + o.gamma)
		}
	}
	return out
}

// TestCurvatureAgainstDense: solves are by the damped inverse of S ⊗ A, with weights row by row, for factors that are running means
// and any bound on sides.
func TestCurvatureAgainstDense(t *testing.T) {
	matrices, n := several()
	for _, side := range []int{0, 1, 3, 4, 512} {
		for _, decay := range []float64{0.5, 0.95} {
			rng := newRand(uint64(side))
			o := &given{n: n, matrices: matrices}
			for range 30 {
				o.factors = append(o.factors, factorsOf(matrices, rng))
			}
			c, want := NewCurvature(o, n, side), newCurvatureOracle(matrices, side)
			for k, f := range o.factors {
				c.Update(nil, []int{k}, decay, nil)
				want.update(f, decay)
				if k%5 != 0 {
					continue
				}
				gamma := math.Pow(10, float64(k)/5-4)
				s := &optim.State{Run: inAnyOrder}
				if _, err := c.Invert(s, gamma); err != nil {
					t.Fatal(err)
				}
				want.invert(gamma)
				r, got := normals(rng, n), normals(rng, n)
				c.SolveTo(s, got, r)
				if far, solution := apart(got, want.solve(r)), want.solve(r); !(far <= 1e-11*largest(solution)) {
					t.Fatalf("sides to %d, decay %g, update %d, γ = %g: %.1e off of %.1e", side, decay, k+1, gamma, far, largest(solution))
				}
				c.Root = true // twice that is the inverse
				once := make([]float64, n)
				if _, err := c.Invert(s, gamma); err != nil {
					t.Fatal(err)
				}
				c.SolveTo(s, once, r)
				if c.SolveTo(s, got, once); !(apart(got, want.solve(r)) <= 1e-11*largest(got)) {
					t.Fatalf("sides to %d, decay %g, update %d, γ = %g: the root's square is %.1e off", side, decay, k+1, gamma, apart(got, want.solve(r)))
				}
				c.Root = false
			}
			if !slices.EqualFunc(o.factorRows, o.factors, func(rows []int, f []optim.Factors) bool { return len(rows) == 1 }) {
				t.Errorf("factors of rows %v", o.factorRows)
			}
		}
	}
}

// TestDiagonalFactors: a table has one for its symbols, whatever the bound on sides; γ alone is added to that of a row of numbers by
// themselves. SOAP has no basis of a table's symbols.
func TestDiagonalFactors(t *testing.T) {
	matrices, n := inOrder(optim.Matrix{Rows: 40, Cols: 3, DiagonalOutputs: true}, optim.Matrix{Rows: 1, Cols: 4, DiagonalInputs: true})
	rng, gamma := newRand(1), 0.09
	a := spd(rng, 3)
	often, squares, r, got := make([]float64, 40), []float64{0, 1, 2, 7}, normals(rng, n), make([]float64, n)
	for i := range often {
		often[i] = float64(i) / 780
	}
	o := &given{n: n, matrices: matrices, factors: [][]optim.Factors{{
		{Inputs: a.RawMatrix().Data, Outputs: often}, {Inputs: squares, Outputs: []float64{1}},
	}}}
	c := NewCurvature(o, n, 16)
	c.Update(nil, nil, 0.95, nil)
	if _, err := c.Invert(&optim.State{}, gamma); err != nil {
		t.Fatal(err)
	}
	c.SolveTo(&optim.State{Run: inAnyOrder}, got, r)
	pi := math.Sqrt(mat.Trace(a) / 3 / (1. / 40))
	var inverse mat.Dense
	if err := inverse.Inverse(combined(1, a, pi*math.Sqrt(gamma), identity(3))); err != nil {
		t.Fatal(err)
	}
	want := make([]float64, n)
	for i, f := range often {
		mat.NewVecDense(3, want[3*i:3*i+3]).MulVec(&inverse, mat.NewVecDense(3, r[3*i:3*i+3]))
		for j := range 3 {
			want[3*i+j] /= f + math.Sqrt(gamma)/pi
		}
	}
	for i, v := range squares {
		want[120+i] = r[120+i] / (v + gamma)
	}
	if far := apart(got, want); !(far <= 1e-12*largest(want)) {
		t.Errorf("%.1e off of %.1e", far, largest(want))
	}
	c.Root = true
	if _, err := c.Invert(&optim.State{}, gamma); err != nil {
		t.Fatal(err)
	}
	c.SolveTo(&optim.State{}, got, r)
	if c.SolveTo(&optim.State{}, got, slices.Clone(got)); !(apart(got, want) <= 1e-12*largest(want)) {
		t.Errorf("the root's square is %.1e off", apart(got, want))
	}
	told := c.Report().Factors
	if v := told[0].Values; len(v) != 16 || v[0] != 39./780 || v[15] != 0 || told[3].Damping != gamma {
		t.Errorf("told %v and a damping of %v", v, told[3].Damping)
	}
	if back, err := RestoreCurvature(&c.Factors, o, n); err != nil || len(back.blocks) != 2 {
		t.Errorf("restored: %v", err)
	}
	if f := newMoments(&optim.State{Objective: o, W: r}, 512).Factors[0]; f.L != nil || f.R == nil {
		t.Errorf("SOAP has the factors %v", f)
	}
}

// TestOrderOfTheProduct: over one row, with the mean over classes as the model has them, S ⊗ A is the Gauss–Newton matrix of each
// layer in the order in which the flat vector has its weights and, behind them, its biases.
func TestOrderOfTheProduct(t *testing.T) {
	net, w := optimtest.NewNet(3, 4, 3, 1, 1)
	g := net.Matrix(w)
	p := probabilities(net, w)
	matrices := net.Matrices()
	for i, m := range matrices {
		var s, product mat.Dense
		var a *mat.Dense
		s.CloneFrom(mat.NewDense(m.Rows, m.Rows, nil))
		for class, p := range p {
			f := net.FactorsOf(w, []int{0}, []int{class})[i]
			s.Add(&s, combined(p, mat.NewDense(m.Rows, m.Rows, f.Outputs), 0, &s))
			a = mat.NewDense(m.Cols+1, m.Cols+1, f.Inputs)
		}
		product.Kronecker(&s, a)
		// The flat numbers of the block's, row by row with the bias behind each row.
		var at []int
		for row := range m.Rows {
			for col := range m.Cols {
				at = append(at, m.Offset+row*m.Cols+col)
			}
			at = append(at, m.Offset+m.Rows*m.Cols+row)
		}
		for j, u := range at {
			for k, v := range at {
				if math.Abs(product.At(j, k)-g.At(u, v)) > 1e-15 {
					t.Fatalf("layer %d: entry %d, %d is %g, want %g", i+1, j, k, product.At(j, k), g.At(u, v))
				}
			}
		}
	}
}

// probabilities are those of the classes of row 0, as the derivatives of its loss by the outputs' biases tell them.
func probabilities(net *optimtest.Net, w []float64) (p []float64) {
	g := make([]float64, net.Dim())
	net.BatchGradientTo(g, w, []int{0})
	p = slices.Clone(g[net.Dim()-net.Classes:])
	p[net.Class[0]]++
	return p
}

// TestNetGradient: the gradient that oracles are made of is that of the loss.
func TestNetGradient(t *testing.T) {
	net, w := optimtest.NewNet(3, 4, 3, 6, 2)
	g := make([]float64, net.Dim())
	net.GradientTo(g, w)
	for i := range w {
		const h = 1e-5
		plus, minus := slices.Clone(w), slices.Clone(w)
		plus[i] += h
		minus[i] -= h
		if want := (net.Loss(plus) - net.Loss(minus)) / (2 * h); math.Abs(g[i]-want) > 1e-9 {
			t.Errorf("derivative %d is %g, want %g", i, g[i], want)
		}
	}
}

// TestCurvatureOfNothing: factors that are 0 leave the damping, shared out evenly, and what is told is finite.
func TestCurvatureOfNothing(t *testing.T) {
	matrices, n := squares()
	for _, zero := range []string{"both", "outputs", "inputs"} {
		f := factorsOf(matrices, newRand(2))
		for i := range f {
			if zero != "inputs" {
				clear(f[i].Outputs)
			}
			if zero != "outputs" {
				clear(f[i].Inputs)
			}
		}
		c, want := NewCurvature(&given{n: n, matrices: matrices, factors: [][]optim.Factors{f}}, n, 512), newCurvatureOracle(matrices, 512)
		c.Update(nil, nil, 0.95, nil)
		want.update(f, 0.95)
		want.invert(0.04)
		if _, err := c.Invert(&optim.State{}, 0.04); err != nil {
			t.Fatal(err)
		}
		r, got := normals(newRand(3), n), make([]float64, n)
		c.SolveTo(&optim.State{}, got, r)
		if far := apart(got, want.solve(r)); !(far <= 1e-12*largest(got)) {
			t.Errorf("%s: %.1e off", zero, far)
		}
		if zero == "both" && math.Abs(got[0]-r[0]/0.04) > 1e-12*math.Abs(got[0]) {
			t.Errorf("r/γ is %g, want %g", got[0], r[0]/0.04)
		}
		for _, f := range c.Report().Factors {
			if !(f.Damping == 0.2) {
				t.Errorf("%s: a damping of %g is told, √γ = 0.2 is added", zero, f.Damping)
			}
		}
	}
}

// TestCurvatureTellsItsFactors: eigenvalues in descending order, all of them up to 32 rows and the ends beyond, and what the inverses
// have added to them.
func TestCurvatureTellsItsFactors(t *testing.T) {
	matrices := []optim.Matrix{{To: 1, From: 0, Rows: 32, Cols: 33, Biased: true}, {To: 2, From: 1, Rows: 1, Cols: 80, Offset: 32 * 34}}
	n := 32*34 + 80
	f := factorsOf(matrices, newRand(4))
	c := NewCurvature(&given{n: n, matrices: matrices, factors: [][]optim.Factors{f}}, n, 60)
	c.Update(nil, nil, 0.95, nil)
	if _, err := c.Invert(&optim.State{}, 0.01); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Invert(&optim.State{}, 0.02); err != nil {
		t.Fatal(err)
	}
	told := c.Report()
	if told.Refreshes != 2 || c.Report().Refreshes != 0 || len(told.Factors) != 4 {
		t.Errorf("%d refreshes, %d factors", told.Refreshes, len(told.Factors))
	}
	for i, got := range told.Factors {
		m := matrices[i/2]
		d, x := matCols(m), f[i/2].Inputs
		if i%2 == 0 {
			d, x = m.Rows, f[i/2].Outputs
		}
		want, _ := eigen(mat.NewDense(d, d, x))
		if got.To != m.To || got.From != m.From || got.Outputs != (i%2 == 0) || got.Size != d {
			t.Errorf("factor %d: %+v", i, got)
		}
		a, s := mat.NewDense(matCols(m), matCols(m), f[i/2].Inputs), mat.NewDense(m.Rows, m.Rows, f[i/2].Outputs)
		pi := math.Sqrt(mat.Trace(a) / float64(matCols(m)) / (mat.Trace(s) / float64(m.Rows)))
		damping := math.Sqrt(0.02) * pi
		if i%2 == 0 {
			damping = math.Sqrt(0.02) / pi
		}
		if math.Abs(got.Damping-damping) > 1e-13*damping {
			t.Errorf("factor %d: damping %g, want %g", i, got.Damping, damping)
		}
		switch {
		case d > 60:
			if got.Values != nil {
				t.Errorf("factor %d: %v of a multiple of I", i, got.Values)
			}
		case d <= 32:
			if far := apart(got.Values, want); !(far <= 1e-13) {
				t.Errorf("factor %d: eigenvalues are %.1e off", i, far)
			}
		default:
			k := len(got.Values)
			if k == 0 || k > 16 || !slices.IsSortedFunc(got.Values, func(a, b float64) int { return int(math.Copysign(1, b-a)) }) {
				t.Fatalf("factor %d: values %v", i, got.Values)
			}
			if math.Abs(got.Values[0]-want[0]) > 0.02*want[0] || math.Abs(got.Values[k-1]-want[d-1]) > 0.02*want[0] {
				t.Errorf("factor %d: from %g to %g, want %g to %g", i, got.Values[0], got.Values[k-1], want[0], want[d-1])
			}
		}
	}
}

// TestCurvatureThatIsNotFinite is an error, and no solution.
func TestCurvatureThatIsNotFinite(t *testing.T) {
	matrices, n := squares()
	for _, bad := range []float64{math.NaN(), math.Inf(1), -1} {
		for _, side := range []int{2, 512} {
			f := factorsOf(matrices, newRand(2))
			f[0].Inputs[0], f[0].Inputs[5] = bad, bad
			c := NewCurvature(&given{n: n, matrices: matrices, factors: [][]optim.Factors{f}}, n, side)
			c.Update(nil, nil, 0.95, nil)
			_, err := c.Invert(&optim.State{}, 0.01)
			var broken *optim.NotFiniteError
			if want := bad != -1 || side == 512; want != errors.As(err, &broken) {
				t.Errorf("%g, sides to %d: %v", bad, side, err)
			}
		}
	}
}

// TestRestoredCurvature goes on where the other one was; factors of other matrices are refused.
func TestRestoredCurvature(t *testing.T) {
	matrices, n := several()
	o := &given{n: n, matrices: matrices, factors: [][]optim.Factors{factorsOf(matrices, newRand(7))}}
	c := NewCurvature(o, n, 4)
	c.Update(nil, nil, 0.95, nil)
	if _, err := c.Invert(&optim.State{}, 0.1); err != nil {
		t.Fatal(err)
	}
	back, err := RestoreCurvature(&c.Factors, o, n)
	if err != nil {
		t.Fatal(err)
	}
	r, x, y := normals(newRand(8), n), make([]float64, n), make([]float64, n)
	c.SolveTo(&optim.State{}, x, r)
	back.SolveTo(&optim.State{}, y, r)
	if !slices.Equal(x, y) {
		t.Error("another solution")
	}
	if _, err := RestoreCurvature(nil, o, n); err == nil {
		t.Error("nothing was restored")
	}
	others := *o
	for what, change := range map[string]func(){
		"fewer blocks":     func() { others.matrices = matrices[1:] },
		"another size":     func() { others.matrices = slices.Clone(matrices); others.matrices[0].Biased = false },
		"other long sides": func() { others.matrices = slices.Clone(matrices); others.matrices[0].Cols = 3 },
		"a transposed side": func() {
			others.matrices = slices.Clone(matrices)
			others.matrices[1].Rows, others.matrices[1].Cols = 2, 4
		},
	} {
		if change(); func() bool { _, err := RestoreCurvature(&c.Factors, &others, n); return err == nil }() {
			t.Errorf("%s: factors were taken", what)
		}
	}
}
