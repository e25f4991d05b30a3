package papers

import (
	"fmt"
	"math"
)

// statements holds every figure of the table, and what the paper says of it in words, against what was found.
func (r *letterRun) statements() []Statement {
	var list []Statement
	for i := range r.columns {
		if !math.IsNaN(r.columns[i].paper.test) {
			list = append(list, r.figuresReached(i)...)
		}
	}
	if !r.real { // the figures are of other data
		list = undecided(list)
	}
	list = append(list, r.timesCompared()...)
	list = append(list, r.blocksHelp()...)
	list = append(list, r.committeesHelp()...)
	if r.options.Quick {
		list = undecided(list)
	}
	return list
}

// figuresReached compares each figure of a column with the paper's.
func (r *letterRun) figuresReached(i int) []Statement {
	column, all := &r.columns[i], r.results[i]
	paper := &column.paper
	var list []Statement
	for _, f := range []struct {
		claim  string
		figure func(*outcome) float64
		bound  float64
		write  func(float64) string
	}{
		{"a test error of at most", testAtBest, paper.test, percent},
		{"a training error there of at most", trainAtBest, paper.train, percent},
		{"the best test by epoch", epochAtBest, paper.epochs, decimal},
		{"inner iterations a solve of at most", func(o *outcome) float64 { return perSolve(o.atBest()) }, paper.inner, decimal},
	} {
		if math.IsNaN(f.bound) {
			continue
		}
		v := collect(all, f.figure)
		list = append(list, Statement{
			Claim: column.long + ": " + f.claim + " " + f.write(f.bound), Found: given(v, f.write), Holds: atMost(v, f.bound),
		})
	}
	return list
}

// timesCompared says how far C is ahead of online backpropagation, and in which order its modes are.
func (r *letterRun) timesCompared() []Statement {
	var list []Statement
	online := collect(r.of("A online"), secondsAtBest)
	for i := range r.columns {
		c := &r.columns[i]
		if c.optimizer == "online-bp" || math.IsNaN(c.paper.ahead) || len(online) == 0 {
			continue
		}
		own := collect(r.results[i], secondsAtBest)
		a, _ := interval(online)
		b, _ := interval(own)
		list = append(list, Statement{
			Claim: fmt.Sprintf("%s: at least %.1f times ahead of online backpropagation", c.long, c.paper.ahead),
			Found: fmt.Sprintf("%.1f times: %s against %s", a/b, given(own, seconds), given(online, seconds)),
			Holds: ratioAtLeast(online, own, c.paper.ahead),
		})
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

// blocksHelp is what the paper notes of block mode: less time, and a lower test error.
func (r *letterRun) blocksHelp() []Statement {
	var list []Statement
	for _, mode := range []string{"C four blocks", "C two blocks"} {
		for _, f := range []struct {
			claim  string
			figure func(*outcome) float64
			write  func(float64) string
		}{
			{"takes less time to its best test than batch mode", secondsAtBest, seconds},
			{"has a lower test error than batch mode", testAtBest, percent},
		} {
			if d := r.pairs(mode, "C batch", f.figure); len(d) > 0 {
				list = append(list, Statement{
					Claim: mode + " " + f.claim, Found: "batch mode less this, seed by seed: " + given(d, f.write), Holds: atLeast(d, 0),
				})
			}
		}
	}
	return list
}

// committeesHelp compares committees with the paper's, and with their own nets.
func (r *letterRun) committeesHelp() []Statement {
	var list []Statement
	for i := range r.columns {
		c, net := &r.columns[i], &r.nets[i]
		if net.nets < 2 {
			continue
		}
		mean, margin := interval(collect(r.results[i], testAtBest))
		list = append(list, Statement{
			Claim: c.long + ": the committee has a lower test error than its nets have on average",
			Found: fmt.Sprintf("%s against %s", percent(net.test), percent(mean)),
			Holds: decide(net.test < mean-margin, net.test > mean+margin),
		})
		if math.IsNaN(c.paper.committeeTest) {
			continue
		}
		verdict := decide(net.train <= c.paper.committeeTrain && net.test <= c.paper.committeeTest, true)
		if !r.real || net.nets != 10 {
			verdict = Open
		}
		list = append(list, Statement{
			Claim: fmt.Sprintf("%s: a committee of ten has errors of at most %s in training and %s in the test", c.long,
				percent(c.paper.committeeTrain), percent(c.paper.committeeTest)),
			Found: fmt.Sprintf("%s and %s with %d nets", percent(net.train), percent(net.test), net.nets),
			Holds: verdict,
		})
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
