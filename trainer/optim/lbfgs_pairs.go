package optim

import (
	"fmt"

	"gonum.org/v1/gonum/floats"
)

// pairs are the last steps s and changes of the gradient y of lbfgs, most of them at most, the oldest first.
type pairs struct {
	most int
	all  []pair
}

type pair struct {
	s, y  []float64
	rho   float64 // 1/sᵀy
	alpha float64 // of the recursion under way
}

// add takes in the pair of a step from weights x with gradient before to weights w with gradient g.
func (p *pairs) add(w, x, g, before []float64) {
	var next pair
	if len(p.all) < p.most {
		next = pair{s: make([]float64, len(w)), y: make([]float64, len(w))}
	} else {
		next = p.all[0]
		p.all = p.all[:copy(p.all, p.all[1:])]
	}
	floats.SubTo(next.s, w, x)
	floats.SubTo(next.y, g, before)
	next.rho = 1 / floats.Dot(next.s, next.y)
	p.all = append(p.all, next)
}

// directionTo stores −Hg in d by the two-loop recursion, H being made of the pairs from γI, γ = sᵀy/yᵀy of the last one;
// without pairs −g. Nocedal & Wright 2006, algorithm 7.4, whose q and r are d here.
func (p *pairs) directionTo(d, g []float64) {
	copy(d, g)
	for i := len(p.all) - 1; i >= 0; i-- {
		k := &p.all[i]
		k.alpha = k.rho * floats.Dot(k.s, d)
		floats.AddScaled(d, -k.alpha, k.y)
	}
	if last := len(p.all) - 1; last >= 0 {
		k := &p.all[last]
		floats.Scale(floats.Dot(k.s, k.y)/floats.Dot(k.y, k.y), d)
	}
	for i := range p.all {
		k := &p.all[i]
		floats.AddScaled(d, k.alpha-k.rho*floats.Dot(k.y, d), k.s)
	}
	floats.Scale(-1, d)
}

func (p *pairs) remember(m *Archive, weights int) {
	m.Count("memory", &p.most, MostCount)
	count := len(p.all)
	m.Count("pairs", &count, p.most)
	for i := 0; i < count && m.Err() == nil; i++ {
		if m.Restoring() {
			p.all = append(p.all, pair{})
		}
		part, k := m.In(fmt.Sprint("pair ", i)), &p.all[i]
		part.Vector("step", &k.s, weights)
		part.Vector("change", &k.y, weights)
		part.Number("rho", &k.rho)
	}
}
