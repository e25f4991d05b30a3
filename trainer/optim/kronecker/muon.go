package kronecker

import (
	"context"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"newtop/internal/vector"
	"newtop/trainer/optim"
	"newtop/trainer/optim/minibatch"
)

// Muon is momentum that is made orthogonal.
var Muon = optim.Info{
	Name:      "muon",
	Title:     "Muon: orthogonalized momentum",
	Paper:     "Jordan et al. 2024; Bernstein & Newhouse 2024",
	Equations: "v ← μv + g, W ← W − η√max(1, m/n)·NS(g + μv), five steps of Newton and Schulz",
	Summary: "Momentum whose step has all singular values near 1 in every layer, " +
		"so that rare directions move as far as frequent ones; biases by Adam.",
	Cost:    "1, and what products of layers take: 1.4 with batches of 128, 4 with 784 inputs",
	Primary: "rate",
	Needs:   optim.NeedsRows | optim.NeedsMatrices,
	Planned: minibatch.Planned,
	Parameters: minibatch.Parameters(
		minibatch.Rate.Starting(0.05, ""), Momentum, BiasRate, minibatch.Size.Starting(128),
		minibatch.WeightDecay.Starting(0.1, ""), minibatch.Schedule.Starting("linear"),
	),
	New: func() optim.Method { return &minibatch.Method{Update: new(muon)} },
}

const jordan = "Jordan et al. 2024"

// The hyperparameters of Muon.
var (
	Momentum = &optim.Number{Key: "momentum", Meaning: "μ, the share of its speed that a layer keeps", Default: 0.95,
		Max: 1, OpenMax: true, Source: jordan}
	BiasRate = &optim.Number{
		Key:     "bias-rate",
		Meaning: "the rate of Adam, which moves what is in no layer's matrix, under the same schedule",
		Default: 0.03, Max: optim.Inf, Open: true, OpenMax: true,
	}
)

// The step of Newton and Schulz's method that Muon takes, X ← aX + bAX + cA²X with A = XXᵀ: a quintic that brings
// singular values between 0 and 1 to some 0.7 to 1.2 in five of them (Jordan et al. 2024).
const (
	schulzA, schulzB, schulzC = 3.4445, -4.7750, 2.0315
	schulzSteps               = 5
)

// muon is Muon (Jordan et al. 2024) for each block of weights W, m × n without its biases, with the gradient G of a
// batch:
//
//	V ← μV + G, X = (G + μV)/‖G + μV‖, O = five steps of Newton and Schulz from X, W ← W − η√max(1, m/n)·O
//
// with Nesterov's momentum, as the authors' program has it. All numbers are float64 where that takes bfloat16, and the
// first and the last layer have it too, which the authors leave to Adam. Biases, and numbers that are in no block, have
// Adam with its usual decays.
type muon struct {
	rate, mu float64
	adam     vector.AdamStep
	rest     []optim.Span
	works    []schulz // of the blocks; nil before the first update
	price    float64
	steps    tasks
	state    *optim.State
	gradient []float64
	minibatch.Memory[muonMoves]
}

// muonMoves is what is carried: the speed V of what is in blocks, Adam's m of the rest, and its v.
type muonMoves struct {
	Speed  []float64 `archive:"speed"`
	V      []float64 `archive:"v"`
	Beta1t float64   `archive:"beta1^t"`
	Beta2t float64   `archive:"beta2^t"`
}

// Adam's decays for biases (Kingma & Ba 2015).
const biasBeta1, biasBeta2, biasEpsilon = 0.9, 0.999, 1e-8

func (p *muon) Begin(s *optim.State, rate float64) {
	if p.Moves == nil {
		n := len(s.W)
		p.Moves = &muonMoves{Speed: make([]float64, n), V: make([]float64, n), Beta1t: 1, Beta2t: 1}
	}
	if p.works == nil {
		p.layOut(s)
	}
	k := p.Moves
	k.Beta1t *= biasBeta1
	k.Beta2t *= biasBeta2
	p.rate, p.mu = rate, Momentum.Of(s.Settings)
	p.adam = vector.AdamStep{
		Rate: BiasRate.Of(s.Settings) * (rate / minibatch.Rate.Of(s.Settings)), Beta1: biasBeta1, Beta2: biasBeta2,
		Epsilon:  biasEpsilon,
		Correct1: 1 / (1 - k.Beta1t), Correct2: 1 / (1 - k.Beta2t),
	}
}

func (p *muon) layOut(s *optim.State) {
	blocks, _ := matricesOf(s.Objective, len(s.W))
	next := 0
	p.steps, p.price = tasks{}, 0
	p.works = make([]schulz, len(blocks))
	for i, b := range blocks {
		if b.Offset > next {
			p.rest = append(p.rest, optim.Span{First: next, Last: b.Offset})
		}
		next = b.Offset + b.Rows*b.Cols
		w := &p.works[i]
		*w = newSchulz(b.Rows, b.Cols)
		p.price += w.price()
		p.steps.add(func() { p.moveBlock(&b, w) })
	}
	if next < len(s.W) {
		p.rest = append(p.rest, optim.Span{First: next, Last: len(s.W)})
	}
}

// MoveAll is an update.
func (p *muon) MoveAll(_ context.Context, s *optim.State, batch *minibatch.Batch) error {
	p.state, p.gradient = s, batch.Gradient
	p.steps.do(s)
	for _, r := range p.rest {
		vector.Adam(s.W[r.First:r.Last], p.Moves.Speed[r.First:r.Last], p.Moves.V[r.First:r.Last],
			batch.Gradient[r.First:r.Last], &p.adam)
	}
	charge(s, p.price)
	return nil
}

// moveBlock moves a block.
func (p *muon) moveBlock(b *block, w *schulz) {
	first, last := b.Offset, b.Offset+b.Rows*b.Cols
	g, v := p.gradient[first:last], p.Moves.Speed[first:last]
	vector.Scale(v, p.mu, v)
	vector.Add(v, v, g)
	vector.Scale(w.y, p.mu, v)
	vector.Add(w.y, w.y, g)
	norm := vector.Norm(w.y)
	if norm < optim.MinNormal { // no length to be divided by
		return
	}
	vector.Scale(w.y, 1/norm, w.y)
	o := w.orthogonal(b.Rows, b.Cols)
	vector.Axpy(p.state.W[first:last], -p.rate*math.Sqrt(max(1, float64(b.Rows)/float64(b.Cols))), o)
}

// Report is empty: there are no factors that are kept.
func (p *muon) Report(*optim.Report) {}

// schulz is Newton and Schulz's iteration for X, short × long.
type schulz struct {
	short, long int
	x, y        []float64 // X, and what it was made from or becomes
	xt          []float64
	a, c        []float64 // A = XXᵀ and bA + cA²
}

func newSchulz(m, n int) schulz {
	short, long := min(m, n), max(m, n)
	return schulz{
		short: short, long: long,
		x: make([]float64, m*n), y: make([]float64, m*n), xt: make([]float64, m*n),
		a: make([]float64, short*short), c: make([]float64, short*short),
	}
}

// price is how many multiplications a call of orthogonal takes.
func (w *schulz) price() float64 {
	return schulzSteps * (2*float64(w.short)*float64(w.short)*float64(w.long) + cube(w.short))
}

// orthogonal does five steps from y, m × n, and returns what comes of it, m × n too. It works on the transpose of a
// tall matrix.
func (w *schulz) orthogonal(m, n int) []float64 {
	if m > n {
		transposeTo(w.x, w.y, m, n)
	} else {
		w.x, w.y = w.y, w.x
	}
	s, l := w.short, w.long
	for range schulzSteps {
		transposeTo(w.xt, w.x, s, l)
		blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, matrix(w.x, s, l, l), matrix(w.xt, l, s, s), 0, matrix(w.a, s, s, s))
		vector.Scale(w.c, schulzB, w.a)
		blas64.Gemm(blas.NoTrans, blas.NoTrans, schulzC, matrix(w.a, s, s, s), matrix(w.a, s, s, s), 1,
			matrix(w.c, s, s, s))
		vector.Scale(w.y, schulzA, w.x)
		blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, matrix(w.c, s, s, s), matrix(w.x, s, l, l), 1, matrix(w.y, s, l, l))
		w.x, w.y = w.y, w.x
	}
	if m > n {
		transposeTo(w.y, w.x, n, m)
		return w.y
	}
	return w.x
}
