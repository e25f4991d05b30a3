// Package hessianfree has Hessian-free optimization on samples of the rows: steps of truncated conjugate gradients on
// the Gauss–Newton matrix of some rows, from the gradient of more.
package hessianfree

import (
	"context"
	"math"
	"slices"

	"newtop/internal/vector"
	"newtop/trainer/krylov"
	"newtop/trainer/optim"
	"newtop/trainer/optim/kronecker"
	"newtop/trainer/optim/minibatch"
)

// HessianFree is Hessian-free optimization.
var HessianFree = optim.Info{
	Name:      "hessian-free",
	Title:     "Hessian-free, sampled Gauss–Newton CG",
	Paper:     "Martens 2010; Byrd et al. 2011",
	Equations: "(G + λI)s = −g by CG, from half the last s; algorithm 2; its stop: stop=progress",
	Summary: "Truncated CG on the Gauss–Newton matrix of a sample of rows, damped by Levenberg and Marquardt's rule; " +
		"exact products where all rows are too many.",
	Cost:     "1.4, 1.3 times curvature-share for each inner iteration, and what factors take",
	Primary:  "damping",
	Proposes: true,
	Needs:    optim.NeedsRows | optim.NeedsSample,
	Planned:  minibatch.Planned,
	Inner:    func(set *optim.Settings) (int, float64) { return Iterations.Of(set), Xi.Of(set) },
	Parameters: minibatch.Parameters(
		minibatch.Rate.Starting(1, ""), Damping, Adapt, Iterations, Xi, Stop, WarmStart, Preconditioner,
		minibatch.Size.Starting(1024), Growth, CurvatureShare,
		minibatch.Schedule.Starting("linear"),
	),
	New: func() optim.Method {
		h := new(hessianFree)
		return &minibatch.Method{Update: h, Grown: grown}
	},
}

const martens = "Martens 2010, "

// The hyperparameters of Hessian-free optimization.
var (
	Damping = &optim.Number{
		Key: "damping", Meaning: "λ, added to the curvature; the method adapts it", Default: 0.1, Max: optim.Inf,
		Open: true, OpenMax: true,
	}
	Adapt = &optim.Choice{
		Key: "adapt", Meaning: "whether λ follows ρ: by 2/3 above 3/4, by 3/2 below 1/4",
		Choices: []string{"yes", "no"}, Source: martens + "section 4.1",
	}
	Iterations = &optim.Count{Key: "iterations", Meaning: "the most inner iterations of a step", Default: 3, Min: 1,
		Max: 1e9}
	Xi = &optim.Number{
		Key: "xi", Meaning: "ξ, the inner solve ends at a residual of ξ times its first one", Default: 0.01, Max: 1,
		Open: true, OpenMax: true,
	}
	Stop = &optim.Choice{
		Key: "stop", Meaning: "what else ends the inner solve: the residual by ξ, or q's relative progress, below " +
			"0.0005 an iteration",
		Choices: []string{"residual", stopProgress}, Source: "progress: " + martens + "section 4.4", Late: true,
	}
	WarmStart = &optim.Number{
		Key: "warm-start", Meaning: "the share of the last solution that a solve begins with", Default: 0.5, Max: 1,
		Source: martens + "section 4.5",
	}
	Preconditioner = &optim.Choice{
		Key: "preconditioner", Meaning: "M = I, (diag + λ)^(3/4) of squared gradients, or K-FAC's matrix",
		Default: 2, // kfac
		Choices: []string{"none", preconditionDiagonal, preconditionKFAC}, Source: "diagonal: " + martens +
			"section 4.7",
	}
	Growth = &optim.Number{
		Key: "growth", Meaning: "by how much batches grow from epoch to epoch", Default: 1, Min: 1, Max: 1000,
		Source: "Byrd et al. 2012, section 4",
	}
	CurvatureShare = &optim.Number{
		Key: "curvature-share", Meaning: "share of a batch's rows that products come from", Default: 0.5, Max: 1,
		Open: true, Source: "Byrd et al. 2011, section 2",
	}
)

// Choices that the method asks for.
const (
	preconditionDiagonal = "diagonal"
	preconditionKFAC     = "kfac"
	stopProgress         = "progress"
)

// hessianFree is algorithm 2 of Martens 2010 on samples, as Byrd, Chin, Neveitt & Nocedal 2011 have them:
//
//	g, E  gradient and loss over the rows of a batch; G the Gauss–Newton matrix over some of these, fewer
//	λ     the damping, s₀ the last solution
//	s     from θs₀ on by truncated CG on (G + λI)s = −g; q(s) = gᵀs + ½sᵀ(G + λI)s
//	ρ     (E(w) − E(w + s)) / −q(s), over the rows of the batch
//
// A step goes by η = rate times s, for which ρ is not computed again. Where ρ < ¼ it goes back over iterates that CG
// left on its way, as long as E falls (section 4.6); where E does not fall at all it is not taken. λ ← ⅔λ where ρ > ¾
// and ³⁄₂λ where ρ < ¼ (section 4.1). Batches may grow from epoch to epoch (Byrd, Chin, Nocedal & Wu 2012). The
// paper ends CG where q makes no progress, as stop=progress does; by default solves end after few iterations, as
// samples agree on no more.
type hessianFree struct {
	rate      float64
	memory    memory
	cg        krylov.CG
	curvature *kronecker.Curvature // of the preconditioner kfac
	path      path

	s, start, shifted []float64 // what CG finds, and s; θs₀; g + (G + λI)θs₀
	from, trial       []float64 // w, and w + s
	diagonal, squares []float64 // of the preconditioner diagonal
	progress          []float64 // q(s) at the start of a solve and after each iteration
	spent             float64
	outcome           epochOutcome
	raised            bool // whether the last step was refused and λ raised
}

// memory is what is carried.
type memory struct {
	Moves *moves `archive:"moves"` // nil before the first
}

type moves struct {
	Step    []float64                   `archive:"step"`        // s₀
	Lambda  float64                     `archive:"damping"`     // λ as it was adapted
	Set     float64                     `archive:"damping set"` // λ as it was set
	Factors *kronecker.CurvatureFactors `archive:"factors"`     // of the preconditioner kfac; nil: none
}

// epochOutcome is what an epoch reports.
type epochOutcome struct {
	solves          []optim.InnerSolve
	rows, curvature int // of the last batch
	rho             float64
	refused         int  // steps
	last            bool // whether the last step was taken
	within          bool // whether it started from other weights than the epoch
}

func (h *hessianFree) Carried() any { return &h.memory }

// grown returns the rows of a batch.
func grown(s *optim.State, rows int) int {
	return int(min(float64(rows)*math.Pow(Growth.Of(s.Settings), float64(s.Epoch)), 1e9))
}

func (h *hessianFree) Begin(s *optim.State, rate float64) {
	n, lambda := len(s.W), Damping.Of(s.Settings)
	if h.memory.Moves == nil {
		h.memory.Moves = &moves{Step: make([]float64, n), Lambda: lambda, Set: lambda}
	}
	if k := h.memory.Moves; lambda != k.Set { // by hand
		k.Lambda, k.Set = lambda, lambda
	}
	if len(h.s) != n {
		for _, v := range []*[]float64{&h.s, &h.start, &h.shifted, &h.from, &h.trial} {
			*v = make([]float64, n)
		}
	}
	h.rate, h.spent = rate, 0
}

// Restored makes the preconditioner of what was carried.
func (h *hessianFree) Restored(s *optim.State) (err error) {
	if k := h.memory.Moves; k != nil && k.Factors != nil {
		h.curvature, err = kronecker.RestoreCurvature(k.Factors, s.Objective, len(s.W))
		if err == nil {
			k.Factors = &h.curvature.Factors
		}
	}
	return err
}

// MoveAll is a step.
func (h *hessianFree) MoveAll(ctx context.Context, s *optim.State, batch *minibatch.Batch) error {
	rows := s.Objective.(optim.SampledObjective)
	some := minibatch.Share(batch.Rows, CurvatureShare.Of(s.Settings))
	g := &damped{rows.Sample(0, some).(optim.GaussNewtonObjective).GaussNewton(s.W), h.memory.Moves.Lambda}
	if batch.Number == 0 { // an epoch that was interrupted in it reports nothing
		h.outcome = epochOutcome{rho: math.NaN()}
	}
	h.outcome.rows, h.outcome.curvature = len(batch.Rows), len(some)
	h.outcome.within = batch.Number > 0 || minibatch.WeightDecay.Of(s.Settings) > 0
	inverse, err := h.precondition(s, some)
	if err != nil {
		return err
	}
	promised, err := h.solve(ctx, s, g, batch, inverse)
	if o, ok := s.Objective.(optim.ChargedObjective); ok {
		o.Charge(h.spent)
	}
	if err != nil {
		return err
	}
	all := rows.Sample(1, batch.Rows)
	before := batch.Loss
	// Of other weights, if they have decayed, or of noise, which the sample has none of.
	if noisy, ok := s.Objective.(optim.NoisyObjective); ok && noisy.Noise() > 0 ||
		minibatch.WeightDecay.Of(s.Settings) > 0 {
		before = all.Loss(s.W)
	}
	h.step(s, all, before, promised)
	return nil
}

// solve stores s in h.s, and returns −q(s).
func (h *hessianFree) solve(ctx context.Context, s *optim.State, g *damped, batch *minibatch.Batch,
	inverse func(dst, r []float64)) (float64, error) {
	k, promised := h.memory.Moves, 0.0
	vector.Scale(h.start, WarmStart.Of(s.Settings), k.Step)
	copy(h.shifted, batch.Gradient)
	if norm := vector.Norm(h.start); norm > 0 {
		g.MulVecTo(h.trial, h.start)
		vector.Add(h.shifted, h.shifted, h.trial)
		promised = -(vector.Dot(batch.Gradient, h.start) + vector.Dot(h.shifted, h.start)) / 2
	}
	h.path.reset(len(h.s))
	h.progress = append(h.progress[:0], -promised)
	tolerance, watched := Xi.Of(s.Settings), Stop.Of(s.Settings) == stopProgress
	if watched {
		tolerance = math.SmallestNonzeroFloat64
	}
	solve, err := h.cg.SolveTo(h.s, g, h.shifted, krylov.TrustRegion{
		Tolerance: tolerance, Limit: Iterations.Of(s.Settings), Inverse: inverse,
		Monitor: func(it krylov.Iteration) error {
			h.path.add(h.s, it)
			h.progress = append(h.progress, it.Model-promised)
			err := s.Watch(ctx, optim.Inner{Block: batch.Number, Iteration: it, Loss: math.NaN()})
			if err == nil && watched && stands(h.progress) {
				err = krylov.ErrProgress
			}
			return err
		},
	})
	solve.Ritz = append([]float64(nil), solve.Ritz...)
	h.outcome.solves = append(h.outcome.solves, optim.InnerSolve{Block: batch.Number, Solve: solve})
	switch {
	case err != nil:
	case solve.Stop.Failed() && solve.StepNorm == 0:
		err = &optim.NotFiniteError{What: "curvature"}
	case solve.Stop.Failed():
		clear(h.s)
		solve.Predicted = 0
	}
	vector.Add(h.s, h.s, h.start)
	return promised + solve.Predicted, err
}

// stands reports whether q(s), as it was at the start and after each iteration, makes no progress any more: after i
// iterations q < 0 and (q_i − q_{i−k})/q_i < kε with k = max(10, i/10) and ε = 0.0005 [Martens 2010, section 4.4].
func stands(q []float64) bool {
	const epsilon = 0.0005
	i := len(q) - 1
	k := max(10, i/10)
	return i > k && q[i] < 0 && (q[i]-q[i-k])/q[i] < float64(k)*epsilon
}

// step goes by s, or a shorter way, if E falls, and adapts λ.
func (h *hessianFree) step(s *optim.State, all optim.Objective, before, promised float64) {
	k, lambda := h.memory.Moves, h.memory.Moves.Lambda
	copy(h.from, s.W)
	loss := h.lossAt(all, s.W, h.s)
	h.outcome.rho = optim.Ratio(before, loss, promised)
	copy(k.Step, h.s)
	if !(h.outcome.rho >= 0.25) {
		h.goBack(s, all, &loss)
	}
	if Adapt.Of(s.Settings) == "yes" {
		switch {
		case h.outcome.rho > 0.75:
			k.Lambda *= 2.0 / 3
		case !(h.outcome.rho >= 0.25):
			k.Lambda *= 3.0 / 2
		}
		k.Lambda = min(max(k.Lambda, minLambda), maxLambda)
	}
	vector.Scale(h.s, h.rate, h.s)
	h.outcome.last = loss < before
	if h.raised = !h.outcome.last && k.Lambda > lambda; !h.outcome.last {
		h.outcome.refused++
		clear(k.Step) // which leads nowhere
		return
	}
	vector.Add(s.W, h.from, h.s)
}

// Prepares reports whether the next step, being shorter, may be taken where none was.
func (h *hessianFree) Prepares() bool { return h.raised }

// minLambda and maxLambda bound λ as it adapts.
const minLambda, maxLambda = 1e-10, 1e10

// lossAt returns E(w + s), NaN where that overflows.
func (h *hessianFree) lossAt(all optim.Objective, w, s []float64) float64 {
	vector.Add(h.trial, w, s)
	if !vector.Finite(vector.Norm(h.trial)) {
		return math.NaN()
	}
	return all.Loss(h.trial)
}

// goBack makes s the first of the iterates on CG's way, from the last one back, before which E does not fall further,
// and loss E there.
func (h *hessianFree) goBack(s *optim.State, all optim.Objective, loss *float64) {
	for i := len(h.path.iterates) - 1; i >= 0; i-- {
		at := h.path.iterates[i]
		if vector.Add(at, at, h.start); slices.Equal(at, h.s) {
			continue // CG ended here
		}
		next := h.lossAt(all, s.W, at)
		if !(next < *loss) && vector.Finite(*loss) {
			break
		}
		copy(h.s, at)
		*loss = next
	}
}

// Report describes the steps of the epoch.
func (h *hessianFree) Report(r *optim.Report) {
	t := &h.outcome
	r.Inner, r.Rho = t.solves, t.rho
	r.Proposal = optim.Proposal{Step: h.s, Rho: t.rho, Accepted: t.last}
	if t.within {
		r.Proposal.From = h.from
	}
	r.Diagnostics = []optim.Diagnostic{
		{Key: "damping", Symbol: "λ", Meaning: "added to the curvature", Value: h.memory.Moves.Lambda},
		{Key: "gradient_rows", Symbol: "n_g", Meaning: "rows of a gradient", Value: float64(t.rows)},
		{Key: "curvature_rows", Symbol: "n_G", Meaning: "rows of a product", Value: float64(t.curvature)},
		{Key: "steps_refused", Symbol: "×", Meaning: "steps that were not taken, as the loss did not fall",
			Value: float64(t.refused)},
	}
	if h.curvature != nil {
		r.Preconditioner = h.curvature.Report()
	}
}
