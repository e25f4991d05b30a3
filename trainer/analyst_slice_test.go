package trainer

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"newtop/trainer/config"
	"newtop/trainer/event"
)

// TestSliceAgainstDifferences holds slices of taken and rejected steps against the loss that another linearization
// computes along them: values, slope and curvature by differences, the Gauss–Newton matrix by differences of outputs.
func TestSliceAgainstDifferences(t *testing.T) {
	wide := []string{"radius=300", "radius-max=300", "retries=0"} // whose first steps fail
	for name, c := range map[string]config.Config{
		"newton":    {Data: "spirals", Hidden: []int{5}, Optimizer: "tr-newton", Set: wide},
		"gn":        {Data: "spirals", Hidden: []int{5}, Optimizer: "tr-gn", Blocks: 1, Set: wide},
		"shortened": {Data: "spirals", Hidden: []int{5}, Optimizer: "tr-newton", Set: []string{"radius=300"}},
		"rows":      {Data: "sine", Hidden: []int{4}, Optimizer: "tr-rows", Set: wide},
		"jacobi":    {Data: "sine", Hidden: []int{4}, Optimizer: "tr-gn-jacobi", Set: wide},
		"dogleg":    {Data: "sine", Hidden: []int{4}, Optimizer: "dogleg"},
		"marquardt": {Data: "sine", Hidden: []int{4}, Optimizer: "lm", Set: []string{"scaling=diagonal"}},
		"scg":       {Data: "sine", Hidden: []int{4}, Optimizer: "scg"},
		"scg-fd":    {Data: "spirals", Hidden: []int{5}, Optimizer: "scg-fd"},
		"committee": {Data: "spirals", Hidden: []int{5}, Optimizer: "tr-gn", Blocks: 1, Committee: 2},
		"mixture":   {Data: "sine", Experts: 2, ExpertHidden: []int{3}, Gate: "x", Optimizer: "tr-newton"},
	} {
		t.Run(name, func(t *testing.T) {
			l, m := ready(t, c, 0)
			accepted := 0
			for epoch := 1; epoch <= 6; epoch++ {
				if err := l.outer(); err != nil {
					t.Fatal(err)
				}
				last := l.nets.Members[len(l.nets.Members)-1]
				e := handled[event.SliceEvent](t, l, m, event.Slice{})
				n := len(last.State.W)
				step := slices.Clone(l.analyst.Proposed.Step)
				if e.Accepted {
					accepted++
					floats.SubTo(step[:n], last.Weights[:n], last.Previous[:n])
				}
				if !floats.EqualApprox(step, l.analyst.Proposed.Step, 1e-12) || !floats.Equal(l.analyst.Proposed.From, last.Previous) {
					t.Fatalf("epoch %d: another step than that from the weights before to those after", epoch)
				}
				if e.Epoch != epoch || e.Member != len(l.nets.Members)-1 || e.Optimizer != c.Optimizer || e.Accepted != last.Report.Accepted ||
					!near(e.Rho, event.Float(last.Report.Rho)) || !near(e.StepNorm, event.Float(last.Report.StepNorm)) {
					t.Errorf("%+v of %+v", e, last.Report)
				}
				compareSlice(t, l, &e)
				compareRho(t, &e)
			}
			if failing := slices.Equal(c.Set, wide); failing && accepted == 6 {
				t.Error("no step was rejected")
			}
		})
	}
}

// compareSlice holds the kept step's slice against differences.
func compareSlice(t *testing.T, l *loop, e *event.SliceEvent) {
	t.Helper()
	train, network := &l.work.Problem.Train, l.work.Problem.Network
	w, s := l.analyst.Proposed.From, l.analyst.Proposed.Step
	whole := network.Linearize(w, train.Inputs, train.Targets)
	at := make([]float64, len(w))
	along := func(t float64) []float64 { return floats.AddScaledTo(at, w, t, s) }
	loss := func(t float64) float64 { return whole.EvaluateAt(along(t)).Loss - whole.Loss() }
	if len(e.At) != 16 || e.At[0] != 0 || e.At[10] != 1 || e.At[15] != 1.5 {
		t.Fatalf("at %v", e.At)
	}
	if e.Loss[0] != 0 || e.GaussNewton[0] != 0 || e.Quadratic[0] != 0 {
		t.Errorf("begins with %v, %v, %v", e.Loss[0], e.GaussNewton[0], e.Quadratic[0])
	}
	for i, at := range e.At {
		if want := loss(float64(at)); math.Abs(float64(e.Loss[i])-want) > 1e-12 {
			t.Errorf("the loss at %v is %v, want %v", at, e.Loss[i], want)
		}
	}
	h := 1e-3 / math.Max(1, float64(e.StepNorm))
	slope := (8*(loss(h)-loss(-h)) - (loss(2*h) - loss(-2*h))) / (12 * h)
	bend := (16*(loss(h)+loss(-h)) - (loss(2*h) + loss(-2*h))) / (12 * h * h)
	gauss := outputCurvature(l, along, h)
	for name, c := range map[string]struct {
		values []event.Float
		bend   float64
	}{"Gauss–Newton": {e.GaussNewton, gauss}, "quadratic": {e.Quadratic, bend}} {
		for i, at := range e.At {
			at := float64(at)
			want := at * (slope + at/2*c.bend)
			if got := float64(c.values[i]); math.Abs(got-want) > 1e-4*(math.Abs(slope)+math.Abs(gauss)+math.Abs(bend)) {
				t.Fatalf("%s at %v: %v, want %v (slope %v, curvatures %v and %v)", name, at, got, want, slope, gauss, bend)
			}
		}
	}
}

// outputCurvature returns sᵀGs from differences du of the outputs along s: the mean over rows of Σ du² for squared
// error, and of Σ du²/u for cross-entropy after softmax.
func outputCurvature(l *loop, along func(t float64) []float64, h float64) float64 {
	x, network := l.work.Problem.Train.Inputs, l.work.Problem.Network
	rows := l.work.Problem.Train.Rows()
	outputs := func(t float64) *mat.Dense {
		u := mat.NewDense(rows, network.Outputs(), nil)
		network.OutputTo(u, along(t), x)
		return u
	}
	low, middle, high := outputs(-h), outputs(0), outputs(h)
	sum := 0.0
	for i := range rows {
		for k := range network.Outputs() {
			du := (high.At(i, k) - low.At(i, k)) / (2 * h)
			if l.work.Problem.Data.Classes != nil {
				du /= math.Sqrt(middle.At(i, k))
			}
			sum += du * du
		}
	}
	return sum / float64(rows)
}

// compareRho: the ratio of what came to what the method's own model promised is ρ.
func compareRho(t *testing.T, e *event.SliceEvent) {
	t.Helper()
	model := map[string][]event.Float{
		"tr-newton": e.Quadratic, "tr-gn": e.GaussNewton, "tr-rows": e.GaussNewton, "tr-gn-jacobi": e.GaussNewton,
		"dogleg": e.GaussNewton, "lm": e.GaussNewton,
	}[e.Optimizer]
	if model == nil {
		return
	}
	if got := float64(e.Loss[10] / model[10]); math.Abs(got-float64(e.Rho)) > 1e-6*math.Max(1, math.Abs(got)) {
		t.Errorf("epoch %d: ρ = %v, but the slice has %v", e.Epoch, e.Rho, got)
	}
}

// TestSliceOfTheLastBlock begins within the sweep, where the last block's step did.
func TestSliceOfTheLastBlock(t *testing.T) {
	taken := 0
	for _, blocks := range []int{2, 5} {
		t.Run(fmt.Sprint(blocks), func(t *testing.T) {
			l, m := ready(t, config.Config{Data: "spirals", Hidden: []int{5}, Optimizer: "tr-gn", Blocks: blocks}, 0)
			for range 12 {
				if err := l.outer(); err != nil {
					t.Fatal(err)
				}
				e, last := handled[event.SliceEvent](t, l, m, event.Slice{}), l.nets.Members[0]
				compareSlice(t, l, &e)
				end := slices.Clone(l.analyst.Proposed.From)
				if e.Accepted {
					floats.Add(end, l.analyst.Proposed.Step)
				}
				if last.Report.Accepted && len(last.Report.Inner) == blocks {
					taken++
					if !floats.Equal(end, last.Weights) {
						t.Error("the last block's step does not end where the sweep does")
					}
				}
			}
		})
	}
	if taken == 0 {
		t.Error("no sweep was taken")
	}
}

// TestSlicesFollowTheMethod: the first epoch of one that proposes nothing takes the slice away.
func TestSlicesFollowTheMethod(t *testing.T) {
	l, m := ready(t, config.Config{Data: "spirals", Hidden: []int{5}, Optimizer: "tr-newton"}, 2)
	if err := l.control.handle(event.Switch{Optimizer: "sgd"}); err != nil {
		t.Fatal(err)
	}
	l.control.applyPending()
	if e := handled[event.SliceEvent](t, l, m, event.Slice{}); e.Optimizer != "tr-newton" || e.Epoch != 2 {
		t.Errorf("right after the switch: %+v", e)
	}
	if err := l.outer(); err != nil {
		t.Fatal(err)
	}
	if err := l.control.handle(event.Slice{}); err == nil {
		t.Error("sgd has a slice")
	}
}
