package krylov

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"newtop/internal/vector"
)

// LanczosOptions are the options of Lanczos. The zero value works.
type LanczosOptions struct {
	Steps     int       // the most Lanczos steps, each a product; 0: 40 + 8k, never more than n
	Tolerance float64   // wanted residuals relative to the largest |λ| seen; 0: 1e-3
	Start     []float64 // a guess in the span of the wanted eigenvectors, as Spectrum.Start gives it; nil: none
	Seed      uint64    // of the random start
	Vectors   bool      // keep the eigenvectors, n numbers each

	// Monitor is called after each product with the number of them so far. It may block; an error ends the
	// process.
	Monitor func(products int) error
}

// Eigenpair is an eigenvalue estimate with its certificate: an eigenvalue lies within Residual of Value.
type Eigenpair struct {
	Value    float64   // λ = vᵀHv, a Rayleigh quotient
	Residual float64   // ‖Hv − λv‖₂ by a product of its own
	Estimate float64   // the same as the process believes it: |β_m s_mi|
	Vector   []float64 // v, ‖v‖₂ = 1; nil unless asked for
}

// Spectrum holds the ends of a spectrum. No eigenpair stands in both: where 2k > n they are halves.
type Spectrum struct {
	Top      []Eigenpair // the largest, downwards
	Bottom   []Eigenpair // the smallest, upwards
	Steps    int         // m, the size of the tridiagonal matrix
	Products int         // the certificates' included
	Stop     Stop        // Residual, Limit, NotFinite or Interrupted; the last two leave no pairs
}

// Start returns a start vector for the next Lanczos on a matrix that differs little, the sum of the
// eigenvectors, or nil when they were not kept.
func (s *Spectrum) Start() []float64 {
	var start []float64
	for _, p := range slices.Concat(s.Top, s.Bottom) {
		switch {
		case p.Vector == nil:
			return nil
		case start == nil:
			start = slices.Clone(p.Vector)
		default:
			vector.Add(start, start, p.Vector)
		}
	}
	return start
}

// Lanczos estimates the k largest and the k smallest eigenvalues of h by the Lanczos process with full
// reorthogonalization, done twice (Parlett 1998, §6.9 and §13.3): no ghosts, and with as many steps as
// unknowns the whole spectrum. Locals:
//
//	V  the orthonormal basis, m rows of n · T = VHVᵀ tridiagonal, diagonal α, beside it β
//	θ, s  eigenvalues and eigenvectors of T · x = Vᵀs the Ritz vector, ‖Hx − θx‖ = |β_m s_m|
//
// It stops when these estimates are small enough for every wanted pair, then spends one product on each
// to certify it. Where the basis spans an invariant subspace it goes on with a new random vector
// orthogonal to it, which is how copies of a repeated eigenvalue are found; one that is met before that
// happens is shown once. It keeps all of V. The error is the monitor's. It panics when k is below 1 or a
// length is wrong.
func Lanczos(h Operator, k int, o LanczosOptions) (Spectrum, error) {
	n := h.Dim()
	mustFit(n, k, o.Start)
	if o.Steps <= 0 {
		o.Steps = 40 + 8*k
	}
	if o.Tolerance <= 0 {
		o.Tolerance = 1e-3
	}
	l := &lanczos{
		process: process{products: products{h: h, monitor: o.Monitor}, w: make([]float64, n)},
		k:       k, o: o, limit: min(o.Steps, n),
		rng: rand.New(rand.NewPCG(o.Seed, 0x6c616e637a6f73)),
	}
	stop, err := l.run()
	out := Spectrum{Stop: stop}
	if err == nil && stop != NotFinite {
		if err = l.certify(&out); err != nil {
			out = Spectrum{Stop: Interrupted}
		}
	}
	out.Steps, out.Products = len(l.alpha), l.count
	return out, err
}

// mustFit panics unless k eigenvalues of a matrix of n rows make sense and the start vectors are as long.
func mustFit(n, k int, starts ...[]float64) {
	switch {
	case k < 1:
		panic(fmt.Sprintf("krylov: %d eigenvalues wanted: expected at least 1", k))
	case n < 1:
		panic("krylov: an operator of dimension 0 has no eigenvalues")
	}
	for _, v := range starts {
		if v != nil && len(v) != n {
			panic(fmt.Sprintf("krylov: start vector of length %d for %d unknowns", len(v), n))
		}
	}
}

type lanczos struct {
	process
	k     int
	o     LanczosOptions
	limit int
	rng   *rand.Rand

	theta, vectors []float64 // of T when last looked at
	block          int       // the row at which the basis last began anew
	low, high      float64   // the k-th smallest and largest θ of the rows before
}

// run fills the basis.
func (l *lanczos) run() (Stop, error) {
	guessTo(l.begin(), l.o.Start, l.rng)
	for {
		ok, err := l.step()
		switch {
		case err != nil:
			return Interrupted, err
		case !ok:
			return NotFinite, nil
		}
		m := len(l.basis)
		if l.last == 0 || m == l.limit || m%5 == 0 {
			if !l.look() {
				return NotFinite, nil
			}
			switch {
			case m == len(l.w) || l.settled():
				return Residual, nil
			case m == l.limit:
				return Limit, nil
			}
		}
		if l.last > 0 {
			l.extend()
		} else {
			l.renew()
		}
	}
}

// renew lets the basis begin anew, with a random vector outside the invariant subspace that it spans.
func (l *lanczos) renew() {
	m := len(l.basis)
	l.block, l.low, l.high = m, math.Inf(1), math.Inf(-1)
	if m >= l.k {
		l.low, l.high = l.theta[l.k-1], l.theta[m-l.k]
	}
	l.beta = append(l.beta, 0)
	v := l.room()
	randomTo(v, l.rng)
	outsideTo(v, l.basis[:m])
}

// look solves the eigenproblem of T.
func (l *lanczos) look() (ok bool) {
	l.theta, l.vectors, ok = eigenvectors(l.alpha, l.beta)
	return ok
}

// estimate is |β_m s_mi|, the residual of the i-th Ritz pair.
func (l *lanczos) estimate(i int) float64 {
	m := len(l.theta)
	return math.Abs(l.last * l.vectors[(m-1)*m+i])
}

// wanted returns how many Ritz pairs count for the top and for the bottom.
func (l *lanczos) wanted() (top, bottom int) {
	m := len(l.theta)
	return min(l.k, (m+1)/2), min(l.k, m/2)
}

// settled reports whether the wanted pairs are there and good. In an invariant subspace every pair is,
// and says nothing about the rest; a basis that began anew has told about it when its own extreme pairs
// are good and would not be wanted.
func (l *lanczos) settled() bool {
	m := len(l.theta)
	slack := l.o.Tolerance * max(math.Abs(l.theta[0]), math.Abs(l.theta[m-1]))
	top, bottom := l.wanted()
	if top+bottom < min(2*l.k, len(l.w)) {
		return false
	}
	for i := range m {
		if (i < bottom || i >= m-top) && l.estimate(i) > slack {
			return false
		}
	}
	if l.block == 0 {
		return l.last > 0
	}
	first, last := -1, -1
	for i := range m {
		if l.fresh(i) {
			if first < 0 {
				first = i
			}
			last = i
		}
	}
	return l.estimate(first) <= slack && l.estimate(last) <= slack &&
		l.theta[first] >= l.low-slack && l.theta[last] <= l.high+slack
}

// fresh reports whether the i-th Ritz vector lies in the rows since the basis began anew. T has a zero
// there, so that it lies on one side or the other.
func (l *lanczos) fresh(i int) bool {
	m, part := len(l.theta), 0.0
	for j := l.block; j < m; j++ {
		part += l.vectors[j*m+i] * l.vectors[j*m+i]
	}
	return part > 0.5
}

// certify forms the wanted pairs and measures their residuals.
func (l *lanczos) certify(out *Spectrum) error {
	m := len(l.theta)
	top, bottom := l.wanted()
	for i := range m {
		if i >= bottom && i < m-top {
			continue
		}
		p, err := l.pair(i)
		switch {
		case err != nil:
			return err
		case !vector.Finite(p.Value) || !vector.Finite(p.Residual):
			*out = Spectrum{Stop: NotFinite}
			return nil
		case i < bottom:
			out.Bottom = append(out.Bottom, p)
		default:
			out.Top = append(out.Top, p)
		}
	}
	slices.SortStableFunc(out.Bottom, func(a, b Eigenpair) int { return cmp.Compare(a.Value, b.Value) })
	slices.SortStableFunc(out.Top, func(a, b Eigenpair) int { return cmp.Compare(b.Value, a.Value) })
	return nil
}

// pair forms the i-th Ritz vector and spends a product on its certificate.
func (l *lanczos) pair(i int) (Eigenpair, error) {
	m := len(l.theta)
	x := make([]float64, len(l.w))
	for j, v := range l.basis {
		vector.Axpy(x, l.vectors[j*m+i], v)
	}
	vector.Scale(x, 1/vector.Norm(x), x)
	if err := l.multiply(l.w, x); err != nil {
		return Eigenpair{}, err
	}
	p := Eigenpair{Value: vector.Dot(x, l.w), Estimate: l.estimate(i)}
	vector.Axpy(l.w, -p.Value, x)
	p.Residual = vector.Norm(l.w)
	if l.o.Vectors {
		p.Vector = x
	}
	return p, nil
}
