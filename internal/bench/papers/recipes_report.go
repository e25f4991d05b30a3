package papers

import (
	"fmt"
	"math"
)

func (r *recipesRun) report() *Report {
	return &Report{
		Name: "recipes", Paper: paperMD, Data: r.problem.Data.Title, Trials: r.trials, Seeds: seedsOf(r.trials),
		Tables: []Table{{
			Title:   fmt.Sprintf("[MD] table 1: %s and five experts 16-16-10, to a training RMSE of %g", shapeOf(r.problem.Network), r.target),
			Columns: r.names,
			Rows:    r.rows(), Notes: r.notes(),
			Brief: []string{"Trials", "Stopped epoch", "Inner iterations an epoch", "Work, gradients", "Total time", "Training RMSE at the end", "Test RMSE"},
		}},
		Statements: r.statements(),
	}
}

// row is one of a figure of each trial.
func (r *recipesRun) row(name string, unit Unit, toTarget bool, figure func(*outcome) float64, paper func(*recipesFigures) float64) Row {
	return rowOf(name, unit, len(r.columns), func(i int) Cell {
		c := r.cell(i, toTarget, figure)
		c.Paper = paper(&r.columns[i].paper)
		return c
	})
}

// cell is a figure of the trials of a column. Where toTarget, a trial that did not come to the target makes it a lower
// bound.
func (r *recipesRun) cell(i int, toTarget bool, figure func(*outcome) float64) Cell {
	all := done(r.results[i])
	c := measured(collect(all, figure))
	if n := r.reachedOf(i); n < len(all) {
		c.Note = fmt.Sprintf("%d of %d reached it", n, len(all))
		if toTarget {
			c.Bound = AtLeast
		}
	}
	return c
}

// paperWork is the work of a column of the paper until its mean stopped epoch, counted as newtop's own is: a gradient and
// a loss an epoch, the diagonal where it is the preconditioner, and the inner iterations, of which the paper says how many
// times the operations of C's on one net they take.
func (r *recipesRun) paperWork(c *recipesColumn) float64 {
	if math.IsNaN(c.paper.inner) {
		return c.paper.epochs
	}
	cost := r.problem.Network.Cost()
	epoch := cost.Gradient + cost.Loss + c.paper.inner*c.paper.flops*cost.GaussNewton
	if c.optimizer == "tr-gn-jacobi" || c.optimizer == "tr-newton" {
		epoch += cost.Diagonal
	}
	return c.paper.epochs * epoch / cost.Gradient
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
				c.Paper = onlineTrials
			}
			if math.IsNaN(r.columns[i].paper.seconds) {
				c.Paper = math.NaN()
			}
			return c
		}),
		r.row("Foreign load", Percent, false, func(o *outcome) float64 { return o.foreign }, nothing),
		r.row("Total time", Seconds, true, secondsAtEnd, func(f *recipesFigures) float64 { return f.seconds }),
		r.row("Stopped epoch", Count, true, epochsAtEnd, func(f *recipesFigures) float64 { return f.epochs }),
		r.row("Time per epoch", Seconds, false, func(o *outcome) float64 { return perEpoch(o.end()) },
			func(f *recipesFigures) float64 { return f.perEpoch }),
		r.row("Inner iterations an epoch", Number, false, innerPerEpoch, func(f *recipesFigures) float64 { return f.inner }),
		r.row("Operations of one, to C's", Ratio, false, func(o *outcome) float64 { return flopsPerInner(o) / flops },
			func(f *recipesFigures) float64 { return f.flops }),
		r.row("Time of one, to C's", Ratio, false, func(o *outcome) float64 { return secondsPerInner(o) / clock }, nothing),
		rowOf("Work, gradients", Count, len(r.columns), func(i int) Cell {
			c := r.cell(i, true, workAtEnd)
			c.Paper = rounded(r.paperWork(&r.columns[i]))
			return c
		}),
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
		"The paper's colours are not public: these are generated, Kubelka–Munk mixtures of ten colorants, by default of such as lie near " +
			"each other in hue (--data recipes: of any). Its times are of a Pentium 4, and its test RMSE is of other colours.",
		"Times are the optimizer's own; " + r.words(),
		"Operations are counted, of products and of CG's own vectors. The time of an inner iteration has a share of " +
			"everything else that an epoch does.",
		"Hidden nodes are hyperbolic tangents, outputs linear; the gates of the five experts are tuned by steepest " +
			"descent after every epoch. B to E are Algorithm 1 as printed: steps cut by eq. 6, the radius rule of Nocedal & Wright's " +
			"algorithm 4.1, as many inner iterations as weights, ξ = 0.01; R begins at 1, which the paper does not say. tuned: newtop's rule (docs/radius.md), and gates that are trained with the weights.",
		"Adam, NAG and SOAP have the rate that was best on validation rows of seed 101, of two or three on recipes of any colorants, and a cosine schedule over all their epochs.",
		fmt.Sprintf("A ends after %d epochs at most. Its rate, which the paper does not give, is 0.002, the best of four on recipes of any colorants.", onlineEpochs),
	}
	if r.options.Quick {
		list = append(list, "A quick look, which decides nothing: 300 rows to train on in place of 1,000, a target fifteen times higher, at most 500 epochs and one trial.")
	}
	return list
}
