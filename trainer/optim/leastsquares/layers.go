package leastsquares

import (
	"context"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"newtop/trainer/krylov"
	"newtop/trainer/optim"
)

// layerSolve is what one outer iteration of BPLS works with: it takes the layers off one by one, from the outputs
// down. Letters are those of bpls.
type layerSolve struct {
	state   *optim.State
	layered optim.LayeredObjective
	chain   *chain
	second  bool // algorithm 2
	rule    string
	kappa   float64
	solver  leastSquares

	units    int     // pieces of work to this iteration
	spent    float64 // multiplications outside of the solver
	widest   int     // the most inputs that a layer has
	rank     float64 // of such a layer's least squares; NaN if it is not solved for
	residual float64 // root mean square of what the outputs' least squares left of the wanted net inputs
}

// newLayerSolve reads the settings. It returns a *SettingError for algorithm 2 without classes.
func newLayerSolve(ctx context.Context, s *optim.State) (*layerSolve, error) {
	layered := s.Objective.(optim.LayeredObjective)
	c, err := layered.Chain()
	if err != nil {
		return nil, &optim.CapabilityError{Reason: err.Error()}
	}
	p := &layerSolve{
		state: s, layered: layered, chain: (*chain)(c), rank: math.NaN(),
		rule:   Target.Of(s.Settings),
		kappa:  Clip.Of(s.Settings),
		solver: leastSquares{qr: Solver.Of(s.Settings) == solverQR, ridge: Ridge1.Of(s.Settings)},
	}
	algorithm := Algorithm.Of(s.Settings)
	if p.second = algorithm == algorithmTwo || algorithm == algorithmAuto && c.Classes; p.second && !c.Classes {
		return nil, &optim.SettingError{
			Key: "algorithm", Value: algorithm, Expected: "auto or 1, because the targets are numbers and not classes",
		}
	}
	if p.second {
		p.solver.ridge = Ridge2.Of(s.Settings)
	}
	for _, l := range c.Layers {
		p.widest = max(p.widest, l.Sources)
	}
	done := 0
	p.solver.between = func() error {
		done++
		return s.Watch(ctx, optim.Inner{Iteration: krylov.Iteration{Number: done}, Loss: s.Loss, Total: p.units})
	}
	return p, nil
}

// solveTo does lines 4–11 of algorithm 1, or 3–14 of algorithm 2, over the rows of x with targets t: from the
// weights w, it stores those of the layers it solves for in dst, which begins as a copy of w.
func (p *layerSolve) solveTo(dst, w []float64, x, t *mat.Dense) error {
	top := len(p.chain.Layers) - 1
	rows := x.RawMatrix().Rows
	p.units = p.solves() * p.solver.units(rows)
	p.spent += p.chain.forwardCost(rows)
	n := p.chain.outputs(w, x, top)
	b := mat.DenseCopyOf(t)
	p.chain.layer(top).clip(b, p.kappa)
	p.chain.layer(top).wanted(b)
	for l := top; l >= 0; l-- {
		layer, a := p.chain.layer(l), x
		if l > 0 {
			a = n[l-1]
		}
		if err := p.solveLayer(dst, layer, a, b); err != nil { // w̃
			return err
		}
		if l == 0 && l < top {
			break
		}
		r := layer.netInputs(dst, a)
		r.Sub(b, r)
		if l == top {
			p.residual = rootMeanSquare(r)
		}
		if l == 0 || p.rule == ruleNone {
			break
		}
		wanted := p.move(layer.weights(dst), a, r)
		p.chain.layer(l-1).clip(wanted, p.kappa)
		if p.second {
			if err := p.solveLayer(dst, layer, wanted, b); err != nil { // ŵ
				return err
			}
		}
		p.chain.layer(l - 1).wanted(wanted)
		b = wanted
	}
	return nil
}

// solves returns how many least-squares problems an iteration has.
func (p *layerSolve) solves() int {
	layers := len(p.chain.Layers)
	switch {
	case p.rule == ruleNone:
		return 1
	case p.second:
		return 2*layers - 1
	}
	return layers
}

// solveLayer stores in dst the weights and biases of one layer for its inputs a and its wanted net inputs b.
func (p *layerSolve) solveLayer(dst []float64, layer *layer, a, b *mat.Dense) error {
	rank, err := p.solver.solveTo(layer.weights(dst), layer.biases(dst), layer.Unbiased, a, b)
	if layer.Sources == p.widest {
		p.rank = float64(rank)
	}
	return err
}

// move returns n̂ = n + rC, the outputs n of the layer below so that r is made up for by the rule.
func (p *layerSolve) move(w blas64.General, n, r *mat.Dense) *mat.Dense {
	c := mat.NewDense(w.Rows, w.Cols, nil)
	correctionTo(c, p.rule, w)
	wanted := mat.DenseCopyOf(n)
	blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, r.RawMatrix(), c.RawMatrix(), 1, wanted.RawMatrix())
	rows := float64(n.RawMatrix().Rows)
	p.spent += 2 * rows * float64(w.Rows) * float64(w.Cols) // r, too, is a product of that size
	return wanted
}

// misses returns the rows that are misclassified at w.
func (p *layerSolve) misses(w []float64) []int {
	p.spent += p.chain.forwardCost(p.chain.Inputs.RawMatrix().Rows)
	return p.chain.misses(w)
}

// charge charges the objective what the iteration cost.
func (p *layerSolve) charge() { p.layered.Charge(p.spent + p.solver.spent) }

// diagnostics are what the report shows beside the loss.
func (p *layerSolve) diagnostics(missed []int, share float64) []optim.Diagnostic {
	misses := math.NaN()
	if p.chain.Classes {
		misses = float64(len(missed))
	}
	return []optim.Diagnostic{
		{Key: "misses", Symbol: "μ", Meaning: "misclassified training rows", Value: misses},
		{Key: "rank", Symbol: "r", Meaning: "rank of the least squares of the layer with the most inputs",
			Value: p.rank},
		{Key: "share", Symbol: "μ/P", Meaning: "share of the new weights in the blend", Value: share},
		{Key: "residual", Symbol: "‖r‖", Meaning: "root mean square of what the outputs' net inputs lack",
			Value: p.residual},
	}
}
