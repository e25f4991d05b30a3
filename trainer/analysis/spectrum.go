package analysis

import (
	"cmp"
	"slices"
	"sort"

	"newtop/models"
	"newtop/trainer/event"
	"newtop/trainer/krylov"
	"newtop/trainer/objective"
	"newtop/trainer/optim"
)

// The methods and operators of a spectrum; the first is the default.
var (
	SpectrumMethods   = []string{"lanczos", "power"}
	SpectrumOperators = []string{"hessian", "gauss-newton"}
	SpectrumEnds      = []string{"both", "top"}
)

// SpectrumOptions say what a spectrum estimates and how.
type SpectrumOptions struct {
	Count    int    // eigenvalues, by Lanczos at each end, by the power method in all
	Method   string // one of SpectrumMethods
	Operator string // one of SpectrumOperators
	Ends     string // one of SpectrumEnds, for Lanczos
	// wanted residuals, relative to the largest |λ| of their end, by the power method to their own; 0: 1e-3
	Tolerance float64
	Steps     int          // the most Lanczos steps; 0: as many as that many eigenvalues may need
	Weights   []optim.Span // the block of the matrix that these have; nil: all of it
	Vectors   *[][]float64 // gets the eigenvectors, in the order of the eigenvalues; nil: nobody wants them
	Density   bool         // whether the density and the trace come with it
	Seed      uint64       // of what is drawn at random
	Probes    uint64       // the seed of the density's probes
	Start     [][]float64  // what the last spectrum by the same method returned to begin with; nil: nothing
	// Memory bounds the bytes of vectors that Lanczos keeps, the start vectors counted, but for the fewest that it
	// needs: with less than it likes to keep it restarts, and a density takes fewer steps. 0: models.DefaultMemory.
	Memory int64
	// Poll is called between products; an error of it ends the spectrum, and if its eigenvalues are known by then it
	// has them without their density.
	Poll func() error
}

// Spectrum estimates extreme eigenvalues of a matrix at the weights of l. The event's Stop is Interrupted where it was
// ended before they were known. It returns what the next spectrum begins with.
func Spectrum(l objective.Linearization, o SpectrumOptions) (e event.SpectrumEvent, start [][]float64) {
	e = event.SpectrumEvent{Method: o.Method, Operator: o.Operator, Rows: l.Rows()}
	if o.Ends == SpectrumEnds[1] {
		e.Ends = o.Ends
	}
	h := operator(l, o.Operator)
	inexact := accuracy(l, o.Operator, &e)
	if o.Weights != nil {
		b := newDiagonalBlock(h)
		b.weights, h = o.Weights, b
		if whole := inexact.ErrorOf; whole != nil {
			inexact.ErrorOf = func(v []float64) float64 { return whole(b.pad(v)) }
		}
	}
	pairs, start := o.eigenpairs(h, inexact, &e)
	if e.Stop == krylov.Interrupted {
		return e, start
	}
	sort.SliceStable(pairs, func(i, j int) bool { return cmp.Less(pairs[j].Value, pairs[i].Value) })
	for _, p := range pairs {
		e.Eigenvalues = append(e.Eigenvalues, event.Float(p.Value))
		e.Residuals = append(e.Residuals, event.Float(p.Bound))
		if o.Vectors != nil {
			*o.Vectors = append(*o.Vectors, p.Vector)
		}
	}
	if o.Density && pairs != nil {
		o.density(h, &e)
	}
	return e, start
}

// eigenpairs returns the extreme eigenpairs by the event's method, nil if there are none, as the event's Stop reports,
// and what the next call begins with.
func (o *SpectrumOptions) eigenpairs(h krylov.Operator, inexact krylov.Inexact, e *event.SpectrumEvent) (
	pairs []krylov.Eigenpair, start [][]float64) {
	monitor := func(int) error { return o.Poll() }
	if e.Method == SpectrumMethods[1] {
		found, err := krylov.Power(h, o.Count, krylov.PowerOptions{Seed: o.Seed, Start: o.Start, Vectors: true,
			Tolerance: o.Tolerance, Inexact: inexact, Monitor: monitor})
		e.Products, e.Stop = found.Products, found.Stop
		if err != nil || found.Pairs == nil {
			return found.Pairs, o.Start
		}
		return found.Pairs, found.Start()
	}
	options := krylov.LanczosOptions{
		Seed: o.Seed, Vectors: true, Monitor: monitor, Floor: floor(o.Operator, o.Tolerance), Tolerance: o.Tolerance,
		TopOnly: e.Ends != "", Steps: o.Steps, Inexact: inexact,
		Basis: basisSize(o.Memory, h.Dim(), otherVectors),
	}
	if o.Start != nil {
		options.Start = o.Start[0]
	}
	found, err := krylov.Lanczos(h, o.Count, options)
	e.Products, e.Stop, e.Open = found.Products, found.Stop, openEnds(&found)
	pairs = slices.Concat(found.Top, found.Bottom)
	if err != nil || pairs == nil {
		return pairs, o.Start
	}
	start = [][]float64{found.Start()}
	for i := range pairs {
		if o.Vectors == nil {
			pairs[i].Vector = nil
		}
	}
	return pairs, start
}

// oneTolerance as a floor leaves the tolerance of Lanczos the same at both ends.
const oneTolerance = 1e-3

// floor is that of Lanczos for one of SpectrumOperators. The Gauss–Newton matrix has no negative eigenvalue and mostly
// many at zero, beside which no residual is small.
func floor(operator string, tolerance float64) float64 {
	if operator == SpectrumOperators[1] {
		return cmp.Or(tolerance, oneTolerance)
	}
	return 0
}

// accuracy is that of products of l with one of SpectrumOperators, of which the event gets to know.
func accuracy(l objective.Linearization, operator string, e *event.SpectrumEvent) (i krylov.Inexact) {
	i.Roundoff, i.ErrorOf = objective.AccuracyOf(l)
	if operator == SpectrumOperators[1] {
		i.ErrorOf = nil
	}
	e.Differences = i.ErrorOf != nil
	return i
}

// openEnds names the ends at which Lanczos was stopped by its limit before their residuals were as small as wanted.
func openEnds(s *krylov.Spectrum) string {
	switch {
	case s.TopOpen && s.BottomOpen:
		return "both"
	case s.TopOpen:
		return "largest"
	case s.BottomOpen:
		return "smallest"
	}
	return ""
}

// density adds the spectral density, and the trace that its probes give for nothing.
func (o *SpectrumOptions) density(h krylov.Operator, e *event.SpectrumEvent) {
	d, err := krylov.SpectralDensity(h, krylov.DensityOptions{
		Steps: min(densitySteps, basisSize(o.Memory, h.Dim(), otherVectors)), Seed: o.Probes,
		Monitor: func(int) error { return o.Poll() },
	})
	e.Products += d.Products
	if err != nil || d.Grid == nil {
		return
	}
	showDensity(e, &d)
}

// otherVectors is how many vectors stand beside a basis: the one that Lanczos works with, the start and the next one's.
const otherVectors = 3

// densitySteps is how many Lanczos steps each probe of a density takes where there is memory for them.
const densitySteps = 80

// From that many weights on a basis has no more vectors than that: making a vector orthogonal to more of them takes
// longer than the product that it comes from, and restarts cost few products more.
const (
	longVectors = 1 << 20
	shortBasis  = 16
)

// basisSize returns how many vectors of n numbers a number of bytes hold beside others, at least 1. No bytes are
// models.DefaultMemory.
func basisSize(memory int64, n, others int) int {
	limit := int(max(1, cmp.Or(memory, models.DefaultMemory)/8/int64(n)-int64(others)))
	if n >= longVectors {
		return min(limit, shortBasis)
	}
	return limit
}

// showDensity fills in a density and the trace.
func showDensity(e *event.SpectrumEvent, d *krylov.Density) {
	e.Density = &event.Density{
		Grid: event.Floats(d.Grid), Values: event.Floats(d.Values), Errors: event.Floats(d.Errors),
		Sigma: event.Float(d.Sigma), Probes: len(d.Quadratures), Steps: d.Steps,
	}
	e.Trace = &event.Trace{Value: event.Float(d.Trace.Value), Error: event.Float(d.Trace.Error), Probes: d.Trace.Probes}
}

// operator returns the matrix of l that one of SpectrumOperators names; empty: the first.
func operator(l objective.Linearization, name string) krylov.Operator {
	if name == SpectrumOperators[1] {
		return gaussNewton{l}
	}
	return hessian{l}
}

// hessian is the Hessian of a linearization.
type hessian struct{ objective.Linearization }

func (h hessian) MulVecTo(dst, v []float64) { h.HessianTo(dst, v) }

// gaussNewton is the Gauss–Newton matrix of a linearization.
type gaussNewton struct{ objective.Linearization }

func (g gaussNewton) MulVecTo(dst, v []float64) { g.GaussNewtonTo(dst, v) }
