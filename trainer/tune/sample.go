package tune

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/c-bata/goptuna/tpe"
)

// Samplers are what Config.Sampler takes; the empty name is sobol for a while, then tpe.
var Samplers = []string{"sobol", "random", "tpe"}

// Of the tree-structured Parzen estimator [Bergstra, Bardenet, Bengio, Kégl 2011].
const (
	elite      = 0.2 // γ, the share of the trials that count as good; of a program's, which are fewer, half of it
	candidates = 24  // drawn from the density of the good ones, of which the one with the largest l/g is taken
	fewest     = 5   // trials that a density is estimated from
	explorers  = 4   // one trial in this number is quasi-random all the same
)

// sampler proposes trials. What it proposes follows from the seed, the number of points drawn so far and the trials
// seen, so that it can be stopped and made again.
type sampler struct {
	space *space
	kind  string
	seed  uint64
	sobol *sobol
	shift []uint32 // of each coordinate, bit by bit [Owen 1998]; none for seed 0
	drawn int
	used  map[string]bool
}

func newSampler(s *space, kind string, seed uint64) *sampler {
	p := &sampler{space: s, kind: kind, seed: seed, used: map[string]bool{}}
	p.shift = make([]uint32, max(1, len(s.axes)))
	if seed != 0 {
		r := rand.New(rand.NewPCG(seed, 0))
		for i := range p.shift {
			p.shift[i] = r.Uint32()
		}
	}
	p.sobol = newSobol(min(len(p.shift), 1+len(directions)))
	return p
}

// skip leaves out points that were drawn before.
func (p *sampler) skip(points int) {
	for p.drawn < points {
		p.draw()
	}
}

// observe marks a trial as tried.
func (p *sampler) observe(choices []Choice) { p.used[text(choices)] = true }

// draw returns the next point of the unit cube.
func (p *sampler) draw() []float64 {
	p.drawn++
	r, point := p.random(), make([]float64, len(p.shift))
	for i := range point {
		point[i] = r.Float64()
	}
	if p.kind != "random" { // coordinates beyond the sequence's stay random
		for i, x := range p.sobol.next() {
			point[i] = float64(x^p.shift[i]) / (1 << 32)
		}
	}
	return point
}

// random returns the random numbers that belong to the newest point.
func (p *sampler) random() *rand.Rand { return rand.New(rand.NewPCG(p.seed, uint64(p.drawn))) }

// maxDraws bounds the points that are passed over because their trial has been made already.
const maxDraws = 256

// next proposes a trial that has not been made. It returns false where there is none, or none is found: the space is
// small and used up. Seen are the trials so far, the best ones first.
func (p *sampler) next(seen [][]Choice) (choices []Choice, ok bool) {
	if n := p.space.size(); n > 0 && len(p.used) >= n {
		return nil, false
	}
	for range maxDraws {
		point := p.draw()
		if p.models(len(seen)) {
			point = p.estimate(point, seen)
		}
		if choices = p.space.at(point); !p.used[text(choices)] {
			return choices, true
		}
	}
	return nil, false
}

// models reports whether the next trial comes from the estimator.
func (p *sampler) models(seen int) bool {
	enough := max(10, 2*len(p.space.axes), 4*p.space.branches())
	switch {
	case seen < enough, p.kind == "sobol", p.kind == "random":
		return false
	case p.kind == "tpe", p.space.methods == nil: // of a program, whose trials are dear
		return true
	}
	return p.drawn%explorers != 0
}

// estimate proposes a point whose values are frequent among the good ones and rare among the others, each axis by
// itself and among the trials of the same method. Where a method has too few, the point decides.
func (p *sampler) estimate(point []float64, seen [][]Choice) (at []float64) {
	r := p.random()
	at = slices.Clone(point)
	var choices []Choice
	for i := range p.space.axes {
		a := &p.space.axes[i]
		if !p.space.has(i, choices) {
			continue
		}
		were := positions(a, seen)
		switch {
		case a.Choices != nil && (len(were) >= fewest || a.Key == optKey):
			at[i] = p.category(r, len(a.Choices), were)
		case a.Choices == nil && len(were) >= fewest:
			at[i] = numeric(r, were, p.good(len(were)))
		}
		choices = append(choices, a.at(at[i]))
		if a.Key == optKey && p.space.methods != nil {
			of := p.space.branch(choices)
			seen = slices.DeleteFunc(slices.Clone(seen), func(c []Choice) bool { return p.space.branch(c) != of })
		}
	}
	return at
}

// positions returns where the trials lie on an axis, the numbers of their choices for a list.
func positions(a *axis, seen [][]Choice) (out []float64) {
	for _, choices := range seen {
		i := slices.IndexFunc(choices, func(c Choice) bool { return c.Key == a.Key })
		switch {
		case i < 0:
		case a.Choices != nil:
			out = append(out, float64(slices.Index(a.Choices, choices[i].Value)))
		default:
			out = append(out, choices[i].Number)
		}
	}
	return out
}

// good returns how many of n trials count as good.
func (p *sampler) good(n int) int {
	if p.space.methods == nil {
		return int(math.Ceil(elite / 2 * float64(n)))
	}
	return int(math.Ceil(elite * float64(n)))
}

// category draws from the choices of the good trials, with one of each added, and returns a place within its share of
// the axis.
func (p *sampler) category(r *rand.Rand, n int, were []float64) float64 {
	weights := slices.Repeat([]float64{1}, n)
	total := float64(n)
	for _, v := range were[:p.good(len(were))] {
		if i := int(v); i >= 0 && i < n {
			weights[i]++
			total++
		}
	}
	u := r.Float64() * total
	for i, w := range weights {
		if u -= w; u < 0 {
			return (float64(i) + 0.5) / float64(n)
		}
	}
	return (float64(n) - 0.5) / float64(n)
}

// numeric draws from the density of the n good places, which come first, and returns the candidate for which it is
// largest beside that of the others.
func numeric(r *rand.Rand, were []float64, n int) float64 {
	options := tpe.ParzenEstimatorParams{
		ConsiderPrior: true, PriorWeight: 1, ConsiderMagicClip: true,
		Weights: func(n int) []float64 { return slices.Repeat([]float64{1}, n) },
	}
	low := tpe.NewParzenEstimator(slices.Clone(were[:n]), 0, 1, options)
	high := tpe.NewParzenEstimator(slices.Clone(were[n:]), 0, 1, options)
	best, most := 0.5, math.Inf(-1)
	for range candidates {
		u := drawFrom(low, r)
		if gain := math.Log(density(low, u)) - math.Log(density(high, u)); gain > most {
			best, most = u, gain
		}
	}
	return best
}

// drawFrom draws a number in [0, 1) from a mixture of normal distributions.
func drawFrom(e *tpe.ParzenEstimator, r *rand.Rand) float64 {
	for {
		u, i := r.Float64(), 0
		for i < len(e.Weights)-1 && u >= e.Weights[i] {
			u -= e.Weights[i]
			i++
		}
		if v := e.Mus[i] + e.Sigmas[i]*r.NormFloat64(); v >= 0 && v < 1 {
			return v
		}
	}
}

// density returns that of a mixture, up to the constant that keeps it within [0, 1].
func density(e *tpe.ParzenEstimator, v float64) (sum float64) {
	inside := 0.0
	cdf := func(x float64) float64 { return 0.5 * math.Erfc(-x/math.Sqrt2) }
	for i, w := range e.Weights {
		z := (v - e.Mus[i]) / e.Sigmas[i]
		sum += w * math.Exp(-z*z/2) / e.Sigmas[i]
		inside += w * (cdf((1-e.Mus[i])/e.Sigmas[i]) - cdf(-e.Mus[i]/e.Sigmas[i]))
	}
	return sum / inside
}
