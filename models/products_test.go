package models

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// TestHyperDual holds loss, gradient, Hd, the Gauss–Newton matrix and its diagonal against hyper-dual numbers, for graphs
// and for mixtures with their gates.
func TestHyperDual(t *testing.T) {
	for seed := range uint64(120) {
		p := randomProblem(t, seed, 1+int(37*seed%97), true) // more than a block of rows, too
		t.Run(fmt.Sprintf("graph %d %s", seed, describe(p.n)), func(t *testing.T) { checkProducts(t, p) })
	}
	for seed := range uint64(80) {
		p := randomMixture(t, seed, []int{1, 2, 7, 10}[seed%4], false)
		if seed%5 == 0 {
			clear(p.d[p.n.ExpertDim():]) // gates that stay
		}
		t.Run(fmt.Sprintf("mixture %d %s", seed, describe(p.n)), func(t *testing.T) { checkProducts(t, p) })
	}
}

func checkProducts(t *testing.T, p problem) {
	t.Helper()
	tolerance, n, want := 1e-11, p.n, hyperAll(p)
	if n.net.Mixture != nil {
		tolerance = 1e-10
	}
	l := n.Linearize(p.w, p.x, p.t)
	dst := make([]float64, n.Dim())
	wantNear(t, "loss", []float64{l.Loss()}, []float64{want.loss}, tolerance)
	l.GradientTo(dst)
	wantNear(t, "gradient", dst, want.gradient, tolerance)
	l.HessianTo(dst, p.d)
	wantNear(t, "Hd", dst, want.hd, tolerance)
	l.GaussNewtonTo(dst, p.d)
	wantNear(t, "Gd", dst, times(want.g, p.d), tolerance)
	assembled := symmetric(t, assemble(n.Dim(), l.GaussNewtonTo))
	for i := range n.Dim() {
		wantNear(t, fmt.Sprintf("column %d of G", i), mat.Col(nil, i, assembled), mat.Col(nil, i, want.g), tolerance)
	}
	l.GaussNewtonDiagTo(dst)
	wantNear(t, "diagonal against e_jᵀGe_j", dst, diagonal(assembled), 1e-12)
	wantNear(t, "diagonal", dst, diagonal(want.g), tolerance)
	wantSemidefinite(t, assembled)
}

func describe(n *Network) string {
	a := n.Architecture()
	text := fmt.Sprint(a.Inputs)
	for _, l := range a.Layers {
		text += fmt.Sprintf("-%d%v", l.Nodes, l.Activation)
	}
	return text + " " + a.Loss.String()
}

func diagonal(m mat.Symmetric) []float64 {
	d := make([]float64, m.SymmetricDim())
	for i := range d {
		d[i] = m.At(i, i)
	}
	return d
}

func wantSemidefinite(t *testing.T, m *mat.SymDense) {
	t.Helper()
	var eigen mat.EigenSym
	if !eigen.Factorize(m, false) {
		t.Fatal("no eigenvalues")
	}
	values := eigen.Values(nil)
	if least, maxRows := values[0], values[len(values)-1]; least < -1e-13*math.Max(1, maxRows) {
		t.Errorf("eigenvalue %g below 0", least)
	}
}

// TestCentralDifferences: the gradient against differences of the loss, and Hd against differences of
// the gradient; halving the step must quarter the distance.
func TestCentralDifferences(t *testing.T) {
	var problems []problem
	for seed := range uint64(20) {
		problems = append(problems, randomProblem(t, seed, 5+int(seed%3)*40, false))
	}
	for seed := range uint64(10) {
		problems = append(problems, randomMixture(t, seed, 3+int(seed%3)*40, true))
	}
	wide := Chain(5, []int{70, 210}, 3, Tanh, Softmax, CrossEntropy, SkipAll)
	problems = append(problems, randomData(t, wide, rand.New(rand.NewPCG(5, 6)), 75))
	for i, p := range problems {
		n := p.n
		if i == len(problems)-1 {
			floats.Scale(0.2, p.w)
			floats.Scale(0.1, p.d)
		}
		l := n.Linearize(p.w, p.x, p.t)
		gradient, hd := make([]float64, n.Dim()), make([]float64, n.Dim())
		l.GradientTo(gradient)
		l.HessianTo(hd, p.d)
		moved := n.Bind(p.x, p.t, Options{})
		plus, minus := make([]float64, n.Dim()), make([]float64, n.Dim())
		w := make([]float64, n.Dim())
		slope := floats.Dot(gradient, p.d)
		distances := func(h float64) (loss, gradient float64) {
			floats.AddScaledTo(w, p.w, h, p.d)
			moved.Update(w)
			e := moved.Loss()
			moved.GradientTo(plus)
			floats.AddScaledTo(w, p.w, -h, p.d)
			moved.Update(w)
			e -= moved.Loss()
			moved.GradientTo(minus)
			floats.Sub(plus, minus)
			floats.Scale(1/(2*h), plus)
			return math.Abs(e/(2*h) - slope), floats.Distance(plus, hd, 2)
		}
		const h = 1e-3
		e1, g1 := distances(h)
		e2, g2 := distances(h / 2)
		for _, c := range []struct {
			what      string
			far, near float64
		}{{"loss", e1, e2}, {"gradient", g1, g2}} {
			if c.far < 1e-8 {
				continue // as good as exact: no slope to see above rounding
			}
			if order := math.Log2(c.far / c.near); !(order > 1.9 && order < 2.1) {
				t.Errorf("problem %d, %s: distance of the %s falls with order %.3f (%g, %g), expected 2",
					i, describe(n), c.what, order, c.far, c.near)
			}
		}
		if g1 > 0.1*(1+floats.Norm(hd, 2)) {
			t.Errorf("problem %d, %s: Hd is off by %g", i, describe(n), g1)
		}
	}
}

// TestCost counts the multiplications of every product.
func TestCost(t *testing.T) {
	const rows = 138
	for seed := range uint64(50) {
		p := randomProblem(t, seed, rows, true)
		if seed >= 40 {
			p = randomMixture(t, seed, rows, false)
		}
		n, cost := p.n, p.n.Cost()
		l := n.Linearize(p.w, p.x, p.t)
		dst := make([]float64, n.Dim())
		l.HessianTo(dst, p.d) // so that the next Update keeps its passes
		for _, c := range []struct {
			what string
			run  func()
			want float64
		}{
			{"loss", func() { l.EvaluateAt(p.w) }, cost.Loss},
			{"gradient", func() { l.Update(p.w); l.GradientTo(dst) }, cost.Gradient},
			{"Hessian", func() { l.HessianTo(dst, p.d) }, cost.Hessian},
			{"Gauss–Newton", func() { l.GaussNewtonTo(dst, p.d) }, cost.GaussNewton},
			{"diagonal", func() { l.GaussNewtonDiagTo(dst) }, cost.Diagonal},
		} {
			if got := multiplications(l, c.run) / rows; got != c.want {
				t.Errorf("%s: %s takes %g multiplications a row, Cost says %g", describe(n), c.what, got, c.want)
			}
		}
	}
}

// multiplications returns how many the products of run take.
func multiplications(l *Linearization, run func()) float64 {
	for _, s := range l.computation.(*tapes[float64]).scratches {
		s.Multiplications = 0
	}
	run()
	count := 0
	for _, s := range l.computation.(*tapes[float64]).scratches {
		count += s.Multiplications
	}
	return float64(count)
}
