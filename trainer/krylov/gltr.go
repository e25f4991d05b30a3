package krylov

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"

	"newtop/internal/vector"
)

// gltr is the Krylov space in which the rule Minimum looks on where CG met the boundary or negative curvature. CG's
// path leaves the region there, and the model's minimizer over the space and the region may lie far from that point and
// promise much more. In the space the problem is one of a tridiagonal matrix (Gould, Lucidi, Roma & Toint 1999, §5).
// With CG's residuals r_j and τ_j = r_jᵀM⁻¹r_j:
//
//	P     k vectors p_0, …, PᵀMP = I: p_j = (−1)^j M⁻¹r_j/√τ_j as far as CG went, then those of Lanczos steps
//	T     PᵀHP, tridiagonal, the diagonal α and beside it β; CG's coefficients as far as CG went
//	w     what couples the space to the rest, HP = MPT + we_kᵀ; ω = ‖w‖_{M⁻¹}
//	h, λ  the solution of T's problem by secular, s = Ph; since g = −γMp_0 it leaves g + (H + λM)s = h_k w
//
// As in the paper no vector is orthogonalized again. What rounding takes from PᵀMP = I makes the space a little poorer
// than it could be; HP = MPT + we_kᵀ stays true, and so does all that is reported of a step.
type gltr struct {
	secular
	basis       [][]float64 // P, as rows of n numbers
	alpha, beta []float64
	w           []float64
	omega       float64
	gamma       float64
	diagonal    []float64 // of M; nil: I
	capacity    int       // vectors that P has room for; 0: there is no space
	renewed     bool      // whether the space was invariant once, and T falls into blocks
	accepted    bool      // whether the step of the solve is of this space

	x        []float64 // ρs, the step of a solution
	ratio    float64   // ρ, what brings its norm to R; 1 but for rounding
	promised float64   // −q(x)
}

// start empties the space for a solve of n unknowns.
func (k *gltr) start(n int, o *TrustRegion) {
	if o.Rule != Minimum || math.IsInf(o.Radius, 1) {
		*k = gltr{}
		return
	}
	if len(k.x) != n {
		*k = gltr{x: make([]float64, n), w: make([]float64, n)}
	}
	k.basis, k.diagonal, k.renewed, k.accepted = k.basis[:0], o.Diagonal, false, false
	k.capacity = min(o.Memory/(8*max(1, n)), ritzLimit)
}

// addResidual takes CG's residual r into P. Where there is no room for it there is no space.
func (k *gltr) addResidual(r []float64, tau float64) {
	j := len(k.basis)
	switch {
	case j == k.capacity:
		k.capacity = 0
		return
	case j == 0:
		k.gamma = math.Sqrt(tau)
	}
	k.normalize(k.room(), r, sign(j)*math.Sqrt(tau))
}

// sign is (−1)^j.
func sign(j int) float64 { return float64(1 - 2*(j%2)) }

// room appends a vector to P, one that an earlier solve had if there is one.
func (k *gltr) room() []float64 {
	j := len(k.basis)
	if j < cap(k.basis) {
		k.basis = k.basis[:j+1]
	} else {
		k.basis = append(k.basis, nil)
	}
	if k.basis[j] == nil {
		k.basis[j] = make([]float64, len(k.x))
	}
	return k.basis[j]
}

// normalize stores M⁻¹r/length.
func (k *gltr) normalize(dst, r []float64, length float64) {
	vector.Scale(dst, 1/length, r)
	if k.diagonal != nil {
		floats.Div(dst, k.diagonal)
	}
}

// open makes T and w of CG's coefficients, given its last z = Hd and the quotient γ/τ. Since √τ p_k = ±M⁻¹r and
// d = M⁻¹r + βd_before, what the recurrence of Lanczos leaves of Hp_k is ±(Hd − (γ/τ)r)/√τ, whatever the sign of γ.
func (k *gltr) open(t *tridiagonal, z []float64, quotient, tau float64) {
	k.alpha, k.beta = append(k.alpha[:0], t.diag...), append(k.beta[:0], t.off...)
	last := len(k.basis) - 1
	vector.Scale(k.w, sign(last)/math.Sqrt(tau), z)
	k.subtract(quotient, k.basis[last])
	k.measure()
}

// subtract takes a·Mp out of w.
func (k *gltr) subtract(a float64, p []float64) {
	if k.diagonal != nil {
		vector.Mul(k.x, k.diagonal, p)
		p = k.x
	}
	vector.Axpy(k.w, -a, p)
}

// measure takes ω. It is 0 where w is what rounding leaves: then the space is invariant.
func (k *gltr) measure() {
	k.normalize(k.x, k.w, 1)
	if k.omega = math.Sqrt(vector.Dot(k.w, k.x)); k.omega <= rounding(k.alpha, k.beta, len(k.w)) {
		k.omega = 0
	}
}

// next appends the vector that follows to P: the direction of w, or of an invariant space, which the leftmost
// eigenvector may not be in (the hard case), a random one outside.
func (k *gltr) next() []float64 {
	before := k.basis
	p := k.room()
	if k.omega > 0 {
		k.normalize(p, k.w, k.omega)
		return p
	}
	k.renewed = true
	randomTo(p, rand.New(rand.NewPCG(uint64(len(before)), 0x676c7472)))
	for range 3 {
		for _, q := range before {
			vector.Axpy(p, -Inner(q, p, k.diagonal), q)
		}
		vector.Scale(p, 1/math.Sqrt(Inner(p, p, k.diagonal)), p)
	}
	return p
}

// add takes z = Hp and α = pᵀHp of the newest vector p into T, and what the recurrence leaves of z into w.
func (k *gltr) add(z []float64, alpha float64) {
	last := len(k.basis) - 1
	copy(k.w, z)
	k.subtract(alpha, k.basis[last])
	k.subtract(k.omega, k.basis[last-1])
	k.alpha, k.beta = append(k.alpha, alpha), append(k.beta, k.omega)
	k.measure()
}

// solve finds h and λ for a radius, and reports whether all numbers were finite.
func (k *gltr) solve(radius float64) bool {
	return k.secular.solve(k.alpha, k.beta, k.gamma, radius)
}

// tail is h_k.
func (k *gltr) tail() float64 { return k.h[len(k.h)-1] }

// combine stores the step of the solution in x and what it promises:
//
//	−q(ρs) = −ρ(1 − ρ/2) gᵀs + ½ρ² sᵀr, where r = −g − Hs = λMs − h_k w
func (k *gltr) combine(radius float64) {
	clear(k.x)
	for j, p := range k.basis {
		vector.Axpy(k.x, k.h[j], p)
	}
	norm := math.Sqrt(Inner(k.x, k.x, k.diagonal))
	descent := k.gamma * Inner(k.basis[0], k.x, k.diagonal) // −gᵀs
	sr := k.lambda*norm*norm - k.tail()*vector.Dot(k.w, k.x)
	k.ratio = 1
	if k.lambda > 0 || norm > radius {
		k.ratio = radius / norm
	}
	vector.Scale(k.x, k.ratio, k.x)
	k.promised = k.ratio*(1-k.ratio/2)*descent + k.ratio*k.ratio*sr/2
}

// minimize continues in the Krylov space of a solve that CG has ended at the boundary or at negative curvature. It
// replaces CG's step by the model's minimizer over the space and the region, unless that promises less, but for
// rounding, or a number is not finite. The error is the monitor's; then the step stays CG's.
func (c *CG) minimize() error {
	k := &c.space
	k.open(&c.t, c.z, c.gamma/c.tau, c.tau)
	c.count(6)
	c.out.Steihaug = c.predicted()
	for done := false; !done; {
		if !k.solve(c.o.Radius) {
			return nil
		}
		left := math.Abs(k.tail()) * vector.Norm(k.w) // ‖g + (H + λM)s‖₂
		c.count(2)
		if c.out.LanczosSteps > 0 && c.o.Monitor != nil {
			if err := c.o.Monitor(c.lanczosIteration(left)); err != nil {
				return err
			}
		}
		done = c.enough(left) || !c.widen()
	}
	k.combine(c.o.Radius)
	c.count(2*len(k.basis) + 7)
	if k.accepted = k.promised >= (1-1e-12)*c.out.Steihaug && vector.Finite(k.promised); k.accepted {
		c.acceptMinimizer()
	}
	return nil
}

// enough reports whether the space is to stay as it is, given what its solution leaves.
func (c *CG) enough(left float64) bool {
	k := &c.space
	switch {
	case c.out.LanczosSteps >= c.o.Lanczos, c.out.Iterations >= c.o.Limit, len(k.basis) == k.capacity:
		return true
	case k.omega == 0 || k.renewed: // h leaves nothing, and reports nothing of what is outside
		return len(k.basis) >= len(k.x)
	}
	return left <= c.o.Tolerance*c.out.GradientNorm
}

// widen takes a Lanczos step. Where its product is not finite the space stays as it was, and it reports false.
func (c *CG) widen() bool {
	k := &c.space
	p := k.next()
	c.multiply(p)
	c.out.Iterations++
	c.out.LanczosSteps++
	alpha := vector.Dot(p, c.z)
	c.count(10)
	if !vector.Finite(alpha) {
		k.basis = k.basis[:len(k.basis)-1]
		return false
	}
	k.add(c.z, alpha)
	return true
}

// lanczosIteration is what the monitor sees of a Lanczos step.
func (c *CG) lanczosIteration(left float64) Iteration {
	k := &c.space
	p, norm := k.basis[len(k.basis)-1], vector.Norm(k.h)
	it := c.iteration()
	it.Residual, it.StepNorm = left, norm
	it.Curvature = k.alpha[len(k.alpha)-1] / vector.Dot(p, p)
	it.Model = -(k.gamma*k.h[0] + k.lambda*norm*norm) / 2
	c.count(2)
	return it
}

// acceptMinimizer makes x the step, with r = λMx − (ρh_k w + (1 − ρ)g).
func (c *CG) acceptMinimizer() {
	k := &c.space
	copy(c.s, k.x)
	c.lambda, c.out.Multiplier, c.model = k.lambda, k.lambda, -k.promised
	vector.Scale(c.r, k.lambda, c.s)
	if c.o.Diagonal != nil {
		vector.Mul(c.r, c.r, c.o.Diagonal)
	}
	vector.Axpy(c.r, -k.ratio*k.tail(), k.w)
	vector.Axpy(c.r, k.ratio-1, c.g)
	c.count(5)
	c.ss = c.inner(c.s, c.s)
	c.residual = c.leftover()
	c.recursive = c.residual
}

// leftover returns ‖g + (H + λM)s‖₂ = ‖λMs − r‖₂, and ‖r‖₂ as long as the step is CG's.
func (c *CG) leftover() float64 {
	c.count(2)
	if c.lambda == 0 {
		return vector.Norm(c.r)
	}
	vector.Scale(c.d, c.lambda, c.s)
	if c.o.Diagonal != nil {
		vector.Mul(c.d, c.d, c.o.Diagonal)
	}
	vector.Sub(c.d, c.d, c.r)
	c.count(2)
	return vector.Norm(c.d)
}

// ShorterTo stores in s the model's minimizer over ‖s‖_M ≤ radius and the Krylov space of the last solve, whose rule
// was Minimum, and returns the decrease that it promises. It takes no product. Where that solve's step is not of such a
// space, or a number is not finite, ok is false and s stays as it was. The diagonal of the solve must still be the
// same.
func (c *CG) ShorterTo(s []float64, radius float64) (promised float64, ok bool) {
	k := &c.space
	if !k.accepted || !k.solve(radius) {
		return 0, false
	}
	if k.combine(radius); !vector.Finite(k.promised) {
		return 0, false
	}
	copy(s, k.x)
	return k.promised, true
}
