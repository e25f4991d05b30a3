package optim

import "math"

// regionParameters are the hyperparameters of the outer loop and of the inner solve. The radius rule is tuned on
// the letter data (docs/radius.md). Nocedal & Wright's is accept 1e-4, retries 0, shrink-below ¼, shrink-by ¼,
// grow-above ¾ and grow-by 2.
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
			Key: "limit", Meaning: "k_limit, the most inner iterations; 0 for as many as weights",
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
			// A block's model is followed no further than the blocks agree.
			Key: "block-xi", Meaning: "ξ of the solves with more than one block",
			Default: 0.1, Max: 1, Open: true, OpenMax: true,
		},
		{Key: "accept", Meaning: "a step is taken when ρ is above", Default: 1e-4, Max: 0.25},
		{
			Key: "retries", Meaning: "shorter steps of the same solve, by shrink-by each, that are tried when one fails",
			Default: 6, Max: 60, Integer: true,
		},
		{Key: "shrink-below", Meaning: "R shrinks when a step is taken whose ρ is below", Default: 0, Max: 1},
		{
			Key: "shrink-by", Meaning: "to this times the length of the step, as it does when a step fails",
			Default: 0.5, Max: 1, Open: true, OpenMax: true,
		},
		{
			Key: "grow-above", Meaning: "R grows when ρ is above and the first step tried ended on the boundary",
			Default: 0.4, Max: 1,
		},
		{
			Key: "grow-by", Meaning: "to this times R",
			Default: 2, Min: 1, Max: inf, OpenMax: true, Source: nw + "algorithm 4.1",
		},
	}, more...)
}
