package descent

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"newtop/internal/vector"
	"newtop/trainer/krylov"
	"newtop/trainer/optim"
)

var spread = []float64{100, 60, 30, 10, 4, 2, 1, 0.5, 0.3, 0.2, 0.1, 0.05}

// TestCorrectedDescentIsStable up to the rate 2/λ_{k+1} and not beyond, while eq. 18 as printed is unstable just
// below it: with k = 3 it leaves 1 − 10/100 of the component along e_1, and 2/10 · 0.9 · 100 is far above 2.
func TestCorrectedDescentIsStable(t *testing.T) {
	for _, test := range []struct {
		rate   string
		stable bool
	}{{"0.5", true}, {"1", true}, {"1.99", true}, {"2.05", false}} {
		o, _, _, start := quadratic(spread, 7)
		m, settings := method(t, "eigen-gd", "k", "3", "every", "1000000", "relative-rate", test.rate)
		s := &optim.State{Objective: o, W: slices.Clone(start), Settings: settings, Rand: rand.New(rand.NewPCG(1, 2))}
		first := o.Loss(s.W)
		for k := range 400 {
			r, err := m.Step(context.Background(), s)
			if err != nil {
				t.Fatalf("rate %s, step %d: %v", test.rate, k, err)
			}
			for i, want := range []float64{100, 10} {
				if got := r.Diagnostics[i].Value; math.Abs(got-want) > 1e-6*want {
					t.Fatalf("%s is %g, want %g", r.Diagnostics[i].Key, got, want)
				}
			}
		}
		if last := o.Loss(s.W); (last < first/100) != test.stable || last > first == test.stable {
			t.Errorf("rate %s: from %g to %g", test.rate, first, last)
		}
	}
	o, h, _, w := quadratic(spread, 7)
	var eigen mat.EigenSym
	eigen.Factorize(h, true)
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	g, first := make([]float64, len(w)), o.Loss(w)
	for range 50 {
		o.Df(g, w)
		d := slices.Clone(g)
		for i := range 3 {
			e := mat.Col(nil, len(w)-1-i, &vectors)
			floats.AddScaled(d, -10./100*floats.Dot(e, g), e)
		}
		floats.AddScaled(w, -1.99/10, d)
	}
	if last := o.Loss(w); last < 1e6*first {
		t.Errorf("as printed: from %g to %g", first, last)
	}
}

// TestCorrectedDirection against eigenvectors by a dense solver.
func TestCorrectedDirection(t *testing.T) {
	o, h, _, start := quadratic(spread, 9)
	m, settings := method(t, "eigen-gd", "k", "2", "relative-rate", "0.5")
	s := &optim.State{Objective: o, W: slices.Clone(start), Settings: settings, Rand: rand.New(rand.NewPCG(1, 2))}
	r, err := m.Step(context.Background(), s)
	if err != nil || !r.Accepted || s.Evaluated {
		t.Fatalf("%+v, %v", r, err)
	}
	var eigen mat.EigenSym
	eigen.Factorize(h, true)
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	g := make([]float64, len(start))
	o.Df(g, start)
	want := slices.Clone(start)
	floats.AddScaled(want, -0.5/30, g)
	for i, lambda := range []float64{100, 60} {
		e := mat.Col(nil, len(g)-1-i, &vectors)
		floats.AddScaled(want, 0.5/30*(1-30/lambda)*floats.Dot(e, g), e)
	}
	if floats.Distance(s.W, want, 2) > 1e-9*vector.Norm(g) || math.Abs(r.StepNorm-floats.Distance(want, start, 2)) > 1e-9 {
		t.Errorf("%v, want %v; %+v", s.W, want, r)
	}
}

func TestChoosingEigenpairs(t *testing.T) {
	pair := func(value, residual float64) krylov.Eigenpair {
		return krylov.Eigenpair{Value: value, Residual: residual}
	}
	for _, test := range []struct {
		name  string
		k     int
		pairs []krylov.Eigenpair
		count int
		above float64
	}{
		{"all good", 2, []krylov.Eigenpair{pair(9, 0.1), pair(5, 0.1), pair(3, 0.2)}, 2, 3.2},
		{"none wanted", 0, []krylov.Eigenpair{pair(9, 0.1)}, 0, 9.1},
		{"fewer than wanted", 5, []krylov.Eigenpair{pair(9, 0.1), pair(5, 0.1)}, 1, 5.1},
		{"the first is bad", 2, []krylov.Eigenpair{pair(9, 3), pair(5, 0.1), pair(3, 0.2)}, 0, 12},
		{"the second is bad", 2, []krylov.Eigenpair{pair(9, 0.1), pair(5, 3), pair(3, 0.2)}, 1, 8},
		{"worse than the one above", 1, []krylov.Eigenpair{pair(9, 0.1), pair(5, 50)}, 1, 9},
		{"the next is negative", 2, []krylov.Eigenpair{pair(9, 0.1), pair(5, 0.1), pair(-3, 0.2)}, 1, 5.1},
		{"the next is zero", 1, []krylov.Eigenpair{pair(9, 0), pair(0, 0)}, 0, 9},
		{"all negative", 2, []krylov.Eigenpair{pair(-1, 0), pair(-5, 0)}, 0, 1},
	} {
		var m correction
		m.choosePairs(test.pairs, test.k)
		if len(m.Pairs) != test.count || math.Abs(m.Above-test.above) > 1e-12 {
			t.Errorf("%s: %d pairs, λ_{k+1} = %g, want %d and %g", test.name, len(m.Pairs), m.Above, test.count, test.above)
		}
	}
}

// TestNegativeEigenvaluesCount: the largest of them takes the place of a smaller λ_{k+1}, and of the pairs below.
func TestNegativeEigenvaluesCount(t *testing.T) {
	for _, test := range []struct {
		size  float64
		count int
		above float64
	}{{-1, 3, 2}, {1, 3, 2}, {3, 3, 3}, {4, 2, 4}, {5, 2, 5}, {20, 0, 20}} {
		m := correction{Pairs: []eigenvector{{Value: 9}, {Value: 6}, {Value: 4}}, Above: 2}
		m.boundNegative(test.size)
		if len(m.Pairs) != test.count || m.Above != test.above {
			t.Errorf("size %g: %d pairs, λ_{k+1} = %g, want %d and %g", test.size, len(m.Pairs), m.Above, test.count, test.above)
		}
	}
}

// TestRisenLoss has the eigenvectors computed anew, once.
func TestRisenLoss(t *testing.T) {
	o, _, _, start := quadratic(spread, 7)
	m, settings := method(t, "eigen-gd", "k", "3", "relative-rate", "0.5")
	s := &optim.State{Objective: o, W: slices.Clone(start), Settings: settings, Rand: rand.New(rand.NewPCG(1, 2))}
	var at []int
	for k := range 8 {
		before := o.Products
		if k == 3 {
			m.(*eigenGD).state.Correction.Loss = -1
		}
		if _, err := m.Step(context.Background(), s); err != nil {
			t.Fatal(err)
		}
		if o.Products > before {
			at = append(at, k)
		}
	}
	if !slices.Equal(at, []int{0, 3}) {
		t.Errorf("computed in steps %v", at)
	}
}

// TestOnASaddle: without positive curvature the largest |λ| sets the rate, and steps lead away from the top.
func TestOnASaddle(t *testing.T) {
	o, _, minimizer, start := quadratic([]float64{-1, -2, -4}, 3)
	m, settings := method(t, "eigen-gd")
	s := &optim.State{Objective: o, W: slices.Clone(start), Settings: settings, Rand: rand.New(rand.NewPCG(1, 2))}
	r, err := m.Step(context.Background(), s)
	if err != nil || math.Abs(r.Diagnostics[1].Value-4) > 1e-9 || floats.Distance(s.W, minimizer, 2) <= floats.Distance(start, minimizer, 2) {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestEigenvectorsAreKept between refreshes: one product for each Lanczos step and certificate when they are due.
func TestEigenvectorsAreKept(t *testing.T) {
	o, _, _, start := quadratic(spread, 7)
	m, settings := method(t, "eigen-gd", "k", "3", "every", "4", "relative-rate", "0.5")
	s := &optim.State{Objective: o, W: slices.Clone(start), Settings: settings, Rand: rand.New(rand.NewPCG(1, 2))}
	var at []int
	for k := range 12 {
		before := o.Products
		switch k {
		case 6:
			s.W[0]++ // not where it left them
			s.Evaluated = false
		case 8:
			settings.Set("k", 2)
		}
		if _, err := m.Step(context.Background(), s); err != nil {
			t.Fatal(err)
		}
		if o.Products > before {
			at = append(at, k)
		}
	}
	if !slices.Equal(at, []int{0, 4, 6, 8}) {
		t.Errorf("computed in steps %v", at)
	}
}

// TestEigenvectorsInterrupted: a process that is given up leaves weights and eigenvectors alone.
func TestEigenvectorsInterrupted(t *testing.T) {
	o, _, _, start := quadratic(spread, 7)
	m, settings := method(t, "eigen-gd")
	s := &optim.State{Objective: o, W: slices.Clone(start), Settings: settings, Rand: rand.New(rand.NewPCG(1, 2))}
	calls := 0
	s.Monitor = func(in optim.Inner) error {
		if calls++; calls != in.Iteration.Number {
			t.Errorf("call %d has number %d", calls, in.Iteration.Number)
		}
		if calls == 3 {
			return optim.ErrInterrupted
		}
		return nil
	}
	if _, err := m.Step(context.Background(), s); !errors.Is(err, optim.ErrInterrupted) || o.Products != 3 || !slices.Equal(s.W, start) {
		t.Errorf("%v after %d products at %v", err, o.Products, s.W)
	}
	s.Monitor = nil
	if _, err := m.Step(context.Background(), s); err != nil {
		t.Error(err)
	}
}
