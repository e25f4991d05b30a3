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

// SOAP is Adam in the eigenbases of Shampoo's factors.
var SOAP = optim.Info{
	Name:      "soap",
	Title:     "SOAP: Adam in Shampoo's eigenbasis",
	Paper:     "Vyas et al. 2024; Gupta, Koren & Singer 2018",
	Equations: "algorithm 3 and 4",
	Summary: "Adam on gradients that are rotated into the eigenvectors of their own second moments, layer by layer; " +
		"the fewest epochs to a good classifier.",
	Cost:    "1, and what rotations take: 0.4 with batches of 256, 0.8 with 128",
	Primary: "rate",
	Needs:   optim.NeedsRows | optim.NeedsMatrices,
	Planned: minibatch.Planned,
	Parameters: minibatch.Parameters(
		minibatch.Rate.Starting(0.02, ""), Beta1, Beta2, FactorDecay, Epsilon, Every, MaxSide,
		minibatch.Size.Starting(128),
		minibatch.WeightDecay.Starting(0.1, ""), minibatch.Schedule.Starting("linear"),
	),
	New: func() optim.Method { return &minibatch.Method{Update: new(soap)} },
}

const vyas = "Vyas et al. 2024, "

// The hyperparameters of SOAP.
var (
	Beta1 = &optim.Number{Key: "beta1", Meaning: "β₁, decay of the gradient's mean", Default: 0.95, Max: 1,
		OpenMax: true, Source: vyas + "section 6"}
	Beta2 = &optim.Number{Key: "beta2", Meaning: "β₂, decay of its rotated square's mean", Default: 0.95, Max: 1,
		OpenMax: true, Source: vyas + "section 6"}
	Epsilon = &optim.Number{
		Key: "epsilon", Meaning: "ε, added to the root of the square's mean", Default: 1e-8, Max: optim.Inf, Open: true,
		OpenMax: true, Source: vyas + "algorithm 3",
	}
	FactorDecay = &optim.Number{
		Key: "factor-decay", Meaning: "β, decay of the factors", Default: 0.95, Max: 1, OpenMax: true,
		Source: vyas + "section 6",
	}
	Every = &optim.Count{Key: "every", Meaning: "updates from one refresh of the factors' bases to the next",
		Default: 20, Min: 1, Max: 1e9}
	// Rotations of longer sides cost more than they bring (docs/race.md).
	MaxSide = &optim.Count{Key: "side", Meaning: "the longest side of a block of weights that has a factor",
		Default: 512, Max: 1e9}
)

// soap is SOAP (Vyas et al. 2024, algorithm 3), for each block of weights with the gradient G, m × n, of a batch:
//
//	L ← βL + GGᵀ, R ← βR + GᵀG                    the factors, m × m and n × n
//	G′ = Q_LᵀGQ_R                                 in the bases Q_L and Q_R near their eigenvectors
//	M′ ← β₁M′ + (1 − β₁)G′, V ← β₂V + (1 − β₂)G′∘G′
//	W ← W − ηQ_L(M̂′/(√V̂ + ε))Q_Rᵀ                 with Adam's corrections M̂′ and V̂
//
// Every f updates Q_L and Q_R turn (factor.turn), with V in the order of their vectors. The first batch makes the bases
// and moves nothing, so that no gradient is seen in a basis of its own. All of this is as in the authors' program. What
// is done in another way: the paper keeps M and rotates it for every update; M′ is rotated into the new bases when
// these turn, which is the same. Its factors have 1 − β before GGᵀ, which changes no basis. It does not count the first
// batch, so that bases turn an update later. A side longer than some bound has no factor, its basis is the identity
// (section 4, one-sided SOAP); numbers that are in no block have plain Adam.
type soap struct {
	pairs
	u, z, d       []float64 // in the order of the blocks
	inBasis, back tasks
	first, turns  refreshes
	state         *optim.State
}

func (p *soap) Begin(s *optim.State, rate float64) {
	if p.begin(s, rate) {
		p.addTasks(len(s.W))
	}
}

// addTasks makes room for n weights, and the tasks of an update.
func (p *soap) addTasks(n int) {
	p.u, p.z, p.d = make([]float64, n), make([]float64, n), make([]float64, n)
	p.inBasis, p.back = tasks{all: slices.Clone(p.absorb.all)}, tasks{}
	for i := range p.all {
		q := &p.all[i]
		cost := 0 // of a row, into the bases and back
		for _, f := range q.sides() {
			cost += 2 * f.d * q.n
		}
		p.price += float64(cost) * float64(q.m)
		strips(q.m, cost+q.n, func(from, to int) {
			p.inBasis.add(func() { p.moveInBasis(q, from, to) })
			p.back.add(func() { p.moveBack(q, from, to) })
		})
	}
	p.first, p.turns = refreshes{}, refreshes{}
	p.refreshing(&p.first, func(_ *pair, f *factor) (float64, error) { return f.decompose() })
	p.refreshing(&p.turns, p.turn)
}

// moveInBasis stores rows [from, to) of −η(M̂′/(√V̂ + ε))Q_Rᵀ in u.
func (p *soap) moveInBasis(q *pair, from, to int) {
	u, z, d := q.of(p.u), q.of(p.z), q.of(p.d)
	x := q.g
	if q.L != nil {
		q.leftTo(u, blas.NoTrans, q.L.Qt, x, from, to)
		x = u
	}
	if q.R != nil {
		q.rightTo(z, x, q.R.q, from, to)
		x = z
	}
	first, last := from*q.n, to*q.n
	clear(d[first:last])
	vector.Adam(d[first:last], q.of(p.Moves.M)[first:last], q.of(p.Moves.V)[first:last], x[first:last], &p.step)
	if q.R != nil {
		q.rightTo(u, d, q.R.Qt, from, to)
	} else {
		copy(u[first:last], d[first:last])
	}
}

// moveBack moves rows [from, to) of the weights by Q_L·u.
func (p *soap) moveBack(q *pair, from, to int) {
	x := q.of(p.u)
	if q.L != nil {
		z := q.of(p.z)
		q.leftTo(z, blas.Trans, q.L.Qt, x, from, to)
		x = z
	}
	q.add(p.state.W, 1, x, from, to)
}

// MoveAll is an update.
func (p *soap) MoveAll(_ context.Context, s *optim.State, batch *minibatch.Batch) error {
	p.state = s
	defer func() { charge(s, p.spent) }()
	p.gather(batch.Gradient)
	if p.Moves.Updates++; p.Moves.Updates == 1 {
		defer p.refresh.since(time.Now())
		p.spent = p.absorbed
		p.absorb.do(s)
		return p.first.do(s, &p.spent)
	}
	p.spent = p.price
	p.correct()
	p.inBasis.do(s)
	p.back.do(s)
	p.moveRest(s.W, batch.Gradient)
	if p.Moves.Updates%Every.Of(s.Settings) == 0 {
		return p.turnBases(s)
	}
	return nil
}

// Prepares reports whether there was nothing but the first batch.
func (p *soap) Prepares() bool { return p.Moves.Updates == 1 }

// turnBases turns the bases, and M′ and V with them.
func (p *soap) turnBases(s *optim.State) error {
	defer p.refresh.since(time.Now())
	for i := range p.all {
		p.rotate(&p.all[i], blas.Trans, (*factor).rows)
	}
	if err := p.turns.do(s, &p.spent); err != nil {
		return err
	}
	for i := range p.all {
		q := &p.all[i]
		v, z := q.of(p.Moves.V), q.of(p.z)
		if q.L != nil {
			permuteRows(v, z, q.n, q.L.order)
		}
		if q.R != nil {
			permuteColumns(v, z, q.n, q.R.order)
		}
		p.rotate(q, blas.NoTrans, (*factor).columns)
	}
	return nil
}

// turn turns a basis. It charges for rotating M′, too.
func (p *soap) turn(q *pair, f *factor) (spent float64, err error) {
	spent, err = f.turn()
	return spent + 2*float64(q.size())*float64(f.d), err
}

// rotate takes M′ out of the bases, with Trans and the rows of Qᵀ, or into them.
func (p *soap) rotate(q *pair, trans blas.Transpose, right func(*factor) []float64) {
	x, z := q.of(p.Moves.M), q.of(p.z)
	if q.L != nil {
		q.leftTo(z, trans, q.L.Qt, x, 0, q.m)
		copy(x, z)
	}
	if q.R != nil {
		q.rightTo(z, x, right(q.R), 0, q.m)
		copy(x, z)
	}
}

// Report describes the factors.
func (p *soap) Report(r *optim.Report) { r.Preconditioner = p.report(math.NaN()) }
