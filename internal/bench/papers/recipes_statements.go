package papers

import (
	"fmt"
	"math"
)

// statements holds what the paper says of its table against what was found. The paper's colours are not public, so none
// of them is decided but those about operations, which do not depend on the colours.
func (r *recipesRun) statements() []Statement {
	list := r.aheadOfOnline()
	for _, c := range []comparison{
		{less: recipesC, more: recipesB, claim: "takes less time", grows: true, figure: secondsAtEnd, write: seconds},
		{less: recipesD, more: recipesC, claim: "takes less time", grows: true, figure: secondsAtEnd, write: seconds},
		{less: recipesD, more: recipesE, claim: "takes less time", grows: true, figure: secondsAtEnd, write: seconds},
		{less: recipesE, more: recipesD, claim: "takes fewer inner iterations an epoch", figure: innerPerEpoch, write: decimal},
		{less: recipesD, more: recipesE, claim: "takes fewer epochs", grows: true, figure: epochsAtEnd, write: decimal},
		{less: recipesMixD, more: recipesD, claim: "takes less time", grows: true, figure: secondsAtEnd, write: seconds},
		{less: recipesMixC, more: recipesC, claim: "takes less time", grows: true, figure: secondsAtEnd, write: seconds},
	} {
		if s, ok := r.compared(&c); ok {
			list = append(list, s)
		}
	}
	list = opened(append(list, r.sameInTest()...), "the colours are generated, the paper's are not public")
	list = append(list, r.operations()...)
	if r.options.Quick {
		list = opened(list, "a quick look decides nothing")
	}
	return list
}

// long is the long name of a column.
func (r *recipesRun) long(name string) string {
	for _, c := range r.columns {
		if c.name == name {
			return c.long
		}
	}
	return name
}

// comparison is the claim that one column has less of something than another has.
type comparison struct {
	less, more string
	claim      string
	grows      bool // on the way to the target, so that a trial that did not come there gives a lower bound
	figure     func(*outcome) float64
	write      func(float64) string
}

// compared holds a comparison against the trials, seed by seed, unless one of its columns was not run. A lower bound is
// as good as the figure itself for the column that is to have more; with any other trial that did not reach the target
// the claim is open.
func (r *recipesRun) compared(c *comparison) (Statement, bool) {
	a, b := r.of(c.less), r.of(c.more)
	var differences, low, high []float64
	open, wordLess, word := false, "", ""
	for i := range min(len(a), len(b)) {
		if a[i] == nil || b[i] == nil {
			continue
		}
		x, y := c.figure(a[i]), c.figure(b[i])
		differences, low, high = append(differences, y-x), append(low, x), append(high, y)
		bound := !r.reached(b[i])
		if bound && c.grows {
			word = "at least "
		}
		if c.grows && !r.reached(a[i]) {
			wordLess = "at least "
		}
		open = open || !r.reached(a[i]) || bound && !c.grows
	}
	verdict := atLeast(differences, 0)
	if open || word != "" && verdict == Fails {
		verdict = Open
	}
	s := Statement{
		Claim: fmt.Sprintf("%s %s than %s", r.long(c.less), c.claim, r.long(c.more)),
		Found: fmt.Sprintf("%s%s against %s%s", wordLess, given(low, c.write), word, given(high, c.write)),
		Holds: verdict,
	}
	if c.claim == "takes less time" {
		s = s.timed(a, b)
	}
	return s, len(differences) > 0
}

// aheadOfOnline holds the fastest algorithm, D, against online backpropagation, of which there may be a lower bound only.
func (r *recipesRun) aheadOfOnline() []Statement {
	online, own := r.of(recipesA), collect(r.of(recipesD), secondsAtEnd)
	if len(done(online)) == 0 || len(own) == 0 {
		return nil
	}
	const ahead = 280 // [MD, §3]: "nearly 280 (=8748.4/31.2) times slower"
	all := collect(online, secondsAtEnd)
	word := ""
	verdict := ratioAtLeast(all, own, ahead)
	for _, o := range append(done(online), done(r.of(recipesD))...) {
		if !r.reached(o) {
			word, verdict = "at least ", Open
		}
	}
	a, _ := interval(all)
	d, _ := interval(own)
	return []Statement{Statement{
		Claim: fmt.Sprintf("D on one net is %d times as fast as online backpropagation", ahead),
		Found: fmt.Sprintf("%s%.3g times: %s against %s%s", word, a/d, given(own, seconds), word, given(all, seconds)),
		Holds: verdict,
	}.timed(online, r.of(recipesD))}
}

// operations compares what an inner iteration takes with the paper's ratios.
func (r *recipesRun) operations() []Statement {
	var list []Statement
	c := collect(r.of(recipesC), flopsPerInner)
	if len(c) == 0 {
		return nil
	}
	for _, s := range []struct {
		claim, column string
		bound         float64
		least         bool
	}{
		{"Pearlmutter's product saves C a factor of %.1f or more in operations an inner iteration over B's rows", recipesB, 3.9, true},
		{"An inner iteration of E takes at most %.1f times the operations of C's", recipesE, 1.3, false},
	} {
		v := collect(r.of(s.column), flopsPerInner)
		if len(v) == 0 {
			continue
		}
		// Counted, the same in every trial but for CG's vectors, so that there is no spread to take into account.
		mean, _ := interval(v)
		base, _ := interval(c)
		ratio := mean / base
		clockOwn, _ := interval(collect(r.of(s.column), secondsPerInner))
		clockC, _ := interval(collect(r.of(recipesC), secondsPerInner))
		list = append(list, Statement{
			Claim: fmt.Sprintf(s.claim, s.bound),
			Found: fmt.Sprintf("%.2f times, %.2f times in time", ratio, clockOwn/clockC),
			Holds: decide((ratio >= s.bound) == s.least, true),
		})
	}
	return list
}

// alike is how much the largest of figures that are "more or less equivalent" may be of the smallest.
const alike = 1.25

// sameInTest compares the test errors of the second-order columns of each model.
func (r *recipesRun) sameInTest() []Statement {
	var list []Statement
	for _, model := range []struct {
		words string
		names []string
	}{
		{"one net", []string{recipesB, recipesC, recipesD, recipesE}},
		{"five experts", []string{recipesMixB, recipesMixC, recipesMixD, recipesMixE}},
	} {
		low, high := math.Inf(1), 0.0
		var parts []float64
		for _, name := range model.names {
			if v := collect(r.of(name), r.testOfReached); len(v) > 0 {
				mean, _ := interval(v)
				parts = append(parts, mean)
				low, high = min(low, mean), max(high, mean)
			}
		}
		if len(parts) < 2 {
			continue
		}
		list = append(list, Statement{
			Claim: fmt.Sprintf("On %s all second-order algorithms are more or less equivalent in the test (within %.0f %%)", model.words, 100*(alike-1)),
			Found: fmt.Sprintf("mean test RMSE from %.4f to %.4f", low, high),
			Holds: decide(high <= alike*low, true),
		})
	}
	return list
}

// testOfReached is the test RMSE of a trial that came to the target, NaN of others.
func (r *recipesRun) testOfReached(o *outcome) float64 {
	if !r.reached(o) {
		return math.NaN()
	}
	return o.end().testRMSE
}
