package kronecker

import (
	"context"
	"math"

	"newtop/internal/vector"
	"newtop/trainer/optim"
	"newtop/trainer/optim/minibatch"
)

// KFAC is natural gradient descent by Kronecker factors of the Fisher matrix.
var KFAC = optim.Info{
	Name:      "kfac",
	Title:     "K-FAC: Kronecker-factored curvature",
	Paper:     "Martens & Grosse 2015; Ba, Grosse & Martens 2017",
	Equations: "Δ = −(S + √γ/π·I)⁻¹G(A + π√γ·I)⁻¹ for each layer; sections 3, 5 and 6",
	Summary: "Natural gradients by the Gauss–Newton matrix of each layer as a Kronecker product, in steps of a " +
		"bounded change of the outputs; " +
		"for regression and for nets that others find hard.",
	Cost:    "1, and what factors take: 0.5 with batches of 256",
	Primary: "rate",
	Needs:   optim.NeedsRows | optim.NeedsFactors | optim.NeedsSample,
	Planned: minibatch.Planned,
	Parameters: minibatch.Parameters(
		minibatch.Rate.Starting(1, ""), Momentum.Starting(0.9, martens), Clip, StepRule, Gamma, Adapt,
		FactorDecay.Starting(0.95, martens+", section 5"), FactorShare, ProductShare, Every, MaxSide,
		minibatch.Size.Starting(128),
		minibatch.WeightDecay.Starting(0.002, ""), minibatch.Schedule.Starting("linear"),
	),
	New: func() optim.Method { return &minibatch.Method{Update: new(kfac)} },
}

const martens = "Martens & Grosse 2015"

// The hyperparameters of K-FAC.
var (
	Clip = &optim.Number{
		Key: "clip", Meaning: "κ, the most that rate²·|gᵀΔ| may be, about twice the outputs' change",
		Default: 1e-3, Max: optim.Inf, Open: true,
		Source: "Ba, Grosse & Martens 2017, section 5",
	}
	StepRule = &optim.Choice{
		Key: "step", Meaning: "of the rate, within κ and with momentum, or where the damped model is least along Δ " +
			"and the last step",
		Choices: []string{"rate", stepModel}, Source: "model: " + martens + ", sections 6.4 and 7",
	}
	Gamma = &optim.Number{
		Key: "damping", Meaning: "γ, added to the curvature; with step=model the method adapts it", Default: 3e-3,
		Max: optim.Inf, Open: true, OpenMax: true,
	}
	Adapt = &optim.Count{
		Key: "adapt", Meaning: "with step=model: updates from one adaption of γ to the next; 0 for none", Default: 5,
		Max: 1e9, Source: martens + ", section 6.5",
	}
	FactorShare = &optim.Number{
		Key: "factor-share", Meaning: "share of a batch's rows that factors come from", Default: 0.25, Max: 1,
		Open: true, Source: martens + ", section 8: 1/8",
	}
	ProductShare = &optim.Number{
		Key: "product-share", Meaning: "with step=model: share of a batch's rows that products come from", Default: 1,
		Max: 1, Open: true, Source: martens + ", section 8: 1/4",
	}
)

const stepModel = "model"

// kfac is K-FAC (Martens & Grosse 2015) with the block-diagonal Curvature:
//
//	g  the gradient of a batch, Δ = −(F̂ + γI)⁻¹g by Curvature, F the Gauss–Newton matrix over rows of the batch
//	δ  the step, δ₀ the last one
//
// By the rate η, as Ba, Grosse & Martens 2017 have it: δ = μδ₀ + η·min(1, √(κ/(−η₀²gᵀΔ)))Δ, η₀ being the rate before
// its schedule, so that −η²gᵀΔ, twice the divergence of the outputs' distribution that a step makes by F̂, stays within
// κ.
//
// By the model M(δ) = gᵀδ + ½δᵀ(F + γI)δ, the paper's own step: δ = η(αΔ + μδ₀) with the α and μ for which M is least,
// by exact products with F (sections 6.4 and 7). Every T₁ updates ρ, the decrease of the loss over the one that M
// promised, changes γ: by (19/20)^T₁ where ρ > ¾, by its inverse where ρ < ¼ (section 6.5).
//
// Where the paper has two dampings, γ of the factors and λ of the model, of which it searches γ by trial, they are one
// here. Inverses are made again in the first three updates and then every T₃. Of a penalty on weights g has its part
// and F̂ has not.
type kfac struct {
	rate, first float64 // η and η₀
	mu, clip    float64
	curvature   *Curvature
	delta       []float64    // Δ
	products    [2][]float64 // FΔ and Fδ₀
	rho         float64
	spent       float64
	minibatch.Memory[kfacMoves]
}

// kfacMoves is what is carried.
type kfacMoves struct {
	Step    []float64         `archive:"step"`        // δ₀
	Gamma   float64           `archive:"damping"`     // γ as it was adapted
	Set     float64           `archive:"damping set"` // γ as it was set
	Factors *CurvatureFactors `archive:"factors"`
}

func (p *kfac) Begin(s *optim.State, rate float64) {
	side, gamma := MaxSide.Of(s.Settings), Gamma.Of(s.Settings)
	if p.Moves == nil || p.Moves.Factors.Side != side {
		p.Moves = &kfacMoves{Step: make([]float64, len(s.W)), Gamma: gamma, Set: gamma}
		p.use(NewCurvature(s.Objective, len(s.W), side))
	}
	if gamma != p.Moves.Set { // by hand
		p.Moves.Gamma, p.Moves.Set = gamma, gamma
	}
	p.rate, p.first, p.mu = rate, minibatch.Rate.Of(s.Settings), Momentum.Of(s.Settings)
	p.clip, p.spent = Clip.Of(s.Settings), 0
}

func (p *kfac) use(c *Curvature) { p.curvature, p.Moves.Factors, p.rho = c, &c.Factors, math.NaN() }

// Restored makes the curvature of what was carried.
func (p *kfac) Restored(s *optim.State) error {
	if p.Moves == nil {
		return nil
	}
	c, err := RestoreCurvature(p.Moves.Factors, s.Objective, len(s.W))
	if err == nil {
		p.use(c)
	}
	return err
}

// MoveAll is an update.
func (p *kfac) MoveAll(_ context.Context, s *optim.State, batch *minibatch.Batch) error {
	defer func() { charge(s, p.spent) }()
	if n := len(s.W); len(p.delta) != n {
		p.delta, p.products = make([]float64, n), [2][]float64{make([]float64, n), make([]float64, n)}
	}
	p.curvature.Update(s.W, minibatch.Share(batch.Rows, FactorShare.Of(s.Settings)), FactorDecay.Of(s.Settings), s.Rand)
	if u := p.curvature.Factors.Updates; u <= 3 || u%Every.Of(s.Settings) == 0 {
		spent, err := p.curvature.Invert(s, p.Moves.Gamma)
		p.spent += spent
		if err != nil {
			return err
		}
	}
	p.spent += p.curvature.SolveTo(s, p.delta, batch.Gradient)
	vector.Scale(p.delta, -1, p.delta)
	if StepRule.Of(s.Settings) == stepModel {
		p.stepByModel(s, batch)
	} else {
		p.stepByRate(batch.Gradient)
		vector.Add(s.W, s.W, p.Moves.Step)
	}
	return nil
}

func (p *kfac) stepByRate(g []float64) {
	k, nu := p.Moves, 1.0
	if change := -p.first * p.first * vector.Dot(g, p.delta); change > p.clip {
		nu = math.Sqrt(p.clip / change)
	}
	vector.Scale(k.Step, p.mu, k.Step)
	vector.Axpy(k.Step, p.rate*nu, p.delta)
}

// plane is M in the plane of Δ and δ₀: gᵀΔ and gᵀδ₀, and the products of F + γI with them.
type plane struct {
	slope      [2]float64 // gᵀΔ, gᵀδ₀
	aa, ab, bb float64
}

// minimum returns the α and μ for which M is least, and how much less it is there than at 0. Where the two directions
// are one to rounding, or there is no last step, μ is 0; where Δ is 0, as g is then, so is α.
func (m *plane) minimum() (alpha, mu, promised float64) {
	if m.aa == 0 {
		return 0, 0, 0
	}
	alpha = -m.slope[0] / m.aa
	if det := m.aa*m.bb - m.ab*m.ab; det > math.Sqrt(optim.Eps)*m.aa*m.bb {
		alpha = (m.slope[1]*m.ab - m.slope[0]*m.bb) / det
		mu = (m.slope[0]*m.ab - m.slope[1]*m.aa) / det
	}
	return alpha, mu, -(alpha*m.slope[0] + mu*m.slope[1]) / 2
}

func (p *kfac) stepByModel(s *optim.State, batch *minibatch.Batch) {
	k, rows := p.Moves, s.Objective.(optim.SampledObjective)
	some := minibatch.Share(batch.Rows, ProductShare.Of(s.Settings))
	f := rows.Sample(0, some).(optim.GaussNewtonObjective).GaussNewton(s.W)
	f.MulVecTo(p.products[0], p.delta)
	m := plane{aa: vector.Dot(p.delta, p.products[0]) + k.Gamma*vector.SumSquares(p.delta)}
	m.slope = [2]float64{vector.Dot(batch.Gradient, p.delta), vector.Dot(batch.Gradient, k.Step)}
	if last := vector.SumSquares(k.Step); last > 0 {
		f.MulVecTo(p.products[1], k.Step)
		m.ab = vector.Dot(p.delta, p.products[1]) + k.Gamma*vector.Dot(p.delta, k.Step)
		m.bb = vector.Dot(k.Step, p.products[1]) + k.Gamma*last
	}
	alpha, mu, promised := m.minimum()
	if !vector.Finite(alpha) || !vector.Finite(mu) { // a product is not finite: no step, and none to start from
		clear(k.Step)
		return
	}
	vector.Scale(k.Step, p.rate*mu, k.Step)
	vector.Axpy(k.Step, p.rate*alpha, p.delta)
	every := Adapt.Of(s.Settings)
	if every == 0 || p.curvature.Factors.Updates%every != 0 {
		vector.Add(s.W, s.W, k.Step)
		return
	}
	promised *= p.rate * (2 - p.rate) // of the scaled step
	all := rows.Sample(1, batch.Rows)
	before := all.Loss(s.W)
	vector.Add(s.W, s.W, k.Step)
	p.rho = optim.Ratio(before, all.Loss(s.W), promised)
	switch change := math.Pow(19.0/20, float64(every)); {
	case p.rho > 0.75:
		k.Gamma *= change
	case !(p.rho >= 0.25):
		k.Gamma /= change
	}
	k.Gamma = min(max(k.Gamma, minGamma), maxGamma)
}

// minGamma and maxGamma bound γ as it adapts.
const minGamma, maxGamma = 1e-10, 1e10

// Report describes the factors and of γ.
func (p *kfac) Report(r *optim.Report) {
	r.Preconditioner = p.curvature.Report()
	r.Rho, p.rho = p.rho, math.NaN()
	r.Diagnostics = []optim.Diagnostic{{Key: "damping", Symbol: "γ", Meaning: "added to the curvature",
		Value: p.Moves.Gamma}}
}
