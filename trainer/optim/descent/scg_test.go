package descent

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize/functions"

	"newtop/trainer/optim"
	"newtop/trainer/optim/internal/optimtest"
)

// quadratic returns E = ½wᵀHw − bᵀw for a random H with the given eigenvalues, its minimizer and a start.
func quadratic(eigenvalues []float64, seed uint64) (o *optimtest.Smooth, h *mat.SymDense, minimizer, start []float64) {
	n := len(eigenvalues)
	rng := rand.New(rand.NewPCG(seed, 1))
	a := mat.NewDense(n, n, nil)
	for i := range a.RawMatrix().Data {
		a.RawMatrix().Data[i] = rng.NormFloat64()
	}
	var qr mat.QR
	qr.Factorize(a)
	var q, hq mat.Dense
	qr.QTo(&q)
	hq.Mul(&q, mat.NewDiagDense(n, eigenvalues))
	hq.Mul(&hq, q.T())
	h = mat.NewSymDense(n, nil)
	minimizer, start = make([]float64, n), make([]float64, n)
	for i := range n {
		minimizer[i], start[i] = rng.NormFloat64(), rng.NormFloat64()
		for j := i; j < n; j++ {
			h.SetSym(i, j, hq.At(i, j))
		}
	}
	gradient := func(dst, x []float64) {
		d := mat.NewVecDense(n, nil)
		d.SubVec(mat.NewVecDense(n, x), mat.NewVecDense(n, minimizer))
		mat.NewVecDense(n, dst).MulVec(h, d)
	}
	o = &optimtest.Smooth{N: n, Df: gradient, Hess: func(dst *mat.SymDense, _ []float64) { dst.CopySym(h) }}
	o.F = func(x []float64) float64 {
		g := make([]float64, n)
		gradient(g, x)
		sum := 0.0
		for i := range g {
			sum += g[i] * (x[i] - minimizer[i]) / 2
		}
		return sum
	}
	return o, h, minimizer, start
}

// downhill steps until the method stalls, checking what one that never goes uphill promises.
func downhill(t *testing.T, o *optimtest.Smooth, x0 []float64, steps int, name string, set ...string) (*optim.State, int) {
	t.Helper()
	m, settings := method(t, name, set...)
	s := &optim.State{Objective: o, W: slices.Clone(x0), Settings: settings}
	before := o.Loss(x0)
	g := make([]float64, o.N)
	for k := range steps {
		w := slices.Clone(s.W)
		r, err := m.Step(context.Background(), s)
		if errors.Is(err, optim.ErrStalled) && slices.Equal(s.W, w) {
			return s, k
		}
		if err != nil {
			t.Fatalf("%s, step %d from %v: %v", name, k, w, err)
		}
		after := o.Loss(s.W)
		o.Df(g, s.W)
		switch {
		case !(after <= before):
			t.Fatalf("%s, step %d: uphill from %.17g to %.17g", name, k, before, after)
		case r.Accepted == slices.Equal(w, s.W):
			t.Fatalf("%s, step %d: accepted %v, moved %v", name, k, r.Accepted, !slices.Equal(w, s.W))
		case !s.Evaluated || s.Loss != after || r.Loss != after || !slices.Equal(s.Gradient, g):
			t.Fatalf("%s, step %d: loss %g and gradient %v left, %g reported, %g and %v found", name, k, s.Loss, s.Gradient, r.Loss, after, g)
		}
		before = after
	}
	return s, steps
}

func TestScaledConjugateGradientsOnMoreGarbowHillstrom(t *testing.T) {
	for _, name := range []string{"scg", "scg-fd"} {
		for _, p := range optimtest.MoreGarbowHillstrom() {
			for _, offset := range []float64{0, 1e8} {
				o := &optimtest.Smooth{N: len(p.X), F: p.F.Func, Df: p.F.Grad, Offset: offset}
				s, steps := downhill(t, o, p.X, 5000, name)
				tolerance := 1e-6*(1+p.Min) + 100*optim.Eps*offset
				if got := p.F.Func(s.W); got > p.Min+tolerance || steps == 5000 && got > 1e-20 {
					t.Errorf("%s, %s + %g: %.12g after %d steps, want %.12g", name, p.Name, offset, got, steps, p.Min)
				}
			}
		}
	}
}

// doubleWell is E = ¼x⁴ − ½x².
func doubleWell() *optimtest.Smooth {
	return &optimtest.Smooth{
		N: 1, F: func(x []float64) float64 { return x[0]*x[0]*x[0]*x[0]/4 - x[0]*x[0]/2 },
		Df:   func(dst, x []float64) { dst[0] = x[0]*x[0]*x[0] - x[0] },
		Hess: func(dst *mat.SymDense, x []float64) { dst.SetSym(0, 0, 3*x[0]*x[0]-1) },
	}
}

// TestNegativeCurvature: at x = 0.1, r = p = 0.099 and E” = −0.97, so that λ̄ = 2(10⁻⁶ + 0.969999) = 1.94,
// δ = 0.97p² and α = 1/0.97; E falls from −0.004975 to −0.019998…, and Δ = 0.0150…/(½·0.099²/0.97) ≥ ¾.
func TestNegativeCurvature(t *testing.T) {
	o := doubleWell()
	m, settings := method(t, "scg")
	s := &optim.State{Objective: o, W: []float64{0.1}, Settings: settings}
	r, err := m.Step(context.Background(), s)
	x := 0.1 + 0.099/0.97
	delta := (o.F([]float64{0.1}) - o.F([]float64{x})) / (0.099 * 0.099 / 0.97 / 2)
	for i, want := range []float64{1.94, 1 / 0.97, -0.97} {
		if math.Abs(r.Diagnostics[i].Value-want) > 1e-12 {
			t.Errorf("%+v, want %g", r.Diagnostics[i], want)
		}
	}
	if err != nil || !r.Accepted || math.Abs(s.W[0]-x) > 1e-15 || math.Abs(r.Rho-delta) > 1e-9 {
		t.Errorf("%+v, %v: at %g with Δ = %g, want %g and %g", r, err, s.W[0], r.Rho, x, delta)
	}
	if got := settings.Get("lambda"); math.Abs(got-1.94/4) > 1e-12 {
		t.Errorf("λ = %g", got)
	}
	for range 100 {
		if _, err = m.Step(context.Background(), s); err != nil {
			break
		}
	}
	if !errors.Is(err, optim.ErrStalled) || math.Abs(s.W[0]-1) > 1e-8 {
		t.Errorf("ended at %g, %v", s.W[0], err)
	}
}

// TestFailure: E = √(1 + x²) from 3 overshoots. The weights stay, no product is spent, λ grows by δ(1 − Δ)/p², and
// the next step is made with all of it.
func TestFailure(t *testing.T) {
	o := &optimtest.Smooth{
		N: 1, F: func(x []float64) float64 { return math.Hypot(1, x[0]) },
		Df:   func(dst, x []float64) { dst[0] = x[0] / math.Hypot(1, x[0]) },
		Hess: func(dst *mat.SymDense, x []float64) { dst.SetSym(0, 0, math.Pow(1+x[0]*x[0], -1.5)) },
	}
	m, settings := method(t, "scg", "lambda", "0.01")
	s := &optim.State{Objective: o, W: []float64{3}, Settings: settings}
	r, err := m.Step(context.Background(), s)
	g, h := 3/math.Sqrt(10), math.Pow(10, -1.5)+0.01
	comparison := 2 * h * (math.Sqrt(10) - math.Hypot(1, 3-g/h)) / (g * g)
	want := 0.01 + h*(1-comparison)
	if err != nil || r.Accepted || s.W[0] != 3 || math.Abs(r.Rho-comparison) > 1e-12 || math.Abs(settings.Get("lambda")-want) > 1e-12 {
		t.Fatalf("%+v, %v: at %g with λ = %g, want Δ = %g, λ = %g", r, err, s.W[0], settings.Get("lambda"), comparison, want)
	}
	products, gradients := o.Products, o.Gradients
	if r, err = m.Step(context.Background(), s); err != nil || o.Products != products || o.Gradients != gradients+1 {
		t.Errorf("%v, %d products, %d gradients", err, o.Products-products, o.Gradients-gradients)
	}
	if alpha := r.Diagnostics[1].Value; math.Abs(alpha-1/(h-0.01+want)) > 1e-12 {
		t.Errorf("α = %g, want %g", alpha, 1/(h-0.01+want))
	}
}

// TestGreatFailure: eˣ − x from −30 with a step of about 50 rises ten-million-fold, which would make λ as much
// larger; it grows a hundredfold.
func TestGreatFailure(t *testing.T) {
	o := &optimtest.Smooth{
		N: 1, F: func(x []float64) float64 { return math.Exp(x[0]) - x[0] },
		Df:   func(dst, x []float64) { dst[0] = math.Exp(x[0]) - 1 },
		Hess: func(dst *mat.SymDense, x []float64) { dst.SetSym(0, 0, math.Exp(x[0])) },
	}
	m, settings := method(t, "scg", "lambda", "0.02")
	s := &optim.State{Objective: o, W: []float64{-30}, Settings: settings}
	if r, err := m.Step(context.Background(), s); err != nil || r.Accepted || r.Rho > -1e7 || math.Abs(settings.Get("lambda")-2) > 1e-9 {
		t.Errorf("%+v, %v: λ = %g", r, err, settings.Get("lambda"))
	}
	if s, steps := downhill(t, o, []float64{-30}, 1000, "scg"); math.Abs(s.W[0]) > 1e-7 {
		t.Errorf("at %g after %d steps", s.W[0], steps)
	}
}

// TestDifferencesAgainstExact: the curvature that scg-fd sees is off by O(σ) until rounding takes over, as 1/σ.
func TestDifferencesAgainstExact(t *testing.T) {
	f := functions.ExtendedRosenbrock{}
	curvature := func(name string, set ...string) float64 {
		m, settings := method(t, name, set...)
		s := &optim.State{Objective: &optimtest.Smooth{N: 4, F: f.Func, Df: f.Grad}, W: []float64{-1.2, 1, 0.7, 2}, Settings: settings}
		r, err := m.Step(context.Background(), s)
		if err != nil {
			t.Fatal(err)
		}
		return r.Diagnostics[2].Value
	}
	h := mat.NewSymDense(4, nil) // central differences of an exact gradient are good to 1e-10
	const step = 1e-5
	x, plus, minus := []float64{-1.2, 1, 0.7, 2}, make([]float64, 4), make([]float64, 4)
	for i := range x {
		x[i] += step
		f.Grad(plus, x)
		x[i] -= 2 * step
		f.Grad(minus, x)
		x[i] += step
		for j := range i + 1 {
			h.SetSym(j, i, (plus[j]-minus[j])/(2*step))
		}
	}
	f.Grad(plus, x)
	p := mat.NewVecDense(4, plus)
	exact := mat.Inner(p, h, p) / mat.Dot(p, p)
	if got := curvature("scg"); math.Abs(got-exact) > 1e-6*math.Abs(exact) {
		t.Errorf("exact: %g, want %g", got, exact)
	}
	var off []float64
	for _, sigma := range []string{"1e-1", "1e-2", "1e-3", "1e-4", "1e-12", "1e-14"} {
		off = append(off, math.Abs(curvature("scg-fd", "sigma", sigma)-exact))
	}
	for i := range 3 {
		if ratio := off[i] / off[i+1]; ratio < 7 || ratio > 13 {
			t.Errorf("errors %.3g: the error does not fall with σ", off)
		}
	}
	if off[5] < 10*off[4] || off[4] < 10*off[3]/1e3 {
		t.Errorf("errors %.3g: rounding does not show", off)
	}
}

// TestScgFindsItsWayBack from where the loss is not finite: E = x − ln x is none for x ≤ 0.
func TestScgFindsItsWayBack(t *testing.T) {
	o := &optimtest.Smooth{
		N: 1, F: func(x []float64) float64 { return x[0] - math.Log(x[0]) },
		Df:   func(dst, x []float64) { dst[0] = 1 - 1/x[0] },
		Hess: func(dst *mat.SymDense, x []float64) { dst.SetSym(0, 0, 1/(x[0]*x[0])) },
	}
	for _, name := range []string{"scg", "scg-fd"} {
		m, settings := method(t, name)
		s := &optim.State{Objective: o, W: []float64{30}, Settings: settings}
		var err error
		failures := 0
		for k := 0; k < 500 && err == nil; k++ {
			var r optim.Report
			if r, err = m.Step(context.Background(), s); err == nil && math.IsNaN(r.Rho) {
				failures++
			}
		}
		if !errors.Is(err, optim.ErrStalled) || math.Abs(s.W[0]-1) > 1e-7 || failures == 0 {
			t.Errorf("%s: at %g after %d failures, %v", name, s.W[0], failures, err)
		}
	}
}

// TestScgStartsAgain with steepest descent when the weights are not those it left.
func TestScgStartsAgain(t *testing.T) {
	o, h, minimizer, start := quadratic([]float64{1, 2, 3, 5, 8}, 3)
	m, settings := method(t, "scg", "lambda", "1e-20")
	s := &optim.State{Objective: o, W: slices.Clone(start), Settings: settings}
	m.Step(context.Background(), s)
	m.Step(context.Background(), s)
	copy(s.W, start)
	s.Evaluated = false
	if _, err := m.Step(context.Background(), s); err != nil {
		t.Fatal(err)
	}
	n := len(start)
	g, hg := mat.NewVecDense(n, nil), mat.NewVecDense(n, nil)
	g.SubVec(mat.NewVecDense(n, start), mat.NewVecDense(n, minimizer))
	g.MulVec(h, g)
	hg.MulVec(h, g)
	alpha := mat.Dot(g, g) / mat.Dot(g, hg)
	for i, w := range s.W {
		if want := start[i] - alpha*g.AtVec(i); math.Abs(w-want) > 1e-12 {
			t.Errorf("weight %d: %g, want %g", i, w, want)
		}
	}
}

// TestScgInterrupted: nothing moves, and the product is not computed again.
func TestScgInterrupted(t *testing.T) {
	o, _, _, start := quadratic([]float64{1, 2, 3}, 5)
	m, settings := method(t, "scg")
	s := &optim.State{Objective: o, W: slices.Clone(start), Settings: settings}
	s.Monitor = func(optim.Inner) error { return optim.ErrInterrupted }
	for range 2 {
		if _, err := m.Step(context.Background(), s); !errors.Is(err, optim.ErrInterrupted) || !slices.Equal(s.W, start) || o.Products != 1 {
			t.Errorf("%v, %v, %d products", err, s.W, o.Products)
		}
	}
	s.Monitor = func(optim.Inner) error { return settings.Set("lambda", 7) }
	if _, err := m.Step(context.Background(), s); err != nil || settings.Get("lambda") != 7 || o.Products != 1 {
		t.Errorf("%v, λ = %g, %d products", err, settings.Get("lambda"), o.Products)
	}
}
