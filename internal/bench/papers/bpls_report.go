package papers

import (
	"fmt"
	"math"
	"slices"
)

// data says what there is of a data set.
func (s *bplsStudy) data() string {
	for _, runs := range s.runs {
		if len(runs) > 0 {
			return fmt.Sprintf("%s, %d images to train on and %d to test on", s.title, runs[0].trainRows, runs[0].testRows)
		}
	}
	return s.title
}

// named returns the columns for which ok holds.
func (s *bplsStudy) named(ok func(*bplsColumn) bool) []*bplsColumn {
	var some []*bplsColumn
	for i := range s.columns {
		if ok(&s.columns[i]) {
			some = append(some, &s.columns[i])
		}
	}
	return some
}

// ofPaper are the columns of the paper's tables.
func ofPaper(c *bplsColumn) bool { return c.rival || c.name == "BPLS" || c.name == "BPLS + ridge" }

func names(columns []*bplsColumn) (all []string) {
	for _, c := range columns {
		all = append(all, c.name)
	}
	return all
}

// figure returns one figure of every run of a column.
func (s *bplsStudy) figure(name string, f func(*outcome) float64) []float64 {
	return collect(s.runs[name], f)
}

// bestTrain and bestTest are the best accuracies of a run, at whatever epoch each of them was.
func bestTrain(o *outcome) float64 { train, _ := within(o, math.Inf(1)); return train }
func bestTest(o *outcome) float64  { _, test := within(o, math.Inf(1)); return test }

// epochTime is the mean time of an epoch of a run.
func epochTime(o *outcome) float64 { return o.end().elapsed / float64(max(1, o.end().epoch)) }

func bplsTables(studies []*bplsStudy, run *schedule) []Table {
	all := []Table{bplsTable1(studies), bplsTable2(studies, run)}
	for _, s := range studies {
		all = append(all,
			s.overEpochs(s.train, "training", func(p *point) float64 { return 1 - p.wrong }),
			s.overEpochs(s.test, "test", func(p *point) float64 { return 1 - p.testErr }),
			s.overTime())
		if t := s.madeOf(); len(t.Columns) > 0 {
			all = append(all, t)
		}
		for _, net := range []bplsNet{paperNet, tanhNet} {
			if t := s.budgets(net); len(t.Columns) > 1 {
				all = append(all, t)
			}
		}
	}
	return all
}

// bplsTable1 is table I.
func bplsTable1(studies []*bplsStudy) Table {
	columns, epochs := studies[0].named(ofPaper), bplsEpochs
	for _, c := range columns {
		if c.rival {
			epochs = c.epochs
		}
	}
	t := Table{
		Title: "[T] table I: best accuracy, 784-50-10, softmax", Columns: names(columns),
		Notes: []string{
			"BPLS: as printed, eq. 5 without a ridge. BPLS + ridge: the shortest change of all nodes together, and a ridge of 0.01, newtop's default.",
			fmt.Sprintf("The best of every run's epochs, training and test apart. First-order methods in single rows at a rate of 1e-3, at most %d epochs. "+
				"The paper had 40,000 images to train on and 10,000 to test on, 10 runs, 100 of BPLS, and at most %d epochs.", epochs, bplsEpochs),
		},
	}
	for _, s := range studies {
		paper := func(c *bplsColumn, i int) float64 {
			if both, ok := s.best[c.name]; ok {
				return both[i]
			}
			return math.NaN()
		}
		t.Rows = append(t.Rows,
			s.row(s.title+" training", Percent, columns, func(c *bplsColumn) Cell { return s.cell(c, bestTrain, paper(c, 0)) }),
			s.row(s.title+" test", Percent, columns, func(c *bplsColumn) Cell { return s.cell(c, bestTest, paper(c, 1)) }),
			s.row(s.title+" work, gradients", Count, columns, func(c *bplsColumn) Cell { return s.cell(c, workAtEnd, math.NaN()) }),
			s.row(s.title+" time", Seconds, columns, func(c *bplsColumn) Cell { return s.cell(c, secondsAtEnd, math.NaN()) }))
	}
	for _, row := range t.Rows {
		t.Brief = append(t.Brief, row.Name)
	}
	return t
}

// longest is the most epochs that a run of a column took.
func (s *bplsStudy) longest(c *bplsColumn) int {
	most := 0
	for _, o := range s.runs[c.name] {
		most = max(most, o.end().epoch)
	}
	return most
}

// row has a cell for each of some columns.
func (s *bplsStudy) row(name string, unit Unit, columns []*bplsColumn, cell func(c *bplsColumn) Cell) Row {
	return rowOf(name, unit, len(columns), func(i int) Cell { return cell(columns[i]) })
}

// cell is a figure of a column, with the paper's.
func (s *bplsStudy) cell(c *bplsColumn, f func(*outcome) float64, paper float64) Cell {
	cell := beside(s.figure(c.name, f), paper)
	cell.Note = lost(s.runs[c.name])
	return cell
}

// bplsTable2 is table II, and its figures for as many rows.
func bplsTable2(studies []*bplsStudy, run *schedule) Table {
	columns := studies[0].named(ofPaper)
	t := Table{
		Title: "[T] table II: time of an epoch", Columns: names(columns),
		Notes: []string{
			"BPLS ran on all cores; of the first-order methods " + run.words() + " The paper's are of 40,000 rows of Fashion-MNIST on 24 threads.",
			"BPLS's epoch is the mean over its run: its first solves over all rows, those after over the misclassified ones.",
		},
	}
	for _, s := range studies {
		if len(s.runs["BPLS"]) == 0 {
			continue
		}
		rows := float64(s.runs["BPLS"][0].trainRows)
		bpls, _ := moments(s.figure("BPLS", epochTime))
		paper := func(c *bplsColumn) float64 {
			if s.name == "fashion" {
				return bplsSeconds[c.name]
			}
			return math.NaN()
		}
		t.Rows = append(t.Rows,
			s.row("Foreign load", Percent, columns, func(c *bplsColumn) Cell { return s.cell(c, func(o *outcome) float64 { return o.foreign }, math.NaN()) }),
			s.row(s.title, Seconds, columns, func(c *bplsColumn) Cell { return s.cell(c, epochTime, paper(c)) }),
			s.row("for 1,000 rows", Seconds, columns, func(c *bplsColumn) Cell {
				return s.cell(c, func(o *outcome) float64 { return 1000 * epochTime(o) / rows }, 1000*paper(c)/bplsRows)
			}),
			s.row("÷ BPLS", Ratio, columns, func(c *bplsColumn) Cell {
				return s.cell(c, func(o *outcome) float64 { return epochTime(o) / bpls }, paper(c)/bplsSeconds["BPLS"])
			}))
	}
	return t
}

// shownEpochs are the rows of the tables that stand for figures 7 and 8.
var shownEpochs = []int{1, 2, 3, 4, 6, 9, 12, 20, 30, 40}

// overEpochs is the accuracy after epochs. A run that has ended keeps what it ended with.
func (s *bplsStudy) overEpochs(figure, phase string, of func(*point) float64) Table {
	columns := s.named(ofPaper)
	title := fmt.Sprintf("accuracy over epochs, %s, %s", s.title, phase)
	if figure != "" {
		title = "[T] " + figure + ": " + title
	} else {
		title = "As [T] figures 7 and 8: " + title
	}
	t := Table{Title: title, Columns: names(columns)}
	for _, epoch := range shownEpochs {
		if !slices.ContainsFunc(columns, func(c *bplsColumn) bool { return s.longest(c) >= epoch }) {
			break
		}
		t.Rows = append(t.Rows, s.row(fmt.Sprintf("epoch %d", epoch), Percent, columns, func(c *bplsColumn) Cell {
			if s.longest(c) < epoch {
				return None()
			}
			return measured(s.figure(c.name, func(o *outcome) float64 { return of(&o.points[min(epoch, len(o.points)-1)]) }))
		}))
	}
	if s.epochs > 0 {
		t.Rows = append(t.Rows, s.row("epochs in all", Count, columns, func(c *bplsColumn) Cell {
			paper := math.NaN()
			switch {
			case c.name == "BPLS":
				paper = s.epochs
			case c.rival:
				paper = bplsEpochs
			}
			return s.cell(c, epochsAtEnd, paper)
		}))
	}
	return t
}

// overTime stands for figure 9: accuracy against time.
func (s *bplsStudy) overTime() Table {
	columns := s.named(ofPaper)
	title := "accuracy against time, " + s.title
	if s.name == "fashion" {
		title = "[T] figure 9: " + title
	} else {
		title = "As [T] figure 9: " + title
	}
	goal, _ := moments(s.figure("BPLS", bestTest))
	t := Table{
		Title: title, Columns: names(columns),
		Notes: []string{fmt.Sprintf("BPLS's accuracy is the mean of its best ones in the test, %s.", percent(goal))},
	}
	t.Rows = []Row{
		s.row("time of a run", Seconds, columns, func(c *bplsColumn) Cell { return s.cell(c, secondsAtEnd, math.NaN()) }),
		s.row("test accuracy at its end", Percent, columns, func(c *bplsColumn) Cell {
			return s.cell(c, func(o *outcome) float64 { return 1 - o.end().testErr }, math.NaN())
		}),
		s.row("time to BPLS's accuracy", Seconds, columns, func(c *bplsColumn) Cell { return s.timeCell(c, goal) }),
	}
	return t
}

// timeTo is when a run first has a test accuracy, NaN where it never has.
func timeTo(o *outcome, accuracy float64) float64 {
	if p := o.first(func(p *point) bool { return 1-p.testErr >= accuracy }); p != nil {
		return p.elapsed
	}
	return math.NaN()
}

// timeCell is the time to an accuracy. Runs that never have it count with all their time, which makes it a lower bound.
func (s *bplsStudy) timeCell(c *bplsColumn, accuracy float64) Cell {
	reached := 0
	v := s.figure(c.name, func(o *outcome) float64 {
		if t := timeTo(o, accuracy); !math.IsNaN(t) {
			reached++
			return t
		}
		return o.end().elapsed
	})
	cell := measured(v)
	if reached < len(v) {
		cell.Bound, cell.Note = AtLeast, fmt.Sprintf("%d of %d reached it", reached, len(v))
	}
	return cell
}

// madeOf is BPLS beside what it is made of.
func (s *bplsStudy) madeOf() Table {
	columns := s.named(func(c *bplsColumn) bool { return c.method == "bpls" })
	t := Table{
		Title: "Beside BPLS: least squares alone, " + s.title, Columns: names(columns),
		Notes: []string{
			"linear: no hidden layer, one solve, without and with a ridge of 0.01. random 50 and random 500: so many random tanh nodes, weights from ±0.1, under one solve.",
			"BPLS + ridge tanh: a tanh hidden layer in place of softmax.",
		},
	}
	s.addAccuracy(&t, columns, "", func(*bplsColumn) float64 { return math.Inf(1) })
	t.Rows = append(t.Rows, s.row("time", Seconds, columns, func(c *bplsColumn) Cell { return s.cell(c, secondsAtEnd, math.NaN()) }))
	return t
}

// addAccuracy adds the best accuracies by a time.
func (s *bplsStudy) addAccuracy(t *Table, columns []*bplsColumn, when string, by func(*bplsColumn) float64) {
	row := func(name string, pick func(train, test float64) float64) Row {
		return s.row(name+when, Percent, columns, func(c *bplsColumn) Cell {
			if math.IsNaN(by(c)) {
				return None()
			}
			return s.cell(c, func(o *outcome) float64 { return pick(within(o, by(c))) }, math.NaN())
		})
	}
	t.Rows = append(t.Rows, row("training", func(train, _ float64) float64 { return train }), row("test", func(_, test float64) float64 { return test }))
}

// budgets is BPLS beside methods that have as long as it.
func (s *bplsStudy) budgets(net bplsNet) Table {
	columns := s.named(func(c *bplsColumn) bool { return c.net == net && !c.rival && (c.budget || c.epochs == 0) })
	what := "the net of [T]"
	if net == tanhNet {
		what = "50 tanh nodes, U[−0.2, 0.2]"
	}
	seconds := s.budget(net)
	t := Table{
		Title: fmt.Sprintf("Beside BPLS: the same time, %s, %s", s.title, what), Columns: names(columns),
		Notes: []string{fmt.Sprintf("Best accuracy in the %.3g s that BPLS took to its end, and in %g times as long, on all cores; SGD 1 in single rows, Adam 64 in batches, SOAP with its defaults. At most %d trials.", seconds, s.factor, budgetTrials)},
	}
	s.addAccuracy(&t, columns, "", func(c *bplsColumn) float64 {
		if c.budget {
			return seconds
		}
		return math.Inf(1)
	})
	t.Rows = append(t.Rows, s.row("work, gradients", Count, columns, func(c *bplsColumn) Cell {
		return s.cell(c, func(o *outcome) float64 { return workWithin(o, seconds) }, math.NaN())
	}))
	s.addAccuracy(&t, columns, fmt.Sprintf(" in %g ×", s.factor), func(c *bplsColumn) float64 {
		if c.budget {
			return s.factor * seconds
		}
		return math.NaN()
	})
	return t
}
