package krylov

import (
	"cmp"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"newtop/internal/vector"
)

// CG minimizes quadratic models in a trust region by truncated preconditioned conjugate gradients: the
// method of Steihaug and Toint as [MD, Algorithm 1] writes it, with d = z + βd in its step 9, where the
// paper prints the residual for the pseudoresidual. Locals carry the paper's letters:
//
//	s  the step, r = −g − Hs its residual (the paper's δ), z = M⁻¹r the pseudoresidual, then Hd
//	d  the direction, γ = dᵀHd, τ = rᵀz, η = τ/γ the step length, β = τ/τ_before
//
// With the rule Minimum, gltr takes over where that leaves the region.
//
// A CG is a workspace: the zero value is ready, solves of one size allocate after the first no more. It
// serves one solve at a time.
type CG struct {
	r, z, d []float64
	t       tridiagonal
	space   gltr // for the rule Minimum

	s, g []float64
	h    Operator
	o    TrustRegion
	out  Solve

	tau, gamma, eta, beta float64
	ss, sd, dd            float64 // sᵀMs, sᵀMd and dᵀMd, by recurrences
	model                 float64 // q(s)
	lambda                float64 // λ of a minimizer over the Krylov space, else 0
	residual              float64 // ‖g + (H + λM)s‖₂, ‖r‖₂ of CG
	recursive             float64 // the same as it was before a refresh replaced r
	refreshed             bool    // r is the true residual of s
	restart               bool    // the recurrence was found worthless: begin again from s
}

// SolveTo stores in s an approximate minimizer of q(s) = gᵀs + ½ sᵀHs over ‖s‖_M ≤ R. The decrease is
// at least that of the Cauchy point, the best step along −M⁻¹g, unless the solve failed, was interrupted
// or cut by Scaling. The error is the monitor's, and then Stop is Interrupted. In every case s is finite
// and belongs to the Solve, whose Ritz values stand in the workspace until the next SolveTo.
//
// With no region, negative curvature leaves s where it was found. It panics when the lengths of s, g and
// the diagonal are not h's dimension, or when o is out of its ranges.
func (c *CG) SolveTo(s []float64, h Operator, g []float64, o TrustRegion) (Solve, error) {
	n := h.Dim()
	if len(s) != n || len(g) != n {
		panic(fmt.Sprintf("krylov: step of length %d and gradient of length %d for %d unknowns", len(s), len(g), n))
	}
	c.s, c.g, c.h, c.o = s, g, h, o.filled(n)
	stop, err := c.start(), error(nil)
	for stop == 0 {
		stop = c.iterate()
		if stop != NotFinite && c.o.Monitor != nil {
			if err = c.o.Monitor(c.iteration()); err == ErrProgress {
				stop, err = cmp.Or(stop, Progress), nil
			} else if err != nil {
				stop = Interrupted
			}
		}
		if stop == 0 {
			stop = c.turn()
		}
	}
	if c.space.capacity > 0 && (stop == Boundary || stop == NegativeCurvature) {
		if err = c.minimize(); err != nil {
			stop = Interrupted
		}
	}
	out := c.finish(stop)
	c.s, c.g, c.h, c.o = nil, nil, nil, TrustRegion{}
	return out, err
}

// start is step 1 of [MD, Algorithm 1].
func (c *CG) start() Stop {
	n := len(c.s)
	if len(c.r) != n {
		c.r, c.z, c.d = make([]float64, n), make([]float64, n), make([]float64, n)
	}
	c.t.reset()
	c.space.start(n, &c.o)
	clear(c.s)
	for i, g := range c.g {
		c.r[i] = -g
	}
	nan := math.NaN()
	c.residual = vector.Norm(c.r)
	c.recursive = c.residual
	c.out = Solve{
		Radius: c.o.Radius, GradientNorm: c.residual, TrueResidual: nan, Gap: nan, Curvature: nan, Multiplier: nan,
		Steihaug:       nan,
		Preconditioned: c.o.Diagonal != nil || c.o.Inverse != nil,
	}
	c.ss, c.sd, c.model, c.beta, c.lambda = 0, 0, 0, 0, 0
	c.refreshed, c.restart = false, false
	c.count(4) // ‖r‖ and τ
	if !vector.Finite(c.residual) {
		return NotFinite
	}
	copy(c.d, c.precondition())
	c.tau = vector.Dot(c.r, c.d)
	c.dd = c.tau
	switch {
	case c.tau == 0: // a zero gradient, or one whose square underflows
		return Residual
	case !vector.Finite(c.tau):
		return NotFinite
	}
	return 0
}

// iterate is steps 2 to 6 of [MD, Algorithm 1].
func (c *CG) iterate() Stop {
	c.out.Iterations++
	if c.space.capacity > 0 {
		c.space.addResidual(c.r, c.tau)
		c.count(1)
	}
	c.multiply(c.d)
	c.gamma = vector.Dot(c.d, c.z)
	c.count(4) // γ and dᵀd
	if !vector.Finite(c.gamma) {
		return NotFinite
	}
	c.t.add(c.gamma/c.tau, c.beta)
	c.out.Curvature = c.gamma / vector.Dot(c.d, c.d)
	c.refreshed = false
	if c.gamma <= 0 {
		if math.IsInf(c.o.Radius, 1) {
			return NegativeCurvature
		}
		return c.cross(NegativeCurvature)
	}
	c.eta = c.tau / c.gamma
	next := math.Sqrt(c.ss + c.eta*(2*c.sd+c.eta*c.dd))
	switch {
	case math.IsInf(c.o.Radius, 1) && !vector.Finite(next), math.IsNaN(next):
		return NotFinite
	case next >= c.o.Radius && c.o.Rule == Scaling && vector.Finite(next):
		c.advance(c.eta)
		c.scale()
		return c.moved(Boundary)
	case next >= c.o.Radius:
		return c.cross(Boundary)
	}
	c.advance(c.eta)
	c.ss = next * next
	if stop := c.moved(0); stop != 0 {
		return stop
	}
	return c.checkConvergence()
}

// checkConvergence is the checks (C) and (D) of [MD, eq. 7]. A long recurrence drifts from the truth, so its word
// is not taken: from RefreshEvery iterations on, convergence is believed to a true residual only.
func (c *CG) checkConvergence() Stop {
	k, every := c.out.Iterations, c.o.RefreshEvery
	goal := c.o.Tolerance * c.out.GradientNorm
	if every > 0 && (k%every == 0 || k > every && c.residual <= goal) {
		if !c.refresh() {
			return NotFinite
		}
	}
	switch {
	case c.residual <= goal:
		return Residual
	case k >= c.o.Limit:
		return Limit
	}
	return 0
}

// turn is steps 7 to 9 of [MD, Algorithm 1]: the next direction. It carries the inner products of M
// along: sᵀMz = sᵀr = 0 and dᵀMz = dᵀr = 0, so that only τ and β enter.
func (c *CG) turn() Stop {
	z := c.precondition()
	tau := vector.Dot(c.r, z)
	c.count(4) // τ and d
	switch {
	case !vector.Finite(tau):
		return NotFinite
	case tau == 0:
		return Residual
	}
	c.beta = tau / c.tau
	if c.restart {
		c.beta, c.restart = 0, false
	}
	floats.AddScaledTo(c.d, z, c.beta, c.d)
	c.tau = tau
	if c.refreshed && c.o.Inverse == nil {
		c.measure()
		return 0
	}
	c.sd = c.beta * (c.sd + c.eta*c.dd)
	c.dd = tau + c.beta*c.beta*c.dd
	return 0
}

// cross moves along d to the boundary, where s + hd has the norm R [MD, eq. 5].
func (c *CG) cross(stop Stop) Stop {
	c.measure()
	h := BoundaryRoot(math.Sqrt(c.ss), c.sd, c.dd, c.o.Radius)
	if !vector.Finite(h) {
		return NotFinite
	}
	c.advance(h)
	c.ss = c.inner(c.s, c.s)
	return c.moved(stop)
}

// advance adds length·d to the step and keeps the residual and the model in line.
func (c *CG) advance(length float64) {
	vector.Axpy(c.s, length, c.d)
	vector.Axpy(c.r, -length, c.z)
	c.count(4)
	c.model -= length * (c.tau - length*c.gamma/2)
}

// scale shortens the step to the boundary [MD, eq. 6]. Hs = −g − r shrinks with it.
func (c *CG) scale() {
	ratio := c.o.Radius / math.Sqrt(c.inner(c.s, c.s))
	vector.Scale(c.s, ratio, c.s)
	for i, g := range c.g {
		c.r[i] = ratio*c.r[i] - (1-ratio)*g
	}
	c.count(4)
	c.ss = c.inner(c.s, c.s)
	c.model = -c.predicted()
}

// moved takes the residual's norm after the step has moved.
func (c *CG) moved(stop Stop) Stop {
	c.residual = vector.Norm(c.r)
	c.recursive = c.residual
	c.count(2)
	if !vector.Finite(c.residual) {
		return NotFinite
	}
	return stop
}

// refresh replaces r by −g − Hs at the cost of one product, and reports whether that was finite. Where
// the recurrence was off by more than its own size, conjugacy to the old direction means nothing.
func (c *CG) refresh() bool {
	c.multiply(c.s)
	for i, hs := range c.z {
		c.z[i] = -c.g[i] - hs
	}
	gap := floats.Distance(c.z, c.r, 2)
	c.count(4) // z and the gap
	if !vector.Finite(gap) {
		return false
	}
	if !(gap <= 1e-8*c.residual) {
		c.space.capacity = 0 // the residual is none of the recurrence that the space is made by
	}
	c.r, c.z = c.z, c.r
	c.restart = gap > c.residual
	c.recursive, c.residual = c.residual, c.leftover()
	c.refreshed = true
	c.out.TrueResidual = c.residual
	if !(c.out.Gap >= gap) {
		c.out.Gap = gap
	}
	return true
}

// finish fills in what the last step left. A solve long enough for its recurrence to drift pays one
// more product for the truth.
func (c *CG) finish(stop Stop) Solve {
	out := &c.out
	out.Stop = stop
	out.TrueResidual = math.NaN()
	switch {
	case c.refreshed:
		out.TrueResidual = c.residual
	case stop != NotFinite && stop != Interrupted && c.o.RefreshEvery > 0 && out.Iterations > c.o.RefreshEvery:
		c.refresh()
	}
	out.Residual = c.recursive
	out.StepNorm = math.Sqrt(c.ss)
	out.Predicted = c.predicted()
	if !vector.Finite(out.Predicted) {
		out.Predicted = -c.model
	}
	if k := &c.space; k.accepted {
		c.t.diag, c.t.off, c.t.cut = append(c.t.diag[:0], k.alpha...), append(c.t.off[:0], k.beta...), false
	}
	out.Ritz = c.t.values()
	if stop == NegativeCurvature && !c.space.accepted {
		out.Ritz = c.t.with(out.Ritz, c.gamma/c.dd)
	}
	return *out
}

// iteration is what the monitor sees.
func (c *CG) iteration() Iteration {
	return Iteration{
		Number: c.out.Iterations, Residual: c.residual, Gradient: c.out.GradientNorm,
		StepNorm: math.Sqrt(c.ss), Radius: c.o.Radius, Curvature: c.out.Curvature, Model: c.model,
	}
}

// predicted returns −q(s) = ½ sᵀ(r − g), which unlike E − q(s) subtracts nothing large.
func (c *CG) predicted() float64 {
	c.count(4)
	return (vector.Dot(c.s, c.r) - vector.Dot(c.s, c.g)) / 2
}

func (c *CG) multiply(v []float64) {
	c.h.MulVecTo(c.z, v)
	c.out.Products++
	if h, ok := c.h.(Counter); ok {
		c.out.Flops += h.Flops()
	}
}

// count adds the operations on vectors that took this many for each unknown. Single numbers, copies and
// changes of sign are left out.
func (c *CG) count(each int) { c.out.Flops += float64(each * len(c.s)) }

// precondition returns M⁻¹r, which is r itself when M = I.
func (c *CG) precondition() []float64 {
	switch {
	case c.o.Inverse != nil:
		c.o.Inverse(c.z, c.r)
		return c.z
	case c.o.Diagonal == nil:
		return c.r
	}
	c.count(1)
	return floats.DivTo(c.z, c.r, c.o.Diagonal)
}

// inner returns aᵀMb.
func (c *CG) inner(a, b []float64) float64 {
	c.count(2)
	if c.o.Diagonal != nil {
		c.count(1)
	}
	return Inner(a, b, c.o.Diagonal)
}

// measure takes the inner products of M afresh, as their recurrences drift too.
func (c *CG) measure() {
	c.ss, c.sd, c.dd = c.inner(c.s, c.s), c.inner(c.s, c.d), c.inner(c.d, c.d)
}
