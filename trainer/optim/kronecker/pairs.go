package kronecker

import (
	"errors"
	"math"

	"newtop/internal/vector"
	"newtop/trainer/optim"
	"newtop/trainer/optim/minibatch"
)

// pairs is what SOAP and Shampoo have in common: blocks of weights with a factor for either side, beside moments of
// Adam's.
type pairs struct {
	step     vector.AdamStep
	beta     float64 // of the factors
	all      []pair
	rest     []optim.Span // numbers that are in no block
	restAt   int          // where these begin in what lies in the order of blocks
	price    float64      // multiplications of an update
	spent    float64      // of the update under way
	absorb   tasks        // the gradient into the factors
	absorbed float64      // multiplications of these
	refresh  refresh
	minibatch.Memory[moments]
}

// moments is what is carried. Its numbers lie in the order of the blocks, those in none behind them.
type moments struct {
	M       []float64 `archive:"m"`
	V       []float64 `archive:"v"`
	Beta1t  float64   `archive:"beta1^t"` // β₁ᵗ and β₂ᵗ as products
	Beta2t  float64   `archive:"beta2^t"`
	Updates int       `archive:"updates"`
	Side    int       `archive:"side"` // the bound on sides with factors
	Factors []factors `archive:"factors"`
}

// factors are those of a block, nil where a side has none.
type factors struct {
	L *factor `archive:"outputs,apart"`
	R *factor `archive:"inputs,apart"`
}

// pair is a block with its factors and its gradient.
type pair struct {
	block
	factors
	g, gt []float64 // G and Gᵀ
}

// sides are the factors that there are, that of the outputs first.
func (q *pair) sides() (all []*factor) {
	for _, f := range []*factor{q.L, q.R} {
		if f != nil {
			all = append(all, f)
		}
	}
	return all
}

// begin reads the settings of an update, and reports whether blocks and factors are new.
func (p *pairs) begin(s *optim.State, rate float64) (fresh bool) {
	side := MaxSide.Of(s.Settings)
	if p.Moves != nil && p.Moves.Side != side { // moments are in bases of which some would be others
		p.Moves, p.all = nil, nil
	}
	if p.Moves == nil {
		p.Moves = newMoments(s, side)
	}
	if fresh = p.all == nil; fresh {
		p.layOut(s)
	}
	p.step = vector.AdamStep{Rate: rate, Beta1: Beta1.Of(s.Settings), Beta2: Beta2.Of(s.Settings),
		Epsilon: Epsilon.Of(s.Settings)}
	p.beta, p.spent = FactorDecay.Of(s.Settings), 0
	return fresh
}

// correct counts an update of the moments.
func (p *pairs) correct() {
	k := p.Moves
	k.Beta1t *= p.step.Beta1
	k.Beta2t *= p.step.Beta2
	p.step.Correct1, p.step.Correct2 = 1/(1-k.Beta1t), 1/(1-k.Beta2t)
}

func newMoments(s *optim.State, side int) *moments {
	n := len(s.W)
	k := &moments{M: make([]float64, n), V: make([]float64, n), Beta1t: 1, Beta2t: 1, Side: side}
	blocks, _ := matricesOf(s.Objective, n)
	for _, b := range blocks {
		var f factors
		if b.m > 1 && b.m <= side && !b.DiagonalOutputs {
			f.L = newFactor(b.m)
		}
		if b.n > 1 && b.n <= side {
			f.R = newFactor(b.n)
		}
		k.Factors = append(k.Factors, f)
	}
	return k
}

// Restored checks that the factors are those of the blocks.
func (p *pairs) Restored(s *optim.State) error {
	if p.Moves == nil {
		return nil
	}
	blocks, _ := matricesOf(s.Objective, len(s.W))
	if len(blocks) != len(p.Moves.Factors) {
		return errors.New("factors of other blocks of weights")
	}
	for i, b := range blocks {
		f := &p.Moves.Factors[i]
		if !f.L.restored(b.m) || !f.R.restored(b.n) {
			return errors.New("factors of another size")
		}
	}
	return nil
}

// layOut makes the pairs.
func (p *pairs) layOut(s *optim.State) {
	var blocks []block
	blocks, p.rest = matricesOf(s.Objective, len(s.W))
	p.all = make([]pair, len(blocks))
	p.absorb, p.restAt, p.absorbed = tasks{}, 0, 0
	for i, b := range blocks {
		q := &p.all[i]
		*q = pair{block: b, factors: p.Moves.Factors[i], g: make([]float64, b.size()), gt: make([]float64, b.size())}
		if q.L != nil {
			p.absorbed += q.L.addOutputs(&p.absorb, &q.block, &p.beta, q.g, q.gt)
		}
		if q.R != nil {
			p.absorbed += q.R.addInputs(&p.absorb, &q.block, &p.beta, q.g)
		}
		p.restAt += b.size()
	}
	p.price = p.absorbed
}

// refreshing adds a task for every factor to those of a refresh. Its values are then those of the mean that F is a
// multiple of.
func (p *pairs) refreshing(r *refreshes, f func(q *pair, f *factor) (spent float64, err error)) {
	for i := range p.all {
		q := &p.all[i]
		for _, side := range q.sides() {
			r.add(func() (float64, error) {
				spent, err := f(q, side)
				vector.Scale(side.Values, (1-p.beta)/(1-math.Pow(p.beta, float64(p.Moves.Updates))), side.Values)
				return spent, err
			})
		}
	}
}

// gather stores the batch's gradient block by block.
func (p *pairs) gather(gradient []float64) {
	for i := range p.all {
		q := &p.all[i]
		q.gather(q.g, gradient)
		if q.L != nil {
			transposeTo(q.gt, q.g, q.m, q.n)
		}
	}
}

// moveRest is Adam on the numbers that are in no block.
func (p *pairs) moveRest(w, g []float64) {
	at := p.restAt
	for _, r := range p.rest {
		n := r.Last - r.First
		vector.Adam(w[r.First:r.Last], p.Moves.M[at:][:n], p.Moves.V[at:][:n], g[r.First:r.Last], &p.step)
		at += n
	}
}

// report describes the factors, to whose eigenvalues a share of the largest is added; NaN: nothing is.
func (p *pairs) report(damping float64) *optim.Preconditioner {
	out := p.refresh.report()
	for i := range p.all {
		q := &p.all[i]
		out.Factors = append(out.Factors, q.L.describe(q.Matrix, true, q.m, damping),
			q.R.describe(q.Matrix, false, q.n, damping))
	}
	return out
}
