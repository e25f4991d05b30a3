package trust

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"newtop/trainer/optim"
	"newtop/trainer/optim/internal/optimtest"
)

// TestDoglegStep holds steps of all radii against the definition: within R, on it but for the Newton step, never
// worse than the Cauchy step within R, not better than the exact minimizer within R, and the model falling
// as R grows.
func TestDoglegStep(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for trial := range 12 {
		n := 2 + trial%5
		j, target := make([][]float64, n+3), make([]float64, n+3)
		for p := range j {
			j[p] = make([]float64, n)
			for i := range j[p] {
				j[p][i] = rng.NormFloat64() * math.Pow(10, float64(i%3)-1)
			}
			target[p] = rng.NormFloat64()
		}
		for _, scaling := range []string{"none", "diagonal"} {
			legs, before := map[string]int{}, 0.0
			for k := range 40 {
				radius := 1e-4 * math.Pow(1.6, float64(k))
				leg, model := checkDogleg(t, linear(j, target...), scaling, radius)
				if model > before*(1-1e-9) {
					t.Errorf("trial %d: the model rose from %g to %g at R = %g", trial, before, model, radius)
				}
				legs[leg]++
				before = model
			}
			if legs["cauchy"] == 0 || legs["newton"] == 0 || scaling == "none" && legs["between"] == 0 {
				t.Errorf("trial %d, scaling %s: legs %v", trial, scaling, legs)
			}
		}
	}
}

// checkDogleg does one step from 0 and returns the leg it ended on and the model there.
func checkDogleg(t *testing.T, o residuals, scaling string, radius float64) (leg string, model float64) {
	t.Helper()
	n := o.n
	m, settings := method(t, "dogleg", "scaling", scaling, "radius-max", "1e6")
	if err := settings.Set("radius", radius); err != nil {
		t.Fatal(err)
	}
	s := &optim.State{Objective: o, W: make([]float64, n), Settings: settings}
	r, err := m.Step(context.Background(), s)
	if err != nil || math.Abs(r.Rho-1) > 1e-6 {
		t.Fatalf("%v, %+v", err, r)
	}
	g, h := make([]float64, n), mat.NewSymDense(n, nil)
	o.GradientTo(g, make([]float64, n))
	if err := o.GaussNewtonMatrixTo(h, make([]float64, n), nil); err != nil {
		t.Fatal(err)
	}
	scale := make([]float64, n)
	for i := range scale {
		scale[i] = 1
		if scaling == "diagonal" {
			scale[i] = h.At(i, i)
		}
	}
	q := func(s []float64) float64 {
		v, hv := mat.NewVecDense(n, s), mat.NewVecDense(n, nil)
		hv.MulVec(h, v)
		return mat.Dot(mat.NewVecDense(n, g), v) + mat.Dot(v, hv)/2
	}
	length := func(s []float64) float64 {
		sum := 0.0
		for i, x := range s {
			sum += scale[i] * x * x
		}
		return math.Sqrt(sum)
	}
	newton := exactRegion(h, g, scale, math.Inf(1))
	best, norm, model := exactRegion(h, g, scale, radius), length(s.W), q(s.W)
	cauchy := cauchyModel(h, g, scale, radius)
	switch {
	case norm > radius*(1+1e-9):
		t.Errorf("R = %g: ‖s‖ = %g", radius, norm)
	case model > cauchy+1e-9*math.Abs(cauchy):
		t.Errorf("R = %g: the model falls to %g, the Cauchy step's to %g", radius, model, cauchy)
	case model < q(best)-1e-9*math.Abs(model):
		t.Errorf("R = %g: the model falls to %g, below its minimum %g", radius, model, q(best))
	}
	h01 := optimtest.Diagnostic(t, r, "leg")
	switch {
	case length(newton) <= radius:
		for i := range newton {
			if math.Abs(newton[i]-s.W[i]) > 1e-8*length(newton) || h01 != 1 {
				t.Errorf("R = %g: %v is not the Newton step %v, h = %g", radius, s.W, newton, h01)
			}
		}
		return "newton", model
	case norm < radius*(1-1e-9):
		t.Errorf("R = %g: ‖s‖ = %g within it", radius, norm)
	}
	if h01 == 0 {
		return "cauchy", model
	}
	return "between", model
}

// exactRegion minimizes gᵀs + ½sᵀHs over ‖s‖_M ≤ R by bisection on the multiplier of Moré & Sorensen 1983:
// (H + λM)s = −g with ‖s‖_M = R.
func exactRegion(h *mat.SymDense, g, scale []float64, radius float64) []float64 {
	n := len(g)
	at := func(lambda float64) ([]float64, float64) {
		a := mat.NewSymDense(n, nil)
		a.CopySym(h)
		for i, m := range scale {
			a.SetSym(i, i, a.At(i, i)+lambda*m)
		}
		var s mat.VecDense
		if err := s.SolveVec(a, mat.NewVecDense(n, g)); err != nil {
			panic(err)
		}
		s.ScaleVec(-1, &s)
		sum := 0.0
		for i, m := range scale {
			sum += m * s.AtVec(i) * s.AtVec(i)
		}
		return s.RawVector().Data, math.Sqrt(sum)
	}
	if s, length := at(0); length <= radius {
		return s
	}
	low, high := 0.0, 1.0
	for _, length := at(high); length > radius; _, length = at(high) {
		high *= 2
	}
	for range 100 {
		middle := (low + high) / 2
		if _, length := at(middle); length > radius {
			low = middle
		} else {
			high = middle
		}
	}
	s, _ := at(high)
	return s
}

// cauchyModel is the least of q along −M⁻¹g within R, by trying.
func cauchyModel(h *mat.SymDense, g, scale []float64, radius float64) float64 {
	n := len(g)
	d, hd := mat.NewVecDense(n, nil), mat.NewVecDense(n, nil)
	length, slope := 0.0, 0.0
	for i, m := range scale {
		d.SetVec(i, -g[i]/m)
		length += g[i] * g[i] / m
		slope -= g[i] * g[i] / m
	}
	hd.MulVec(h, d)
	curvature := mat.Dot(d, hd)
	minimum := 0.0
	for k := range 1001 {
		x := radius / math.Sqrt(length) * float64(k) / 1000
		minimum = min(minimum, x*slope+x*x*curvature/2)
	}
	return minimum
}

// TestDoglegRejection: while steps fail, matrix and factor are kept, R falls by the textbook rule, and the step
// turns from Newton's, of length 10, to the leg and to Cauchy's.
func TestDoglegRejection(t *testing.T) {
	o := &watched{residuals: linear([][]float64{{1, 0}, {0, 30}}, 10, 3)}
	o.loss = func(w []float64) float64 {
		if math.Hypot(w[0], w[1]) > 1e-3 {
			return math.Inf(1)
		}
		return o.residuals.Loss(w)
	}
	m, settings := method(t, "dogleg", "radius", "100")
	s := &optim.State{Objective: o, W: []float64{0, 0}, Settings: settings}
	radius, length, attempts := 100.0, math.Hypot(10, 0.1), 0
	s.Monitor = func(in optim.Inner) error {
		it := in.Iteration
		if in.Total > 0 { // a part of the assembly
			return nil
		}
		if attempts++; it.Number != attempts || math.Abs(it.Radius-radius) > 1e-12*radius || math.Abs(it.StepNorm-length) > 1e-9*length {
			t.Errorf("attempt %d: %+v, expected a step of length %g in R = %g", attempts, it, length, radius)
		}
		radius = it.StepNorm / 4
		length = radius
		return nil
	}
	r, err := m.Step(context.Background(), s)
	if err != nil || !r.Accepted || r.Radius > 1e-3 || o.assembled != 1 || o.evaluated != attempts || attempts < 7 ||
		optimtest.Diagnostic(t, r, "factorizations") != 1 || optimtest.Diagnostic(t, r, "attempts") != float64(attempts) || optimtest.Diagnostic(t, r, "leg") != 0 {
		t.Errorf("%v, %+v after %d attempts, %d matrices, %d losses", err, r, attempts, o.assembled, o.evaluated)
	}
	if want := 2 * r.Radius; math.Abs(settings.Get("radius")-want) > 1e-12*want {
		t.Errorf("R goes to %g, expected %g", settings.Get("radius"), want)
	}
}

// TestConditionByHand: another bound on the condition is another Newton step, from the same matrix.
func TestConditionByHand(t *testing.T) {
	o := &watched{residuals: linear([][]float64{{1, 0}, {0, 1e-3}}, 1, 1)}
	m, settings := method(t, "dogleg", "radius", "1e6")
	s := &optim.State{Objective: o, W: []float64{0, 0}, Settings: settings, Monitor: func(in optim.Inner) error {
		if in.Total == 0 {
			return optim.ErrInterrupted
		}
		return nil
	}}
	for _, test := range []struct{ most, ridge, factorizations float64 }{{0x1p26, 0, 1}, {0x1p26, 0, 0}, {1e4, math.Sqrt2 / 1e4, 2}} {
		if err := settings.Set("condition-max", test.most); err != nil {
			t.Fatal(err)
		}
		r, err := m.Step(context.Background(), s)
		if err != optim.ErrInterrupted || optimtest.Diagnostic(t, r, "factorizations") != test.factorizations || math.Abs(optimtest.Diagnostic(t, r, "ridge")-test.ridge) > 1e-15 {
			t.Errorf("%v, %+v", err, r.Diagnostics)
		}
	}
	if o.assembled != 1 {
		t.Errorf("%d matrices", o.assembled)
	}
}
