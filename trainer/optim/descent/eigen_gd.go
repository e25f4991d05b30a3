package descent

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"newtop/internal/vector"
	"newtop/trainer/krylov"
	"newtop/trainer/optim"
)

// EigenGD is eigenvalue-corrected gradient descent.
var EigenGD = optim.Info{
	Name:      "eigen-gd",
	Title:     "Eigenvalue-corrected gradient descent",
	Paper:     "Le Cun, Simard & Pearlmutter 1993; Møller 1993",
	Equations: "eq. 18 with each component weighted by λ_{k+1}/λ_i",
	Summary: "Gradient descent that shortens its steps along the k steepest eigenvectors of the Hessian alone, " +
		"so that all others take the longer steps λ_{k+1} allows.",
	Cost:       "1, and about 50 for the eigenvectors every 20 epochs or sooner",
	Primary:    "relative-rate",
	Needs:      optim.NeedsHessian,
	Parameters: optim.Parameters(RelativeRate, K, Every, Steps),
	New:        func() optim.Method { return &eigenGD{} },
}

// The hyperparameters of eigenvalue-corrected descent.
var (
	RelativeRate = &optim.Number{
		Key: "relative-rate", Meaning: "ηλ_{k+1}, the rate as a multiple of 1/λ_{k+1}; 2 is where steps turn unstable",
		Default: 1, Max: optim.Inf, Open: true, OpenMax: true,
	}
	K     = &optim.Count{Key: "k", Meaning: "k, eigenvectors whose components are corrected", Default: 5, Max: 1000}
	Every = &optim.Count{
		Key: "every", Meaning: "the most epochs between computing them anew; a rise of the loss has it done at once",
		Default: 20, Min: 1, Max: 1e9,
	}
	Steps = &optim.Count{Key: "steps", Meaning: "the most Lanczos steps for them, each a product; 0 for 4(k + 1)",
		Max: 1e6}
)

// eigenGD is gradient descent with the gradient's components along the steepest directions reduced [L],
// [M eq. 18]:
//
//	G  the gradient · e_i, λ_i the eigenpairs of the Hessian, λ_1 ≥ λ_2 ≥ …, ‖e_i‖ = 1
//	d  = −(G − Σ_{i≤k} (1 − λ_{k+1}/λ_i)(e_iᵀG)e_i) · η = c/λ_{k+1} the rate, c the relative one
//
// As printed, eq. 18 takes λ_{k+1}/λ_1 of each component away and leaves the rest; the text around it says
// that the components are reduced by that factor, so that the rate can grow by its inverse. Only d does both:
// with it the curvature that a step meets along every e_i, i ≤ k, is λ_{k+1} itself, and the step is stable up
// to c = 2. The rate is relative because λ_{k+1} changes by orders of magnitude on the way, and the best c
// hardly.
//
// Only eigenpairs count whose residual proves them to be positive and good; the first that fails, or the last
// positive one, takes the place of λ_{k+1}, its residual added.
//
// On a quadratic this is all. On a net λ_{k+1} alone sets no bound to the steps, and the plain method runs away:
// its eigenvectors are outdated within some epochs, and where λ_{k+1} is far smaller than the most negative
// eigenvalue a step multiplies what lies along that one. So the eigenvectors are computed again where E has
// risen, and λ_{k+1} is no smaller than the size of any negative eigenvalue; pairs below that are not corrected
// for.
type eigenGD struct {
	done     int // inner units of the step
	d, trial []float64
	state    struct {
		Correction *correction `archive:"begun"` // nil before the first eigenpairs
	}
}

// correction is what the gradient is corrected by.
type correction struct {
	Start []float64     `archive:"start"`   // of the next Lanczos process
	Here  *here         `archive:"goes on"` // where the last Step left the weights
	First float64       `archive:"largest"` // λ_1
	Above float64       `archive:"next"`    // λ_{k+1} or what stands for it
	Loss  float64       `archive:"loss"`    // where the last step began
	Age   int           `archive:"age"`     // epochs since they were computed
	K     int           `archive:"k"`       // that were asked for then
	Pairs []eigenvector `archive:"pairs"`   // K of them at most, downwards
}

type here struct{ At optim.Position }

type eigenvector struct {
	Value  float64   `archive:"value"`
	Vector []float64 `archive:"vector"`
}

// certified is the largest residual of an eigenpair that is corrected for, relative to its eigenvalue.
const certified = 0.1

var _ optim.Method = (*eigenGD)(nil)

func (m *eigenGD) Carried(*optim.State) any { return &m.state }

// Step is one full-batch step, after computing the eigenvectors where that is due. Interrupted, it leaves
// weights and eigenvectors as they were.
func (m *eigenGD) Step(ctx context.Context, s *optim.State) (optim.Report, error) {
	report := optim.NewReport()
	if err := optim.Begin(ctx, s, &report); err != nil {
		return report, err
	}
	m.done = 0
	if len(m.d) != len(s.W) {
		m.d, m.trial = make([]float64, len(s.W)), make([]float64, len(s.W))
	}
	if m.due(s) {
		if err := m.refresh(ctx, s); err != nil {
			return report, err
		}
	}
	if err := m.watch(ctx, s); err != nil {
		return report, err
	}
	c := m.state.Correction
	eta := RelativeRate.Of(s.Settings) / c.Above
	m.direction(s.Gradient)
	floats.AddScaledTo(m.trial, s.W, eta, m.d)
	report.StepNorm = eta * vector.Norm(m.d)
	switch {
	case !vector.Finite(vector.Norm(m.trial)):
		return report, &optim.NotFiniteError{What: "weights"}
	case slices.Equal(m.trial, s.W):
		return report, optim.ErrTooShort
	}
	copy(s.W, m.trial)
	copy(c.Here.At, m.trial)
	c.Loss = s.Loss
	c.Age++
	s.Evaluated, report.Loss, report.Accepted = false, math.NaN(), true
	report.Diagnostics = []optim.Diagnostic{
		{Key: "lambda-1", Symbol: "λ₁", Meaning: "largest eigenvalue of the Hessian", Value: c.First},
		{Key: "lambda-next", Symbol: "λₖ₊₁", Meaning: "largest curvature that is left uncorrected", Value: c.Above},
		{Key: "two-over-rate", Symbol: "2/η", Meaning: "curvature beyond which a step is unstable", Value: 2 / eta},
		{Key: "corrected", Symbol: "k", Meaning: "eigenvectors corrected for", Value: float64(len(c.Pairs))},
	}
	return report, nil
}

// due reports whether the eigenvectors are to be computed again: with age, with another k, at weights that are
// not this method's, and where E has risen, for then they are no longer the steepest.
func (m *eigenGD) due(s *optim.State) bool {
	c := m.state.Correction
	return c == nil || c.Here == nil || !c.Here.At.Is(s.W) || c.Age >= Every.Of(s.Settings) ||
		c.K != K.Of(s.Settings) ||
		c.Age > 0 && s.Loss > c.Loss
}

// watch closes an inner unit: a product for the eigenvectors, or the step.
func (m *eigenGD) watch(ctx context.Context, s *optim.State) error {
	m.done++
	return s.Watch(ctx, optim.Inner{Iteration: krylov.Iteration{Number: m.done}, Loss: s.Loss})
}

// direction stores d. The e_i are orthonormal, so that one component after another can be taken from d itself.
func (m *eigenGD) direction(g []float64) {
	vector.Scale(m.d, -1, g)
	c := m.state.Correction
	for i := range c.Pairs {
		e := &c.Pairs[i]
		vector.Axpy(m.d, -(1-c.Above/e.Value)*vector.Dot(e.Vector, m.d), e.Vector)
	}
}

// refresh computes the eigenpairs at the weights.
func (m *eigenGD) refresh(ctx context.Context, s *optim.State) error {
	k := K.Of(s.Settings)
	c := m.state.Correction
	if c == nil {
		c = &correction{}
	}
	steps := Steps.Of(s.Settings)
	if steps == 0 {
		steps = 4 * (k + 1)
	}
	spectrum, err := krylov.Lanczos(s.Objective.(optim.HessianObjective).Hessian(s.W), k+1, krylov.LanczosOptions{
		Steps: steps, Tolerance: certified * certified, Floor: certified * certified,
		Start: c.Start, Seed: s.Rand.Uint64(), Vectors: true,
		Monitor: func(int) error { return m.watch(ctx, s) },
	})
	switch {
	case err != nil:
		return err
	case spectrum.Stop == krylov.NotFinite:
		return &optim.NotFiniteError{What: "curvature"}
	}
	c.Start, m.state.Correction = spectrum.Start(), c
	pairs := spectrum.Top
	if spectrum.Steps == len(s.W) { // all eigenvalues are there: what is not in Top follows from the other end
		for _, p := range slices.Backward(spectrum.Bottom) {
			pairs = append(pairs, p)
		}
	}
	c.choosePairs(pairs, k)
	if len(spectrum.Bottom) > 0 {
		c.boundNegative(-spectrum.Bottom[0].Value)
	}
	if !(c.Above > 0) {
		return &optim.StalledError{Reason: "the loss has no curvature to set the rate by"}
	}
	c.Here, c.Age, c.K = &here{slices.Clone(s.W)}, 0, k
	return nil
}

// boundNegative makes sure that λ_{k+1} is at least the size of the most negative eigenvalue.
func (c *correction) boundNegative(size float64) {
	if c.Above >= size {
		return
	}
	c.Above = size
	for len(c.Pairs) > 0 && c.Pairs[len(c.Pairs)-1].Value <= size {
		c.Pairs = c.Pairs[:len(c.Pairs)-1]
	}
}

// choosePairs takes the pairs to correct for, k at the most, and λ_{k+1} out of the ones given, downwards.
func (c *correction) choosePairs(pairs []krylov.Eigenpair, k int) {
	c.First = pairs[0].Value
	good := 0
	for good < len(pairs) && pairs[good].Value > 0 {
		good++
	}
	count := 0
	for count < min(k, good-1) && pairs[count].Residual <= certified*pairs[count].Value {
		count++
	}
	next := &pairs[count]
	c.Above = math.Abs(next.Value) + next.Residual
	if count > 0 {
		c.Above = min(c.Above, pairs[count-1].Value)
	}
	c.Pairs = nil
	for _, p := range pairs[:count] {
		c.Pairs = append(c.Pairs, eigenvector{p.Value, p.Vector})
	}
}
