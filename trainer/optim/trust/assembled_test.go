package trust

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"newtop/internal/vector"
	"newtop/trainer/krylov"
	"newtop/trainer/optim"
	"newtop/trainer/optim/internal/optimtest"
)

func (o residuals) GaussNewtonRows(w []float64) krylov.Operator { return o.GaussNewton(w) }

func (o residuals) GaussNewtonMatrixTo(dst *mat.SymDense, w []float64, _ func(part, parts int) error) error {
	_, j := o.r(w)
	for a := range o.n {
		for b := a; b < o.n; b++ {
			sum := 0.0
			for _, row := range j {
				sum += row[a] * row[b]
			}
			dst.SetSym(a, b, sum)
		}
	}
	return nil
}

// watched counts what is asked of residuals.
type watched struct {
	residuals
	offset               float64
	assembled, evaluated int
	loss                 func(w []float64) float64 // nil: that of the residuals
}

func (o *watched) Loss(w []float64) float64 {
	o.evaluated++
	if o.loss != nil {
		return o.loss(w)
	}
	return o.residuals.Loss(w) + o.offset
}

func (o *watched) GradientTo(dst, w []float64) float64 {
	return o.residuals.GradientTo(dst, w) + o.offset
}

// GaussNewtonMatrixTo is done in three parts.
func (o *watched) GaussNewtonMatrixTo(dst *mat.SymDense, w []float64, watch func(part, parts int) error) error {
	for part := range 3 {
		if err := watch(part+1, 3); err != nil {
			return err
		}
	}
	o.assembled++
	return o.residuals.GaussNewtonMatrixTo(dst, w, nil)
}

// linear is ½‖Jw − t‖².
func linear(j [][]float64, t ...float64) residuals {
	return residuals{len(j[0]), func(x []float64) ([]float64, [][]float64) {
		r := make([]float64, len(j))
		for p, row := range j {
			r[p] = -t[p]
			for i, v := range row {
				r[p] += v * x[i]
			}
		}
		return r, j
	}}
}

var directMethods = []string{"lm", "dogleg"}

// descend steps until the method stalls, checking every promise that an outer iteration makes.
func descend(t *testing.T, o *watched, x0 []float64, steps int, name string, set ...string) (*optim.State, error) {
	t.Helper()
	m, settings := method(t, name, set...)
	s := &optim.State{Objective: o, W: slices.Clone(x0), Settings: settings}
	before, places := o.Loss(x0), 0
	for k := range steps {
		w := slices.Clone(s.W)
		r, err := m.Step(context.Background(), s)
		after := o.Loss(s.W)
		places++
		if errors.Is(err, optim.ErrStalled) {
			if !slices.Equal(w, s.W) {
				t.Fatalf("%s, step %d: stalled and moved", name, k)
			}
			return s, err
		}
		if !r.Accepted {
			places--
		}
		switch {
		case err != nil:
			t.Fatalf("%s, step %d: %v", name, k, err)
		case !(after <= before):
			t.Fatalf("%s, step %d: uphill from %.17g to %.17g", name, k, before, after)
		case r.Accepted == slices.Equal(w, s.W), r.Accepted == s.Evaluated, r.Accepted && r.Loss != after:
			t.Fatalf("%s, step %d: %+v, moved %v, loss %g", name, k, r, !slices.Equal(w, s.W), after)
		case o.assembled > places+1:
			t.Fatalf("%s, step %d: %d matrices for %d places", name, k, o.assembled, places)
		}
		before = after
	}
	return s, nil
}

func TestDirectMethodsOnResiduals(t *testing.T) {
	for _, test := range asResiduals {
		for _, name := range directMethods {
			for _, scaling := range []string{"none", "diagonal"} {
				for _, offset := range []float64{0, 1e8} {
					s, _ := descend(t, &watched{residuals: test.o, offset: offset}, test.x, test.steps, name, ambitious(name, scaling)...)
					// E + 1e8 is known to 1.5e-8, and ρ to ten times that.
					if got := test.o.Loss(s.W); got > 1e-8+30*optim.Eps*offset {
						t.Errorf("%s, scaling %s, %s + %g: %g", name, scaling, test.name, offset, got)
					}
				}
			}
		}
	}
}

// TestDirectMethodsOnAwkwardMatrices: whatever J is, a linear problem is solved to what can be had.
func TestDirectMethodsOnAwkwardMatrices(t *testing.T) {
	for _, test := range []struct {
		name  string
		o     residuals
		least float64
	}{
		{"one row", linear([][]float64{{1, 2, 3}}, 4), 0},
		{"one weight", linear([][]float64{{2}}, 4), 0},
		{"a weight that nothing feels", linear([][]float64{{1, 0, 1}, {1, 0, 2}, {3, 0, 1}}, 1, 2, 5), 8.0 / 30},
		{"rank 1 of 3", linear([][]float64{{1, 2, 3}, {2, 4, 6}}, 1, 2), 0},
		{"rank 1 of 3 without a solution", linear([][]float64{{1, 2, 3}, {2, 4, 6}}, 3, 1), 2.5},
		{"condition 1e14", linear([][]float64{{1, 1}, {0, 1e-7}}, 1, 1), 0},
		{"scales far apart", linear([][]float64{{1e6, 0}, {1, 1e-6}}, 1, 1), 0},
	} {
		for _, name := range directMethods {
			for _, scaling := range []string{"none", "diagonal"} {
				if scaling == "none" && test.name == "scales far apart" {
					continue // there it is singular to rounding, as it should be
				}
				set := ambitious(name, scaling)
				if name == "dogleg" {
					set = append(set, "radius", "1e9")
				}
				s, err := descend(t, &watched{residuals: test.o}, make([]float64, test.o.n), 200, name, set...)
				if got := test.o.Loss(s.W); !(got <= test.least+1e-9) {
					t.Errorf("%s, scaling %s, %s: %g after %v, expected %g", name, scaling, test.name, got, err, test.least)
				}
				if err == nil {
					t.Errorf("%s, scaling %s, %s: did not stall at the solution", name, scaling, test.name)
				}
				for i, w := range s.W {
					if !vector.Finite(w) || test.name == "a weight that nothing feels" && i == 1 && w != 0 {
						t.Errorf("%s, %s: ended at %v", name, test.name, s.W)
					}
				}
			}
		}
	}
}

// ambitious are settings for problems that are hard on digits.
func ambitious(name, scaling string) []string {
	if name == "lm" {
		return []string{"scaling", scaling}
	}
	return []string{"scaling", scaling, "condition-max", "4e15"}
}

func TestDirectMethodsEndWithAReason(t *testing.T) {
	nan := math.NaN()
	jacobian := func(v float64) residuals {
		return residuals{2, func(x []float64) ([]float64, [][]float64) {
			return []float64{1, 1}, [][]float64{{v, 0}, {0, 1}}
		}}
	}
	for _, test := range []struct {
		name    string
		o       *watched
		w       []float64
		stalled string // or
		broken  string
	}{
		{"solved", &watched{residuals: linear([][]float64{{1, 0}, {0, 2}}, 1, 2)}, []float64{1, 1}, "the gradient is zero", ""},
		{"weights", &watched{residuals: jacobian(1)}, []float64{nan, 1}, "", "weights"},
		{"loss", &watched{residuals: jacobian(1), offset: math.Inf(1)}, []float64{1, 1}, "", "loss"},
		{"gradient", &watched{residuals: jacobian(nan)}, []float64{1, 1}, "", "gradient"},
		{"curvature", &watched{residuals: jacobian(1e200)}, []float64{1, 1}, "", "curvature"},
		{"every step NaN", &watched{residuals: jacobian(1), loss: func([]float64) float64 { return nan }}, []float64{0, 0}, "no ", ""},
		{"every step uphill", &watched{residuals: jacobian(1), loss: func([]float64) float64 { return 1e9 }}, []float64{0, 0}, "no ", ""},
		{"too short", &watched{residuals: linear([][]float64{{1}}, 1e-20)}, []float64{1e20}, "", ""},
	} {
		for _, name := range directMethods {
			m, settings := method(t, name)
			s := &optim.State{Objective: test.o, W: slices.Clone(test.w), Settings: settings}
			var err error
			for k := 0; err == nil && k < 2000; k++ {
				_, err = m.Step(context.Background(), s)
			}
			var broken *optim.NotFiniteError
			switch {
			case test.broken != "" && (!errors.As(err, &broken) || broken.What != test.broken):
				t.Errorf("%s, %s: %v", name, test.name, err)
			case test.broken == "" && (!errors.Is(err, optim.ErrStalled) || !strings.HasPrefix(err.Error(), test.stalled)):
				t.Errorf("%s, %s: %v, expected %s…", name, test.name, err, test.stalled)
			}
			if test.stalled == "no " && !slices.Equal(s.W, test.w) {
				t.Errorf("%s, %s: the weights moved", name, test.name)
			}
		}
	}
}

// TestDirectMethodsAreInterrupted: in each of the three parts of the assembly and after the solve. What was
// assembled to its end is kept.
func TestDirectMethodsAreInterrupted(t *testing.T) {
	for _, name := range directMethods {
		for at := 1; at <= 4; at++ {
			for _, cancelled := range []bool{false, true} {
				interruptStep(t, name, at, cancelled)
			}
		}
	}
}

func interruptStep(t *testing.T, name string, at int, cancelled bool) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	m, settings := method(t, name)
	primary := map[string]string{"lm": "mu", "dogleg": "radius"}[name]
	before := settings.Get(primary)
	o := &watched{residuals: rosenbrock}
	s := &optim.State{Objective: o, W: []float64{-1.2, 1}, Settings: settings}
	seen, want := 0, optim.ErrInterrupted
	s.Monitor = func(in optim.Inner) error {
		seen++
		switch it := in.Iteration; {
		case seen <= 3 && (it.Number != seen || in.Total != 3 || in.Loss != s.Loss),
			seen > 3 && (it.Number != 1 || !math.IsNaN(in.Loss) || !(it.StepNorm > 0) || !(it.Model < 0)):
			t.Errorf("%s, unit %d: %+v", name, seen, in)
		}
		if seen == at && !cancelled {
			return optim.ErrInterrupted
		}
		if seen == at-1 && cancelled {
			cancel()
		}
		return nil
	}
	if cancelled {
		want = context.Canceled
		if at == 1 {
			cancel()
		}
	}
	if _, err := m.Step(ctx, s); !errors.Is(err, want) ||
		!slices.Equal(s.W, []float64{-1.2, 1}) || settings.Get(primary) != before {
		t.Errorf("%s at %d: %v, at %v with %g", name, at, err, s.W, settings.Get(primary))
	}
	s.Monitor = nil
	if _, err := m.Step(context.Background(), s); err != nil || o.assembled != 1 {
		t.Errorf("%s at %d: %v after %d assemblies of one place", name, at, err, o.assembled)
	}
}

// TestSetByHand: what was set while the step was being solved for is the next step's.
func TestSetByHand(t *testing.T) {
	for name, key := range map[string]string{"lm": "mu", "dogleg": "radius"} {
		m, settings := method(t, name)
		s := &optim.State{Objective: rosenbrock, W: []float64{-1.2, 1}, Settings: settings}
		s.Monitor = func(optim.Inner) error { return settings.Set(key, 7) }
		if _, err := m.Step(context.Background(), s); err != nil || settings.Get(key) != 7 {
			t.Errorf("%s: %v, %s = %g", name, err, key, settings.Get(key))
		}
	}
}

// TestMatrixOfAnotherProblem: where the loss no longer belongs to the weights, neither does the matrix.
func TestMatrixOfAnotherProblem(t *testing.T) {
	for _, name := range directMethods {
		m, settings := method(t, name)
		o := &watched{residuals: rosenbrock, loss: func([]float64) float64 { return math.NaN() }}
		s := &optim.State{Objective: o, W: []float64{-1.2, 1}, Settings: settings}
		for want := 1; want <= 3; want++ {
			s.Evaluated = s.Evaluated && want == 2
			if _, err := m.Step(context.Background(), s); !errors.Is(err, optim.ErrStalled) {
				t.Fatal(err)
			}
			if assembled := map[int]int{1: 1, 2: 1, 3: 2}[want]; o.assembled != assembled {
				t.Errorf("%s: %d matrices after %d steps, expected %d", name, o.assembled, want, assembled)
			}
		}
	}
}

func TestMatrixIsRefused(t *testing.T) {
	for _, test := range []struct {
		o    optim.Objective
		want string
	}{
		{residuals{n: optim.MaxMatrixDim}, ""},
		{residuals{n: optim.MaxMatrixDim + 1}, "the matrix of 11001 weights is too large to factorize: expected at most 11000 weights"},
		{&optimtest.Smooth{N: 2}, "the objective has no explicit Jacobian rows"},
	} {
		for _, info := range []optim.Info{LevenbergMarquardt, Dogleg} {
			if err := optim.Offers(test.o, info.Needs); fmt.Sprint(err) != test.want && (err != nil || test.want != "") {
				t.Errorf("%s: %v, expected %s", info.Name, err, test.want)
			}
		}
	}
	if err := optim.Offers(&optimtest.Smooth{N: 2}, optim.NeedsMatrix); err == nil || !strings.Contains(err.Error(), "no Gauss–Newton matrix") {
		t.Errorf("%v", err)
	}
}
