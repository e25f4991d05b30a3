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
		{Title: title, Columns: r.names, Rows: r.rows(), Notes: r.notes()},
		{Title: "Beside it", Columns: r.names, Rows: r.rowsBeside(), Notes: []string{
			"To the paper's error: until the test error is at most the paper's mean at its best epoch; trials that never " +
				"came there count with all their epochs. By the paper's epoch: the lowest test error up to the paper's " +
				"mean stopped epoch, rounded. Work counts gradients over all rows that would take as many operations.",
		}},
	}
	out.Statements = r.statements()
	return out
}

// row is one with the mean of a figure of each trial.
func (r *letterRun) row(name string, unit Unit, figure func(*outcome) float64, paper func(*letterFigures) float64) Row {
	return rowOf(name, unit, len(r.columns), func(i int) Cell {
		c := beside(collect(r.results[i], figure), paper(&r.columns[i].paper))
		c.Note = r.shortage(i, r.trialsOf(&r.columns[i]))
		return c
	})
}

// Figures of a trial at its best test.
func secondsAtBest(o *outcome) float64 { return o.atBest().elapsed }

func epochAtBest(o *outcome) float64 { return float64(o.atBest().epoch) }

func trainAtBest(o *outcome) float64 { return o.atBest().wrong }

func testAtBest(o *outcome) float64 { return o.atBest().testErr }

// perEpoch is seconds an epoch up to the best test, NaN if that is at the starting weights.
func perEpoch(p *point) float64 { return p.elapsed / float64(p.epoch) }

// perSolve is inner iterations a solve up to a point, NaN where there are none.
func perSolve(p *point) float64 { return float64(p.inner) / float64(p.solves) }

func (r *letterRun) rows() []Row {
	rows := []Row{
		r.trialsRow(),
		r.row("Total time", Seconds, secondsAtBest, func(f *letterFigures) float64 { return f.seconds }),
		r.row("Stopped epoch", Count, epochAtBest, func(f *letterFigures) float64 { return f.epochs }),
		r.row("Time per epoch", Seconds, func(o *outcome) float64 { return perEpoch(o.atBest()) },
			func(f *letterFigures) float64 { return f.perEpoch }),
		r.row("Inner iterations a solve", Number, func(o *outcome) float64 { return perSolve(o.atBest()) },
			func(f *letterFigures) float64 { return f.inner }),
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

// bestBy is the lowest test error up to an epoch.
func bestBy(o *outcome, epoch int) float64 {
	best := math.NaN()
	for i := range o.points {
		if p := &o.points[i]; p.epoch <= epoch && !(p.testErr >= best) {
			best = p.testErr
		}
	}
	return best
}

// towardsPaper returns what a column took to the paper's test error, and its own at the paper's epoch.
func (r *letterRun) towardsPaper(i int) (epochs, seconds, by Cell) {
	paper := &r.columns[i].paper
	if math.IsNaN(paper.test) {
		return None(), None(), None()
	}
	n, all := 0, done(r.results[i])
	var e, s []float64
	for _, o := range all {
		p := o.first(func(p *point) bool { return p.testErr <= paper.test })
		if p != nil {
			n++
		} else {
			p = o.end()
		}
		e, s = append(e, float64(p.epoch)), append(s, p.elapsed)
	}
	epochs, seconds = beside(e, paper.epochs), measured(s)
	if n < len(all) {
		epochs.Bound, seconds.Bound = AtLeast, AtLeast
		epochs.Note = fmt.Sprintf("%d of %d came there", n, len(all))
	}
	return epochs, seconds, beside(collect(all, func(o *outcome) float64 { return bestBy(o, int(math.Round(paper.epochs))) }), paper.test)
}

func (r *letterRun) rowsBeside() []Row {
	type cells struct{ epochs, seconds, by Cell }
	all := make([]cells, len(r.columns))
	for i := range r.columns {
		all[i].epochs, all[i].seconds, all[i].by = r.towardsPaper(i)
	}
	reached := rowOf("Epochs to the paper's error", Count, len(all), func(i int) Cell { return all[i].epochs })
	clock := rowOf("Time to it", Seconds, len(all), func(i int) Cell { return all[i].seconds })
	by := rowOf("Test error by the paper's epoch", Percent, len(all), func(i int) Cell { return all[i].by })
	work := r.row("Work to the best, gradients", Count, func(o *outcome) float64 { return o.atBest().equivalents },
		func(*letterFigures) float64 { return math.NaN() })
	return []Row{reached, clock, by, work}
}

func (r *letterRun) notes() []string {
	s := schedule{threads: r.options.Threads}
	trials := 0
	for i := range r.columns {
		trials += r.trialsOf(&r.columns[i])
	}
	list := []string{
		fmt.Sprintf("Stopped epoch: the one of the lowest test error, of at most so many: %s; all figures are means "+
			"at it, ± standard deviation over the trials. Its choice by test rows makes test errors lower than on "+
			"new rows, in the paper as here.", r.limits()),
		"Times are the optimizer's own, up to that epoch; " + s.words(trials),
		"The paper does not say how outputs and targets are coded, what rate A has, or where C's radius begins. Here: " +
			"hyperbolic tangents and ±1; 0.0005 and a new order of rows each epoch; 4 in batch mode, which was chosen on " +
			"seeds 101 to 104, else 1.",
		"A departure from the paper, which has the error of all rows in every block's ρ: here a block's own error decides, " +
			"and an epoch that raises the error of all rows is undone (docs/radius.md).",
	}
	if slices.ContainsFunc(r.columns, func(c letterColumn) bool { return c.optimizer == "tr-newton" }) {
		list = append(list, "D and E on letters are not in the paper. E has no preconditioner: with Jacobi's it is "+
			"worse on seed 101. It has more epochs than C because each is cheaper.")
	}
	if !r.real {
		list = append(list, "These are not the paper's data, so that its figures are no measure of these.")
	}
	if r.options.Quick {
		list = append(list, "A quick look: fewer rows to train on and few epochs. It decides nothing.")
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
