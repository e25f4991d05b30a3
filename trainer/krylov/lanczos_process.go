package krylov

import (
	"cmp"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"

	"newtop/internal/routine"
	"newtop/internal/vector"
)

// products multiplies by an operator, counts how often, and asks the monitor after each time.
type products struct {
	h       Operator
	monitor func(products int) error
	count   int
}

func (p *products) multiply(dst, v []float64) error {
	p.h.MulVecTo(dst, v)
	p.count++
	if p.monitor == nil {
		return nil
	}
	return p.monitor(p.count)
}

// process is the Lanczos process with full reorthogonalization (Parlett 1998, §13.3). Fields:
//
//	basis        V, m orthonormal rows of n numbers
//	alpha, beta  T = VHVᵀ, tridiagonal: the diagonal and beside it, beta[j] between the rows j and j+1
//	arms         what couples Ritz vectors of an earlier basis, the first rows, to the row after them; none at first
//	last         β_m, which couples T to what the basis lacks; 0 where it spans an invariant subspace
//	w            what the last product left orthogonal to the basis, of norm β_m
type process struct {
	products
	basis       [][]float64
	alpha, beta []float64
	arms        []float64
	last        float64
	w           []float64
}

// start empties the basis and returns its first vector for the caller to fill in with norm 1.
func (p *process) start() []float64 {
	p.basis, p.alpha, p.beta, p.arms, p.last = p.basis[:0], p.alpha[:0], p.beta[:0], nil, 0
	return p.room()
}

// room appends a vector to the basis, one that an earlier basis had if there is one.
func (p *process) room() []float64 {
	m := len(p.basis)
	if m < cap(p.basis) {
		p.basis = p.basis[:m+1]
	} else {
		p.basis = append(p.basis, nil)
	}
	if p.basis[m] == nil {
		p.basis[m] = make([]float64, len(p.w))
	}
	return p.basis[m]
}

// step multiplies by the newest basis vector and appends its row to T. ok is false when a number is not
// finite. The error is the monitor's.
func (p *process) step() (ok bool, err error) {
	q := p.basis[len(p.basis)-1]
	if err := p.multiply(p.w, q); err != nil {
		return false, err
	}
	alpha := vector.Dot(q, p.w)
	p.alpha = append(p.alpha, alpha)
	orthogonalize(p.w, p.basis)
	p.last = vector.Norm(p.w)
	if !vector.Finite(alpha) || !vector.Finite(p.last) {
		return false, nil
	}
	if p.last <= rounding(p.alpha, p.beta, len(p.w)) {
		p.last = 0
	}
	return true, nil
}

// extend appends w, normalized, to the basis.
func (p *process) extend() {
	beside := p.last
	if m := len(p.basis); m == len(p.arms) {
		beside = 0 // the arms have it
	}
	p.beta = append(p.beta, beside)
	vector.Scale(p.room(), 1/p.last, p.w)
}

// rounding is the size below which a next β is noise: what n products of rounded numbers of T's size may leave.
func rounding(alpha, beta []float64, n int) float64 {
	size := 0.0
	for j, a := range alpha {
		size = max(size, math.Abs(a))
		if j < len(beta) {
			size = max(size, beta[j])
		}
	}
	return noise(n) * size
}

// noise is what a sum of n rounded products may leave of a difference, relative to their size.
func noise(n int) float64 { return 10 * math.Sqrt(float64(n)) * 0x1p-52 }

// Inexact says how far the products of an operator are from those of H. The zero value is for products in float64.
type Inexact struct {
	Roundoff float64 // the unit roundoff u of what they are computed in; 0: 2⁻⁵³
	// ErrorOf estimates the length of what else the product with v, ‖v‖₂ = 1, is off by, as one from differences; nil:
	// by nothing.
	ErrorOf func(v []float64) float64
}

// certainty is λ in the bound λ√m·u on the relative error of a sum of m products that are rounded independently, which
// holds but for a probability of 2exp(−λ²/2), here 3e-14 (Higham & Mary 2019, theorem 2.4).
const certainty = 8

// of returns what the error of the product with v may be, ‖v‖₂ = 1, of a matrix of that norm. As the length of the
// longest sum it takes the matrix's rows: in float32 passes of newtop and of PyTorch, of nets of 13 to 49,000 weights,
// a 16th was seen at most.
func (i *Inexact) of(v []float64, norm float64) float64 {
	bound := certainty * math.Sqrt(float64(len(v))) * cmp.Or(i.Roundoff, 0x1p-53) * norm
	if i.ErrorOf != nil {
		bound += i.ErrorOf(v)
	}
	return bound
}

// orthogonalize takes the components along the orthonormal basis out of v. Twice is enough (Parlett 1998,
// §6.9).
func orthogonalize(v []float64, basis [][]float64) {
	for range 2 {
		if len(v) >= large {
			projectOut(v, basis)
			continue
		}
		for _, q := range basis {
			vector.Axpy(v, -vector.Dot(q, v), q)
		}
	}
}

// From that many numbers on vectors come from memory, whose pace one core does not reach: all cores take tiles of them,
// which the caches hold.
const (
	large = 1 << 18
	tile  = 1 << 13
)

// projectOut takes Vᵀv for all vectors of the basis at once, and then all components out of v. What is added in which
// order depends on the length alone.
func projectOut(v []float64, basis [][]float64) {
	m, tiles := len(basis), (len(v)+tile-1)/tile
	parts, sums := make([]float64, tiles*m), make([]float64, m)
	each := func(f func(i, from, to int)) {
		var next atomic.Int64
		var workers sync.WaitGroup
		for range min(tiles, runtime.GOMAXPROCS(0)) {
			workers.Go(routine.Guard(func() {
				for i := int(next.Add(1)) - 1; i < tiles; i = int(next.Add(1)) - 1 {
					f(i, i*tile, min((i+1)*tile, len(v)))
				}
			}))
		}
		workers.Wait()
	}
	each(func(i, from, to int) {
		for j, q := range basis {
			parts[i*m+j] = vector.Dot(q[from:to], v[from:to])
		}
	})
	for i := range tiles {
		vector.Add(sums, sums, parts[i*m:][:m])
	}
	each(func(_, from, to int) {
		for j, q := range basis {
			vector.Axpy(v[from:to], -sums[j], q[from:to])
		}
	})
}

// randomTo stores a unit vector that prefers no direction.
func randomTo(dst []float64, rng *rand.Rand) {
	for i := range dst {
		dst[i] = rng.NormFloat64()
	}
	vector.Scale(dst, 1/vector.Norm(dst), dst)
}

// guessTo stores a normalized start: random, with the guess, if there is one, given ten times its weight.
// The random part stays in because a direction that the start lacks is never found.
func guessTo(dst, guess []float64, rng *rand.Rand) {
	randomTo(dst, rng)
	if norm := vector.Norm(guess); norm > 0 && vector.Finite(norm) {
		vector.Axpy(dst, 10/norm, guess)
		vector.Scale(dst, 1/vector.Norm(dst), dst)
	}
}

// outsideTo takes the components along the orthonormal basis out of v, leaving norm 1. The basis must not
// span the whole space.
func outsideTo(v []float64, basis [][]float64) {
	for norm := 0.0; norm < 0.5; {
		orthogonalize(v, basis)
		norm = vector.Norm(v)
		vector.Scale(v, 1/norm, v)
	}
}
