package analysis

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"newtop/trainer/event"
	"newtop/trainer/krylov"
	"newtop/trainer/objective"
)

// ProbeOptions say what Probe reports of a model that another program trains. What is not known is left out of the
// metrics.
type ProbeOptions struct {
	Count          int       // eigenvalues at each end; 0: 3
	Operator       string    // one of SpectrumOperators, which every product is with; empty: the first
	Density        bool      // whether the density comes along
	Rate, Momentum float64   // η and β of the program's optimizer; NaN: not known, and 0 is a momentum that is known
	Weights        []float64 // w; nil: not known
	Update         []float64 // u, the last change of the weights; nil: not known
	Blocks         []ProbeBlock
	Tolerance      float64     // wanted residuals at each end relative to the largest wanted |λ| there; 0: 1e-3
	Seed           uint64      // of what is drawn at random
	Start          [][]float64 // what the last Probe returned to begin with; nil: nothing
	Products       int         // the most products; 0: no limit
	Memory         int64       // as in SpectrumOptions
	Poll           func() error
}

// ProbeBlock is a tensor of weights, those from From to before To.
type ProbeBlock struct {
	Name     string
	From, To int
}

// Probe describes the model that l is at its weights: both ends of the spectrum by Lanczos, and metrics, of most worth
// first. Its products, which the event counts all, stay within o.Products: what does not fit is left out, and so is
// what is not finite. Letters:
//
//	E, g, H  loss, gradient and matrix · λ_i, v_i  eigenpairs, downwards · k = o.Count · η, β  rate and momentum
//	u  the last update · s  a step by truncated CG on q(s) = gᵀs + ½sᵀHs · H_b  the rows and columns of H of block b
//
// Gradient descent with momentum is stable on a quadratic while λ₁ < 2(1 + β)/η. start is what the next Probe begins
// with.
//
// o.Poll, if not nil, is called after each product; its error ends the probe and is returned, with what is known by
// then. The event's Stop is Interrupted if that are no eigenvalues, and 0 if there were too few products for them.
// Epoch and Selection are the caller's to fill in. It panics when a vector or block does not fit to l.
func Probe(l objective.Linearization, o ProbeOptions) (e event.SpectrumEvent, metrics []event.Metric, start [][]float64,
	err error) {
	p := newProbe(l, o)
	l.GradientTo(p.g)
	for _, part := range []func() error{p.spectrum, p.curvatures, p.newton, p.density, p.norms, p.blocks} {
		if err = part(); err != nil {
			break
		}
	}
	p.e.Products = p.h.products
	return p.e, p.metrics, p.o.Start, err
}

// probe is a Probe in progress.
type probe struct {
	l       objective.Linearization
	o       ProbeOptions
	h       *counted
	g       []float64
	gg      float64 // ‖g‖²
	e       event.SpectrumEvent
	metrics []event.Metric
}

// counted counts an operator's products.
type counted struct {
	krylov.Operator
	products int
}

func (c *counted) MulVecTo(dst, v []float64) {
	c.Operator.MulVecTo(dst, v)
	c.products++
}

func newProbe(l objective.Linearization, o ProbeOptions) *probe {
	n := l.Dim()
	o.Count = cmp.Or(max(0, o.Count), 3)
	o.Operator = cmp.Or(o.Operator, SpectrumOperators[0])
	if o.Poll == nil {
		o.Poll = func() error { return nil }
	}
	for _, v := range [][]float64{o.Weights, o.Update} {
		if v != nil && len(v) != n {
			panic(fmt.Sprintf("analysis: vector of length %d for %d weights", len(v), n))
		}
	}
	for _, b := range o.Blocks {
		if b.From < 0 || b.To <= b.From || b.To > n {
			panic(fmt.Sprintf("analysis: block %q from %d to %d of %d weights", b.Name, b.From, b.To, n))
		}
	}
	return &probe{
		l: l, o: o, h: &counted{Operator: operator(l, o.Operator)}, g: make([]float64, n),
		e: event.SpectrumEvent{Method: SpectrumMethods[0], Operator: o.Operator, Rows: l.Rows()},
	}
}

// left is how many products may still be taken.
func (p *probe) left() int {
	if p.o.Products <= 0 {
		return math.MaxInt
	}
	return p.o.Products - p.h.products
}

func (p *probe) monitor(int) error { return p.o.Poll() }

// add appends a figure, if it is a number.
func (p *probe) add(key, symbol, meaning string, value float64) {
	if !math.IsNaN(value) && !math.IsInf(value, 0) {
		p.metrics = append(p.metrics, event.NewMetric(key, symbol, meaning, event.Float(value)))
	}
}

// spectrum is the eigenvalues and what follows from them without a product. It leaves two products for the curvatures.
// Beside its basis stand the gradient, the start and the vector that Lanczos works with.
func (p *probe) spectrum() error {
	p.gg = floats.Dot(p.g, p.g)
	n, left := p.l.Dim(), p.left()
	if left < math.MaxInt {
		left -= 2
	}
	k := min(p.o.Count, left/4) // as many steps as certificates at least
	if k < 1 {
		return nil
	}
	options := krylov.LanczosOptions{
		Tolerance: p.o.Tolerance, Floor: floor(p.o.Operator, p.o.Tolerance), Seed: p.o.Seed, Vectors: true,
		Monitor: p.monitor,
		Basis:   basisSize(p.o.Memory, n, otherVectors), Inexact: accuracy(p.l, p.o.Operator, &p.e),
	}
	if left < math.MaxInt {
		options.Steps = min(krylov.LanczosSteps(k), left-2*k)
	}
	if p.o.Start != nil {
		options.Start = p.o.Start[0]
	}
	found, err := krylov.Lanczos(p.h, k, options)
	p.e.Stop, p.e.Open = found.Stop, openEnds(&found)
	if err != nil || found.Top == nil {
		return err
	}
	p.o.Start = [][]float64{found.Start()}
	pairs := slices.Clone(found.Bottom)
	slices.Reverse(pairs)
	pairs = append(slices.Clone(found.Top), pairs...)
	for _, q := range pairs {
		p.e.Eigenvalues = append(p.e.Eigenvalues, event.Float(q.Value))
		p.e.Residuals = append(p.e.Residuals, event.Float(q.Bound))
	}
	first := pairs[0].Value
	p.add("lambda-1", "λ₁", "largest eigenvalue", first)
	p.add("lambda-n", "λₙ", "smallest eigenvalue", pairs[len(pairs)-1].Value)
	p.add("lambda-rate", "λ₁η", "largest eigenvalue times the rate: without momentum, steps are stable below 2",
		first*p.o.Rate)
	p.add("edge", "λ₁η/2(1+β)", "largest eigenvalue as a share of the edge of stability: above 1, steps are unstable",
		first*p.o.Rate/(2*(1+p.o.Momentum)))
	inside := 0.0
	for _, q := range found.Top {
		part := floats.Dot(q.Vector, p.g)
		inside += part * part
	}
	p.add("gradient-top", "‖VVᵀg‖²/‖g‖²",
		fmt.Sprintf("share of the gradient's squared norm along the top %d eigenvectors", len(found.Top)),
		min(1, inside/p.gg))
	return nil
}

// curvatures are those along the last update and the gradient.
func (p *probe) curvatures() error {
	hv := make([]float64, p.l.Dim())
	for _, c := range []struct {
		v                    []float64
		key, symbol, meaning string
	}{
		{p.o.Update, "curvature-update", "uᵀHu/‖u‖²", "curvature along the last update"},
		{p.g, "curvature-gradient", "gᵀHg/‖g‖²", "curvature along the gradient"},
	} {
		if c.v == nil || p.left() < 1 {
			continue
		}
		p.h.MulVecTo(hv, c.v)
		if err := p.o.Poll(); err != nil {
			return err
		}
		p.add(c.key, c.symbol, c.meaning, floats.Dot(c.v, hv)/floats.Dot(c.v, c.v))
	}
	return nil
}

// The ends of the solve that Newton's step is looked for in.
const (
	newtonTolerance  = 0.1
	newtonIterations = 20
)

// newton reports how far a step of truncated CG goes. One that meets negative curvature at once goes nowhere and tells
// nothing, and so does one that leaves more of the gradient than there was.
func (p *probe) newton() error {
	limit := min(newtonIterations, p.left(), p.l.Dim())
	if limit < 1 {
		return nil
	}
	s := make([]float64, p.l.Dim())
	solve, err := new(krylov.CG).SolveTo(s, p.h, p.g, krylov.TrustRegion{
		Tolerance: newtonTolerance, Limit: limit, RefreshEvery: -1,
		Monitor: func(krylov.Iteration) error { return p.o.Poll() },
	})
	if err != nil || solve.Stop.Failed() || !(solve.StepNorm > 0) {
		return err
	}
	loss := p.l.Loss()
	if solve.Residual > solve.GradientNorm { // a step that goes astray, where the model is flat
		return nil
	}
	p.add("newton-norm", "‖s‖", "length of a Newton step by truncated CG", solve.StepNorm)
	if loss > 0 {
		p.add("newton-decrease", "−q(s)/E", "decrease that the quadratic model promises for it, as a share of the loss",
			solve.Predicted/loss)
	}
	p.add("newton-residual", "‖g+Hs‖/‖g‖", "what it leaves of the model's gradient", solve.Residual/solve.GradientNorm)
	return nil
}

// traceProbes is how many random vectors a trace or a density averages over.
const traceProbes = 10

// density is the trace, and the density where it is asked for and there are two products at least for each of its
// probes.
func (p *probe) density() error {
	left := p.left()
	if len(p.o.Blocks) > 0 && left < math.MaxInt {
		left /= 2 // the other half is the blocks'
	}
	steps := min(densitySteps, basisSize(p.o.Memory, p.l.Dim(), otherVectors+1), left/traceProbes)
	show := p.o.Density && steps > 1
	if steps < 1 {
		return nil
	}
	if !show {
		steps = 1
	}
	d, err := krylov.SpectralDensity(p.h, krylov.DensityOptions{Probes: traceProbes, Steps: steps, Seed: p.o.Seed,
		Monitor: p.monitor})
	if err != nil || d.Grid == nil {
		return err
	}
	showDensity(&p.e, &d)
	if !show {
		p.e.Density = nil
	}
	p.add("trace", "tr H", "sum of all eigenvalues, estimated", d.Trace.Value)
	p.add("trace-error", "±", "its standard error", d.Trace.Error)
	return nil
}
