package hessianfree

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"newtop/trainer/optim"
	"newtop/trainer/optim/internal/optimtest"
	"newtop/trainer/optim/minibatch"
)

func method(t testing.TB, set ...string) (optim.Method, *optim.Settings) {
	t.Helper()
	set = append([]string{"preconditioner", "none", "iterations", "6", "damping", "0.03", "schedule", "constant"}, set...)
	return optimtest.Method(t, []*optim.Info{&HessianFree}, "hessian-free", set...)
}

// of returns the update in a method.
func of(m optim.Method) *hessianFree { return m.(*minibatch.Method).Update.(*hessianFree) }

func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }

// step does one epoch and ends the test where it fails.
func step(t testing.TB, m optim.Method, s *optim.State) optim.Report {
	t.Helper()
	r, err := m.Step(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	s.Epoch++
	return r
}

// problem is q(s) = gᵀs + ½sᵀ(G + λI)s of a net at some weights, dense: g over all rows of a batch, G over some of them.
type problem struct {
	g []float64
	b *mat.SymDense
}

func newProblem(net *optimtest.Net, w []float64, rows, some []int, lambda float64) *problem {
	p := &problem{g: make([]float64, len(w)), b: mat.NewSymDense(len(w), nil)}
	part(net, rows).GradientTo(p.g, w)
	m := part(net, some).Matrix(w)
	for i := range w {
		for j := i; j < len(w); j++ {
			p.b.SetSym(i, j, (m.At(i, j)+m.At(j, i))/2)
		}
		p.b.SetSym(i, i, p.b.At(i, i)+lambda)
	}
	return p
}

// part is a net of some rows, which keeps its own count.
func part(net *optimtest.Net, rows []int) *optimtest.Net {
	out := &optimtest.Net{In: net.In, Hidden: net.Hidden, Classes: net.Classes}
	for _, row := range rows {
		out.X, out.Class = append(out.X, net.X[row]), append(out.Class, net.Class[row])
	}
	return out
}

// solution returns −(G + λI)⁻¹g.
func (p *problem) solution() []float64 {
	var c mat.Cholesky
	if !c.Factorize(p.b) {
		panic("not definite")
	}
	var s mat.VecDense
	if err := c.SolveVecTo(&s, mat.NewVecDense(len(p.g), p.g)); err != nil {
		panic(err)
	}
	s.ScaleVec(-1, &s)
	return s.RawVector().Data
}

func (p *problem) times(s []float64) []float64 {
	var out mat.VecDense
	out.MulVec(p.b, mat.NewVecDense(len(s), s))
	return out.RawVector().Data
}

func (p *problem) q(s []float64) float64 { return floats.Dot(p.g, s) + floats.Dot(s, p.times(s))/2 }

// iterates are those of plain conjugate gradients from start on, after each of so many iterations (Hestenes & Stiefel 1952).
func (p *problem) iterates(start []float64, count int) (all [][]float64) {
	s, r := slices.Clone(start), make([]float64, len(start))
	for i, bs := range p.times(s) {
		r[i] = -p.g[i] - bs
	}
	d := slices.Clone(r)
	for range count {
		bd, rr := p.times(d), floats.Dot(r, r)
		eta := rr / floats.Dot(d, bd)
		floats.AddScaled(s, eta, d)
		floats.AddScaled(r, -eta, bd)
		floats.Scale(floats.Dot(r, r)/rr, d)
		floats.Add(d, r)
		all = append(all, slices.Clone(s))
	}
	return all
}

func first(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// far returns the largest difference of two vectors' entries.
func far(x, y []float64) float64 { return floats.Distance(x, y, math.Inf(1)) }

// refused returns how many steps of an epoch were refused.
func refused(t testing.TB, r optim.Report) float64 {
	return optimtest.Diagnostic(t, r, "steps_refused")
}
