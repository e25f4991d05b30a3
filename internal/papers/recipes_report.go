package papers

import (
	"fmt"
	"math"
	"slices"
)

func (r *recipesRun) report() *Report {
	return &Report{
		Name: "recipes", Paper: paperMD, Data: r.problem.Data.Title, Trials: r.trials, Seeds: seedsOf(r.trials),
		Tables: []Table{{
			Title:   fmt.Sprintf("[MD] table 1: %s and five experts 16-16-10, to a training RMSE of %g", shapeOf(r.problem.Network), r.target),
			Columns: r.names,
			Rows:    r.rows(), Notes: r.notes(),
		}},
		Statements: r.statements(),
	}
}

// row is one of a figure of each trial. Where toTarget, a trial that did not come to the target makes it a lower bound.
func (r *recipesRun) row(name string, unit Unit, toTarget bool, figure func(*outcome) float64, paper func(*recipesFigures) float64) Row {
	return rowOf(name, unit, len(r.columns), func(i int) Cell {
		all := done(r.results[i])
		c := beside(collect(all, figure), paper(&r.columns[i].paper))
		if n := r.reachedOf(i); n < len(all) {
			c.Note = fmt.Sprintf("%d of %d reached it", n, len(all))
			if toTarget {
				c.Bound = AtLeast
			}
		}
		return c
	})
}

// reachedOf counts the trials of a column that reached the target.
func (r *recipesRun) reachedOf(i int) int {
	n := 0
	for _, o := range done(r.results[i]) {
		if r.reached(o) {
			n++
		}
	}
	return n
}

func (r *recipesRun) rows() []Row {
	nothing := func(*recipesFigures) float64 { return math.NaN() }
	flops, _ := interval(collect(r.of(recipesC), flopsPerInner))
	clock, _ := interval(collect(r.of(recipesC), secondsPerInner))
	return []Row{
		rowOf("Trials", Count, len(r.columns), func(i int) Cell {
			c := Cell{Value: float64(len(done(r.results[i]))), Paper: 20, Note: lost(r.results[i])}
			if r.columns[i].name == recipesA {
				c.Paper = 10
			}
			if math.IsNaN(r.columns[i].paper.seconds) {
				c.Paper = math.NaN()
			}
			return c
		}),
		r.row("Total time", Seconds, true, secondsAtEnd, func(f *recipesFigures) float64 { return f.seconds }),
		r.row("Stopped epoch", Count, true, epochsAtEnd, func(f *recipesFigures) float64 { return f.epochs }),
		r.row("Time per epoch", Seconds, false, func(o *outcome) float64 { return perEpoch(o.end()) },
			func(f *recipesFigures) float64 { return f.perEpoch }),
		r.row("Inner iterations an epoch", Number, false, innerPerEpoch, func(f *recipesFigures) float64 { return f.inner }),
		r.row("Operations of one, to C's", Ratio, false, func(o *outcome) float64 { return flopsPerInner(o) / flops },
			func(f *recipesFigures) float64 { return f.flops }),
		r.row("Time of one, to C's", Ratio, false, func(o *outcome) float64 { return secondsPerInner(o) / clock }, nothing),
		r.row("Work in gradients", Count, true, func(o *outcome) float64 { return o.end().equivalents }, nothing),
		r.row("Training RMSE at the end", Number, false, func(o *outcome) float64 { return o.end().rmse }, nothing),
		r.row("Test RMSE", Number, false, func(o *outcome) float64 { return o.end().testRMSE },
			func(f *recipesFigures) float64 { return f.test }),
		r.ahead(),
	}
}

// ahead compares each column's time with that of online backpropagation on one net.
func (r *recipesRun) ahead() Row {
	online, _ := interval(collect(r.of(recipesA), secondsAtEnd))
	bound := Exact
	for _, o := range done(r.of(recipesA)) {
		if !r.reached(o) {
			bound = AtLeast
		}
	}
	return rowOf("Time of A over this", Ratio, len(r.columns), func(i int) Cell {
		own, _ := interval(collect(r.results[i], secondsAtEnd))
		c := Cell{Value: online / own, Paper: rounded(8748.4 * minute / r.columns[i].paper.seconds), Bound: bound}
		switch {
		case r.columns[i].name == recipesA:
			c.Bound = Exact
		case r.reachedOf(i) < len(done(r.results[i])): // a ratio of two bounds is none
			c.Value, c.Bound = math.NaN(), Exact
		}
		return c
	})
}

func (r *recipesRun) notes() []string {
	list := []string{
		"The paper's colours are not public: these are generated, Kubelka–Munk mixtures of ten colorants. Its times are " +
			"of a Pentium 4, and its test RMSE is of other colours.",
		"Times are the optimizer's own; " + r.words(r.trials*len(r.columns)),
		"Operations are counted, of products and of CG's own vectors. The time of an inner iteration has a share of " +
			"everything else that an epoch does.",
		"Hidden nodes are hyperbolic tangents, outputs linear; the gates of the five experts are tuned by steepest " +
			"descent after every epoch.",
	}
	if slices.ContainsFunc(r.columns, func(c recipesColumn) bool { return c.bounded() }) {
		list = append(list, "B takes the steps of C up to rounding, and A would take days, so that they have few trials, which end after a time "+
			r.budgetWords()+". What had not come to the target by then gives lower bounds, and figures of the way so far. The rate "+
			"of A, which the paper does not give, is 0.002.")
	}
	if r.options.Quick {
		list = append(list, "A quick look: 300 rows to train on and a target fifteen times higher. It decides nothing.")
	}
	return list
}

// budgetWords says how long trials of A and B may take, and why.
func (r *recipesRun) budgetWords() string {
	a, b := r.online.Seconds(), r.byRows.Seconds()
	if r.options.Quick {
		return fmt.Sprintf("(%.0f s in a quick look)", a)
	}
	text := func(limit float64, words string) string {
		if limit == defaultBudget.Seconds() {
			return fmt.Sprintf("%.0f s", limit)
		}
		return fmt.Sprintf("%.0f s, %s", limit, words)
	}
	return fmt.Sprintf("(A: %s; B: %s)", text(a, fmt.Sprintf("%d times the fastest of one net", onlineBudget)),
		text(b, fmt.Sprintf("%d times C's on one net", rowsBudget))+fmt.Sprintf(", and %d times as long on five experts", mixtureShare))
}
