package trust

import (
	"math"
	"slices"

	"newtop/trainer/optim"
)

const (
	mizutani = "Mizutani & Demmel 2003, "
	nocedal  = "Nocedal & Wright 2006, "
)

// The hyperparameters of the region and of the inner solve.
var (
	Radius = &optim.Number{
		Key: "radius", Meaning: "R, the largest ‖s‖_M of the next step; the method adapts it",
		Default: 1, Max: optim.Inf, Open: true, OpenMax: true,
	}
	RadiusMax = &optim.Number{Key: "radius-max", Meaning: "how far R may grow", Default: 1000, Max: optim.Inf,
		Open: true, OpenMax: true}
	Xi = &optim.Number{
		Key: "xi", Meaning: "ξ, the inner solve ends at ‖g + Hs‖ ≤ ξ‖g‖",
		Default: 0.01, Max: 1, Open: true, OpenMax: true, Source: mizutani + "eq. 7",
	}
	Forcing = &optim.Choice{
		Key: "forcing", Meaning: "ξ as set, or min(0.5, √‖g‖), loose while the gradient is large",
		Choices: []string{"fixed", forcingSqrt}, Source: mizutani + "eq. 7; " + nocedal + "algorithm 7.1",
	}
	// The paper allows as many as weights. Once a classifier separates its classes its curvature vanishes, the system
	// turns ill-conditioned, and such solves take hundreds of products for nothing that the test error shows.
	Limit = &optim.Count{
		Key: "limit", Meaning: "k_limit, the most inner iterations; 0, as for regression: the number of weights",
		Default: 100, Max: 1e9, Source: mizutani + "eq. 7",
	}
	// The minimum takes no more products than the cuts of the paper, and fewer of them to an error (docs/radius.md).
	Boundary = &optim.Choice{
		Key: "boundary",
		Meaning: "cut at the boundary along the last segment, by scaling the step, or to the model's minimum in the " +
			"Krylov space",
		Default: 2, // minimum
		Choices: []string{"segment", boundaryScaling, boundaryMinimum},
		Source:  mizutani + "eq. 5 and 6; minimum: Gould et al. 1999, section 5, in CG's space alone",
	}
	Lanczos = &optim.Count{
		Key: "lanczos", Meaning: "with boundary=minimum: Lanczos steps that widen the Krylov space before; 0: none",
		Max: 1e9, Source: "Gould et al. 1999, algorithm 5.1", Late: true,
	}
	Blocks = &optim.Count{
		Key:     "blocks",
		Meaning: "parts of the rows that an epoch goes through in turn, a step for each; 1 for regression",
		Default: 1, Min: 1, Max: 1e6, Source: mizutani + "section 3",
	}
	// A block's model is followed no further than the blocks agree (docs/radius.md).
	BlockXi = &optim.Number{
		Key: "block-xi", Meaning: "ξ with more than one block",
		Default: 0.05, Max: 1, Open: true, OpenMax: true,
	}
	BlockError = &optim.Choice{
		Key:     "block-error",
		Meaning: "whose error a block's ρ holds its step against: the block's own, or that of all rows",
		Choices: []string{"own", blockErrorAll}, Source: "all: " + mizutani + "section 3",
	}
	Rule = &optim.Choice{
		Key: "rule", Meaning: "how steps are taken and R is adapted: by the six settings below, or by the textbook's",
		Choices: []string{"tuned", ruleTextbook}, Source: "textbook: " + nocedal + "algorithm 4.1",
	}
	Accept  = &optim.Number{Key: "accept", Meaning: "a step is taken when ρ is above", Default: 1e-4, Max: 0.25}
	Retries = &optim.Count{
		Key: "retries", Meaning: "shorter steps of the same solve, by shrink-by each, that are tried when one fails",
		Default: 6, Max: 60,
	}
	ShrinkBelow = &optim.Number{
		Key: "shrink-below", Meaning: "R shrinks when a step fails or its ρ is below",
		Default: 0.25, Max: 1, Source: nocedal + "algorithm 4.1",
	}
	ShrinkBy = &optim.Number{
		Key: "shrink-by", Meaning: "to this times the length of the step",
		Default: 0.25, Min: 0.01, Max: 1, OpenMax: true, Source: nocedal + "algorithm 4.1",
	}
	GrowAbove = &optim.Number{
		Key: "grow-above", Meaning: "R grows when ρ is above and the step ended on the boundary, at the first try",
		Default: 0.75, Max: 1, Source: nocedal + "algorithm 4.1",
	}
	GrowBy = &optim.Number{
		Key: "grow-by", Meaning: "to this times R",
		Default: 2, Min: 1, Max: optim.Inf, OpenMax: true, Source: nocedal + "algorithm 4.1",
	}
)

// Choices that methods ask for.
const (
	forcingSqrt     = "sqrt"
	boundaryScaling = "scaling"
	boundaryMinimum = "minimum"
	ruleTextbook    = "textbook"
	blockErrorAll   = "all"
)

// regionParameters are the hyperparameters of the outer loop and of the inner solve. With no retries the radius
// rule is Nocedal & Wright's algorithm 4.1 with the thresholds of its text; docs/radius.md has what retries bring.
// Those of a method's own take the place of others with the same key, or stand behind them.
func regionParameters(own ...optim.Handle) []optim.Hyperparameter {
	all := optim.Parameters(
		Radius, RadiusMax, Xi, Forcing, Limit, Boundary, Lanczos, Blocks, BlockXi, BlockError, Rule, Accept, Retries,
		ShrinkBelow, ShrinkBy, GrowAbove, GrowBy,
	)
	for _, h := range optim.Parameters(own...) {
		if i := slices.IndexFunc(all, func(o optim.Hyperparameter) bool { return o.Key == h.Key }); i >= 0 {
			all[i] = h
		} else {
			all = append(all, h)
		}
	}
	return all
}

// gaussNewtonParameters are regionParameters with the radius rule that does best with JᵀJ, whose model promises
// too much of long steps that are good ones all the same (docs/radius.md).
func gaussNewtonParameters(own ...optim.Handle) []optim.Hyperparameter {
	return regionParameters(append([]optim.Handle{ShrinkBelow.Starting(0, ""), ShrinkBy.Starting(0.5, ""),
		GrowAbove.Starting(0.4, "")}, own...)...)
}

// blockParameters are gaussNewtonParameters for classes in blocks, with inner solves that are cut short: over five data
// sets the fewest products to a small error (docs/radius.md).
func blockParameters(own ...optim.Handle) []optim.Hyperparameter {
	return gaussNewtonParameters(append([]optim.Handle{Limit.Starting(12), Blocks.Starting(6),
		BlockXi.Starting(0.4, "")}, own...)...)
}

// tolerance returns ξ where the gradient is that long; NaN where it depends on one that is not known.
func tolerance(set *optim.Settings, gradient float64) float64 {
	switch {
	case Forcing.Of(set) == forcingSqrt:
		return min(0.5, math.Sqrt(gradient))
	case Blocks.Of(set) > 1:
		return BlockXi.Of(set)
	}
	return Xi.Of(set)
}

// innerBounds is Info.Inner of the methods with a region.
func innerBounds(set *optim.Settings) (limit int, ratio float64) {
	return Limit.Of(set), tolerance(set, math.NaN())
}

// readRule returns the rule as it is set.
func readRule(set *optim.Settings) radiusRule {
	return radiusRule{
		accept: Accept.Of(set), shrinkBelow: ShrinkBelow.Of(set), shrinkBy: ShrinkBy.Of(set),
		growAbove: GrowAbove.Of(set), growBy: GrowBy.Of(set), radiusMax: RadiusMax.Of(set),
	}
}

// ruleOf returns the rule that is chosen.
func ruleOf(set *optim.Settings) radiusRule {
	out := readRule(set)
	out.retries = Retries.Of(set)
	if Rule.Of(set) == ruleTextbook {
		bound := out.radiusMax
		out = textbook
		out.radiusMax = bound
	}
	return out
}
