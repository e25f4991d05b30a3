package optim

import "math"

// regionParameters are the hyperparameters of the outer loop and of the inner solve. With no retries the radius
// rule is Nocedal & Wright's algorithm 4.1 with the thresholds of its text; docs/radius.md has what retries bring.
func regionParameters(more ...Hyperparameter) []Hyperparameter {
	const (
		md = "Mizutani & Demmel 2003, "
		nw = "Nocedal & Wright 2006, "
	)
	inf := math.Inf(1)
	return append([]Hyperparameter{
		{
			Key: "radius", Meaning: "R, the largest ‖s‖_M of the next step; the method adapts it",
			Default: 1, Max: inf, Open: true, OpenMax: true,
		},
		{Key: "radius-max", Meaning: "how far R may grow", Default: 1000, Max: inf, Open: true, OpenMax: true},
		{
			Key: "xi", Meaning: "ξ, the inner solve ends at ‖g + Hs‖ ≤ ξ‖g‖",
			Default: 0.01, Max: 1, Open: true, OpenMax: true, Source: md + "eq. 7",
		},
		{
			Key: "forcing", Meaning: "ξ as set, or min(½, √‖g‖), loose while the gradient is large",
			Choices: []string{"fixed", "sqrt"}, Source: md + "eq. 7; " + nw + "algorithm 7.1",
		},
		{
			// The paper allows as many as weights. Once a classifier separates its classes its curvature
			// vanishes, the system turns ill-conditioned, and such solves take hundreds of products for
			// nothing that the test error shows.
			Key: "limit", Meaning: "k_limit, the most inner iterations; 0, as for regression: the number of weights",
			Default: 100, Max: 1e9, Integer: true, Source: md + "eq. 7",
		},
		{
			Key: "boundary", Meaning: "cut at the boundary along the last segment, or by scaling the step",
			Choices: []string{"segment", "scaling"}, Source: md + "eq. 5 and 6",
		},
		{
			Key: "blocks", Meaning: "parts of the rows that an epoch goes through in turn, a step for each",
			Default: 1, Min: 1, Max: 1e6, Integer: true, Source: md + "section 3",
		},
		{
			// A block's model is followed no further than the blocks agree (docs/radius.md).
			Key: "block-xi", Meaning: "ξ with more than one block",
			Default: 0.05, Max: 1, Open: true, OpenMax: true,
		},
		{
			Key: "rule", Meaning: "how steps are taken and R is adapted: by the six settings below, or by the textbook's",
			Choices: []string{"tuned", "textbook"}, Source: "textbook: " + nw + "algorithm 4.1",
		},
		{Key: "accept", Meaning: "a step is taken when ρ is above", Default: 1e-4, Max: 0.25},
		{
			Key: "retries", Meaning: "shorter steps of the same solve, by shrink-by each, that are tried when one fails",
			Default: 6, Max: 60, Integer: true,
		},
		{
			Key: "shrink-below", Meaning: "R shrinks when a step fails or its ρ is below",
			Default: 0.25, Max: 1, Source: nw + "algorithm 4.1",
		},
		{
			Key: "shrink-by", Meaning: "to this times the length of the step",
			Default: 0.25, Min: 0.01, Max: 1, OpenMax: true, Source: nw + "algorithm 4.1",
		},
		{
			Key: "grow-above", Meaning: "R grows when ρ is above and the step ended on the boundary, at the first try",
			Default: 0.75, Max: 1, Source: nw + "algorithm 4.1",
		},
		{
			Key: "grow-by", Meaning: "to this times R",
			Default: 2, Min: 1, Max: inf, OpenMax: true, Source: nw + "algorithm 4.1",
		},
	}, more...)
}

// readRule returns the rule as it is set.
func readRule(set *Settings) radiusRule {
	return radiusRule{
		accept: set.Get("accept"), shrinkBelow: set.Get("shrink-below"), shrinkBy: set.Get("shrink-by"),
		growAbove: set.Get("grow-above"), growBy: set.Get("grow-by"), radiusMax: set.Get("radius-max"),
	}
}

// ruleOf returns the rule that is chosen.
func ruleOf(set *Settings) radiusRule {
	rule := readRule(set)
	rule.retries = int(set.Get("retries"))
	if set.Choice("rule") == "textbook" {
		most := rule.radiusMax
		rule = textbook
		rule.radiusMax = most
	}
	return rule
}

// gaussNewtonParameters are regionParameters with the radius rule that does best with JᵀJ, whose model promises
// too much of long steps that are good ones all the same (docs/radius.md).
func gaussNewtonParameters(more ...Hyperparameter) []Hyperparameter {
	all := regionParameters(more...)
	for i := range all {
		p := &all[i]
		switch p.Key {
		case "shrink-below":
			p.Default, p.Source = 0, ""
		case "shrink-by":
			p.Default, p.Source = 0.5, ""
		case "grow-above":
			p.Default, p.Source = 0.4, ""
		}
	}
	return all
}
