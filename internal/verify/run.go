package verify

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"newtop/datasets"
	"newtop/internal/vector"
	"newtop/models"
	"newtop/trainer/event"
	"newtop/trainer/krylov"
	"newtop/trainer/objective"
	"newtop/trainer/optim"
	"newtop/trainer/optim/methods"
)

// Result is how a method or passes compare with a reference.
type Result struct {
	Method     string      `json:"method"` // or "passes"
	Variant    string      `json:"variant"`
	Loss       string      `json:"loss"`
	Precision  string      `json:"precision"`
	Steps      int         `json:"steps"`
	Numbers    int         `json:"numbers"`
	Difference event.Float `json:"difference"` // relative, of the number that is nearest to its bound
	Bound      event.Float `json:"bound"`      // of that number
	Fault      string      `json:"fault"`      // what is wrong first; empty: nothing
}

// PassesName stands for a method's name where passes are compared.
const PassesName = "passes"

// Run compares all that the references have of the given methods, or of all where there are none.
func Run(ctx context.Context, r *References, only []string) (all []Result, err error) {
	wanted := func(name string) bool { return len(only) == 0 || slices.Contains(only, name) }
	for i := range r.Passes {
		for _, precision := range slices.Backward(slices.Sorted(maps.Keys(r.Passes[i].Spread))) {
			if wanted(PassesName) {
				all = append(all, r.passes(&r.Passes[i], precision))
			}
		}
	}
	for i := range r.Cases {
		c := &r.Cases[i]
		for _, precision := range slices.Backward(slices.Sorted(maps.Keys(c.Spread))) {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if wanted(c.Method) {
				all = append(all, r.steps(ctx, c, precision))
			}
		}
	}
	return all, nil
}

// check holds a number against the reference's. scale is what the difference is relative to.
func (t *Result) check(where string, got, want, scale, bound float64) {
	t.Numbers++
	difference := math.Abs(got - want)
	if difference > 0 {
		difference /= scale
	}
	off := !(difference <= bound)
	if t.Fault == "" && (off || t.Bound == 0 || difference/bound > float64(t.Difference/t.Bound)) {
		t.Difference, t.Bound = event.Float(difference), event.Float(bound)
	}
	if off {
		t.fail("%s is %.17g, expected %.17g", where, got, want)
	}
}

// fail notes what is wrong, unless something was before.
func (t *Result) fail(format string, args ...any) {
	if t.Fault == "" {
		t.Fault = fmt.Sprintf(format, args...)
	}
}

// numberNames are those of a Step's Values, as far as there are as many.
var numberNames = []string{"the loss", "the gradient's norm", "the step's norm", "the step's projection",
	"the step's first coordinate", "the step's middle coordinate", "the step's last coordinate", "the product's norm"}

// steps takes the steps of a case.
func (r *References) steps(ctx context.Context, c *Case, precision string) Result {
	problem := r.Problems[c.Problem]
	out := Result{Method: c.Method, Variant: c.Variant, Loss: problem.Loss.String(), Precision: precision}
	o, state, method, err := c.start(&problem, precision)
	if err != nil {
		out.fail("%v", err)
		return out
	}
	v, before := signs(len(state.W)), make([]float64, len(state.W))
	g, s := make([]float64, len(before)), make([]float64, len(before))
	for k, want := range c.Steps {
		copy(before, state.W)
		report, err := method.Step(ctx, state)
		if err != nil {
			out.fail("step %d: %v", k+1, err)
			return out
		}
		state.Epoch++
		out.Steps++
		bound := r.Factor * c.Spread[precision][k]
		if got := solvesOf(&report); got != want.Solves {
			out.fail("step %d: inner solves %q, expected %q", k+1, got, want.Solves)
		}
		vector.Sub(s, state.W, before)
		got := []float64{o.GradientTo(g, state.W), vector.Norm(g), vector.Norm(s), vector.Dot(v, s), s[0], s[len(s)/2],
			s[len(s)-1]}
		if c.Curvature != "" {
			productOf(o, c.Curvature, state.W).MulVecTo(g, v)
			got = append(got, vector.Norm(g))
		}
		length := want.Values[2]
		for i, want := range want.Values {
			scale := math.Abs(want)
			switch {
			case i == 3:
				scale = max(scale, length)
			case i > 3 && i < 7:
				scale = max(scale, length/math.Sqrt(float64(len(s))))
			}
			out.check(fmt.Sprintf("step %d: %s", k+1, numberNames[i]), got[i], want, scale, bound)
		}
		if want.Rho != nil {
			out.check(fmt.Sprintf("step %d: ρ", k+1), report.Rho, *want.Rho, max(1, math.Abs(*want.Rho)), bound)
		}
	}
	return out
}

// start makes what a case starts with, and an objective to measure with.
func (c *Case) start(p *Problem, precision string) (o *objective.Objective, s *optim.State, m optim.Method, err error) {
	info, err := methods.Lookup(c.Method)
	if err != nil {
		return nil, nil, nil, err
	}
	o, err = p.objective(precision)
	if err != nil {
		return nil, nil, nil, err
	}
	own, err := p.objective(precision)
	if err != nil {
		return nil, nil, nil, err
	}
	source := splitMix(2)
	s = &optim.State{Objective: own, W: slices.Clone(p.W), Settings: optim.NewSettings(info.Parameters),
		Epochs: c.Epochs, Rand: rand.New(&source)}
	for key, text := range c.Settings {
		if err := s.Settings.SetText(key, text); err != nil {
			return nil, nil, nil, err
		}
	}
	return o, s, info.New(), nil
}

// objective returns the mean loss over the problem's rows.
func (p *Problem) objective(precision string) (*objective.Objective, error) {
	in, err := models.ParsePrecision(precision)
	if err != nil {
		return nil, err
	}
	n, x, t, err := p.network(in)
	if err != nil {
		return nil, err
	}
	of := objective.NewProblem(&datasets.Dataset{Train: datasets.Split{Inputs: x, Targets: t}}, n, models.Init{})
	of.L2 = p.L2
	return objective.Bind(of, of, objective.Rows{}, &objective.Work{}, models.Options{}), nil
}

func productOf(o *objective.Objective, curvature string, w []float64) krylov.Operator {
	if curvature == "hessian" {
		return o.Hessian(w)
	}
	return o.GaussNewton(w)
}

// solvesOf returns the inner solves of a step as the references have them.
func solvesOf(r *optim.Report) string {
	var all []string
	for _, s := range r.Inner {
		all = append(all, fmt.Sprintf("%d%c", s.Iterations, s.Stop.Letter()))
	}
	return strings.Join(all, " ")
}

// passes compares passes at a problem's first weights.
func (r *References) passes(p *Passes, precision string) Result {
	problem := r.Problems[p.Problem]
	out := Result{Method: PassesName, Variant: p.Problem, Loss: problem.Loss.String(), Precision: precision, Steps: 1}
	o, err := problem.objective(precision)
	if err != nil {
		out.fail("%v", err)
		return out
	}
	var names []string
	var got, scales []float64
	add := func(name string, value, scale float64) {
		names, got, scales = append(names, name), append(got, value), append(scales, scale)
	}
	n := len(problem.W)
	v, x := signs(n), make([]float64, n)
	measure := func(name string) {
		length := math.NaN()
		if len(got) < len(p.Values) {
			length = p.Values[len(got)]
		}
		each := length / math.Sqrt(float64(n))
		add("the norm of "+name, vector.Norm(x), 0)
		add("the projection of "+name, vector.Dot(v, x), length)
		for _, i := range []int{0, n / 2, n - 1} {
			add(fmt.Sprintf("coordinate %d of %s", i+1, name), x[i], each)
		}
	}
	add("the loss", o.GradientTo(x, problem.W), 0)
	measure("the gradient")
	o.Hessian(problem.W).MulVecTo(x, v)
	measure("Hv")
	o.GaussNewton(problem.W).MulVecTo(x, v)
	measure("Gv")
	o.GaussNewtonRows(problem.W).MulVecTo(x, v)
	measure("Gv by rows")
	o.GaussNewtonDiagTo(x, problem.W)
	measure("the diagonal of G")
	matrix := mat.NewSymDense(n, nil)
	if err := o.GaussNewtonMatrixTo(matrix, problem.W, nil); err != nil {
		out.fail("%v", err)
	}
	add("‖G‖", mat.Norm(matrix, 2), 0)
	spectrum, err := krylov.Lanczos(o.Hessian(problem.W), 1, krylov.LanczosOptions{Steps: n, Tolerance: 1e-14, Seed: 1})
	if err != nil {
		out.fail("%v", err)
		return out
	}
	add("the largest eigenvalue of H", spectrum.Top[0].Value, 0)
	add("the smallest eigenvalue of H", spectrum.Bottom[0].Value, spectrum.Top[0].Value)
	if len(got) != len(p.Values) {
		out.fail("%d numbers, expected %d", len(got), len(p.Values))
		return out
	}
	for i, want := range p.Values {
		out.check(names[i], got[i], want, max(scales[i], math.Abs(want)), r.Factor*p.Spread[precision][i])
	}
	return out
}
