package descent

import (
	"context"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize/functions"

	"newtop/trainer/optim"
	"newtop/trainer/optim/internal/optimtest"
)

// naiveSCG is the algorithm step by step as its paper lists it, with a dense Hessian and none of what scg adds. It
// returns the weights after each iteration, and how many failed and met negative curvature.
func naiveSCG(f func(x []float64) float64, df func(dst, x []float64), hess func(dst *mat.SymDense, x []float64), w0 []float64, iterations int) (path [][]float64, failures, negative int) {
	n := len(w0)
	vec := func(x []float64) *mat.VecDense { return mat.NewVecDense(n, x) }
	minusGradient := func(w *mat.VecDense) *mat.VecDense {
		g := vec(nil)
		df(g.RawVector().Data, w.RawVector().Data)
		g.ScaleVec(-1, g)
		return g
	}
	// 1.
	w := vec(slices.Clone(w0))
	lambda, bar := 1e-6, 0.0
	r := minusGradient(w)
	p := mat.VecDenseCopyOf(r)
	success := true
	s, delta := vec(nil), 0.0
	for k := 1; k <= iterations; k++ {
		pp := mat.Dot(p, p)
		if success { // 2.
			h := mat.NewSymDense(n, nil)
			hess(h, w.RawVector().Data)
			s.MulVec(h, p)
			delta = mat.Dot(p, s)
		}
		// 3.
		s.AddScaledVec(s, lambda-bar, p)
		delta += (lambda - bar) * pp
		if delta <= 0 { // 4.
			negative++
			s.AddScaledVec(s, lambda-2*delta/pp, p)
			bar = 2 * (lambda - delta/pp)
			delta = -delta + lambda*pp
			lambda = bar
		}
		// 5.
		mu := mat.Dot(p, r)
		alpha := mu / delta
		// 6.
		trial := vec(nil)
		trial.AddScaledVec(w, alpha, p)
		comparison := 2 * delta * (f(w.RawVector().Data) - f(trial.RawVector().Data)) / (mu * mu)
		if comparison >= 0 { // 7.
			w = trial
			next := minusGradient(w)
			bar, success = 0, true
			if k%n == 0 {
				p = mat.VecDenseCopyOf(next)
			} else {
				beta := (mat.Dot(next, next) - mat.Dot(next, r)) / mu
				p.AddScaledVec(next, beta, p)
			}
			r = next
			if comparison >= 0.75 {
				lambda /= 4
			}
		} else {
			failures++
			bar, success = lambda, false
		}
		if comparison < 0.25 { // 8.
			lambda += delta * (1 - comparison) / pp
		}
		path = append(path, slices.Clone(w.RawVector().Data))
	}
	return path, failures, negative
}

// leap is eˣ − x of x/8, on which the first step from −20 rises with Δ = −1,000.
type leap struct{}

func (leap) Func(x []float64) float64            { return math.Exp(x[0]/8) - x[0]/8 }
func (leap) Grad(dst, x []float64)               { dst[0] = (math.Exp(x[0]/8) - 1) / 8 }
func (leap) Hess(dst *mat.SymDense, x []float64) { dst.SetSym(0, 0, math.Exp(x[0]/8)/64) }

// TestAgainstNaiveSCG: the same weights for as long as nothing that scg adds sets in, and with form=published through
// restarts and failures of any size. Otherwise the number of weights is large enough for no restart to fall due: scg counts
// successes, the paper all iterations.
func TestAgainstNaiveSCG(t *testing.T) {
	failures, negative := 0, 0
	for name, test := range map[string]struct {
		f interface {
			Func([]float64) float64
			Grad(grad, x []float64)
			Hess(dst *mat.SymDense, x []float64)
		}
		x          []float64
		iterations int
		form       string // empty: scg's own
	}{
		"Wood":             {functions.Wood{}, []float64{-3, -1, -3, -1}, 3, ""},
		"Watson":           {functions.Watson{}, []float64{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, 11, ""},
		"waves":            {waves{}, []float64{0.1, -2, 2.5, 1, 4, -3, 0.5, 6, -1, 2, 3, 5, 1.5, -0.7, 0.2}, 14, ""},
		"BrownAndDennis":   {functions.BrownAndDennis{}, []float64{25, 5, -5, -1}, 3, ""},
		"leap, published":  {leap{}, []float64{-20}, 6, "published"},
		"waves, published": {waves{}, []float64{0.1, -2, 2.5, 1, 4}, 20, "published"},
	} {
		want, failed, bent := naiveSCG(test.f.Func, test.f.Grad, test.f.Hess, test.x, test.iterations)
		failures, negative = failures+failed, negative+bent
		m, settings := method(t, "scg")
		if test.form != "" {
			settings.SetText("form", test.form)
		}
		if test.form != "" && failed == 0 {
			t.Errorf("%s: no failure was met", name)
		}
		o := &optimtest.Smooth{N: len(test.x), F: test.f.Func, Df: test.f.Grad, Hess: test.f.Hess}
		s := &optim.State{Objective: o, W: slices.Clone(test.x), Settings: settings}
		for k := range want {
			if _, err := m.Step(context.Background(), s); err != nil {
				t.Fatalf("%s, iteration %d: %v", name, k, err)
			}
			for i, w := range s.W {
				if math.Abs(w-want[k][i]) > 1e-7*max(1, math.Abs(w)) {
					t.Fatalf("%s, iteration %d: weight %d is %.12g, want %.12g", name, k, i, w, want[k][i])
				}
			}
		}
	}
	if failures == 0 || negative == 0 {
		t.Errorf("%d failures and %d directions of negative curvature were met", failures, negative)
	}
}

// waves is Σ cos x_i + x_i²/20 + (x_i − x_{i+1})²/4, with many saddles.
type waves struct{}

func (waves) Func(x []float64) float64 {
	sum := 0.0
	for i, v := range x {
		sum += math.Cos(v) + v*v/20
		if i > 0 {
			sum += (v - x[i-1]) * (v - x[i-1]) / 4
		}
	}
	return sum
}

func (waves) Grad(dst, x []float64) {
	clear(dst)
	for i, v := range x {
		dst[i] += -math.Sin(v) + v/10
		if i > 0 {
			dst[i] += (v - x[i-1]) / 2
			dst[i-1] -= (v - x[i-1]) / 2
		}
	}
}

func (waves) Hess(dst *mat.SymDense, x []float64) {
	dst.Zero()
	for i, v := range x {
		dst.SetSym(i, i, dst.At(i, i)-math.Cos(v)+0.1)
		if i > 0 {
			dst.SetSym(i, i, dst.At(i, i)+0.5)
			dst.SetSym(i-1, i-1, dst.At(i-1, i-1)+0.5)
			dst.SetSym(i, i-1, -0.5)
		}
	}
}
