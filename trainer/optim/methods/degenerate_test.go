package methods

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"newtop/internal/vector"
	"newtop/trainer/krylov"
	"newtop/trainer/optim"
	"newtop/trainer/optim/internal/optimtest"
)

// degenerate is a linear least-squares problem, E = mean of ½(a_pᵀw − t_p)² over rows p, which offers whatever
// a method may need, and breaks where it is told to.
type degenerate struct {
	a [][]float64
	t []float64

	spoil    func(w []float64, loss float64) float64 // nil: as it is
	gradient func(g []float64)
	product  func(dst []float64)
}

func (o *degenerate) Dim() int  { return len(o.a[0]) }
func (o *degenerate) Rows() int { return len(o.a) }

func (o *degenerate) all() []int {
	all := make([]int, o.Rows())
	for i := range all {
		all[i] = i
	}
	return all
}

func (o *degenerate) Loss(w []float64) float64 {
	return o.BatchGradientTo(make([]float64, len(w)), w, o.all())
}

func (o *degenerate) GradientTo(dst, w []float64) float64 { return o.BatchGradientTo(dst, w, o.all()) }

func (o *degenerate) BatchGradientTo(dst, w []float64, rows []int) float64 {
	clear(dst)
	loss := 0.0
	for _, p := range rows {
		r := -o.t[p]
		for i, x := range o.a[p] {
			r += x * w[i]
		}
		loss += r * r / 2 / float64(len(rows))
		for i, x := range o.a[p] {
			dst[i] += r * x / float64(len(rows))
		}
	}
	if o.gradient != nil {
		o.gradient(dst)
	}
	if o.spoil != nil {
		loss = o.spoil(w, loss)
	}
	return loss
}

func (o *degenerate) Hessian(w []float64) krylov.Operator         { return o.GaussNewton(w) }
func (o *degenerate) GaussNewtonRows(w []float64) krylov.Operator { return o.GaussNewton(w) }

func (o *degenerate) GaussNewton([]float64) krylov.Operator {
	return optimtest.Product{N: o.Dim(), Mul: func(dst, v []float64) {
		clear(dst)
		for _, a := range o.a {
			av := 0.0
			for i, x := range a {
				av += x * v[i] / float64(o.Rows())
			}
			for i, x := range a {
				dst[i] += x * av
			}
		}
		if o.product != nil {
			o.product(dst)
		}
	}}
}

func (o *degenerate) GaussNewtonDiagTo(dst, w []float64) {
	column, e := make([]float64, o.Dim()), make([]float64, o.Dim())
	for i := range dst {
		clear(e)
		e[i] = 1
		o.GaussNewton(w).MulVecTo(column, e)
		dst[i] = column[i]
	}
}

func (o *degenerate) GaussNewtonMatrixTo(dst *mat.SymDense, w []float64, _ func(part, parts int) error) error {
	column, e := make([]float64, o.Dim()), make([]float64, o.Dim())
	for i := range e {
		clear(e)
		e[i] = 1
		o.GaussNewton(w).MulVecTo(column, e)
		for j := range i + 1 {
			dst.SetSym(j, i, column[j])
		}
	}
	return nil
}

func (o *degenerate) Blocks(count int) []optim.Objective {
	parts := make([]optim.Objective, count)
	for i := range parts {
		part := *o
		part.a, part.t = nil, nil
		for p := i; p < o.Rows(); p += count {
			part.a, part.t = append(part.a, o.a[p]), append(part.t, o.t[p])
		}
		parts[i] = &part
	}
	return parts
}

func (o *degenerate) FactorMatrices() []optim.Matrix { return o.Matrices() }

func (o *degenerate) Matrices() []optim.Matrix {
	return []optim.Matrix{{To: 1, Rows: 1, Cols: o.Dim()}}
}

func (o *degenerate) BatchFactorsTo(factors []optim.Factors, _ []float64, rows []int, _ *rand.Rand) {
	n, f := o.Dim(), factors[0].Inputs
	clear(f)
	for _, p := range rows {
		for i, x := range o.a[p] {
			for j, y := range o.a[p] {
				f[i*n+j] += x * y / float64(len(rows))
			}
		}
	}
	factors[0].Outputs[0] = 1
	if o.product != nil {
		o.product(f)
	}
}

func (o *degenerate) BatchGradientSquaresTo(dst, squares, w []float64, rows []int) float64 {
	clear(squares)
	for _, p := range rows {
		o.BatchGradientTo(dst, w, []int{p})
		for i, g := range dst {
			squares[i] += g * g / float64(len(rows))
		}
	}
	return o.BatchGradientTo(dst, w, rows)
}

func (o *degenerate) Sample(_ int, rows []int) optim.Objective {
	part := *o
	part.a, part.t = nil, nil
	for _, p := range rows {
		part.a, part.t = append(part.a, o.a[p]), append(part.t, o.t[p])
	}
	return &part
}

var (
	_ optim.FactorObjective   = (*degenerate)(nil)
	_ optim.SquaresObjective  = (*degenerate)(nil)
	_ optim.SampledObjective  = (*degenerate)(nil)
	_ optim.HessianObjective  = (*degenerate)(nil)
	_ optim.JacobianObjective = (*degenerate)(nil)
	_ optim.RowObjective      = (*degenerate)(nil)
	_ optim.BlockObjective    = (*degenerate)(nil)
)

// ending is what a method has to do on a degenerate problem.
type ending uint8

const (
	mayGoOn   ending = iota // or end as stalled or not finite
	stalls                  // as stalled, in the first steps
	notFinite               // as not finite, in the first step
)

func TestDegenerate(t *testing.T) {
	nan := math.NaN()
	first := func(v float64) func([]float64) { return func(x []float64) { x[0] = v } }
	ordinary := func() *degenerate {
		return &degenerate{a: [][]float64{{1, 2}, {3, -1}, {0.5, 1}}, t: []float64{1, 2, 3}}
	}
	for _, test := range []struct {
		name string
		make func() *degenerate
		w    []float64
		want ending
	}{
		{"nothing wrong", ordinary, []float64{1, 1}, mayGoOn},
		{"a loss that is NaN", func() *degenerate {
			o := ordinary()
			o.spoil = func([]float64, float64) float64 { return nan }
			return o
		}, []float64{1, 1}, notFinite},
		{"an infinite loss", func() *degenerate {
			o := ordinary()
			o.spoil = func([]float64, float64) float64 { return math.Inf(1) }
			return o
		}, []float64{1, 1}, notFinite},
		{"a NaN in the gradient", func() *degenerate { o := ordinary(); o.gradient = first(nan); return o }, []float64{1, 1}, notFinite},
		{"an infinity in the gradient", func() *degenerate { o := ordinary(); o.gradient = first(math.Inf(-1)); return o }, []float64{1, 1}, notFinite},
		{"a weight that is NaN", ordinary, []float64{1, nan}, notFinite},
		{"a NaN in products", func() *degenerate { o := ordinary(); o.product = first(nan); return o }, []float64{1, 1}, mayGoOn},
		{"an infinity in products", func() *degenerate { o := ordinary(); o.product = first(math.Inf(1)); return o }, []float64{1, 1}, mayGoOn},
		{"products that vanish", func() *degenerate {
			o := ordinary()
			o.product = func(dst []float64) { clear(dst) }
			return o
		}, []float64{1, 1}, mayGoOn},
		{"negative curvature", func() *degenerate {
			o := ordinary()
			o.product = func(dst []float64) {
				for i := range dst {
					dst[i] = -dst[i]
				}
			}
			return o
		}, []float64{1, 1}, mayGoOn},
		{"a cliff", func() *degenerate {
			o := ordinary()
			o.spoil = func(w []float64, loss float64) float64 {
				if w[0] < 0.99 {
					return nan
				}
				return loss
			}
			return o
		}, []float64{1, 1}, mayGoOn},
		{"a gradient that is none of the loss", func() *degenerate {
			o := ordinary()
			o.gradient = func(g []float64) { g[0], g[1] = -g[0]-1, -g[1]-1 }
			return o
		}, []float64{1, 1}, mayGoOn},
		{"a weight that nothing feels", func() *degenerate {
			return &degenerate{a: [][]float64{{1, 0}, {3, 0}}, t: []float64{1, 2}}
		}, []float64{1, 1}, mayGoOn},
		{"one row", func() *degenerate { return &degenerate{a: [][]float64{{1, 2}}, t: []float64{5}} }, []float64{1, 1}, mayGoOn},
		{"one weight", func() *degenerate { return &degenerate{a: [][]float64{{1}, {2}}, t: []float64{5, 1}} }, []float64{1}, mayGoOn},
		{"a tiny scale", func() *degenerate {
			return &degenerate{a: [][]float64{{1e-170, 0}, {0, 1e-160}}, t: []float64{1, 1}}
		}, []float64{1, 1}, mayGoOn},
		{"a huge scale", func() *degenerate {
			return &degenerate{a: [][]float64{{1e150, 0}, {0, 1e140}}, t: []float64{1, 1}}
		}, []float64{1, 1}, mayGoOn},
		{"solved already", func() *degenerate {
			return &degenerate{a: [][]float64{{1, 2}, {3, -1}}, t: []float64{3, 2}}
		}, []float64{1, 1}, stalls},
		{"a constant function", func() *degenerate {
			return &degenerate{a: [][]float64{{0, 0}, {0, 0}}, t: []float64{1, 2}}
		}, []float64{1, 1}, stalls},
		{balanced, func() *degenerate { return &degenerate{a: [][]float64{{1}, {1}}, t: []float64{1, -1}} }, []float64{0}, stalls},
	} {
		for _, info := range All() {
			if optim.Offers(test.make(), info.Needs) != nil {
				continue
			}
			for _, set := range variants(info, test.make().Rows(), test.name == balanced) {
				endure(t, test.name, test.make(), test.w, test.want, info, set)
			}
		}
	}
	for _, info := range All() {
		if err := optim.Offers(ordinary(), info.Needs); err != nil {
			t.Logf("left out: %s, since %v", info.Name, err)
		}
	}
}

// balanced is the problem whose gradient vanishes over all rows together but over no part of them.
const balanced = "a zero gradient"

// variants are the settings that a method is tried with: as it comes and, where it can, by single rows, by all
// at once, and by blocks.
func variants(info *optim.Info, rows int, whole bool) [][]string {
	s := optim.NewSettings(info.Parameters)
	switch still := []string{"weight-decay", "0"}; { // weights that decay stand nowhere
	case s.Has("batch") && whole:
		return [][]string{append(still, "batch", "0")}
	case s.Has("batch"):
		return [][]string{still, {"weight-decay", "0", "batch", "0"}, {"weight-decay", "0", "batch", "1"}}
	case s.Has("blocks") && rows > 1 && !whole:
		return [][]string{nil, {"blocks", "2"}}
	}
	return [][]string{nil}
}

// endure lets a method loose on a degenerate problem and checks how it ends.
func endure(t *testing.T, problem string, o *degenerate, w []float64, want ending, info *optim.Info, set []string) {
	defer func() {
		if r := recover(); r != nil {
			t.Errorf("%s %v, %s: panic: %v", info.Name, set, problem, r)
		}
	}()
	m, settings := method(t, info.Name, set...)
	units := 0
	s := &optim.State{Objective: o, W: slices.Clone(w), Settings: settings, Rand: rand.New(rand.NewPCG(1, 2))}
	s.Monitor = func(optim.Inner) error {
		if units++; units > 100_000 {
			return context.DeadlineExceeded
		}
		return nil
	}
	before, steps := o.Loss(w), 0
	var err error
	for ; steps < 200 && err == nil; steps++ {
		_, err = m.Step(context.Background(), s)
		after := o.Loss(s.W)
		if info.Monotone && after > before {
			t.Errorf("%s %v, %s: step %d uphill from %.17g to %.17g", info.Name, set, problem, steps, before, after)
			return
		}
		before = after
	}
	var stalled *optim.StalledError
	var broken *optim.NotFiniteError
	ended := errors.As(err, &stalled) && stalled.Reason != "" || errors.As(err, &broken)
	switch {
	case err != nil && !ended:
		t.Errorf("%s %v, %s: %v after %d steps", info.Name, set, problem, err, steps)
	case want == stalls && stalled == nil:
		t.Errorf("%s %v, %s: %v after %d steps, want a stall", info.Name, set, problem, err, steps)
	case want == notFinite && (broken == nil || steps > 1):
		t.Errorf("%s %v, %s: %v after %d steps, want a number that is not finite", info.Name, set, problem, err, steps)
	case vector.Finite(vector.Norm(w)) && !vector.Finite(vector.Norm(s.W)):
		t.Errorf("%s %v, %s: left with %v", info.Name, set, problem, s.W)
	}
}
