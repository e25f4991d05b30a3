package krylov

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"sort"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"newtop/internal/vector"
)

// PowerOptions are the options of Power. The zero value works.
type PowerOptions struct {
	Steps     int         // the most products for one eigenpair; 0: 300
	Tolerance float64     // wanted residuals and last changes of λ, relative to |λ|; 0: 1e-3
	Start     [][]float64 // guesses at the eigenvectors in order, as Dominant.Start gives them; nil entries: none
	Seed      uint64      // of the random starts
	Vectors   bool        // keep the eigenvectors, n numbers each
	Inexact   Inexact     // how far products are from those of H

	// Monitor is called after each product with the number of them so far. It may block; an error ends the
	// process.
	Monitor func(products int) error
}

// Dominant holds the eigenpairs of the largest |λ|, downwards in |λ|. Where Pairs[0] is negative and none of
// the pairs asked for is positive, one more has the largest λ, negative only if all of them are; Shifted
// says so.
type Dominant struct {
	Pairs    []Eigenpair
	Shifted  bool
	Products int
	Stop     Stop // Residual, Limit, NotFinite or Interrupted; the last two leave no pairs
}

// Start returns the start vectors for the next Power on a matrix that differs little: the eigenvectors, or
// nil when they were not kept.
func (d *Dominant) Start() [][]float64 {
	var start [][]float64
	for _, p := range d.Pairs {
		if p.Vector != nil {
			start = append(start, p.Vector)
		}
	}
	return start
}

// Power estimates the k eigenvalues of h that are largest in size, copies of repeated ones included, by the
// power method with Rayleigh quotients and deflation [M §4.2]. Locals:
//
//	x_i  the eigenvectors found, i < j · e, λ  the iterate and its Rayleigh quotient eᵀHe, ‖e‖ = 1
//	P    I − Σ x_i x_iᵀ · σ  the shift, 0 but where the largest λ is looked for
//
// Each step is e ← P(H − σI)e / ‖·‖, the components along the x_i taken out every time since rounding
// brings them back. The printed normalization, by λ, lets e grow or shrink and fails at λ = 0. It stops when
// the residual ‖P(H − σI)e − (λ − σ)e‖ and the last change of λ are both at most the tolerance times |λ|.
//
// The method converges to the largest |λ|, which may be negative. If all k are, the largest λ is found with
// σ the most negative of them: H − σI has no negative eigenvalue left, and its largest is the one wanted.
//
// An x_i known to its residual leaves as much in all later ones. So the pairs handed back are the Ritz pairs
// of the x_i together, for which the products are there already (Parlett 1998, ch. 11); this also parts
// neighbours in a cluster. Eigenvalues of equal size and opposite sign, between which e never settles, end
// at the limit with a residual that shows it. It panics when k is below 1 or a length is wrong.
func Power(h Operator, k int, o PowerOptions) (Dominant, error) {
	n := h.Dim()
	mustFit(n, k, o.Start...)
	if o.Steps <= 0 {
		o.Steps = 300
	}
	if o.Tolerance <= 0 {
		o.Tolerance = 1e-3
	}
	p := &power{
		products: products{h: h, monitor: o.Monitor}, o: o, next: make([]float64, n),
		rng: rand.New(rand.NewPCG(o.Seed, 0x706f776572)),
	}
	stop, err := p.run(min(k, n))
	out := Dominant{Products: p.count, Stop: stop}
	if stop == Interrupted || stop == NotFinite {
		return out, err
	}
	if out.Pairs, out.Shifted = p.pairs(), p.shifted; out.Pairs == nil {
		out.Stop = NotFinite
	} else if stop == Limit && p.certified(out.Pairs) {
		out.Stop = Residual
	}
	return out, nil
}

type power struct {
	products
	o       PowerOptions
	rng     *rand.Rand
	x, hx   [][]float64 // the vectors found and their products
	next    []float64   // (H − σI)e, deflated
	size    float64     // the largest ‖Hx‖ seen
	shifted bool
}

// run finds k pairs, and the largest λ if none of them is positive.
func (p *power) run(k int) (Stop, error) {
	worst := Residual
	lowest, highest := math.Inf(1), math.Inf(-1)
	for j := 0; j < k || p.shifted && j == k; j++ {
		sigma := 0.0
		if j == k {
			sigma = lowest
		}
		lambda, stop, err := p.find(sigma)
		switch stop {
		case Interrupted, NotFinite:
			return stop, err
		case Limit:
			worst = Limit
		}
		lowest, highest = min(lowest, lambda), max(highest, lambda)
		p.shifted = p.shifted || j == k-1 && lowest < 0 && highest <= 0 && k < len(p.next)
	}
	return worst, nil
}

// find iterates outside of what was found to the next eigenvector and appends it.
func (p *power) find(sigma float64) (lambda float64, stop Stop, err error) {
	n := len(p.next)
	e, he := make([]float64, n), make([]float64, n)
	var guess []float64
	if j := len(p.x); j < len(p.o.Start) {
		guess = p.o.Start[j]
	}
	guessTo(e, guess, p.rng)
	outsideTo(e, p.x)
	before := math.Inf(1)
	for step := 1; ; step++ {
		if err := p.multiply(he, e); err != nil {
			return 0, Interrupted, err
		}
		lambda = vector.Dot(e, he)
		residual := p.deflate(e, he, lambda, sigma)
		if !vector.Finite(lambda) || !vector.Finite(residual) {
			return 0, NotFinite, nil
		}
		change := math.Abs(lambda - before)
		switch {
		case max(residual, change) <= p.o.Tolerance*math.Abs(lambda), residual <= p.rounding(sigma):
			stop = Residual
		case step == p.o.Steps:
			stop = Limit
		default:
			before = lambda
			vector.Scale(e, 1/vector.Norm(p.next), p.next)
			continue
		}
		p.x, p.hx = append(p.x, e), append(p.hx, he)
		return lambda, stop, nil
	}
}

// deflate stores P(H − σI)e in next and returns the residual ‖P(H − σI)e − (λ − σ)e‖.
func (p *power) deflate(e, he []float64, lambda, sigma float64) float64 {
	p.size = max(p.size, vector.Norm(he))
	floats.AddScaledTo(p.next, he, -lambda, e)
	orthogonalize(p.next, p.x)
	residual := vector.Norm(p.next)
	vector.Axpy(p.next, lambda-sigma, e)
	return residual
}

// rounding is the residual below which there is only noise.
func (p *power) rounding(sigma float64) float64 {
	return noise(len(p.next)) * (p.size + math.Abs(sigma))
}

// pairs returns the Ritz pairs of the vectors found, downwards in |λ|, or nil if there are none.
func (p *power) pairs() []Eigenpair {
	m := len(p.x)
	s := mat.NewSymDense(m, nil)
	for i := range m {
		for j := i; j < m; j++ {
			s.SetSym(i, j, (vector.Dot(p.x[i], p.hx[j])+vector.Dot(p.hx[i], p.x[j]))/2)
		}
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(s, true) {
		return nil
	}
	var q mat.Dense
	eigen.VectorsTo(&q)
	pairs := make([]Eigenpair, m)
	r := make([]float64, len(p.next))
	for i := range pairs {
		x := make([]float64, len(r))
		clear(r)
		for j := range m {
			vector.Axpy(x, q.At(j, i), p.x[j])
			vector.Axpy(r, q.At(j, i), p.hx[j])
		}
		lambda := vector.Dot(x, r)
		vector.Axpy(r, -lambda, x)
		residual := vector.Norm(r)
		pairs[i] = Eigenpair{Value: lambda, Residual: residual, Estimate: residual,
			Bound: residual + p.o.Inexact.of(x, p.size)}
		if p.o.Vectors {
			pairs[i].Vector = x
		}
	}
	sort.SliceStable(pairs, func(i, j int) bool { return cmp.Less(math.Abs(pairs[j].Value), math.Abs(pairs[i].Value)) })
	return pairs
}

// certified reports whether all pairs are as good as was asked for, however the iterations ended.
func (p *power) certified(pairs []Eigenpair) bool {
	return !slices.ContainsFunc(pairs, func(q Eigenpair) bool {
		return q.Residual > p.o.Tolerance*math.Abs(q.Value) && q.Residual > p.rounding(0)
	})
}
