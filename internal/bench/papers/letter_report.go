package papers

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

func (r *letterRun) report() *Report {
	network := r.problem.Network
	out := &Report{
		Name: "letter", Paper: paperMD, Data: r.problem.Data.Title,
		Trials: r.trials, Seeds: seedsOf(r.trials),
	}
	title := fmt.Sprintf("[MD] table 2: %s, %d weights", shapeOf(network), network.Dim())
	out.Tables = []Table{
		{Title: title, Columns: r.names, Rows: r.rows(), Notes: r.notes(), Brief: []string{
			"Trials", "Stopped epoch", "Inner iterations a solve", "Work, gradients", "Total time", "R at the end", "Training error", "Test error", "Committee, test error"}},
		{Title: fmt.Sprintf("To a test error of %s", percent(letterGoal)), Columns: r.names, Rows: r.rowsToGoal(), Notes: []string{
			"After every epoch the test rows are asked. Trials that never came there count with all their epochs.",
		}},
	}
	out.Statements = r.statements()
	return out
}

// row is one with the mean of a figure of each trial.
func (r *letterRun) row(name string, unit Unit, figure func(*outcome) float64, paper func(*letterFigures) float64) Row {
	return rowOf(name, unit, len(r.columns), func(i int) Cell {
		c := beside(collect(r.results[i], figure), paper(&r.columns[i].paper))
		c.Note = r.shortage(i, r.trials)
		return c
	})
}

// Figures of a trial at its best test.
func secondsAtBest(o *outcome) float64 { return o.atBest().elapsed }

func epochAtBest(o *outcome) float64 { return float64(o.atBest().epoch) }

func workAtBest(o *outcome) float64 { return o.atBest().equivalents }

func trainAtBest(o *outcome) float64 { return o.atBest().wrong }

func testAtBest(o *outcome) float64 { return o.atBest().testErr }

// perEpoch is seconds an epoch up to the best test, NaN if that is at the starting weights.
func perEpoch(p *point) float64 { return p.elapsed / float64(p.epoch) }

// perSolve is inner iterations a solve up to a point, NaN where there are none.
func perSolve(p *point) float64 { return float64(p.inner) / float64(p.solves) }

func (r *letterRun) rows() []Row {
	none := func(*letterFigures) float64 { return math.NaN() }
	rows := []Row{
		r.trialsRow(),
		r.row("Foreign load", Percent, func(o *outcome) float64 { return o.foreign }, none),
		r.row("Total time", Seconds, secondsAtBest, func(f *letterFigures) float64 { return f.seconds }),
		r.row("Stopped epoch", Count, epochAtBest, func(f *letterFigures) float64 { return f.epochs }),
		r.row("Time per epoch", Seconds, func(o *outcome) float64 { return perEpoch(o.atBest()) },
			func(f *letterFigures) float64 { return f.perEpoch }),
		r.row("Inner iterations a solve", Number, func(o *outcome) float64 { return perSolve(o.atBest()) },
			func(f *letterFigures) float64 { return f.inner }),
		rowOf("Work, gradients", Count, len(r.columns), func(i int) Cell {
			return beside(collect(r.results[i], workAtBest), rounded(r.paperWork(&r.columns[i])))
		}),
		r.row("R at the end", Number, func(o *outcome) float64 { return o.end().radius }, none),
		r.row("Training error", Percent, trainAtBest, func(f *letterFigures) float64 { return f.train }),
		r.row("Test error", Percent, testAtBest, func(f *letterFigures) float64 { return f.test }),
	}
	note := func(i int) string {
		if n := r.nets[i].nets; n != 10 {
			return fmt.Sprintf("a committee of %d", n)
		}
		return ""
	}
	return append(rows,
		rowOf("Committee, training error", Percent, len(r.nets), func(i int) Cell {
			return Cell{Value: r.nets[i].train, Paper: r.columns[i].paper.committeeTrain, Note: note(i)}
		}),
		rowOf("Committee, test error", Percent, len(r.nets), func(i int) Cell {
			return Cell{Value: r.nets[i].test, Paper: r.columns[i].paper.committeeTest, Note: note(i)}
		}), r.ahead())
}

func (r *letterRun) trialsRow() Row {
	return rowOf("Trials", Count, len(r.columns), func(i int) Cell {
		cell := figure(float64(len(done(r.results[i]))))
		if !math.IsNaN(r.columns[i].paper.test) {
			cell.Paper = 10
		}
		return cell
	})
}

// ahead compares each column's time to the best test with that of online backpropagation.
func (r *letterRun) ahead() Row {
	online, _ := interval(collect(r.of("A online"), secondsAtBest))
	return rowOf("Time of A over this", Ratio, len(r.columns), func(i int) Cell {
		own, _ := interval(collect(r.results[i], secondsAtBest))
		return Cell{Value: online / own, Paper: r.columns[i].paper.ahead}
	})
}

// letterGoal is a test error that methods are compared at.
const letterGoal = 0.05

// rowsToGoal is what each column took to the goal.
func (r *letterRun) rowsToGoal() []Row {
	row := func(name string, unit Unit, figure func(*point) float64) Row {
		return rowOf(name, unit, len(r.columns), func(i int) Cell {
			n, all := 0, done(r.results[i])
			var v []float64
			for _, o := range all {
				p := o.first(func(p *point) bool { return p.testErr <= letterGoal })
				if p != nil {
					n++
				} else {
					p = o.end()
				}
				v = append(v, figure(p))
			}
			c := measured(v)
			if n < len(all) {
				c.Bound, c.Note = AtLeast, fmt.Sprintf("%d of %d came there", n, len(all))
			}
			return c
		})
	}
	return []Row{
		row("Work, gradients", Count, func(p *point) float64 { return p.equivalents }),
		row("Time", Seconds, func(p *point) float64 { return p.elapsed }),
		row("Epochs", Count, func(p *point) float64 { return float64(p.epoch) }),
	}
}

// paperWork is the work of a column of the paper until its mean stopped epoch, counted as newtop's own is: a gradient an
// epoch, the loss of all rows for every block, and the inner iterations, each of which passes through one block.
func (r *letterRun) paperWork(c *letterColumn) float64 {
	if math.IsNaN(c.paper.inner) {
		return c.paper.epochs // online backpropagation: a gradient an epoch
	}
	cost := r.problem.Network.Cost()
	return c.paper.epochs * (1 + (c.paper.inner*cost.GaussNewton+float64(max(1, c.blocks))*cost.Loss)/cost.Gradient)
}

func (r *letterRun) notes() []string {
	s := schedule{threads: r.options.Threads}
	list := []string{
		fmt.Sprintf("All figures are means at the epoch of the lowest test error, of at most so many: %s. That choice by test rows makes "+
			"test errors lower than on new rows, in the paper as here.", r.limits()),
		"Times are the optimizer's own, up to that epoch; " + s.words() + " Work counts gradients over all rows that would take as many " +
			"operations, the paper's from its epochs and inner iterations.",
		"C is Algorithm 1 as printed: steps cut by eq. 6, the radius rule of Nocedal & Wright's algorithm 4.1, ξ = 0.01, and in blocks the error of " +
			"all rows in ρ. The paper does not say how outputs and targets are coded, what rate A has, or where R begins. Here: " +
			"hyperbolic tangents and ±1; 0.0005 and a new order of rows each epoch; 4, chosen on seeds 101 to 104.",
		"own: as printed, but for ρ, which holds a block's step against the block's own error. tuned: newtop's rule and settings (docs/radius.md).",
	}
	if slices.ContainsFunc(r.columns, func(c letterColumn) bool { return c.softmax }) {
		list = append(list, "Adam, NAG and SOAP have softmax outputs and cross-entropy on the same net, and the settings that validation rows chose for newtop-bench race.")
	}
	if !r.real {
		list = append(list, "These are not the paper's data, so that its figures are no measure of these.")
	}
	if r.options.Quick {
		list = append(list, "A quick look, which decides nothing: 2,000 rows to train on in place of 16,000, few epochs and few trials.")
	}
	return list
}

// limits writes how many epochs the columns have.
func (r *letterRun) limits() string {
	var list []string
	for _, c := range r.columns {
		list = append(list, fmt.Sprintf("%s %d", c.name, c.epochs))
	}
	return strings.Join(list, ", ")
}
