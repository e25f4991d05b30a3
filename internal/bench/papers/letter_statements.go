package papers

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
)

// statements holds what the paper says of its table, in figures and in words, against the algorithms as printed.
func (r *letterRun) statements() []Statement {
	var list []Statement
	for i := range r.columns {
		if !math.IsNaN(r.columns[i].paper.test) {
			list = append(list, r.figuresReached(i)...)
		}
	}
	list = append(list, r.blocksHelp()...)
	list = append(list, r.committeesHelp()...)
	if !r.real {
		list = opened(list, "these are not the paper's data")
	}
	if r.options.Quick {
		list = opened(list, "a quick look decides nothing")
	}
	return list
}

// testRows is how many rows the errors are of.
func (r *letterRun) testRows() int { return r.problem.Test.Rows() }

// figuresReached compares each figure of a column with the paper's.
func (r *letterRun) figuresReached(i int) []Statement {
	column, all := &r.columns[i], r.results[i]
	paper := &column.paper
	claim := func(text string) string { return column.long + ": " + text }
	test := collect(all, testAtBest)
	mean, margin := shareInterval(test, r.testRows())
	train, epochs, work := collect(all, trainAtBest), collect(all, epochAtBest), collect(all, workAtBest)
	most, reached := r.paperWork(column), below(mean, margin, paper.test)
	list := []Statement{
		{Claim: claim("a test error of at most " + percent(paper.test)), Found: givenShare(test, r.testRows(), percent), Holds: reached},
		{Claim: claim("a training error there of at most " + percent(paper.train)), Found: given(train, percent), Holds: atMost(train, paper.train)},
		{Claim: claim(fmt.Sprintf("that test error by epoch %.1f, for no more work than the paper's %.0f gradients", paper.epochs, most)),
			Found: "its own best by epoch " + given(epochs, decimal) + ", by gradient " + given(work, whole),
			Holds: together([]Verdict{reached, atMost(epochs, paper.epochs), atMost(work, most)})},
	}
	if !math.IsNaN(paper.inner) {
		inner := collect(all, func(o *outcome) float64 { return perSolve(o.atBest()) })
		s := Statement{Claim: claim("inner iterations a solve of at most " + decimal(paper.inner)), Found: given(inner, decimal), Holds: atMost(inner, paper.inner)}
		if reached != Holds { // few iterations in too small a region are no merit
			s = s.open("the paper's test error is not shown to be reached")
		}
		list = append(list, s)
	}
	return list
}

// pairs returns a figure of the trials that two columns have of the same seeds, second less first.
func (r *letterRun) pairs(first, second string, figure func(*outcome) float64) []float64 {
	a, b := r.of(first), r.of(second)
	var d []float64
	for i := range min(len(a), len(b)) {
		if a[i] != nil && b[i] != nil {
			d = append(d, figure(b[i])-figure(a[i]))
		}
	}
	return d
}

// missed returns for each test row the share of a column's nets that misclassify it.
func (r *letterRun) missed(name string) []float64 {
	var sets [][]byte
	for _, o := range done(r.of(name)) {
		sets = append(sets, o.missed)
	}
	return missRates(sets, r.testRows())
}

// rowDifferences returns b − a, row by row.
func rowDifferences(a, b []float64) []float64 {
	return floats.SubTo(make([]float64, len(a)), b, a)
}

// blocksHelp is what the paper notes of block mode: four blocks are about three times as fast as online
// backpropagation, and a small bias improves the test, as the table has of two blocks.
func (r *letterRun) blocksHelp() []Statement {
	const four, two, batch = "C four blocks", "C two blocks", "C batch"
	var list []Statement
	if online, own := collect(r.of("A online"), secondsAtBest), collect(r.of(four), secondsAtBest); len(online) > 0 && len(own) > 0 {
		const ahead = 2.82 // 63.2 / 22.4 minutes
		a, _ := interval(online)
		b, _ := interval(own)
		list = append(list, Statement{
			Claim: fmt.Sprintf("C in four blocks: about three times (%.2f) as fast as online backpropagation", ahead),
			Found: fmt.Sprintf("%.1f times: %s against %s", a/b, given(own, seconds), given(online, seconds)),
			Holds: ratioAtLeast(online, own, ahead),
		}.timed(r.of("A online"), r.of(four)))
		if mean, margin := shareInterval(collect(r.of(four), testAtBest), r.testRows()); below(-mean, margin, -0.064) == Holds {
			list[0] = list[0].open("it stops at a test error above online backpropagation's in the paper")
		}
	}
	if d := r.pairs(two, batch, testAtBest); len(d) > 0 {
		mean, margin := pairedInterval(d, rowDifferences(r.missed(two), r.missed(batch)))
		list = append(list, Statement{
			Claim: "C in two blocks has a lower test error than batch mode",
			Found: "batch mode less this, seed by seed and on the same rows: " + intervalWords(mean, margin, len(d), percent),
			Holds: below(-mean, margin, 0),
		})
	}
	return list
}

// committeesHelp compares the committees of the paper with their own nets, and with the paper's.
func (r *letterRun) committeesHelp() []Statement {
	var list []Statement
	for i := range r.columns {
		c, net := &r.columns[i], &r.nets[i]
		if net.nets < 2 || math.IsNaN(c.paper.committeeTest) {
			continue
		}
		rows := rowDifferences(r.missed(c.name), net.missed)
		mean, margin := stat.Mean(rows, nil), normal*stat.StdErr(stat.StdDev(rows, nil), float64(len(rows)))
		own := sampled(net.test, r.testRows())
		figure := Statement{
			Claim: fmt.Sprintf("%s: a committee of ten has a test error of at most %s", c.long, percent(c.paper.committeeTest)),
			Found: fmt.Sprintf("%s ± %s (95 %%, of the rows) with %d nets", percent(net.test), percent(own), net.nets),
			Holds: below(net.test, own, c.paper.committeeTest),
		}
		against := Statement{
			Claim: c.long + ": the committee has a lower test error than its nets have on average",
			Found: fmt.Sprintf("%s against %s", percent(net.test), percent(stat.Mean(r.missed(c.name), nil))),
			Holds: decide(mean+margin < 0, mean-margin > 0),
		}
		if net.nets != 10 {
			const few = "the paper's committees are of ten nets"
			against, figure = against.open(few), figure.open(few)
		}
		list = append(list, against, figure)
	}
	return list
}

// decide is the verdict of two conditions, the first of which counts more.
func decide(holds, fails bool) Verdict {
	switch {
	case holds:
		return Holds
	case fails:
		return Fails
	}
	return Open
}
