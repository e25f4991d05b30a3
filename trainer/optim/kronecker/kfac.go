package kronecker

import (
	"errors"
	"math"
	"time"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"

	"newtop/internal/vector"
	"newtop/trainer/krylov"
	"newtop/trainer/optim"
	"newtop/trainer/optim/minibatch"
)

// KFAC is natural gradient descent by Kronecker factors of the Fisher matrix.
var KFAC = optim.Info{
	Name:      "kfac",
	Title:     "K-FAC: Kronecker-factored curvature",
	Paper:     "Martens & Grosse 2015; Ba, Grosse & Martens 2017",
	Equations: "Δ = −(S + √γ/π·I)⁻¹G(A + π√γ·I)⁻¹",
	Summary:   "k",
	Cost:      "1",
	Primary:   "rate",
	Needs:     optim.NeedsRows | optim.NeedsFactors | optim.NeedsSample,
	Planned:   minibatch.Planned,
	Parameters: minibatch.Parameters(
		minibatch.Rate.Starting(0.02, ""), StepRule, Momentum.Starting(0.9, ""), KFACDamping, Adapt, Clip, FactorDecay, FactorShare, ProductShare, Every, MostSide,
		minibatch.Size.Starting(256),
	),
	New: func() optim.Method { return &minibatch.Method{Update: new(kfac)} },
}

var (
	StepRule     = &optim.Choice{Key: "step", Meaning: "step", Choices: []string{"rate", "model"}}
	KFACDamping  = &optim.Number{Key: "damping", Meaning: "γ", Default: 0.01, Max: optim.Inf, Open: true, OpenMax: true}
	Adapt        = &optim.Count{Key: "adapt", Meaning: "updates from one adaption of γ to the next; 0: none", Default: 5, Max: 1e9}
	Clip         = &optim.Number{Key: "clip", Meaning: "κ", Default: 0.001, Max: optim.Inf}
	ProductShare = &optim.Number{Key: "product-share", Meaning: "share of rows", Default: 0.25, Max: 1, Open: true}
	FactorShare  = &optim.Number{Key: "factor-share", Meaning: "share of rows", Default: 0.25, Max: 1, Open: true}
)

type kfac struct {
	rate, mu       float64
	pairs          []kfacPair
	rest           []optim.Span
	fresh          []optim.Factors
	delta          []float64
	prod           [2][]float64
	z              []float64
	price          float64
	moves, inverts tasks
	refresh        refresh
	minibatch.Memory[kfacMoves]
	s   *optim.State
	g   []float64
	rho float64
}

type kfacMoves struct {
	Delta   []float64     `archive:"delta"` // the last step, flat
	Gamma   float64       `archive:"gamma"`
	Updates int           `archive:"updates"`
	Set     float64       `archive:"damping set"`
	Pairs   []kfacFactors `archive:"pairs"`
}
type kfacFactors struct {
	A  optim.Numbers `archive:"a"`
	S  optim.Numbers `archive:"s"`
	Ai optim.Numbers `archive:"ai"`
	Si optim.Numbers `archive:"si"`
}
type kfacPair struct {
	block
	*kfacFactors
	g   []float64
	err error
	pi  float64
}

func (p *kfac) Begin(s *optim.State, rate float64) {
	p.rate, p.mu = rate, Momentum.Of(s.Settings)
	n := len(s.W)
	if p.Moves == nil {
		p.Moves = &kfacMoves{Delta: make([]float64, n), Gamma: KFACDamping.Of(s.Settings), Set: KFACDamping.Of(s.Settings)}
		blocks, _ := blocksOf(s.Objective, n)
		for _, b := range blocks {
			p.Moves.Pairs = append(p.Moves.Pairs, kfacFactors{A: make([]float64, b.n*b.n), S: make([]float64, b.m*b.m), Ai: make([]float64, b.n*b.n), Si: make([]float64, b.m*b.m)})
		}
	}
	if d := KFACDamping.Of(s.Settings); d != p.Moves.Set {
		p.Moves.Set, p.Moves.Gamma = d, d
	}
	if p.pairs == nil {
		var blocks []block
		blocks, p.rest = blocksOf(s.Objective, n)
		p.pairs = make([]kfacPair, len(blocks))
		p.delta, p.z = make([]float64, n), make([]float64, n)
		p.prod[0], p.prod[1] = make([]float64, n), make([]float64, n)
		for i, b := range blocks {
			p.fresh = append(p.fresh, optim.Factors{Inputs: make([]float64, b.n*b.n), Outputs: make([]float64, b.m*b.m)})
			q := &p.pairs[i]
			*q = kfacPair{block: b, kfacFactors: &p.Moves.Pairs[i], g: make([]float64, b.size())}
			p.moves.add(func() {
				z := q.of(p.z)
				q.leftTo(z, blas.NoTrans, q.Si, q.g, 0, q.m)
				q.rightTo(q.g, z, q.Ai, 0, q.m)
				q.add(p.delta, -1, q.g, 0, q.m)
			})
			p.inverts.add(func() { q.err = p.invert(q) })
		}
	}
}

func trace(a []float64, d int) (t float64) {
	for i := range d {
		t += a[i*d+i]
	}
	return t
}

func invertTo(dst, a []float64, d int, shift float64) bool {
	copy(dst, a)
	for i := range d {
		dst[i*d+i] += shift
	}
	sym := blas64.Symmetric{N: d, Stride: d, Uplo: blas.Upper, Data: dst}
	t, ok := lapack64.Potrf(sym)
	if !ok {
		return false
	}
	lapack64.Potri(t)
	symmetrize(dst, d)
	return true
}

func (p *kfac) invert(q *kfacPair) error {
	ta, ts := trace(q.A, q.n)/float64(q.n), trace(q.S, q.m)/float64(q.m)
	q.pi = 1
	if ta > 0 && ts > 0 {
		q.pi = math.Sqrt(ta / ts)
	}
	root := math.Sqrt(p.Moves.Gamma)
	if !invertTo(q.Ai, q.A, q.n, q.pi*root) || !invertTo(q.Si, q.S, q.m, root/q.pi) {
		return &optim.NotFiniteError{What: "curvature"}
	}
	return nil
}

func (p *kfac) MoveAll(s *optim.State, batch *minibatch.Batch) error {
	k := p.Moves
	k.Updates++
	o := s.Objective.(optim.FactorObjective)
	rows := batch.Rows[:max(1, int(FactorShare.Of(s.Settings)*float64(len(batch.Rows))))]
	o.BatchFactorsTo(p.fresh, s.W, rows, s.Rand)
	beta := min(1-1/float64(k.Updates), FactorDecay.Of(s.Settings))
	for i := range p.pairs {
		q, f := &p.pairs[i], &p.fresh[i]
		vector.Scale(q.A, beta, q.A)
		vector.Axpy(q.A, 1-beta, f.Inputs)
		vector.Scale(q.S, beta, q.S)
		vector.Axpy(q.S, 1-beta, f.Outputs)
	}
	if k.Updates <= 3 || k.Updates%Every.Of(s.Settings) == 0 {
		began := time.Now()
		p.inverts.do(s)
		for i := range p.pairs {
			if err := p.pairs[i].err; err != nil {
				return err
			}
		}
		p.refresh.since(began)
	}
	clear(p.delta)
	for i := range p.pairs {
		p.pairs[i].gather(p.pairs[i].g, batch.Gradient)
	}
	p.moves.do(s)
	adapt := Adapt.Of(s.Settings)
	due := adapt > 0 && k.Updates%adapt == 0
	gd := vector.Dot(batch.Gradient, p.delta) // < 0
	var sample optim.GaussNewtonObjective
	before := 0.0
	model := StepRule.Of(s.Settings) == "model"
	if model || due {
		sample = s.Objective.(optim.SampledObjective).Sample(0, batch.Rows[:max(1, int(ProductShare.Of(s.Settings)*float64(len(batch.Rows))))]).(optim.GaussNewtonObjective)
	}
	var op krylov.Operator
	if model || due {
		op = sample.GaussNewton(s.W)
		before = sample.Loss(s.W)
	}
	if model {
		op.MulVecTo(p.prod[0], p.delta)
		a := vector.Dot(p.delta, p.prod[0]) + k.Gamma*vector.SumSquares(p.delta)
		alpha, mu := -gd/a, 0.0
		if dd := vector.SumSquares(k.Delta); dd > 0 {
			op.MulVecTo(p.prod[1], k.Delta)
			b := vector.Dot(p.delta, p.prod[1]) + k.Gamma*vector.Dot(p.delta, k.Delta)
			c := vector.Dot(k.Delta, p.prod[1]) + k.Gamma*dd
			ge := vector.Dot(batch.Gradient, k.Delta)
			if det := a*c - b*b; det > 1e-12*a*c {
				alpha, mu = (-gd*c+ge*b)/det, (-ge*a+gd*b)/det
			}
		}
		vector.Scale(k.Delta, mu, k.Delta)
		vector.Axpy(k.Delta, alpha, p.delta)
		vector.Scale(k.Delta, p.rate, k.Delta)
	} else {
		nu := 1.0
		if clip := Clip.Of(s.Settings); clip > 0 {
			nu = min(1, math.Sqrt(clip/(p.rate*p.rate*-gd)))
		}
		vector.Scale(k.Delta, p.mu, k.Delta)
		vector.Axpy(k.Delta, p.rate*nu, p.delta)
	}
	if due {
		op.MulVecTo(p.prod[0], k.Delta)
		promised := -(vector.Dot(batch.Gradient, k.Delta) + (vector.Dot(k.Delta, p.prod[0])+k.Gamma*vector.SumSquares(k.Delta))/2)
		vector.Add(s.W, s.W, k.Delta)
		after := sample.Loss(s.W)
		p.rho = (before - after) / promised
		w := math.Pow(19.0/20, float64(adapt))
		if promised > 0 {
			if p.rho > 0.75 {
				k.Gamma *= w
			} else if p.rho < 0.25 {
				k.Gamma /= w
			}
		}
	} else {
		vector.Add(s.W, s.W, k.Delta)
	}
	if !vector.Finite(vector.Norm(s.W)) {
		return errors.New("x")
	}
	return nil
}

func (p *kfac) Report(r *optim.Report) {
	r.Preconditioner = p.refresh.report()
	r.Rho = p.rho
	r.Diagnostics = []optim.Diagnostic{{Key: "damping", Symbol: "γ", Meaning: "damping", Value: p.Moves.Gamma}}
}
