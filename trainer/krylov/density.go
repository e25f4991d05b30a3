package krylov

import (
	"fmt"
	"math"
	"slices"

	"newtop/internal/vector"
)

// DensityOptions are the options of SpectralDensity. The zero value works.
type DensityOptions struct {
	Probes int     // random vectors; 0: 10
	Steps  int     // Lanczos steps for each, a product each; 0: 80, never more than n
	Width  float64 // of the Gaussians, relative to the extent of the spectrum, 0.001 to 1; 0: 0.01
	Seed   uint64  // of the probes, which depend on nothing else but the dimension

	// Monitor is called after each product with the number of them so far. It may block; an error ends the
	// estimate.
	Monitor func(products int) error
}

// Quadrature is a discrete measure of weight 1, Σ Weights[i] f(Nodes[i]) ≈ vᵀf(H)v for a unit vector v.
type Quadrature struct{ Nodes, Weights []float64 }

// Density is an estimate of how the eigenvalues are distributed. Its integral is 1.
type Density struct {
	Grid   []float64 // evenly spaced eigenvalues, two for each Sigma
	Values []float64 // the density there, eigenvalues' share per unit of λ
	Errors []float64 // standard errors over the probes; NaN with one probe
	Sigma  float64   // the width of the Gaussians that it was smoothed by

	Quadratures []Quadrature  // of each probe, before the smoothing
	Trace       TraceEstimate // by the same probes: the mean of n·vᵀHv (Hutchinson 1990)
	Steps       int           // the most that a probe needed
	Products    int
	Stop        Stop // Limit, or NotFinite or Interrupted, which leave no density
}

// SpectralDensity estimates the density of h's eigenvalues, φ(t) = (1/n) Σ δ(t − λ_i), by stochastic Lanczos
// quadrature (Ubaru, Chen & Saad 2017; Ghorbani, Krishnan & Xiao 2019). Locals:
//
//	v     a probe of random signs, ‖v‖ = 1, so that the mean of vᵀf(H)v over all probes is tr f(H)/n
//	θ, τ  eigenvalues of v's Lanczos matrix T and the first entries of its eigenvectors: Σ τ_i² f(θ_i) is
//	      Gauss quadrature of vᵀf(H)v, exact for polynomials of degree up to 2m − 1 after m steps
//	σ     the width of the Gaussian that takes the place of each δ
//
// The mean over the probes is handed back with its standard error. Where a probe's Krylov space is invariant
// before the last step its quadrature is exact and ends there. It keeps as many vectors as Steps and one
// more; where memory is short fewer steps see coarser, by moments up to a lower degree. The error
// is the monitor's. It panics when h has no dimension or the width is out of range.
func SpectralDensity(h Operator, o DensityOptions) (Density, error) {
	n := h.Dim()
	mustFit(n, 1)
	if o.Probes <= 0 {
		o.Probes = defaultProbes
	}
	if o.Steps <= 0 {
		o.Steps = 80
	}
	if o.Width == 0 {
		o.Width = 0.01
	}
	if !(o.Width >= 0.001 && o.Width <= 1) {
		panic(fmt.Sprintf("krylov: Gaussians of %g times the spectrum's extent: expected 0.001 to 1", o.Width))
	}
	p := &process{products: products{h: h, monitor: o.Monitor}, w: make([]float64, n)}
	rng := probes(o.Seed)
	d := Density{Stop: Limit}
	traces := make([]float64, o.Probes)
	for i := range traces {
		v := p.start()
		signsTo(v, 1/math.Sqrt(float64(n)), rng)
		q, stop, err := p.quadrature(min(o.Steps, n))
		if stop != Limit {
			return Density{Products: p.count, Stop: stop}, err
		}
		d.Quadratures = append(d.Quadratures, q)
		d.Steps = max(d.Steps, len(p.alpha))
		traces[i] = float64(n) * p.alpha[0]
	}
	d.Products = p.count
	d.Trace = TraceEstimate{Probes: o.Probes, Stop: Limit}
	d.Trace.Value, d.Trace.Error = meanError(traces)
	d.smooth(o.Width)
	return d, nil
}

// quadrature runs up to the given number of steps from the basis's first vector and returns its quadrature.
func (p *process) quadrature(steps int) (q Quadrature, stop Stop, err error) {
	for {
		ok, err := p.step()
		switch {
		case err != nil:
			return q, Interrupted, err
		case !ok:
			return q, NotFinite, nil
		}
		if p.last == 0 || len(p.alpha) == steps {
			break
		}
		p.extend()
	}
	theta, tau, ok := eigenvectors(p.alpha, p.beta)
	if !ok {
		return q, NotFinite, nil
	}
	q.Nodes, q.Weights = theta, slices.Clone(tau[:len(theta)])
	for i, t := range q.Weights {
		q.Weights[i] = t * t
	}
	return q, Limit, nil
}

// margin is how far the grid goes beyond the nodes, in σ: six ten-millionths of the mass lie outside.
const margin = 5

// smooth replaces every node by a Gaussian and averages over the probes.
func (d *Density) smooth(width float64) {
	low, high := math.Inf(1), math.Inf(-1)
	for _, q := range d.Quadratures {
		low, high = min(low, q.Nodes[0]), max(high, q.Nodes[len(q.Nodes)-1])
	}
	extent := high - low
	if size := max(math.Abs(low), math.Abs(high)); size == 0 {
		extent = 1
	} else if extent < 1e-9*size { // one eigenvalue, and rounding
		extent = size
	}
	d.Sigma = width * extent
	step := d.Sigma / 2
	points := 1 + int(math.Ceil((high-low)/step)) + 2*2*margin
	first := (low+high)/2 - step*float64(points-1)/2
	d.Grid, d.Values, d.Errors = make([]float64, points), make([]float64, points), make([]float64, points)
	each := make([]float64, len(d.Quadratures))
	for i := range d.Grid {
		t := first + step*float64(i)
		for j, q := range d.Quadratures {
			each[j] = q.smoothed(t, d.Sigma)
		}
		d.Grid[i] = t
		d.Values[i], d.Errors[i] = meanError(each)
	}
}

// smoothed returns the density at t of the measure with Gaussians for nodes.
func (q *Quadrature) smoothed(t, sigma float64) float64 {
	sum := 0.0
	for i, node := range q.Nodes {
		z := (t - node) / sigma
		sum += q.Weights[i] * math.Exp(-z*z/2)
	}
	return sum / (sigma * math.Sqrt(2*math.Pi))
}

// Moment returns the estimate Σ τ_i² θ_iʲ of tr Hʲ/n and its standard error over the probes, exact but for
// the probes while j is below twice the steps.
func (d *Density) Moment(j int) (value, deviation float64) {
	each := make([]float64, len(d.Quadratures))
	for i, q := range d.Quadratures {
		powers := make([]float64, len(q.Nodes))
		for k, t := range q.Nodes {
			powers[k] = math.Pow(t, float64(j))
		}
		each[i] = vector.Dot(q.Weights, powers)
	}
	return meanError(each)
}
