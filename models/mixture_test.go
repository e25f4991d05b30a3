package models

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// TestExperts: five experts of 16-16-10 have the 2,210 weights of [MD, §3].
func TestExperts(t *testing.T) {
	p := mixtureProblem(t, 10)
	if p.n.ExpertDim() != 2210 || p.n.Dim() != 2225 || p.n.Inputs() != 16 || p.n.Columns() != 18 {
		t.Errorf("%d weights, %d with gates, %d inputs, %d columns", p.n.ExpertDim(), p.n.Dim(), p.n.Inputs(), p.n.Columns())
	}
	a := p.n.Architecture()
	p.n.InitTo(p.w, Init{}, rand.New(rand.NewPCG(1, 1)))
	if got := p.n.GatesAt(p.w); !reflect.DeepEqual(got, a.Mixture.Gates) {
		t.Errorf("the first weights' gates are %v, expected %v", got, a.Mixture.Gates)
	}
	if offset, count := p.n.Gates(); offset != 2210 || count != 5 {
		t.Errorf("%d gates at %d", count, offset)
	}
	copy(p.w[2213:], []float64{math.Log(2), math.Log(3), -1})
	second := a.Mixture.Gates[1]
	want := Gate{2 * second.Width, 3 * second.Slope, second.Center - second.Width}
	got := p.n.GatesAt(p.w)[1]
	wantNear(t, "gate", []float64{got.Width, got.Slope, got.Center}, []float64{want.Width, want.Slope, want.Center}, 1e-15)
	a.Mixture.Gates[0].Width = 99
	if p.n.Architecture().Mixture.Gates[0].Width == 99 {
		t.Error("the network changed with the copy of its architecture")
	}
}

// TestExpertOutputs: what is combined are net inputs where the outputs are softmax's or have cross-entropy, and
// outputs otherwise.
func TestExpertOutputs(t *testing.T) {
	for _, c := range []struct {
		out              Activation
		loss             LossFunction
		expert, combined Activation
	}{
		{Tanh, SquaredError, Tanh, Identity},
		{Sigmoid, SquaredError, Sigmoid, Identity},
		{Sigmoid, CrossEntropy, Identity, Sigmoid},
		{Softmax, CrossEntropy, Identity, Softmax},
		{Softmax, SquaredError, Identity, Softmax},
	} {
		l := Experts(2, []int{3}, 2, 1, Tanh, c.out, c.loss, Mixture{Gates: []Gate{{1, 2, 0}}}).Layers
		if l[0].Activation != Tanh || l[1].Activation != c.expert || l[2].Activation != c.combined {
			t.Errorf("%v, %v: %v", c.out, c.loss, l)
		}
	}
}

// TestGateAtCenter: at a center and close to it, and as far away as can be, everything is finite; at a bell
// of slope 1, which is smooth, the second derivatives at the center are the limits of those beside it.
func TestGateAtCenter(t *testing.T) {
	for _, slope := range []float64{0.05, 0.3, 0.5, 0.7, 1, 1.3, 2, 40} {
		for _, h := range []float64{0, 1e-310, -1e-200, 1e-100, 1e-99, -1e-17, 1e-9, 1e9, -1e300, math.MaxFloat64} {
			p := gateProblem(t, slope, h)
			l, dst := p.n.Linearize(p.w, p.x, p.t), make([]float64, p.n.Dim())
			what := fmt.Sprintf("slope %g, feature %g: ", slope, h)
			l.GradientTo(dst)
			wantFinite(t, what+"gradient", dst)
			l.HessianTo(dst, p.d)
			wantFinite(t, what+"Hd", dst)
			l.GaussNewtonTo(dst, p.d)
			wantFinite(t, what+"Gd", dst)
			l.GaussNewtonDiagTo(dst)
			wantFinite(t, what+"diagonal", dst)
		}
	}
	at, beside := gateProblem(t, 1, 0), gateProblem(t, 1, 1e-10)
	want, got := make([]float64, at.n.Dim()), make([]float64, at.n.Dim())
	beside.n.Linearize(beside.w, beside.x, beside.t).HessianTo(want, beside.d)
	at.n.Linearize(at.w, at.x, at.t).HessianTo(got, at.d)
	wantNear(t, "Hd at the center", got, want, 1e-8)
	if got[at.n.ExpertDim()+2] == 0 {
		t.Error("the center does not bend the loss")
	}
}

// gateProblem has one row whose feature is h, and two gates, the first at 0 with that slope.
func gateProblem(t *testing.T, slope, h float64) problem {
	a := Experts(2, nil, 2, 2, Tanh, Identity, SquaredError,
		Mixture{Feature: 2, Gates: []Gate{{0.5, slope, 0}, {2, 1.5, 1}}})
	p := randomData(t, a, rand.New(rand.NewPCG(4, 4)), 1)
	clear(p.w[p.n.ExpertDim():])
	p.w[p.n.ExpertDim()] = 0.4 // a wider bell than the Architecture's
	p.x.Set(0, 2, h)
	return p
}

// TestPeriod: a feature and the same one some periods away are one, and of two centers the nearer way round
// counts.
func TestPeriod(t *testing.T) {
	a := Experts(1, nil, 1, 3, Tanh, Identity, SquaredError, Mixture{Feature: 1, Period: 360, Gates: DefaultGates(nil, 3, 360)})
	p := randomData(t, a, rand.New(rand.NewPCG(4, 4)), 1)
	p.n.InitTo(p.w, Init{}, rand.New(rand.NewPCG(1, 1)))
	shares := func(h float64) []float64 {
		p.x.Set(0, 1, h)
		s := make([]float64, 3)
		p.n.GateSharesTo(s, p.w, p.x)
		return s
	}
	wantNear(t, "350° and −370°", shares(350), shares(-370), 1e-13)
	near, far := shares(350), shares(10)
	wantNear(t, "350° and 10°", near, []float64{far[0], far[2], far[1]}, 1e-13)
	if s := shares(59); !(s[0] > s[1] && s[1] > s[2]) {
		t.Errorf("shares at 59°: %v", s)
	}
}

func TestDefaultGates(t *testing.T) {
	even := make([]float64, 101)
	for i := range even {
		even[i] = float64(100 - i)
	}
	for _, c := range []struct {
		name   string
		values []float64
		count  int
		period float64
		want   []Gate
	}{
		{"hue", nil, 5, 360, []Gate{{36, 2, 0}, {36, 2, 72}, {36, 2, 144}, {36, 2, 216}, {36, 2, 288}}},
		{"one on a circle", nil, 1, 1, []Gate{{0.5, 2, 0}}},
		{"range", even, 3, 0, []Gate{{15, 2, 20}, {15, 2, 50}, {15, 2, 80}}},
		{"one", even, 1, 0, []Gate{{45, 2, 50}}},
		{"not numbers", []float64{math.NaN(), 1, math.Inf(1), 3}, 2, 0, []Gate{{0.5, 2, 1.5}, {0.5, 2, 2.5}}},
		{"equal", []float64{5, 5, 5}, 2, 0, []Gate{{2.5, 2, 2.5}, {2.5, 2, 7.5}}},
		{"a few others", append(slices.Repeat([]float64{5}, 20), 9), 2, 0, []Gate{{1, 2, 6}, {1, 2, 8}}},
		{"zeros", []float64{0, 0}, 1, 0, []Gate{{1, 2, 0}}},
		{"none", nil, 2, 0, []Gate{{0.5, 2, -0.5}, {0.5, 2, 0.5}}},
	} {
		got := DefaultGates(c.values, c.count, c.period)
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %v, expected %v", c.name, got, c.want)
		}
		for i := 1; i < len(got); i++ { // where neighbours meet both bells are ½
			middle := (got[i-1].Center + got[i].Center) / 2
			wantNear(t, c.name, []float64{bell(got[i-1], middle), bell(got[i], middle)}, []float64{0.5, 0.5}, 1e-15)
		}
	}
}

func bell(g Gate, h float64) float64 {
	return 1 / (1 + math.Pow(math.Abs((h-g.Center)/g.Width), 2*g.Slope))
}

func TestMixtureErrors(t *testing.T) {
	good := func() Architecture {
		return Experts(2, []int{3}, 2, 2, Tanh, Identity, SquaredError, Mixture{Gates: []Gate{{1, 2, 0}, {1, 2, 1}}})
	}
	for _, c := range []struct {
		name  string
		spoil func(a *Architecture)
		want  string
	}{
		{"no mixture", func(a *Architecture) { a.Mixture = nil }, `layer 5 ("output"): takes from layer 2 by gate 1: the network has no mixture`},
		{"features", func(a *Architecture) { a.Features = -1 }, "network: -1 features: expected at least 0"},
		{"no gates", func(a *Architecture) { a.Mixture.Gates = nil }, "network: mixture: no gates: expected at least 1"},
		{"feature", func(a *Architecture) { a.Mixture.Feature = 2 }, "network: mixture: feature 2: expected a column from 0 to 1"},
		{"period", func(a *Architecture) { a.Mixture.Period = -1 }, "network: mixture: period -1: expected a number above 0, or 0 for none"},
		{"width", func(a *Architecture) { a.Mixture.Gates[1].Width = 0 }, "network: mixture: gate 2 has width 0, slope 2 and center 1: expected finite numbers, the first two above 0"},
		{"slope", func(a *Architecture) { a.Mixture.Gates[0].Slope = math.Inf(1) }, "network: mixture: gate 1 has width 1, slope +Inf"},
		{"center", func(a *Architecture) { a.Mixture.Gates[0].Center = math.NaN() }, "network: mixture: gate 1 has width 1, slope 2 and center NaN"},
		{"more gates", func(a *Architecture) { a.Mixture.Gates = append(a.Mixture.Gates, Gate{1, 1, 1}) }, `layer 5 ("output"): takes from no layer by gate 3`},
		{"too few gates", func(a *Architecture) { a.Mixture.Gates = a.Mixture.Gates[:1] }, `layer 5 ("output"): takes from layer 4 by gate 2: expected 1 to 1 in a mixture`},
		{"the same gate", func(a *Architecture) { a.Connections[4].Gate = 2 }, `layer 5 ("output"): takes from two layers by gate 2`},
		{"dense into the last", func(a *Architecture) { a.Connections[4].Gate = 0 }, `layer 5 ("output"): takes from layer 2 by gate 0: expected 1 to 2 in a mixture`},
		{"gate elsewhere", func(a *Architecture) { a.Connections[1].Gate = 1 }, `layer 2 ("expert 1 output"): takes from layer 1 by gate 1: expected none but into the last layer`},
		{"gate on inputs", func(a *Architecture) {
			a.Connections = append(a.Connections, Connection{To: 5, Gate: 3})
			a.Mixture.Gates = append(a.Mixture.Gates, Gate{1, 1, 1})
		}, `layer 5 ("output"): takes from the inputs by gate 3: expected a layer`},
		{"sources", func(a *Architecture) { a.Connections[4].Sources = NewSources([][]int{{0}, {1}}) }, `layer 5 ("output"): takes from layer 2 by gate 1 and a list of sources`},
		{"width of a layer", func(a *Architecture) { a.Layers[1].Nodes = 3 }, `layer 5 ("output"): takes from layer 2 by gate 1, which has 3 nodes: expected 2`},
	} {
		a := good()
		mustNetwork(t, a)
		c.spoil(&a)
		_, err := NewNetwork(a)
		var bad *ArchitectureError
		if !errors.As(err, &bad) || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: got %v, expected %s", c.name, err, c.want)
		}
	}
}
