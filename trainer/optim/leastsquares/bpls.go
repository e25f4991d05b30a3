// Package leastsquares has the method of Tomic et al. 2024 ([T]), which solves for the weights layer by layer.
package leastsquares

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"newtop/internal/vector"
	"newtop/trainer/optim"
)

// BPLS is back-propagating least squares.
var BPLS = optim.Info{
	Name:      "bpls",
	Title:     "Back-propagating least squares",
	Paper:     "Tomic, Matos-Carvalho & Beko 2024",
	Equations: "algorithms 1 and 2, eq. 4–6",
	Summary: "Solves layer by layer from the outputs down, in closed form; " +
		"a start within seconds for nets of dense layers in a row, to be compared with the linear model.",
	Cost:       "2 to 4 on letters, and few epochs in all",
	Needs:      optim.NeedsLayers,
	Parameters: optim.Parameters(Algorithm, Target, Start, Range, Clip, Ridge1, Ridge2, Solver, TauMax),
	New:        func() optim.Method { return &bpls{} },
}

const tomic = "Tomic et al. 2024, "

// The hyperparameters of back-propagating least squares.
var (
	Algorithm = &optim.Choice{
		Key: "algorithm", Meaning: "1 is one iteration, 2 goes on with the misclassified rows; auto: 2 for classes",
		Choices: []string{algorithmAuto, "1", algorithmTwo}, Source: tomic + "algorithms 1 and 2",
	}
	Target = &optim.Choice{
		Key: "target", Meaning: "how the layer below is moved by what a layer lacks; none: it is not",
		Default: 2, Choices: []string{rulePrinted, ruleDamped, ruleMinimumNorm, ruleNone}, Source: tomic + "eq. 5",
	}
	Start = &optim.Choice{
		Key: "start", Meaning: "begin with random weights, or keep those there are",
		Choices: []string{"random", startKeep}, Source: tomic + "algorithm 1, line 1",
	}
	Range = &optim.Number{
		Key: "range", Meaning: "random weights are drawn from ± this",
		Default: 1, Max: optim.Inf, Open: true, OpenMax: true, Source: tomic + "§III",
	}
	Clip = &optim.Number{
		Key: "clip", Meaning: "κ, how far wanted outputs stay from the ends of an activation's range",
		Default: 1e-2, Max: 0.5, Open: true, OpenMax: true,
	}
	Ridge1 = &optim.Number{
		Key:     "ridge-1",
		Meaning: "λ in algorithm 1, relative to the largest diagonal entry of AᵀA; 0: the paper's eq. 6",
		Max:     1,
	}
	// Rows that are misclassified are soon fewer than the weights of a node, and without a ridge the net then learns
	// them by heart; see docs/bpls.md.
	Ridge2 = &optim.Number{Key: "ridge-2", Meaning: "the same in algorithm 2", Default: 1e-2, Max: 1}
	Solver = &optim.Choice{
		Key: "solver", Meaning: "Cholesky of the normal equations, or QR with column pivoting",
		Choices: []string{"cholesky", solverQR}, Source: tomic + "eq. 6",
	}
	TauMax = &optim.Count{
		Key: "tau-max", Meaning: "τ_max, the most iterations on misclassified rows",
		Default: 100, Max: 1e9, Source: tomic + "algorithm 2, line 18",
	}
)

// Choices that the method asks for.
const (
	algorithmAuto = "auto"
	algorithmTwo  = "2"
	startKeep     = "keep"
	solverQR      = "qr"
)

// Back-propagating least squares (Tomic et al. 2024, [T]), algorithms 1 and 2. The layers are 1…L with L the
// outputs, where the paper counts to L+1:
//
//	A_l  P × N_{l−1}, the inputs of layer l: x, or the outputs n^{l−1} of the layer below
//	b_l  P × N_l, wanted net inputs of layer l: f⁻¹ of the targets ỹ, or of n̂^l
//	n̂^l  P × N_l, wanted outputs of layer l, clipped to what f reaches
//	w̃, ŵ a layer's weights solved from A_l, and again from Â_l = n̂^{l−1} (algorithm 2)
//	μ    how many rows are misclassified; τ counts the iterations on those
//
// Line 18 of algorithm 2 is printed with "or", which ends no iteration before τ_max; it is read as: while μ
// falls and τ ≤ τ_max. An iteration after which μ has not fallen is not taken, so the weights are the best ones.
type bpls struct {
	state struct {
		Progress *iterations `archive:"begun"` // nil before the first
	}
}

// iterations are what was done so far.
type iterations struct {
	Tau  int     `archive:"tau"`
	Last *missed `archive:"goes on"`
}

// missed are the rows that the weights leave misclassified.
type missed struct {
	At   optim.Position
	Rows []int `archive:"missed"`
}

var _ optim.Method = (*bpls)(nil)

func (b *bpls) Carried(*optim.State) any { return &b.state }

// Restored checks that the rows are there.
func (b *bpls) Restored(s *optim.State) error {
	if b.state.Progress == nil || b.state.Progress.Last == nil {
		return nil
	}
	chain, err := s.Objective.(optim.LayeredObjective).Chain()
	if err != nil {
		return err
	}
	rows := b.state.Progress.Last.Rows
	if limit := chain.Inputs.RawMatrix().Rows; len(rows) > 0 && rows[len(rows)-1] >= limit {
		return fmt.Errorf("misclassified row %d of %d", rows[len(rows)-1], limit)
	}
	return nil
}

// Step does the solve over all rows (algorithm 1, or lines 1–16 of algorithm 2) the first time, and then one
// iteration τ on the misclassified rows each time (lines 19–23). Interrupted, it leaves the weights alone.
func (b *bpls) Step(ctx context.Context, s *optim.State) (optim.Report, error) {
	report := optim.NewReport()
	if err := ctx.Err(); err != nil {
		return report, err
	}
	if !vector.Finite(vector.Norm(s.W)) {
		return report, &optim.NotFiniteError{What: "weights"}
	}
	p, err := newLayerSolve(ctx, s)
	if err != nil {
		return report, err
	}
	defer p.charge()
	var w []float64
	var rows []int
	share := math.NaN()
	if b.state.Progress == nil {
		w, rows, err = b.first(p)
	} else {
		w, rows, share, err = b.again(p)
	}
	if err != nil {
		return report, err
	}
	loss := s.Objective.Loss(w)
	if !vector.Finite(vector.Norm(w)) || !vector.Finite(loss) {
		return report, &optim.NotFiniteError{What: "loss"}
	}
	if b.state.Progress == nil {
		b.state.Progress = &iterations{}
	}
	b.state.Progress.Tau++
	b.state.Progress.Last = &missed{slices.Clone(w), rows}
	report.StepNorm, report.Loss, report.Accepted = floats.Distance(w, s.W, 2), loss, true
	copy(s.W, w)
	s.Loss, s.Evaluated = loss, false
	report.Diagnostics = p.diagnostics(rows, share)
	return report, nil
}

// first solves over all rows.
func (b *bpls) first(p *layerSolve) (w []float64, missed []int, err error) {
	from := slices.Clone(p.state.W)
	keep := Start.Of(p.state.Settings) == startKeep
	if keep && p.second {
		if missed = p.misses(from); len(missed) == 0 {
			return nil, nil, &optim.StalledError{Reason: "every row is classified right"}
		}
	}
	if !keep {
		a := Range.Of(p.state.Settings)
		for i := range from {
			from[i] = a * (2*p.state.Rand.Float64() - 1)
		}
	}
	w = slices.Clone(from)
	if err := p.solveTo(w, from, p.chain.Inputs, p.chain.Targets); err != nil {
		return nil, nil, err
	}
	before := len(missed)
	if p.chain.Classes {
		missed = p.misses(w)
	}
	if keep && p.second && len(missed) >= before {
		return nil, nil,
			&optim.StalledError{Reason: "solving leaves as many rows misclassified as the weights it began with"}
	}
	return w, missed, nil
}

// again solves over the misclassified rows and blends the result into the weights by their share (line 20).
func (b *bpls) again(p *layerSolve) (w []float64, rows []int, share float64, err error) {
	stall := func(reason string) ([]float64, []int, float64, error) {
		return nil, nil, 0, &optim.StalledError{Reason: reason}
	}
	if !p.second {
		return stall("one iteration is all of algorithm 1")
	}
	progress := b.state.Progress
	var before []int
	if progress.Last != nil && progress.Last.At.Is(p.state.W) {
		before = progress.Last.Rows
	} else {
		before = p.misses(p.state.W)
	}
	switch {
	case len(before) == 0:
		return stall("every row is classified right")
	case progress.Tau > TauMax.Of(p.state.Settings):
		return stall("τ_max iterations are done")
	}
	w = slices.Clone(p.state.W)
	if err := p.solveTo(w, p.state.W, some(p.chain.Inputs, before), some(p.chain.Targets, before)); err != nil {
		return nil, nil, 0, err
	}
	share = float64(len(before)) / float64(p.chain.Inputs.RawMatrix().Rows)
	for i, old := range p.state.W {
		w[i] = (1-share)*old + share*w[i]
	}
	rows = p.misses(w)
	if len(rows) >= len(before) {
		return stall("the misses no longer fall")
	}
	return w, rows, share, nil
}
