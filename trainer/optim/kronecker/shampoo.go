package kronecker

import (
	"context"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/blas"

	"newtop/internal/vector"
	"newtop/trainer/optim"
	"newtop/trainer/optim/minibatch"
)

// Shampoo scales gradients by roots of their second moments.
var Shampoo = optim.Info{
	Name:      "shampoo",
	Title:     "Shampoo, grafted to Adam",
	Paper:     "Gupta, Koren & Singer 2018; Anil et al. 2020",
	Equations: "algorithm 1 with decaying sums and Adam's step length: W ← W − η‖Adam‖·L^(−1/4)MR^(−1/4)/‖·‖",
	Summary: "Gradients scaled from both sides by the roots of their own second moments, layer by layer, with steps " +
		"as long as Adam's; " +
		"what SOAP came from.",
	Cost:    "1, and what products with factors take: 0.3 with batches of 256, 0.6 with 128",
	Primary: "rate",
	Needs:   optim.NeedsRows | optim.NeedsMatrices,
	Planned: minibatch.Planned,
	Parameters: minibatch.Parameters(
		minibatch.Rate.Starting(0.03, ""), Beta1.Starting(0.95, ""), Beta2.Starting(0.99, ""),
		FactorDecay.Starting(0.95, ""), Epsilon,
		Damping.Starting(1e-4, ""), Every, MaxSide, minibatch.Size.Starting(128),
		minibatch.WeightDecay.Starting(0.1, ""), minibatch.Schedule.Starting("linear"),
	),
	New: func() optim.Method { return &minibatch.Method{Update: new(shampoo)} },
}

// Damping is Shampoo's.
var Damping = &optim.Number{
	Key: "damping", Meaning: "ε, added to the eigenvalues of a factor, as a share of the largest", Max: 1, Open: true,
}

// shampoo is Shampoo (Gupta, Koren & Singer 2018, algorithm 1), for each block of weights with the gradient G, m × n,
// of a batch:
//
//	L ← βL + GGᵀ, R ← βR + GᵀG
//	M ← β₁M + (1 − β₁)G, V ← β₂V + (1 − β₂)G∘G, D = M̂/(√V̂ + ε), Adam's step
//	S = (L + ε‖L‖I)^(−1/4) M (R + ε‖R‖I)^(−1/4)
//	W ← W − η(‖D‖/‖S‖)S
//
// As Anil et al. 2020 have it, and other than the paper, the sums decay, gradients have momentum, and the length of a
// step is Adam's ("grafting"); the paper's sums start at εI. Roots are those of QᵀLQ's diagonal in a basis that turns
// towards the eigenvectors every f updates (factor.turn), where the paper has the exact ones. Where one side is longer
// than some bound it has no factor, and the other one the power −1/2. Numbers that are in no block have plain Adam.
type shampoo struct {
	pairs
	damping       float64
	s, z, d       []float64 // S, a product on the way to it and −ηD, in the order of the blocks
	moves, scales tasks
	first, turns  refreshes
	lengths       []lengths // of every strip of rows
	strips        []int     // the first strip of every block, and behind the last
}

// lengths are the squares of ‖ηD‖ and ‖S‖ over some rows.
type lengths struct{ adam, scaled float64 }

func (p *shampoo) Begin(s *optim.State, rate float64) {
	p.damping = Damping.Of(s.Settings)
	if p.begin(s, rate) {
		p.addTasks(len(s.W))
	}
}

// addTasks makes room for n weights, and the tasks of an update.
func (p *shampoo) addTasks(n int) {
	p.s, p.z, p.d = make([]float64, n), make([]float64, n), make([]float64, n)
	p.moves, p.scales = tasks{all: slices.Clone(p.absorb.all)}, tasks{}
	p.lengths, p.strips = nil, []int{0}
	for i := range p.all {
		q := &p.all[i]
		cost := 0 // of a row
		for _, f := range q.sides() {
			cost += f.d * q.n
		}
		p.price += float64(cost) * float64(q.m)
		strips(q.m, cost+q.n, func(from, to int) {
			strip := len(p.lengths)
			p.lengths = append(p.lengths, lengths{})
			p.moves.add(func() { p.moveMoments(q, strip, from, to) })
			p.scales.add(func() { p.scale(q, strip, from, to) })
		})
		p.strips = append(p.strips, len(p.lengths))
	}
	p.first, p.turns = refreshes{}, refreshes{}
	p.refreshing(&p.first, func(q *pair, f *factor) (float64, error) {
		spent, err := f.decompose()
		return spent + f.updateRoot(p.damping, q.power()), err
	})
	p.refreshing(&p.turns, func(q *pair, f *factor) (float64, error) {
		spent, err := f.turn()
		return spent + f.updateRoot(p.damping, q.power()), err
	})
}

// power is that of a factor: −1/4 of two, −1/2 of one alone.
func (q *pair) power() float64 {
	if q.L == nil || q.R == nil {
		return -0.5
	}
	return -0.25
}

// moveMoments takes rows [from, to) of the gradient into the moments, and stores those of −ηD.
func (p *shampoo) moveMoments(q *pair, strip, from, to int) {
	first, last := from*q.n, to*q.n
	d := q.of(p.d)[first:last]
	clear(d)
	vector.Adam(d, q.of(p.Moves.M)[first:last], q.of(p.Moves.V)[first:last], q.g[first:last], &p.step)
	p.lengths[strip].adam = vector.SumSquares(d)
}

// scale stores rows [from, to) of S.
func (p *shampoo) scale(q *pair, strip, from, to int) {
	s, z := q.of(p.s), q.of(p.z)
	x := q.of(p.Moves.M)
	if q.L != nil {
		q.leftTo(z, blas.NoTrans, q.L.Root, x, from, to)
		x = z
	}
	first, last := from*q.n, to*q.n
	if q.R != nil {
		q.rightTo(s, x, q.R.Root, from, to)
	} else {
		copy(s[first:last], x[first:last])
	}
	p.lengths[strip].scaled = vector.SumSquares(s[first:last])
}

// MoveAll is an update.
func (p *shampoo) MoveAll(_ context.Context, s *optim.State, batch *minibatch.Batch) error {
	defer func() { charge(s, p.spent) }()
	p.gather(batch.Gradient)
	p.correct()
	p.spent = p.price
	p.moves.do(s)
	if p.Moves.Updates++; p.Moves.Updates == 1 {
		if err := p.refreshRoots(s, &p.first); err != nil {
			return err
		}
	} else if p.Moves.Updates%Every.Of(s.Settings) == 0 {
		if err := p.refreshRoots(s, &p.turns); err != nil {
			return err
		}
	}
	p.scales.do(s)
	for i := range p.all {
		var sum lengths
		for _, l := range p.lengths[p.strips[i]:p.strips[i+1]] {
			sum.adam, sum.scaled = sum.adam+l.adam, sum.scaled+l.scaled
		}
		if sum.scaled > 0 {
			q := &p.all[i]
			q.add(s.W, -math.Sqrt(sum.adam/sum.scaled), q.of(p.s), 0, q.m)
		}
	}
	p.moveRest(s.W, batch.Gradient)
	return nil
}

func (p *shampoo) refreshRoots(s *optim.State, r *refreshes) error {
	defer p.refresh.since(time.Now())
	return r.do(s, &p.spent)
}

// Report describes the factors.
func (p *shampoo) Report(r *optim.Report) { r.Preconditioner = p.report(p.damping) }
