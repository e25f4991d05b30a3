package trust

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"

	"newtop/internal/vector"
	"newtop/trainer/krylov"
	"newtop/trainer/optim"
)

// sweep is what block mode [MD, §3] keeps of an epoch. Gradient, curvature and E of ρ are those of one block at
// a time, and so is the decision about its step; E over all rows decides about the sweep through the blocks as a
// whole, which is undone unless E has fallen. Blocks that disagree in everything are no way down however short the
// sweep, so one that is undone leaves R alone and is followed by an epoch of batch mode, with every further one in a
// row by twice as many. The paper has E over all rows in every ρ, which block-error=all is. Then a direction in which
// a block disagrees with the others keeps ρ low however short the step, and R collapses: docs/radius.md.
type sweep struct {
	w, g     []float64 // the weights within a sweep, the gradient of a block there
	loss     float64   // E over all rows at w; of block-error=all
	promised float64   // Σ pred of the steps taken
	longest  float64   // ‖s‖_M of the longest of them
	square   float64   // Σ ‖g‖² over the blocks
	counted  int       // blocks that have a gradient
}

// longestPause bounds the epochs of batch mode between two sweeps.
const longestPause = 64

// blocks returns the blocks of rows that an epoch goes through, or nil for batch mode.
func blocks(s *optim.State) ([]optim.Objective, error) {
	count := Blocks.Of(s.Settings)
	if count == 1 {
		return nil, nil
	}
	o, ok := s.Objective.(optim.BlockObjective)
	if !ok {
		return nil, &optim.CapabilityError{Reason: "the objective has no rows to split into blocks"}
	}
	if count = min(count, o.Rows()); count == 1 {
		return nil, nil
	}
	return o.Blocks(count), nil
}

// blockEpoch is one epoch in block mode: a step for each block in turn.
func (t *trust) blockEpoch(ctx context.Context, s *optim.State, parts []optim.Objective,
	report optim.Report) (optim.Report, error) {
	if err := t.beginSweep(s); err != nil {
		return report, err
	}
	report.Loss = s.Loss
	radius := report.Radius
	for i, o := range parts {
		var err error
		if radius, err = t.block(ctx, s, o, part{i, len(parts)}, radius, &report); err != nil {
			return report, err
		}
	}
	report.GradientNorm = math.Sqrt(t.sweep.square / float64(max(1, t.sweep.counted)))
	vector.Scale(s.Gradient, 1/float64(max(1, t.sweep.counted)), s.Gradient)
	if t.sweep.square == 0 {
		return report, &optim.StalledError{Reason: "the gradient of every block is zero"}
	}
	t.endSweep(s, radius, &report)
	return report, nil
}

// beginSweep begins a sweep at the state's weights, whose E it computes where it is not known.
func (t *trust) beginSweep(s *optim.State) error {
	b, n := &t.sweep, len(s.W)
	if !vector.Finite(vector.Norm(s.W)) {
		return &optim.NotFiniteError{What: "weights"}
	}
	if len(b.w) != n {
		b.w, b.g = make([]float64, n), make([]float64, n)
	}
	if !s.Evaluated {
		s.Loss = s.Objective.Loss(s.W)
	}
	if !vector.Finite(s.Loss) {
		return &optim.NotFiniteError{What: "loss"}
	}
	if len(s.Gradient) != n {
		s.Gradient = make([]float64, n)
	}
	clear(s.Gradient)
	s.Evaluated = false
	copy(b.w, s.W)
	b.loss = s.Loss
	b.promised, b.longest, b.square, b.counted = 0, 0, 0, 0
	return nil
}

// block takes or rejects a step for one block, and returns the radius for the next. A block that has no
// finite loss, gradient or curvature where a sweep starts ends the run; further on, the sweep has gone too far,
// and is judged.
func (t *trust) block(ctx context.Context, s *optim.State, o optim.Objective, rows part, radius float64,
	report *optim.Report) (float64, error) {
	b := &t.sweep
	broken := func(what string) (float64, error) {
		if b.longest == 0 {
			return radius, &optim.NotFiniteError{What: what}
		}
		return radius, nil
	}
	loss := o.GradientTo(b.g, b.w)
	gradient := vector.Norm(b.g)
	switch {
	case !vector.Finite(loss):
		return broken("loss")
	case !vector.Finite(gradient):
		return broken("gradient")
	}
	vector.Add(s.Gradient, s.Gradient, b.g)
	b.square += gradient * gradient
	b.counted++
	if gradient == 0 {
		return radius, nil
	}
	report.Proposal = optim.Proposal{}
	solve, err := t.solve(ctx, s, o, rows, b.w, b.g, radius)
	report.Inner = append(report.Inner, optim.InnerSolve{Block: rows.index, Solve: solve})
	if err != nil {
		return radius, err
	}
	if solve.Stop == krylov.NotFinite && solve.StepNorm == 0 {
		return broken("curvature")
	}
	judge, before := o, loss
	if BlockError.Of(s.Settings) == blockErrorAll {
		judge, before = s.Objective, b.loss
	}
	a := t.shortenUntilAccepted(judge, s.Settings, b.w, before, &solve)
	report.Proposal = optim.Proposal{Step: t.s, From: b.w, Rho: a.rho, Accepted: a.accepted}
	if a.accepted {
		b.w, t.trial = t.trial, b.w
		report.Proposal.From = t.trial
		b.loss = a.loss
		b.promised += a.promised
		b.longest = max(b.longest, a.length)
	}
	rule := ruleOf(s.Settings)
	return rule.next(radius, &a), nil
}

// endSweep keeps the sweep, and the radius it ended with, if E has fallen, and undoes it otherwise. ρ holds the fall of
// E over all rows against the sum of what the steps promised for their own blocks. With no step taken there is
// nothing to undo but R, which has shrunk.
func (t *trust) endSweep(s *optim.State, radius float64, report *optim.Report) {
	b, loss := &t.sweep, s.Loss
	printed := BlockError.Of(s.Settings) == blockErrorAll
	switch {
	case b.longest > 0 && printed:
		loss = b.loss
	case b.longest > 0:
		loss = s.Objective.Loss(b.w)
	}
	if b.longest > 0 {
		report.StepNorm = floats.Distance(b.w, s.W, 2)
		if vector.Finite(loss) {
			report.Rho = optim.Ratio(s.Loss, loss, b.promised)
			report.Accepted = loss < s.Loss
		}
		if !report.Accepted {
			radius = report.Radius
		}
	}
	if report.Accepted {
		copy(s.W, b.w)
		s.Loss, report.Loss = loss, loss
		t.state.Pause, t.state.Stagnation = 0, optim.Stagnation{}
	} else if !printed {
		t.state.Pause = min(max(1, 2*t.state.Pause), longestPause)
		t.state.Left = t.state.Pause
	}
	Radius.Follow(s.Settings, report.Radius, max(radius, optim.MinNormal))
}
