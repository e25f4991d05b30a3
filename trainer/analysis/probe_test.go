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
	"newtop/trainer/objective"
)

// quadratic is ½wᵀHw + gᵀw + loss at w = 0, a linearization as far as a probe asks.
type quadratic struct {
	objective.Linearization
	h        *mat.SymDense
	g        []float64
	loss     float64
	products int
	wrong    bool // which product is asked for: the other one must not be
}

func (q *quadratic) Dim() int                       { return len(q.g) }
func (q *quadratic) Rows() int                      { return 7 }
func (q *quadratic) Loss() float64                  { return q.loss }
func (q *quadratic) GradientTo(dst []float64)       { copy(dst, q.g) }
func (q *quadratic) HessianTo(dst, v []float64)     { q.product(dst, v, false) }
func (q *quadratic) GaussNewtonTo(dst, v []float64) { q.product(dst, v, true) }

func (q *quadratic) product(dst, v []float64, wrong bool) {
	if wrong != q.wrong {
		panic("the other matrix was asked for")
	}
	q.products++
	mat.NewVecDense(len(dst), dst).MulVec(q.h, mat.NewVecDense(len(v), v))
}

// newQuadratic has a random matrix, indefinite or with the given eigenvalues' sign, and a random gradient.
func newQuadratic(seed uint64, n int, definite bool) *quadratic {
	rng := rand.New(rand.NewPCG(seed, 3))
	a := mat.NewDense(n, n, normal(rng, n*n))
	h := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			v := a.At(i, j) + a.At(j, i)
			if definite {
				v = mat.Dot(a.RowView(i), a.RowView(j)) / float64(n)
				if i == j {
					v += 0.1
				}
			}
			h.SetSym(i, j, v)
		}
	}
	return &quadratic{h: h, g: normal(rng, n), loss: 3}
}

func normal(rng *rand.Rand, n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = rng.NormFloat64()
	}
	return v
}

// oracle is a dense matrix's eigenvalues, upwards, and their vectors in columns.
func oracle(t *testing.T, h mat.Symmetric) ([]float64, *mat.Dense) {
	t.Helper()
	var e mat.EigenSym
	if !e.Factorize(h, true) {
		t.Fatal("no eigenvalues")
	}
	var v mat.Dense
	e.VectorsTo(&v)
	return e.Values(nil), &v
}

func bend(h mat.Symmetric, v []float64) float64 {
	x := mat.NewVecDense(len(v), v)
	return mat.Inner(x, h, x) / mat.Dot(x, x)
}

func corner(h mat.Symmetric, b ProbeBlock) *mat.SymDense {
	s := mat.NewSymDense(b.To-b.From, nil)
	for i := range b.To - b.From {
		for j := range i + 1 {
			s.SetSym(i, j, h.At(b.From+i, b.From+j))
		}
	}
	return s
}

// newtonStep minimizes the model over the smallest Krylov space of g where ‖g + Hs‖ ≤ 0.1‖g‖, by a dense solve in an
// orthonormal basis of it.
func newtonStep(t *testing.T, h mat.Symmetric, g []float64) (norm, decrease, residual float64) {
	t.Helper()
	n := len(g)
	powers := mat.NewDense(n, n, nil)
	v := mat.NewVecDense(n, append([]float64(nil), g...))
	for m := 1; m <= n; m++ {
		v.ScaleVec(1/mat.Norm(v, 2), v)
		powers.SetCol(m-1, v.RawVector().Data)
		var qr mat.QR
		qr.Factorize(powers.Slice(0, n, 0, m))
		var full, left, small mat.Dense
		qr.QTo(&full)
		q := full.Slice(0, n, 0, m)
		left.Mul(q.T(), h)
		small.Mul(&left, q)
		var right, y, s, r mat.VecDense
		right.MulVec(q.T(), mat.NewVecDense(n, g))
		right.ScaleVec(-1, &right)
		if err := y.SolveVec(&small, &right); err != nil {
			t.Fatal(err)
		}
		s.MulVec(q, &y)
		r.MulVec(h, &s)
		decrease = -(mat.Dot(&s, mat.NewVecDense(n, g)) + mat.Dot(&s, &r)/2)
		r.AddVec(&r, mat.NewVecDense(n, g))
		if residual = mat.Norm(&r, 2) / floats.Norm(g, 2); residual <= 0.1 {
			return mat.Norm(&s, 2), decrease, residual
		}
		v.MulVec(h, v)
	}
	t.Fatal("no step")
	return 0, 0, 0
}

// byKey are figures by their keys.
type byKey map[string]float64

// figuresOf is the probe's figures by key, each once and with what a reader needs.
func figuresOf(t *testing.T, figures []event.Figure) byKey {
	t.Helper()
	found := byKey{}
	for _, f := range figures {
		if _, twice := found[f.Key]; twice || f.Symbol == "" || f.Meaning == "" || math.IsNaN(float64(f.Value)) {
			t.Errorf("figure %+v", f)
		}
		found[f.Key] = float64(f.Value)
	}
	return found
}

// checkProbe holds every figure of a probe with Count 3 to a dense matrix; the trace's error is the estimate's own.
func checkProbe(t *testing.T, h mat.Symmetric, g []float64, loss float64, o ProbeOptions, e event.SpectrumEvent, figures []event.Figure) byKey {
	t.Helper()
	got := figuresOf(t, figures)
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
		e, figures, start, err := Probe(q, o)
		if err != nil || e.Stop != krylov.Residual || e.Products != q.products || e.Rows != 7 || (e.Density != nil) != o.Density {
			t.Fatalf("seed %d: %v, %v, %d products of %d", seed, err, e.Stop, e.Products, q.products)
		}
		checkProbe(t, q.h, q.g, q.loss, o, e, figures)
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
	spectrum, figures, _, err := Probe(l, o)
	if err != nil {
		t.Fatal(err)
	}
	checkProbe(t, h, g, l.Loss(), o, spectrum, figures)
}

// TestProbeKeepsToItsProducts: whatever they are they are not exceeded, figures that are there are right, and what is of more
// worth comes before what is of less.
func TestProbeKeepsToItsProducts(t *testing.T) {
	const n = 24
	o := ProbeOptions{Rate: 0.1, Tolerance: 1e-10, Blocks: []ProbeBlock{{"first", 0, 10}, {"last", 10, n}}, Update: make([]float64, n)}
	o.Update[3] = 2
	whole := newQuadratic(0, n, true)
	_, figures, _, _ := Probe(whole, o)
	all := figuresOf(t, figures)
	before := 0
	for o.Products = 1; o.Products <= whole.products+20; o.Products++ {
		q := newQuadratic(0, n, true)
		e, figures, _, err := Probe(q, o)
		if err != nil || q.products > o.Products || e.Products != q.products {
			t.Fatalf("%d products allowed: %d taken, %d said, %v", o.Products, q.products, e.Products, err)
		}
		got := figuresOf(t, figures)
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
	_, figures, _, err := Probe(q, ProbeOptions{Rate: math.NaN(), Momentum: math.NaN(), Count: 1})
	got := figuresOf(t, figures)
	for _, key := range []string{"lambda-rate", "edge", "curvature-update", "update-norm", "weight-norm", "newton-decrease"} {
		if _, ok := got[key]; ok || err != nil {
			t.Errorf("%s = %g, %v", key, got[key], err)
		}
	}
	_, figures, _, _ = Probe(q, ProbeOptions{Rate: 0.1, Momentum: math.NaN()})
	if got := figuresOf(t, figures); got["edge"] != 0 || got["lambda-rate"] == 0 {
		t.Errorf("an edge without a momentum: %v", got)
	}
	clear(q.g) // at a minimum
	if _, figures, _, _ = Probe(q, ProbeOptions{Rate: 0.1}); len(figuresOf(t, figures)) == 0 {
		t.Error("no figures at a minimum")
	}
	q.h.SetSym(2, 3, math.NaN())
	e, figures, _, err := Probe(q, ProbeOptions{Rate: 0.1, Blocks: []ProbeBlock{{"clean", 5, 9}}})
	if err != nil || e.Stop != krylov.NotFinite || e.Eigenvalues != nil || figuresOf(t, figures)["lambda-1"] != 0 {
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
		e, figures, _, err := Probe(q, o)
		_, known := figuresOf(t, figures)["lambda-1"]
		if err != stop || e.Products != at || known != (e.Stop != krylov.Interrupted) || known != (e.Eigenvalues != nil) {
			t.Errorf("at %d: %v, %d products, %v, %v", at, err, e.Products, e.Stop, known)
		}
	}
}

// TestProbeInLittleMemory restarts and finds nearly the same.
func TestProbeInLittleMemory(t *testing.T) {
	const n = 60
	q := newQuadratic(2, n, true)
	ample, figures, _, _ := Probe(q, ProbeOptions{Rate: 0.1, Density: true})
	want := figuresOf(t, figures)
	little, figures, _, err := Probe(q, ProbeOptions{Rate: 0.1, Density: true, Memory: 8 * n * 26})
	got := figuresOf(t, figures)
	if err != nil || little.Stop != krylov.Residual || little.Density.Steps != 20 || ample.Density.Steps != n {
		t.Fatalf("%v, %v, %d and %d steps of the density", err, little.Stop, little.Density.Steps, ample.Density.Steps)
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
