package krylov

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"

	"newtop/internal/vector"
)

// LanczosOptions are the options of Lanczos. The zero value works.
type LanczosOptions struct {
	// the most Lanczos steps, each a product; 0: LanczosSteps(k), with restarts twice as many. Without, never more than
	// n
	Steps int
	// the most basis vectors kept, n numbers each, at least the wanted ones and four more; 0: all. With fewer than
	// Steps it restarts
	Basis     int
	TopOnly   bool    // the largest eigenvalues alone: none of the smallest, nor a product for them
	Tolerance float64 // wanted residuals at each end relative to the largest wanted |λ| there; 0: 1e-3
	// what is small enough at either end, relative to the largest |λ| seen; 0: 1e-9. As large as Tolerance: one
	// tolerance for both ends
	Floor   float64
	Start   []float64 // a guess in the span of the wanted eigenvectors, as Spectrum.Start gives it; nil: none
	Seed    uint64    // of the random start
	Vectors bool      // keep the eigenvectors, n numbers each
	Inexact Inexact   // how far products are from those of H

	// Monitor is called after each product with the number of them so far. It may block; an error ends the
	// process.
	Monitor func(products int) error
}

// LanczosSteps is how many steps Lanczos takes for k eigenvalues at each end where nobody says otherwise. The ends of a
// trained net's Hessian come within a third of it.
func LanczosSteps(k int) int { return 40 * (k + 1) }

// Eigenpair is an eigenvalue estimate with its certificate: an eigenvalue lies within Bound of Value. Which one it is
// in the order of all, the certificate does not say.
type Eigenpair struct {
	Value    float64   // λ = vᵀHv, a Rayleigh quotient
	Residual float64   // ‖Hv − λv‖₂ by a product of its own
	Bound    float64   // the residual and the error that the product may have
	Estimate float64   // the same as the process believes it: |β_m s_mi|
	Vector   []float64 // v, ‖v‖₂ = 1; nil unless asked for
}

// Spectrum holds the ends of a spectrum. No eigenpair stands in both: where 2k > n they are halves.
type Spectrum struct {
	Top      []Eigenpair // the largest, downwards
	Bottom   []Eigenpair // the smallest, upwards
	Steps    int         // Lanczos steps, without restarts the size of the tridiagonal matrix
	Restarts int         // how often a full basis made room
	Products int         // the certificates' included
	Stop     Stop        // Residual, Limit, NotFinite or Interrupted; the last two leave no pairs

	TopOpen, BottomOpen bool // at the limit: whether an estimate at that end was larger than its tolerance allows
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
// It stops when these estimates are small enough for every wanted pair, beside the eigenvalues of its own end: the
// smallest of a trained net's Hessian may be a millionth of the largest, and what is small beside these says nothing of
// them. Then it spends one product on each to certify it. Where the basis spans an invariant subspace it continues with
// a new random vector orthogonal to it, which is how copies of a repeated eigenvalue are found; one that is met before
// that happens is shown once. It keeps all of V, or restarts when V has Basis rows; one more vector is all that it
// needs besides, since the vectors handed back take the place of V. The error is the monitor's. It panics when k is
// below 1 or a length is wrong.
func Lanczos(h Operator, k int, o LanczosOptions) (Spectrum, error) {
	n := h.Dim()
	mustFit(n, k, o.Start)
	unsaid := o.Steps <= 0
	if unsaid {
		o.Steps = LanczosSteps(k)
	}
	if o.Tolerance <= 0 {
		o.Tolerance = 1e-3
	}
	if o.Floor <= 0 {
		o.Floor = 1e-9
	}
	l := &lanczos{
		process: process{products: products{h: h, monitor: o.Monitor}, w: make([]float64, n)},
		k:       k, o: o, limit: min(o.Steps, n), maxBasis: n, pairs: 2 * k,
		rng: rand.New(rand.NewPCG(o.Seed, 0x6c616e637a6f73)),
	}
	if o.TopOnly {
		l.pairs = k
	}
	if most := max(o.Basis, l.pairs+4); o.Basis > 0 && most < l.limit {
		l.maxBasis, l.limit = most, o.Steps
		if unsaid {
			l.limit *= 2
		}
	}
	stop, err := l.run()
	steps := l.count
	out := Spectrum{Stop: stop}
	if stop == Limit {
		bottom, top := l.good()
		out.TopOpen, out.BottomOpen = !top, !bottom
	}
	if err == nil && stop != NotFinite {
		if err = l.certify(&out); err != nil {
			out = Spectrum{Stop: Interrupted}
		}
	}
	out.Steps, out.Restarts, out.Products = steps, l.restarts, l.count
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
	k        int
	pairs    int // wanted at both ends together
	o        LanczosOptions
	limit    int // steps
	maxBasis int // rows
	rng      *rand.Rand

	theta, vectors []float64 // of T when last looked at
	restarts       int
	renewed        bool    // whether the basis began again
	block          int     // the row at which it last did
	low, high      float64 // the k-th smallest and largest θ of the rows before
}

// run fills the basis.
func (l *lanczos) run() (Stop, error) {
	guessTo(l.start(), l.o.Start, l.rng)
	for {
		ok, err := l.step()
		switch {
		case err != nil:
			return Interrupted, err
		case !ok:
			return NotFinite, nil
		}
		m := len(l.basis)
		if l.last == 0 || l.count == l.limit || l.due() || m == l.maxBasis {
			if !l.solve() {
				return NotFinite, nil
			}
			switch {
			case m == len(l.w) || l.converged():
				return Residual, nil
			case l.count == l.limit:
				return Limit, nil
			}
			if locked := l.lock(); locked || m == l.maxBasis {
				l.restart()
			}
		}
		if l.last > 0 {
			l.extend()
		} else {
			l.renew()
		}
	}
}

// due reports whether it is time to look at the estimates, which costs m³ operations. The largest alone often come
// within so few steps that four more count.
func (l *lanczos) due() bool {
	m := len(l.basis)
	return l.count%5 == 0 || l.o.TopOnly && m >= l.k && m <= 40
}

// renew lets the basis begin again, with a random vector outside the invariant subspace that it spans.
func (l *lanczos) renew() {
	l.low, l.high = math.Inf(1), math.Inf(-1)
	if m := len(l.theta); m >= l.k {
		l.low, l.high = l.theta[l.k-1], l.theta[m-l.k]
	}
	l.renewed, l.block = true, len(l.basis)
	l.beta = append(l.beta, 0)
	v := l.room()
	randomTo(v, l.rng)
	outsideTo(v, l.basis[:l.block])
}

// solve solves the eigenproblem of T.
func (l *lanczos) solve() (ok bool) {
	if len(l.arms) == 0 {
		l.theta, l.vectors, ok = eigenvectors(l.alpha, l.beta)
	} else {
		l.theta, l.vectors, ok = armedEigenvectors(l.alpha, l.beta, l.arms)
	}
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
	if l.o.TopOnly {
		return min(l.k, m), 0
	}
	return min(l.k, (m+1)/2), min(l.k, m/2)
}

// converged reports whether the wanted pairs are there and good. In an invariant subspace every pair is,
// and says nothing about the rest; a basis that began again has reported it when its own extreme pairs
// are good and would not be wanted.
func (l *lanczos) converged() bool {
	if bottom, top := l.good(); !bottom || !top {
		return false
	}
	if !l.renewed {
		return l.last > 0
	}
	first, last := l.freshEnds()
	low, high := l.tolerances()
	return l.freshGood() && (l.o.TopOnly || l.theta[first] >= l.low-low) && l.theta[last] <= l.high+high
}

// freshGood reports whether the outermost pairs of a basis that began again are good.
func (l *lanczos) freshGood() bool {
	first, last := l.freshEnds()
	low, high := l.tolerances()
	return (l.o.TopOnly || l.estimate(first) <= low) && l.estimate(last) <= high
}

// tolerances are the residuals that good pairs may have at the bottom and at the top.
func (l *lanczos) tolerances() (low, high float64) {
	m := len(l.theta)
	top, bottom := l.wanted()
	size := func(theta []float64) float64 {
		if len(theta) == 0 {
			return 0
		}
		return max(math.Abs(theta[0]), math.Abs(theta[len(theta)-1]))
	}
	floor := l.o.Floor * size(l.theta)
	return max(floor, l.o.Tolerance*size(l.theta[:bottom])), max(floor, l.o.Tolerance*size(l.theta[m-top:]))
}

// good reports for each end whether the wanted pairs are there and their estimates small.
func (l *lanczos) good() (low, high bool) {
	top, bottom := l.wanted()
	if top+bottom < min(l.pairs, len(l.w)) {
		return false, false
	}
	m := len(l.theta)
	below, above := l.tolerances()
	low, high = true, true
	for i := range bottom {
		low = low && l.estimate(i) <= below
	}
	for i := m - top; i < m; i++ {
		high = high && l.estimate(i) <= above
	}
	return low, high
}

// freshEnds returns the outermost Ritz pairs of the rows since the basis began again.
func (l *lanczos) freshEnds() (first, last int) {
	first, last = -1, -1
	for i := range l.theta {
		if l.fresh(i) {
			if first < 0 {
				first = i
			}
			last = i
		}
	}
	return first, last
}

// fresh reports whether the i-th Ritz vector lies in the rows since the basis began again. T has a zero
// there, so that it lies on one side or the other.
func (l *lanczos) fresh(i int) bool {
	m, part := len(l.theta), 0.0
	for j := l.block; j < m; j++ {
		part += l.vectors[j*m+i] * l.vectors[j*m+i]
	}
	return part > 0.5
}

// certify forms the wanted pairs in place of the basis and measures their residuals.
func (l *lanczos) certify(out *Spectrum) error {
	m := len(l.theta)
	top, bottom := l.wanted()
	var wanted []int
	for i := range m {
		if i < bottom || i >= m-top {
			wanted = append(wanted, i)
		}
	}
	l.rotate(wanted)
	for j, i := range wanted {
		p, err := l.pair(l.basis[j], i)
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
	sort.SliceStable(out.Bottom, func(i, j int) bool { return out.Bottom[i].Value < out.Bottom[j].Value })
	sort.SliceStable(out.Top, func(i, j int) bool { return out.Top[i].Value > out.Top[j].Value })
	return nil
}

// pair normalizes the i-th Ritz vector x and spends a product on its certificate.
func (l *lanczos) pair(x []float64, i int) (Eigenpair, error) {
	vector.Scale(x, 1/vector.Norm(x), x)
	if err := l.multiply(l.w, x); err != nil {
		return Eigenpair{}, err
	}
	p := Eigenpair{Value: vector.Dot(x, l.w), Estimate: l.estimate(i)}
	vector.Axpy(l.w, -p.Value, x)
	p.Residual = vector.Norm(l.w)
	p.Bound = p.Residual + l.o.Inexact.of(x, math.Max(math.Abs(l.theta[0]), math.Abs(l.theta[len(l.theta)-1])))
	if l.o.Vectors {
		p.Vector = x
	}
	return p, nil
}
