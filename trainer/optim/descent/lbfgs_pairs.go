package descent

import "gonum.org/v1/gonum/floats"

// pairs are the last steps s and changes of the gradient y of lbfgs, Max of them at most, the oldest first.
type pairs struct {
	Limit int    `archive:"memory"`
	All   []pair `archive:"pairs"`
}

type pair struct {
	S     []float64 `archive:"step"`
	Y     []float64 `archive:"change"`
	Rho   float64   `archive:"rho"` // 1/sᵀy
	alpha float64   // of the recursion under way
}

// add takes in the pair of a step from weights x with gradient before to weights w with gradient g.
func (p *pairs) add(w, x, g, before []float64) {
	var next pair
	if len(p.All) < p.Limit {
		next = pair{S: make([]float64, len(w)), Y: make([]float64, len(w))}
	} else {
		next = p.All[0]
		p.All = p.All[:copy(p.All, p.All[1:])]
	}
	floats.SubTo(next.S, w, x)
	floats.SubTo(next.Y, g, before)
	next.Rho = 1 / floats.Dot(next.S, next.Y)
	p.All = append(p.All, next)
}

// directionTo stores −Hg in d by the two-loop recursion, H being made of the pairs from γI, γ = sᵀy/yᵀy of the last
// one; without pairs −g. Nocedal & Wright 2006, algorithm 7.4, whose q and r are d here.
func (p *pairs) directionTo(d, g []float64) {
	copy(d, g)
	for i := len(p.All) - 1; i >= 0; i-- {
		k := &p.All[i]
		k.alpha = k.Rho * floats.Dot(k.S, d)
		floats.AddScaled(d, -k.alpha, k.Y)
	}
	if last := len(p.All) - 1; last >= 0 {
		k := &p.All[last]
		floats.Scale(floats.Dot(k.S, k.Y)/floats.Dot(k.Y, k.Y), d)
	}
	for i := range p.All {
		k := &p.All[i]
		floats.AddScaled(d, k.alpha-k.Rho*floats.Dot(k.Y, d), k.S)
	}
	floats.Scale(-1, d)
}
