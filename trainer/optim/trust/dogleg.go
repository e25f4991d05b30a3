package trust

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"

	"newtop/internal/vector"
	"newtop/trainer/krylov"
	"newtop/trainer/optim"
)

// Dogleg is Powell's dogleg on the assembled Gauss–Newton matrix ([MD, eq. 2 and 5]; Powell 1970), in the variables of
// assembled, in which M = I: the step goes along the path from 0 to the Cauchy step and on to the Newton step
// until it meets the trust region,
//
//	s_C = −(gᵀg / gᵀGg) g      s_N = −G⁻¹g
//	s   = −(R/‖g‖) g                     where R ≤ ‖s_C‖
//	s   = s_C + h(s_N − s_C), ‖s‖ = R    where ‖s_C‖ < R < ‖s_N‖
//	s   = s_N                            where ‖s_N‖ ≤ R
//
// Matrix, factor and both ends of the path are kept while steps fail, so that a shorter one costs no more than
// the loss. A G that is close to singular gets a ridge relative to its largest entry.
var Dogleg = optim.Info{
	Name:      "dogleg",
	Title:     "Dogleg on the factorized JᵀJ",
	Paper:     "Mizutani & Demmel 2003; Powell 1970",
	Equations: "eq. 2–5 with JᵀJ and its Cholesky factor",
	Summary: "Gauss–Newton in a trust region with one exact factorization for each place; " +
		"for nets of up to some thousand weights, where solving costs less than iterating.",
	Cost:     "1.3, 0.1 to 0.35 for each weight, and N³/6 multiplications",
	Primary:  "radius",
	Monotone: true,
	Proposes: true,
	Needs:    needsAssembled,
	Parameters: optim.Parameters(
		Radius, RadiusMax, Accept, doglegShrinkBelow, doglegShrinkBy, doglegGrowAbove, GrowBy, Scaling, ConditionMax,
	),
	New: func() optim.Method { return &dogleg{} },
}

// The dogleg's radius rule is the textbook's, whose numbers can be set.
var (
	doglegShrinkBelow = &optim.Number{Key: ShrinkBelow.Key, Meaning: "R shrinks when ρ is below", Default: 0.25, Max: 1,
		Source: ShrinkBelow.Source}
	doglegShrinkBy = &optim.Number{
		Key: ShrinkBy.Key, Meaning: ShrinkBy.Meaning, Default: 0.25, Max: 1, Open: true, OpenMax: true,
		Source: ShrinkBy.Source,
	}
	doglegGrowAbove = &optim.Number{
		Key: GrowAbove.Key, Meaning: "R grows when ρ is above and the step ended on the boundary", Default: 0.75,
		Max: 1, Source: GrowAbove.Source,
	}
)

// ConditionMax bounds the condition number: a net's Newton step of fewer digits lies mostly along weights that nothing
// feels, and the leg that leads to it nowhere.
var ConditionMax = &optim.Number{
	Key: "condition-max", Meaning: "JᵀJ gets a ridge of √N/this where its condition number is above",
	Default: 0x1p26, Min: 1, Max: 1 / optim.Eps, Source: "the ridge: Dennis & Schnabel 1983, §6.5",
}

type dogleg struct {
	assembled
	factorized int // factorizations of this step
	state      struct {
		assembledState
		Path *doglegPath `archive:"assembled"` // nil before there is a matrix
	}
}

// doglegPath is both ends of the path at a place.
type doglegPath struct {
	Cauchy    float64       `archive:"cauchy"`       // s_C = −Cauchy·g; +Inf where E is flat along g
	Falls     float64       `archive:"cauchy falls"` // −q(s_C)
	Newton    *doglegNewton `archive:"solved"`       // nil before it is asked for
	Length    float64       `archive:"newton length"`
	Bound     float64       `archive:"condition-max"` // the condition number that it was solved for with
	Condition float64       `archive:"condition"`     // of G with its ridge; NaN before it is factorized
	Ridge     float64       `archive:"ridge"`         // relative to the largest entry
}

type doglegNewton struct {
	Step []float64 `archive:"newton"` // s_N
}

var _ optim.Method = (*dogleg)(nil)

// Carried is both ends of the path; the matrix is made again.
func (d *dogleg) Carried(s *optim.State) any {
	if !d.current(s) {
		d.state.Path = nil
	}
	return &d.state
}

func (d *dogleg) Restored(s *optim.State) error {
	if d.state.Path == nil {
		return nil
	}
	return d.assembleAgain(s)
}

// Step tries one radius after the other until a step lowers E. Interrupted, it leaves weights and R alone.
func (d *dogleg) Step(ctx context.Context, s *optim.State) (optim.Report, error) {
	report := optim.NewReport()
	fresh, err := d.evaluate(ctx, s, &d.state.assembledState, &report)
	if err != nil {
		return report, err
	}
	d.factorized = 0
	if fresh {
		d.computeCauchy()
	}
	set := Radius.Of(s.Settings)
	for radius, number := set, 1; ; number++ {
		a, err := d.attempt(ctx, s, radius, number, &report)
		if err != nil {
			return report, err
		}
		rule := readRule(s.Settings)
		next := rule.next(radius, &a)
		a.still = a.still && next <= radius // a step from too small a radius makes it grow
		if next < optim.MinNormal || a.ends(&d.state.Stagnation, report.GradientNorm) {
			return report, optim.ErrHidden
		}
		if a.accepted {
			a.accept(s, d.trial, &report)
			Radius.Follow(s.Settings, set, next)
			return report, nil
		}
		radius = next
	}
}

// attempt walks to the step of one radius and evaluates it.
func (d *dogleg) attempt(ctx context.Context, s *optim.State, radius float64, number int,
	report *optim.Report) (attempt, error) {
	leg, length, err := d.walk(ctx, s, radius)
	if err != nil {
		return attempt{}, err
	}
	a := attempt{length: length, promised: d.promised(d.s), onBoundary: length >= radius*(1-1e-9)} // up to rounding
	report.Radius, report.StepNorm, report.Rho = radius, math.NaN(), math.NaN()
	report.Diagnostics = []optim.Diagnostic{
		{Key: "leg", Symbol: "h", Meaning: "where the step ended: 0 at the Cauchy step or before, 1 at the Newton step",
			Value: leg},
		{Key: "attempts", Meaning: "radii until a step lowered the loss", Value: float64(number)},
		{Key: "factorizations", Meaning: "of this step", Value: float64(d.factorized)},
		{Key: "condition", Symbol: "κ", Meaning: "condition number of JᵀJ with its ridge, estimated",
			Value: d.state.Path.Condition},
		{Key: "ridge", Meaning: "what was added to JᵀJ to factorize it, relative to its largest entry",
			Value: d.state.Path.Ridge},
	}
	vector.Add(d.product, d.product, d.g)
	vector.Mul(d.product, d.product, d.root)
	it := krylov.Iteration{
		Number: number, Residual: vector.Norm(d.product), Gradient: report.GradientNorm, StepNorm: length,
		Radius:    radius,
		Curvature: math.NaN(), Model: -a.promised,
	}
	err = s.Watch(ctx, optim.Inner{Iteration: it, Loss: math.NaN()})
	if err == nil {
		err = d.evaluateStep(s, &a, report)
	}
	return a, err
}

// computeCauchy computes the Cauchy step at a new place, and forgets the Newton step of the last.
func (d *dogleg) computeCauchy() {
	slope := vector.Dot(d.g, d.g)
	d.multiplyTo(d.product, d.g)
	curvature := vector.Dot(d.g, d.product)
	p := &doglegPath{Cauchy: math.Inf(1), Length: math.NaN(), Condition: math.NaN()}
	if length := slope / curvature; curvature > 0 && vector.Finite(length) {
		p.Cauchy = length
	}
	p.Falls = p.Cauchy * slope / 2
	d.state.Path = p
}

// walk stores the step of radius R in d.s and returns h and ‖s‖. The Newton step is solved for only where the
// region reaches beyond the Cauchy step.
func (d *dogleg) walk(ctx context.Context, s *optim.State, radius float64) (h, length float64, err error) {
	gradient, ends := vector.Norm(d.g), d.state.Path
	if !(ends.Cauchy*gradient < radius) {
		vector.Scale(d.s, -radius/gradient, d.g)
		return 0, radius, nil
	}
	if bound := ConditionMax.Of(s.Settings); ends.Newton == nil || bound != ends.Bound {
		if err := d.solve(ctx, s, bound); err != nil {
			return 0, 0, err
		}
	}
	h, length = 1, ends.Length
	copy(d.s, ends.Newton.Step)
	if length > radius {
		p := d.trial
		vector.Scale(d.s, -ends.Cauchy, d.g)
		vector.Sub(p, ends.Newton.Step, d.s)
		norm, sp := math.Sqrt(vector.Dot(d.s, d.s)), max(vector.Dot(d.s, p), 0) // ≥ 0 but for rounding
		h, length = outwardRoot(norm, sp, vector.Dot(p, p), radius), radius
		vector.Axpy(d.s, h, p)
	}
	if d.promised(d.s) >= ends.Falls {
		return h, length, nil
	}
	// Rounding has made the Newton step a worse one.
	vector.Scale(d.s, -ends.Cauchy, d.g)
	return 0, ends.Cauchy * gradient, nil
}

// promised returns −q(s) = ½ sᵀ(r − g) with r = −g − Gs, which unlike E − q(s) subtracts nothing large. It
// leaves Gs in d.product.
func (d *dogleg) promised(s []float64) float64 {
	d.multiplyTo(d.product, s)
	sum := 0.0
	for i, x := range s {
		sum -= x * (d.g[i] + d.product[i]/2)
	}
	return sum
}

// solve computes the Newton step, with a ridge where G does not factorize or its condition number is above most.
// Interrupted, it leaves the path alone.
func (d *dogleg) solve(ctx context.Context, s *optim.State, bound float64) error {
	largest := floats.Max(d.diagonal)
	for ridge := 0.0; ; ridge = max(10*ridge, math.Sqrt(float64(len(d.g)))/bound) {
		d.factorized++
		condition, err := d.factorize(ctx, s, ridge*largest)
		if err != nil {
			return err
		}
		if !(condition <= bound) && ridge < 1 {
			continue
		}
		step := make([]float64, len(d.g))
		d.solveTo(step)
		ends := d.state.Path
		ends.Bound, ends.Ridge, ends.Condition = bound, ridge, condition
		ends.Newton, ends.Length = &doglegNewton{Step: step}, vector.Norm(step)
		return nil
	}
}
