package analysis

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"newtop/models"
	"newtop/trainer/event"
	"newtop/trainer/krylov"
)

// byKey are figures by their keys.
type byKey map[string]float64

// figuresOf is the probe's figures by key, each once and with what a reader needs.
func figuresOf(t *testing.T, metrics []event.Metric) byKey {
	t.Helper()
	found := byKey{}
	for _, f := range metrics {
		if _, twice := found[f.Key]; twice || f.Symbol == "" || f.Meaning == "" || math.IsNaN(float64(f.Value)) {
			t.Errorf("figure %+v", f)
		}
		found[f.Key] = float64(f.Value)
	}
	return found
}

// checkProbe holds every figure of a probe with Count 3 to a dense matrix; the trace's error is the estimate's own.
func checkProbe(t *testing.T, h mat.Symmetric, g []float64, loss float64, o ProbeOptions, e event.SpectrumEvent, metrics []event.Metric) byKey {
	t.Helper()
	got := figuresOf(t, metrics)
	values, vectors := oracle(t, h)
	n := len(values)
	scale := max(math.Abs(values[0]), values[n-1])
	inside := 0.0
	for i := range 3 {
		part := mat.Dot(vectors.ColView(n-1-i), mat.NewVecDense(n, g))
		inside += part * part
	}
	want := byKey{
		"lambda-1": values[n-1], "lambda-n": values[0], "lambda-rate": values[n-1] * o.Rate,
		"edge":         values[n-1] / (2 * (1 + o.Momentum) / o.Rate),
		"gradient-top": inside / floats.Dot(g, g), "curvature-gradient": bend(h, g), "gradient-norm": floats.Norm(g, 2),
		"curvature-update": bend(h, o.Update), "update-norm": floats.Norm(o.Update, 2), "weight-norm": floats.Norm(o.Weights, 2),
	}
	for _, b := range o.Blocks {
		lambda, _ := oracle(t, corner(h, b))
		want["lambda-1/"+b.Name] = lambda[len(lambda)-1]
		want["gradient-norm/"+b.Name] = floats.Norm(g[b.From:b.To], 2)
		want["weight-norm/"+b.Name] = floats.Norm(o.Weights[b.From:b.To], 2)
	}
	if values[0] > 0 {
		norm, decrease, residual := newtonStep(t, h, g)
		want["newton-norm"], want["newton-decrease"], want["newton-residual"] = norm, decrease/loss, residual
	}
	for key, w := range want {
		if v, ok := got[key]; !ok || !(math.Abs(v-w) <= 1e-8*max(1, scale, math.Abs(w))) {
			t.Errorf("%s = %.12g, dense %.12g", key, v, w)
		}
	}
	if math.Abs(got["trace"]-mat.Trace(h)) > 5*got["trace-error"]+1e-10*scale {
		t.Errorf("trace %g ± %g, dense %g", got["trace"], got["trace-error"], mat.Trace(h))
	}
	for i := range 3 {
		top, bottom := float64(e.Eigenvalues[i]), float64(e.Eigenvalues[len(e.Eigenvalues)-1-i])
		if math.Abs(top-values[n-1-i]) > 1e-8*scale || math.Abs(bottom-values[i]) > 1e-8*scale {
			t.Errorf("eigenvalues %d: %g and %g, dense %g and %g", i, top, bottom, values[n-1-i], values[i])
		}
	}
	return got
}

func TestProbeAgainstDense(t *testing.T) {
	const n = 24
	for seed := range uint64(6) {
		q := newQuadratic(seed, n, seed%2 == 0)
		rng := rand.New(rand.NewPCG(seed, 4))
		o := ProbeOptions{
			Rate: 0.1, Momentum: 0.9, Update: normal(rng, n), Weights: normal(rng, n), Tolerance: 1e-10, Density: seed == 1,
			Blocks: []ProbeBlock{{"first", 0, 10}, {"one", 10, 11}, {"last", 11, n}},
		}
		if q.wrong = seed == 2; q.wrong {
			o.Operator = "gauss-newton"
		}
		e, metrics, start, err := Probe(q, o)
		if err != nil || e.Stop != krylov.Residual || e.Products != q.products || e.Rows != 7 || (e.Density != nil) != o.Density {
			t.Fatalf("seed %d: %v, %v, %d products of %d", seed, err, e.Stop, e.Products, q.products)
		}
		checkProbe(t, q.h, q.g, q.loss, o, e, metrics)
		o.Start = start
		if again, _, _, err := Probe(q, o); err != nil || again.Stop != krylov.Residual {
			t.Errorf("seed %d from a start: %v, %v", seed, err, again.Stop)
		}
	}
}

// TestProbeOfANet forms the Hessian of a net column by column.
func TestProbeOfANet(t *testing.T) {
	a := models.Architecture{Inputs: 2, Loss: models.SquaredError, Layers: []models.Layer{{Nodes: 3, Activation: models.Tanh}, {Nodes: 1, Activation: models.Identity}},
		Connections: []models.Connection{{To: 1, From: 0}, {To: 2, From: 1}}}
	network, err := models.NewNetwork(a)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(5, 6))
	const rows = 30
	n := network.Dim()
	w := normal(rng, n)
	l := network.Linearize(w, mat.NewDense(rows, 2, normal(rng, 2*rows)), mat.NewDense(rows, 1, normal(rng, rows)))
	h := mat.NewSymDense(n, nil)
	e, column := make([]float64, n), make([]float64, n)
	for i := range n {
		clear(e)
		e[i] = 1
		l.HessianTo(column, e)
		for j := range i + 1 {
			h.SetSym(i, j, column[j])
		}
	}
	g := make([]float64, n)
	l.GradientTo(g)
	o := ProbeOptions{
		Rate: 0.5, Update: normal(rng, n), Weights: w, Tolerance: 1e-10, Blocks: []ProbeBlock{{"hidden", 0, 9}, {"output", 9, n}},
	}
	spectrum, metrics, _, err := Probe(l, o)
	if err != nil {
		t.Fatal(err)
	}
	checkProbe(t, h, g, l.Loss(), o, spectrum, metrics)
}

// TestProbeKeepsToItsProducts: whatever they are they are not exceeded, figures that are there are right, and what is of more
// worth comes before what is of less.
func TestProbeKeepsToItsProducts(t *testing.T) {
	const n = 24
	o := ProbeOptions{Rate: 0.1, Tolerance: 1e-10, Blocks: []ProbeBlock{{"first", 0, 10}, {"last", 10, n}}, Update: make([]float64, n)}
	o.Update[3] = 2
	whole := newQuadratic(0, n, true)
	_, metrics, _, _ := Probe(whole, o)
	all := figuresOf(t, metrics)
	before := 0
	for o.Products = 1; o.Products <= whole.products+20; o.Products++ {
		q := newQuadratic(0, n, true)
		e, metrics, _, err := Probe(q, o)
		if err != nil || q.products > o.Products || e.Products != q.products {
			t.Fatalf("%d products allowed: %d taken, %d said, %v", o.Products, q.products, e.Products, err)
		}
		got := figuresOf(t, metrics)
		for key := range got {
			if _, ok := all[key]; !ok {
				t.Errorf("%d products: %s is new", o.Products, key)
			}
		}
		if _, ok := got["curvature-gradient"]; ok != (o.Products > 1) {
			t.Errorf("%d products: curvature along the gradient is %v", o.Products, ok)
		}
		if v := got["curvature-update"]; math.Abs(v-all["curvature-update"]) > 1e-12 {
			t.Errorf("%d products: curvature along the update %g", o.Products, v)
		}
		if v, ok := got["lambda-1"]; ok && v > all["lambda-1"]*(1+1e-12) {
			t.Errorf("%d products: λ₁ = %g, above %g", o.Products, v, all["lambda-1"])
		}
		before = len(got)
	}
	if before != len(all) {
		t.Errorf("%d figures with products to spare, %d without a limit", before, len(all))
	}
}

func TestProbeLeavesOutTheUnknown(t *testing.T) {
	q := newQuadratic(1, 12, false)
	q.loss = 0
	_, metrics, _, err := Probe(q, ProbeOptions{Rate: math.NaN(), Momentum: math.NaN(), Count: 1})
	got := figuresOf(t, metrics)
	for _, key := range []string{"lambda-rate", "edge", "curvature-update", "update-norm", "weight-norm", "newton-decrease"} {
		if _, ok := got[key]; ok || err != nil {
			t.Errorf("%s = %g, %v", key, got[key], err)
		}
	}
	_, metrics, _, _ = Probe(q, ProbeOptions{Rate: 0.1, Momentum: math.NaN()})
	if got := figuresOf(t, metrics); got["edge"] != 0 || got["lambda-rate"] == 0 {
		t.Errorf("an edge without a momentum: %v", got)
	}
	clear(q.g) // at a minimum
	if _, metrics, _, _ = Probe(q, ProbeOptions{Rate: 0.1}); len(figuresOf(t, metrics)) == 0 {
		t.Error("no figures at a minimum")
	}
	q.h.SetSym(2, 3, math.NaN())
	e, metrics, _, err := Probe(q, ProbeOptions{Rate: 0.1, Blocks: []ProbeBlock{{"clean", 5, 9}}})
	if err != nil || e.Stop != krylov.NotFinite || e.Eigenvalues != nil || figuresOf(t, metrics)["lambda-1"] != 0 {
		t.Errorf("%v, %+v", err, e)
	}
}

// TestProbeInterrupted: at whatever product, it ends there with what it has.
func TestProbeInterrupted(t *testing.T) {
	stop := errors.New("enough")
	o := ProbeOptions{Rate: 0.1, Blocks: []ProbeBlock{{"first", 0, 10}}, Update: []float64{23: 1}}
	whole := newQuadratic(0, 24, true)
	Probe(whole, o)
	for at := 1; at <= whole.products; at++ {
		q := newQuadratic(0, 24, true)
		o.Poll = func() error {
			if q.products == at {
				return stop
			}
			return nil
		}
		e, metrics, _, err := Probe(q, o)
		_, known := figuresOf(t, metrics)["lambda-1"]
		if err != stop || e.Products != at || known != (e.Stop != krylov.Interrupted) || known != (e.Eigenvalues != nil) {
			t.Errorf("at %d: %v, %d products, %v, %v", at, err, e.Products, e.Stop, known)
		}
	}
}

// TestProbeInLittleMemory restarts and finds nearly the same.
func TestProbeInLittleMemory(t *testing.T) {
	const n = 60
	q := newQuadratic(2, n, true)
	ample, metrics, _, _ := Probe(q, ProbeOptions{Rate: 0.1, Density: true})
	want := figuresOf(t, metrics)
	little, metrics, _, err := Probe(q, ProbeOptions{Rate: 0.1, Density: true, Memory: 8 * n * 24})
	got := figuresOf(t, metrics)
	if err != nil || little.Stop != krylov.Residual || little.Density.Steps != 20 || ample.Density.Steps != n {
		t.Fatalf("%v, %v, %d and %d steps of the density", err, little.Stop, little.Density.Steps, ample.Density.Steps)
	}
	if little.Products-ample.Products == 10*(20-n) {
		t.Error("no restart: nothing is tested")
	}
	for _, key := range []string{"lambda-1", "lambda-n", "edge", "gradient-top"} { // at residuals of 1e-3
		if math.Abs(got[key]-want[key]) > 1e-3*max(1, math.Abs(want[key])) {
			t.Errorf("%s = %g, in ample memory %g", key, got[key], want[key])
		}
	}
}

func TestProbePanics(t *testing.T) {
	for _, o := range []ProbeOptions{
		{Update: make([]float64, 3)}, {Weights: make([]float64, 3)}, {Blocks: []ProbeBlock{{"b", 0, 13}}}, {Blocks: []ProbeBlock{{"b", 4, 4}}},
	} {
		func() {
			defer func() {
				if text, ok := recover().(string); !ok || !strings.HasPrefix(text, "analysis: ") {
					t.Errorf("%+v: %q", o, text)
				}
			}()
			Probe(newQuadratic(0, 12, true), o)
		}()
	}
}
