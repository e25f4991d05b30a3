package descent

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"newtop/internal/vector"
	"newtop/trainer/optim"
	"newtop/trainer/optim/internal/optimtest"
)

func TestLimitedMemoryOnMoreGarbowHillstrom(t *testing.T) {
	for _, p := range optimtest.MoreGarbowHillstrom() {
		for _, offset := range []float64{0, 1e8} {
			for _, memory := range []string{"1", "10"} {
				o := &optimtest.Smooth{N: len(p.X), F: p.F.Func, Df: p.F.Grad, Offset: offset}
				s, steps := downhill(t, o, p.X, 2000, "lbfgs", "memory", memory)
				tolerance := 1e-6*(1+p.Min) + 100*optim.Eps*offset
				if got := p.F.Func(s.W); got > p.Min+tolerance || steps == 2000 && got > 1e-20 {
					t.Errorf("%s + %g, memory %s: %.12g after %d steps, want %.12g", p.Name, offset, memory, got, steps, p.Min)
				}
			}
		}
	}
}

// TestAgainstDenseBFGS: with room for all pairs the directions are those of BFGS with the inverse Hessian
// written out (Nocedal & Wright 2006, eq. 6.17 and 6.20) from the same pairs, begun from γI; and every step
// meets the strong Wolfe conditions.
func TestAgainstDenseBFGS(t *testing.T) {
	p := optimtest.MoreGarbowHillstrom()[11] // Wood
	o := &optimtest.Smooth{N: 4, F: p.F.Func, Df: p.F.Grad}
	m, settings := method(t, "lbfgs", "memory", "50")
	s := &optim.State{Objective: o, W: slices.Clone(p.X), Settings: settings}
	type pair struct{ s, y []float64 }
	var pairs []pair
	for k := range 25 {
		w, g := slices.Clone(s.W), make([]float64, 4)
		p.F.Grad(g, w)
		var ss, yy [][]float64
		for _, q := range pairs {
			ss, yy = append(ss, q.s), append(yy, q.y)
		}
		d := denseBFGS(ss, yy, g)
		r, err := m.Step(context.Background(), s)
		if err != nil {
			t.Fatalf("step %d: %v", k, err)
		}
		alpha, after := r.Diagnostics[0].Value, make([]float64, 4)
		p.F.Grad(after, s.W)
		q := pair{make([]float64, 4), make([]float64, 4)}
		slope, tilt := 0.0, 0.0
		for i := range d {
			q.s[i], q.y[i] = s.W[i]-w[i], after[i]-g[i]
			slope += g[i] * d[i]
			tilt += after[i] * d[i]
			if math.Abs(q.s[i]-alpha*d[i]) > 1e-6*alpha*vector.Norm(d) {
				t.Fatalf("step %d: %v, want %g times %v", k, q.s, alpha, d)
			}
		}
		if p.F.Func(s.W) > p.F.Func(w)+1e-4*alpha*slope || math.Abs(tilt) > 0.9*math.Abs(slope)*(1+1e-6) {
			t.Errorf("step %d: the Wolfe conditions do not hold", k)
		}
		if kept := r.Diagnostics[2].Value; kept != float64(len(pairs)) {
			t.Errorf("step %d: %g pairs, want %d", k, kept, len(pairs))
		}
		pairs = append(pairs, q)
	}
}

// denseBFGS returns −Hg with H ← (I − ρsyᵀ)H(I − ρysᵀ) + ρssᵀ over the pairs, ρ = 1/yᵀs, from γI, γ = sᵀy/yᵀy of the
// last pair.
func denseBFGS(ss, yy [][]float64, g []float64) []float64 {
	n := len(g)
	h := mat.NewDense(n, n, nil)
	gamma := 1.0
	if last := len(ss) - 1; last >= 0 {
		y := mat.NewVecDense(n, yy[last])
		gamma = mat.Dot(mat.NewVecDense(n, ss[last]), y) / mat.Dot(y, y)
	}
	for i := range n {
		h.Set(i, i, gamma)
	}
	for k := range ss {
		s, y := mat.NewVecDense(n, ss[k]), mat.NewVecDense(n, yy[k])
		rho := 1 / mat.Dot(s, y)
		left := mat.NewDense(n, n, nil)
		left.Outer(-rho, s, y)
		for i := range n {
			left.Set(i, i, left.At(i, i)+1)
		}
		var rank mat.Dense
		rank.Outer(rho, s, s)
		h.Mul(left, h)
		h.Mul(h, left.T())
		h.Add(h, &rank)
	}
	d := mat.NewVecDense(n, nil)
	d.MulVec(h, mat.NewVecDense(n, g))
	d.ScaleVec(-1, d)
	return d.RawVector().Data
}

// TestOneGradientAStep: the trial that is taken brings the gradient that the next step starts from.
func TestOneGradientAStep(t *testing.T) {
	o, _, _, start := quadratic([]float64{1, 2, 3, 5, 8, 13}, 2)
	m, settings := method(t, "lbfgs")
	s := &optim.State{Objective: o, W: slices.Clone(start), Settings: settings}
	total := 1.0
	for range 10 {
		r, err := m.Step(context.Background(), s)
		if err != nil {
			t.Fatal(err)
		}
		total += r.Diagnostics[1].Value
	}
	if float64(o.Gradients) != total || o.Losses != 0 || o.Products != 0 {
		t.Errorf("%d gradients, %d losses and %d products for %g evaluations", o.Gradients, o.Losses, o.Products, total)
	}
}

// TestSearchFindsItsWayBack from where the loss is not finite: E = 10x − ln 10x is none for x ≤ 0, which the first
// step, of length 1, reaches from 0.5.
func TestSearchFindsItsWayBack(t *testing.T) {
	bad := 0
	o := &optimtest.Smooth{
		N: 1, F: func(x []float64) float64 { return 10*x[0] - math.Log(10*x[0]) },
		Df: func(dst, x []float64) {
			if dst[0] = 10 - 1/x[0]; x[0] <= 0 {
				bad++
			}
		},
	}
	s, steps := downhill(t, o, []float64{0.5}, 100, "lbfgs")
	if bad == 0 || math.Abs(s.W[0]-0.1) > 1e-8 {
		t.Errorf("at %g in %d steps, %d bad trials", s.W[0], steps, bad)
	}
}

// TestNothingFiniteAhead: a search ends where every trial, down to the shortest, has no finite loss.
func TestNothingFiniteAhead(t *testing.T) {
	for _, slope := range []float64{1e-300, 1, 1e300} {
		o := &optimtest.Smooth{
			N: 1, F: func(x []float64) float64 {
				if x[0] != 1 {
					return math.NaN()
				}
				return 0
			},
			Df: func(dst, _ []float64) { dst[0] = slope },
		}
		m, settings := method(t, "lbfgs")
		s := &optim.State{Objective: o, W: []float64{1}, Settings: settings}
		if _, err := m.Step(context.Background(), s); !errors.Is(err, optim.ErrStalled) || s.W[0] != 1 || o.Gradients > 1+maxEvaluations {
			t.Errorf("slope %g: %v at %g after %d gradients", slope, err, s.W[0], o.Gradients)
		}
	}
}

// TestLbfgsStartsAgain with the gradient alone: when the weights are not those it left, and when the number of
// pairs changes.
func TestLbfgsStartsAgain(t *testing.T) {
	o, _, _, start := quadratic([]float64{1, 2, 3, 5, 8, 13}, 4)
	for _, test := range []struct {
		name string
		do   func(s *optim.State)
		want float64
	}{
		{"nothing", func(*optim.State) {}, 4},
		{"weights", func(s *optim.State) { s.W[0]++; s.Evaluated = false }, 0},
		{"memory", func(s *optim.State) { s.Settings.Set("memory", 3) }, 0},
	} {
		m, settings := method(t, "lbfgs")
		s := &optim.State{Objective: o, W: slices.Clone(start), Settings: settings}
		for range 4 {
			m.Step(context.Background(), s)
		}
		test.do(s)
		r, err := m.Step(context.Background(), s)
		if err != nil || r.Diagnostics[2].Value != test.want {
			t.Errorf("%s: %+v, %v", test.name, r.Diagnostics, err)
		}
	}
}

// TestLbfgsInterrupted in a line search: the weights stay, and the search begins again along the same
// direction.
func TestLbfgsInterrupted(t *testing.T) {
	o, _, _, start := quadratic([]float64{1, 2, 3, 5, 8, 13}, 4)
	var ends [][]float64
	for _, interruptions := range []int{0, 3} {
		m, settings := method(t, "lbfgs")
		s := &optim.State{Objective: o, W: slices.Clone(start), Settings: settings}
		for range 3 {
			m.Step(context.Background(), s)
		}
		w := slices.Clone(s.W)
		s.Monitor = func(optim.Inner) error { return optim.ErrInterrupted }
		for range interruptions {
			if _, err := m.Step(context.Background(), s); !errors.Is(err, optim.ErrInterrupted) || !slices.Equal(s.W, w) {
				t.Errorf("%v, %v", err, s.W)
			}
		}
		s.Monitor = nil
		if _, err := m.Step(context.Background(), s); err != nil {
			t.Error(err)
		}
		ends = append(ends, slices.Clone(s.W))
	}
	if !slices.Equal(ends[0], ends[1]) {
		t.Errorf("%v and %v", ends[0], ends[1])
	}
}
