// Package optimtest has what the tests of several rooms of optim share.
package optimtest

import (
	"math"
	"slices"
	"testing"

	"newtop/internal/vector"
	"newtop/trainer/krylov"
	"newtop/trainer/optim"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize/functions"
)

// Smooth is an objective given by a loss and its gradient, on purpose with the plainest curvature:
// the exact Hessian where Hess has it, central differences of the gradient where not. Its Gauss–Newton
// matrix is a stand-in, the identity.
type Smooth struct {
	N      int
	F      func(x []float64) float64
	Df     func(dst, x []float64)
	Hess   func(dst *mat.SymDense, x []float64)
	Offset float64 // added to f

	Losses, Gradients, Products, Diagonals int
}

func (o *Smooth) Dim() int { return o.N }

func (o *Smooth) Loss(w []float64) float64 { o.Losses++; return o.F(w) + o.Offset }

func (o *Smooth) GradientTo(dst, w []float64) float64 {
	o.Gradients++
	o.Df(dst, w)
	return o.F(w) + o.Offset
}

func (o *Smooth) GaussNewton(w []float64) krylov.Operator {
	return Product{o.N, func(dst, v []float64) { o.Products++; copy(dst, v) }}
}

func (o *Smooth) GaussNewtonDiagTo(dst, w []float64) {
	o.Diagonals++
	for i := range dst {
		dst[i] = 1
	}
}

func (o *Smooth) Hessian(w []float64) krylov.Operator {
	if o.Hess != nil {
		h := mat.NewSymDense(o.N, nil)
		o.Hess(h, w)
		return Product{o.N, func(dst, v []float64) {
			o.Products++
			mat.NewVecDense(o.N, dst).MulVec(h, mat.NewVecDense(o.N, v))
		}}
	}
	return Product{o.N, func(dst, v []float64) {
		o.Products++
		step := math.Cbrt(optim.Eps) * max(1, vector.Norm(w)) / vector.Norm(v)
		x, plus := make([]float64, o.N), make([]float64, o.N)
		for i := range x {
			x[i] = w[i] + step*v[i]
		}
		o.Df(plus, x)
		for i := range x {
			x[i] = w[i] - step*v[i]
		}
		o.Df(dst, x)
		for i := range dst {
			dst[i] = (plus[i] - dst[i]) / (2 * step)
		}
	}}
}

// Product is an operator that is a function.
type Product struct {
	N   int
	Mul func(dst, v []float64)
}

func (p Product) Dim() int                  { return p.N }
func (p Product) MulVecTo(dst, v []float64) { p.Mul(dst, v) }

// Method returns a new method of that name among several, and its settings with some of them set.
func Method(t testing.TB, among []*optim.Info, name string, set ...string) (optim.Method, *optim.Settings) {
	t.Helper()
	i := slices.IndexFunc(among, func(i *optim.Info) bool { return i.Name == name })
	if i < 0 {
		t.Fatalf("there is no %s here", name)
	}
	s := optim.NewSettings(among[i].Parameters)
	for i := 0; i < len(set); i += 2 {
		if err := s.SetText(set[i], set[i+1]); err != nil {
			t.Fatal(err)
		}
	}
	return among[i].New(), s
}

// Diagnostic returns the number of that key in a report.
func Diagnostic(t testing.TB, r optim.Report, key string) float64 {
	t.Helper()
	for _, d := range r.Diagnostics {
		if d.Key == key {
			return d.Value
		}
	}
	t.Fatalf("no diagnostic %q in %+v", key, r.Diagnostics)
	return 0
}

// Minimization is a function with its gradient, where to start and its least value.
type Minimization struct {
	Name string
	F    interface {
		Func([]float64) float64
		Grad(grad, x []float64)
	}
	X   []float64
	Min float64
}

// MoreGarbowHillstrom returns functions of their paper of 1981, as gonum has them.
func MoreGarbowHillstrom() []Minimization {
	return []Minimization{
		{"Beale", functions.Beale{}, []float64{1, 1}, 0},
		{"BiggsEXP4", functions.BiggsEXP4{}, []float64{1, 2, 1, 1}, 0},
		{"Box3D", functions.Box3D{}, []float64{0, 10, 20}, 0},
		{"BrownAndDennis", functions.BrownAndDennis{}, []float64{25, 5, -5, -1}, 85822.2016263563},
		{"ExtendedPowellSingular", functions.ExtendedPowellSingular{}, []float64{3, -1, 0, 3, 3, -1, 0, 3}, 0},
		{"ExtendedRosenbrock", functions.ExtendedRosenbrock{}, []float64{-1.2, 1, -1.2, 1}, 0},
		{"Gaussian", functions.Gaussian{}, []float64{0.4, 1, 0}, 1.12793276961912e-08},
		{"HelicalValley", functions.HelicalValley{}, []float64{-1, 0, 0}, 0},
		{"PenaltyI", functions.PenaltyI{}, []float64{1, 2, 3, 4}, 2.2499775008999372e-05},
		{"VariablyDimensioned", functions.VariablyDimensioned{}, []float64{0.75, 0.5, 0.25, 0}, 0},
		{"Watson", functions.Watson{}, []float64{0, 0, 0, 0, 0, 0}, 0.0022876700535523838},
		{"Wood", functions.Wood{}, []float64{-3, -1, -3, -1}, 0},
	}
}
