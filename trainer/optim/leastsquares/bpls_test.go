package leastsquares

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"newtop/trainer/optim"
	"newtop/trainer/optim/internal/optimtest"
)

// Activations as the papers write them, one number or row at a time.
var (
	testIdentity = optim.Activation{Name: "identity", Value: func([]float64) {}, Clip: func([]float64, float64) {}, Inverse: func([]float64) {}}
	testSigmoid  = optim.Activation{
		Name:    "sigmoid",
		Value:   eachOf(func(v float64) float64 { return 1 / (1 + math.Exp(-v)) }),
		Clip:    func(u []float64, k float64) { eachOf(func(v float64) float64 { return max(k, min(1-k, v)) })(u) },
		Inverse: eachOf(func(u float64) float64 { return -math.Log(1/u - 1) }),
	}
	testSoftmax = optim.Activation{
		Name:  "softmax",
		Value: func(v []float64) { eachOf(math.Exp)(v); floats.Scale(1/floats.Sum(v), v) },
		Clip: func(u []float64, k float64) {
			eachOf(func(v float64) float64 { return max(k, min(1, v)) })(u)
			floats.Scale(1/floats.Sum(u), u)
		},
		Inverse: func(u []float64) { eachOf(math.Log)(u); floats.AddConst(-floats.Sum(u)/float64(len(u)), u) },
	}
)

func eachOf(f func(float64) float64) func([]float64) {
	return func(x []float64) {
		for i, v := range x {
			x[i] = f(v)
		}
	}
}

// layered is a chain with half the mean squared error, computed number by number.
type layered struct {
	chain   optim.Chain
	why     error
	charged float64
}

// newLayered lays the layers out as the flat vector has them, f being the activations in order.
func newLayered(x, t *mat.Dense, classes bool, nodes []int, f ...optim.Activation) *layered {
	o := &layered{chain: optim.Chain{Inputs: x, Targets: t, Classes: classes}}
	next, sources := 0, x.RawMatrix().Cols
	for i, n := range nodes {
		l := optim.Layer{Sources: sources, Nodes: n, Weights: next, Biases: next + n*sources, Activation: f[i]}
		o.chain.Layers = append(o.chain.Layers, l)
		next, sources = l.Biases+n, n
	}
	return o
}

func (o *layered) Chain() (*optim.Chain, error)   { return &o.chain, o.why }
func (o *layered) Charge(multiplications float64) { o.charged += multiplications }

func (o *layered) Dim() int {
	last := o.chain.Layers[len(o.chain.Layers)-1]
	return last.Biases + last.Nodes
}

// output returns the outputs of every layer for one row.
func (o *layered) output(w, x []float64) [][]float64 {
	var all [][]float64
	for _, l := range o.chain.Layers {
		u := make([]float64, l.Nodes)
		for j := range u {
			u[j] = w[l.Biases+j]
			for i, v := range x {
				u[j] += w[l.Weights+j*l.Sources+i] * v
			}
		}
		l.Activation.Value(u)
		all, x = append(all, u), u
	}
	return all
}

func (o *layered) Loss(w []float64) float64 {
	sum := 0.0
	rows := o.chain.Inputs.RawMatrix().Rows
	for p := range rows {
		u := o.output(w, o.chain.Inputs.RawRowView(p))
		d := floats.Distance(u[len(u)-1], o.chain.Targets.RawRowView(p), 2)
		sum += d * d / 2
	}
	return sum / float64(rows)
}

func (o *layered) GradientTo(dst, w []float64) float64 { panic("bpls needs no gradient") }

// missed counts naively what bpls has to.
func (o *layered) missed(w []float64) []int {
	var rows []int
	for p := range o.chain.Inputs.RawMatrix().Rows {
		u := o.output(w, o.chain.Inputs.RawRowView(p))
		if floats.MaxIdx(u[len(u)-1]) != floats.MaxIdx(o.chain.Targets.RawRowView(p)) {
			rows = append(rows, p)
		}
	}
	return rows
}

// bplsState returns a method and a state with small weights and the given settings.
func bplsState(t *testing.T, o *layered, set ...string) (optim.Method, *optim.State) {
	t.Helper()
	m, settings := method(t, "bpls", set...)
	rng := rand.New(rand.NewPCG(8, 1))
	w := make([]float64, o.Dim())
	for i := range w {
		w[i] = rng.Float64() - 0.5
	}
	return m, &optim.State{Objective: o, W: w, Settings: settings, Rand: rng}
}

// clouds are rows around as many centres as there are classes, coded as 0 and 1.
func clouds(rng *rand.Rand, rows, inputs, classes int, spread float64) (x, t *mat.Dense) {
	x, t = mat.NewDense(rows, inputs, nil), mat.NewDense(rows, classes, nil)
	centres := normalMatrix(rng, classes, inputs)
	for p := range rows {
		class := p % classes
		t.Set(p, class, 1)
		for i := range inputs {
			x.Set(p, i, centres.At(class, i)+spread*rng.NormFloat64())
		}
	}
	return x, t
}

// A linear teacher is found exactly, by every rule, through any number of linear layers that are wide enough;
// and a teacher with an invertible output is, by one layer of its kind.
func TestBPLSRecoversATeacher(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 0))
	x := normalMatrix(rng, 40, 4)
	teacher := newLayered(x, mat.NewDense(40, 3, nil), false, []int{3}, testIdentity)
	truth := make([]float64, teacher.Dim())
	for i := range truth {
		truth[i] = rng.NormFloat64()
	}
	line, curve, share := mat.NewDense(40, 3, nil), mat.NewDense(40, 3, nil), mat.NewDense(40, 3, nil)
	for p := range 40 {
		u := teacher.output(truth, x.RawRowView(p))[0]
		line.SetRow(p, u)
		testSigmoid.Value(u)
		curve.SetRow(p, u)
		copy(u, line.RawRowView(p))
		testSoftmax.Value(u)
		share.SetRow(p, u)
	}
	for _, rule := range []string{rulePrinted, ruleDamped, ruleMinimumNorm, ruleNone} {
		for _, solver := range []string{"cholesky", "qr"} {
			for name, o := range map[string]*layered{
				"line":     newLayered(x, line, false, []int{3}, testIdentity),
				"curve":    newLayered(x, curve, false, []int{3}, testSigmoid),
				"share":    newLayered(x, share, false, []int{3}, testSoftmax),
				"2 layers": newLayered(x, line, false, []int{6, 3}, testIdentity, testIdentity),
				"3 layers": newLayered(x, line, false, []int{5, 6, 3}, testIdentity, testIdentity, testIdentity),
				"mixed":    newLayered(x, curve, false, []int{4, 3}, testIdentity, testSigmoid),
			} {
				m, s := bplsState(t, o, "target", rule, "solver", solver, "clip", "1e-9")
				report, err := m.Step(t.Context(), s)
				if err != nil {
					t.Fatalf("%s, %s, %s: %v", name, rule, solver, err)
				}
				if !(report.Loss < 1e-18) || report.Loss != o.Loss(s.W) || !report.Accepted || o.charged <= 0 {
					t.Errorf("%s, %s, %s: loss %g, reported %g, %g multiplications", name, rule, solver, o.Loss(s.W), report.Loss, o.charged)
				}
				if len(o.chain.Layers) == 1 && name != "share" && !floats.EqualApprox(s.W, truth, 1e-8) {
					t.Errorf("%s: weights %.3f, want %.3f", name, s.W, truth)
				}
				if _, err := m.Step(t.Context(), s); !errors.Is(err, optim.ErrStalled) || !strings.Contains(err.Error(), "algorithm 1") {
					t.Errorf("%s: a second iteration: %v", name, err)
				}
			}
		}
	}
}

func TestBPLSEndsWithAReason(t *testing.T) {
	rng := rand.New(rand.NewPCG(10, 0))
	x, targets := clouds(rng, 60, 4, 3, 0.01)
	one := mat.NewDense(60, 3, nil)
	for p := range 60 {
		one.Set(p, 1, 1)
	}
	sloppy, sloppyTargets := clouds(rng, 90, 4, 3, 3)
	for _, test := range []struct {
		name  string
		o     *layered
		set   []string
		steps int // before the end; −1: any number
		want  string
	}{
		{"separable", newLayered(x, targets, true, []int{5, 3}, testSigmoid, testSoftmax), nil, -1, "every row is classified right"},
		{"one class", newLayered(x, one, true, []int{5, 3}, testSigmoid, testSoftmax), nil, 1, "every row is classified right"},
		{"not separable", newLayered(sloppy, sloppyTargets, true, []int{5, 3}, testSigmoid, testSoftmax), nil, -1, "the misses no longer fall"},
		{"none after the first", newLayered(sloppy, sloppyTargets, true, []int{3}, testSoftmax), []string{"tau-max", "0"}, 1, "τ_max iterations are done"},
		{"algorithm 1", newLayered(x, targets, true, []int{5, 3}, testSigmoid, testSoftmax), []string{"algorithm", "1"}, 1, "one iteration is all of algorithm 1"},
	} {
		m, s := bplsState(t, test.o, test.set...)
		for steps := 0; ; steps++ {
			before := slices.Clone(s.W)
			_, err := m.Step(t.Context(), s)
			if err == nil {
				continue
			}
			if !errors.Is(err, optim.ErrStalled) || err.Error() != test.want || test.steps >= 0 && steps != test.steps {
				t.Errorf("%s: after %d steps %v, want %s", test.name, steps, err, test.want)
			}
			if !slices.Equal(before, s.W) {
				t.Errorf("%s: the last iteration was not taken back", test.name)
			}
			if steps > 0 && test.name == "separable" {
				again, state := bplsState(t, test.o, "start", "keep")
				copy(state.W, s.W)
				if _, err := again.Step(t.Context(), state); err == nil || err.Error() != test.want {
					t.Errorf("solved already: %v", err)
				}
			}
			break
		}
	}
}

func TestBPLSRefuses(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 0))
	numbers := newLayered(normalMatrix(rng, 9, 2), normalMatrix(rng, 9, 2), false, []int{2}, testIdentity)
	m, s := bplsState(t, numbers, "algorithm", "2")
	var setting *optim.SettingError
	if _, err := m.Step(t.Context(), s); !errors.As(err, &setting) || !strings.Contains(err.Error(), "classes") {
		t.Errorf("algorithm 2 for numbers: %v", err)
	}
	var broken *optim.NotFiniteError
	m, s = bplsState(t, numbers)
	s.W[3] = math.NaN()
	if _, err := m.Step(t.Context(), s); !errors.As(err, &broken) || broken.What != "weights" {
		t.Errorf("weights that are no numbers: %v", err)
	}
	for _, solver := range []string{"cholesky", "qr"} {
		for _, bad := range []float64{math.NaN(), math.Inf(-1)} {
			o := newLayered(normalMatrix(rng, 9, 2), normalMatrix(rng, 9, 2), false, []int{3, 2}, testSigmoid, testIdentity)
			o.chain.Inputs.Set(4, 1, bad)
			m, s = bplsState(t, o, "solver", solver)
			before := slices.Clone(s.W)
			if _, err := m.Step(t.Context(), s); !errors.As(err, &broken) && !math.IsInf(bad, 0) || !slices.Equal(before, s.W) {
				t.Errorf("%s with an input of %g: %v", solver, bad, err)
			}
		}
	}
	broke := &layered{chain: numbers.chain, why: errors.New("layer 2 takes from layer 0")}
	m, s = bplsState(t, numbers)
	s.Objective = broke
	if _, err := m.Step(t.Context(), s); err == nil || err.Error() != broke.why.Error() {
		t.Errorf("no chain: %v", err)
	}
	for o, want := range map[optim.Objective]string{numbers: "", broke: "layer 2 takes from layer 0", &optimtest.Smooth{}: "no layers"} {
		err := optim.Offers(o, optim.NeedsLayers)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%T offers layers: %v", o, err)
		}
	}
}

// One row, fewer rows than inputs, columns that never change: always an answer, and the right one.
func TestBPLSOnFewRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(12, 0))
	for _, rows := range []int{1, 2, 3} {
		for _, solver := range []string{"cholesky", "qr"} {
			x := normalMatrix(rng, rows, 6)
			for p := range rows {
				x.Set(p, 2, 0.3)
			}
			o := newLayered(x, normalMatrix(rng, rows, 2), false, []int{8, 2}, testSigmoid, testIdentity)
			m, s := bplsState(t, o, "solver", solver, "clip", "1e-6")
			report, err := m.Step(t.Context(), s)
			if err != nil || !(report.Loss < 1e-12) {
				t.Errorf("%d rows by %s: loss %g, %v", rows, solver, report.Loss, err)
			}
			if got := optimtest.Diagnostic(t, report, "rank"); got != float64(rows-1) {
				t.Errorf("%d rows by %s: rank %g", rows, solver, got)
			}
		}
	}
}

// The same generator gives the same bits; an end between two pieces of work changes nothing; and the monitor
// hears of all of them.
func TestBPLSIsInterrupted(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 0))
	x, targets := clouds(rng, panelRows+50, 4, 3, 1)
	o := newLayered(x, targets, true, []int{6, 3}, testSigmoid, testSoftmax)
	m, s := bplsState(t, o)
	heard, total := 0, 0
	s.Monitor = func(in optim.Inner) error {
		heard++
		total = in.Total
		if in.Iteration.Number != heard || math.IsNaN(in.Loss) {
			t.Errorf("unit %d: %+v", heard, in)
		}
		return nil
	}
	if _, err := m.Step(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	if want := 3 * 3; heard != want || total != want { // three solves of two panels and a factorization
		t.Errorf("%d pieces of work of %d, want %d", heard, total, want)
	}
	for stop := 1; stop <= 9; stop++ {
		again, other := bplsState(t, o)
		before := slices.Clone(other.W)
		left := stop
		other.Monitor = func(optim.Inner) error {
			if left--; left == 0 {
				return optim.ErrInterrupted
			}
			return nil
		}
		if _, err := again.Step(t.Context(), other); !errors.Is(err, optim.ErrInterrupted) || !slices.Equal(before, other.W) {
			t.Errorf("ended at %d: %v", stop, err)
		}
	}
	again, other := bplsState(t, o)
	if _, err := again.Step(t.Context(), other); err != nil || !slices.Equal(s.W, other.W) {
		t.Errorf("another time the weights are others, %v", err)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := again.Step(cancelled, other); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// Weights that somebody else changed between two iterations are looked at anew.
func TestBPLSAfterARewind(t *testing.T) {
	rng := rand.New(rand.NewPCG(14, 0))
	x, targets := clouds(rng, 120, 6, 3, 1.5)
	o := newLayered(x, targets, true, []int{7, 3}, testSigmoid, testSoftmax)
	m, s := bplsState(t, o)
	if _, err := m.Step(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	s.W[o.chain.Layers[1].Biases] += 4 // some more rows in the first class
	missed := o.missed(s.W)
	report, err := m.Step(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := optimtest.Diagnostic(t, report, "share"), float64(len(missed))/120; got != want {
		t.Errorf("a share of %g, want %g", got, want)
	}
}
