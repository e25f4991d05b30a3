package trust

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"newtop/internal/vector"
	"newtop/trainer/krylov"
)

// path keeps the points at which the iterates of one inner solve crossed the radii cR, c²R, … . Along the
// iterates of Steihaug and Toint ‖s‖_M only grows (Conn, Gould & Toint 2000, theorem 7.5.1), so the point of norm
// r is the very step that a solve with the radius r would have returned: a step that fails is shortened, and
// turned towards the Cauchy step, without a product. Where the step is the model's minimizer over the Krylov space
// instead (boundary=minimum), so are the shorter ones, for which the solve still has the space.
//
//	s_k  the iterate after inner iteration k, p = s_k − s_{k−1} the segment that led to it
//	q    the model; q(s_{k−1} + hp) = q_{k−1} − hσ + ½h²pᵀHp, σ its slope at h = 0
type path struct {
	radii    []float64   // cR, c²R, …
	steps    [][]float64 // where the path crossed them
	promised []float64   // −q there
	crossed  int         // how many of them it did, the smallest first
	diagonal []float64   // of M; nil: I
	solve    *krylov.CG  // which has the Krylov space

	last, p []float64 // s_{k−1} and p
	norm    float64   // ‖s_{k−1}‖_M
	model   float64   // q_{k−1}
}

// reset begins the path of a solve for n weights with the given radius R. It will keep count points.
func (p *path) reset(solve *krylov.CG, n, count int, radius, c float64, diagonal []float64) {
	if len(p.last) != n {
		*p = path{last: make([]float64, n), p: make([]float64, n)}
	}
	for len(p.steps) < count {
		p.steps, p.radii = append(p.steps, make([]float64, n)), append(p.radii, 0)
		p.promised = append(p.promised, 0)
	}
	p.steps, p.radii, p.promised = p.steps[:count], p.radii[:count], p.promised[:count]
	for i := range p.radii {
		radius *= c
		p.radii[i] = radius
	}
	clear(p.last)
	p.crossed, p.norm, p.model, p.diagonal, p.solve = 0, 0, 0, diagonal, solve
}

// add sees the iterate s of a running solve.
func (p *path) add(s []float64, it krylov.Iteration) {
	if p.crossed == len(p.radii) {
		return
	}
	if it.StepNorm >= p.next() {
		p.cross(s, it)
	}
	copy(p.last, s)
	p.norm, p.model = it.StepNorm, it.Model
}

// next returns the smallest radius that was not crossed.
func (p *path) next() float64 { return p.radii[len(p.radii)-1-p.crossed] }

// cross keeps the points of the segment to s whose norms are radii. It goes out, so that sᵀMp ≥ 0 at s_{k−1}.
func (p *path) cross(s []float64, it krylov.Iteration) {
	vector.Sub(p.p, s, p.last)
	sp, pp := krylov.Inner(p.last, p.p, p.diagonal), krylov.Inner(p.p, p.p, p.diagonal)
	bend := it.Curvature * vector.Dot(p.p, p.p) // pᵀHp
	slope := p.model - it.Model + bend/2
	for p.crossed < len(p.radii) && it.StepNorm >= p.next() {
		i := len(p.radii) - 1 - p.crossed
		h := outwardRoot(p.norm, sp, pp, p.radii[i])
		floats.AddScaledTo(p.steps[i], p.last, h, p.p)
		p.promised[i] = h*(slope-h*bend/2) - p.model
		p.crossed++
	}
}

// before returns the longest kept point that is well shorter than a step of the given norm, by the index for
// steps, radii and promised, and whether there is one.
func (p *path) before(length, c float64) (int, bool) {
	for i := len(p.radii) - p.crossed; i < len(p.radii); i++ {
		if p.radii[i] <= math.Sqrt(c)*length {
			if promised, ok := p.solve.ShorterTo(p.steps[i], p.radii[i]); ok {
				p.promised[i] = promised
			}
			return i, true
		}
	}
	return 0, false
}
