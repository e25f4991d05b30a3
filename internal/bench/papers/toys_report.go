package papers

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// toyFigure is one of the two figures: runs[i][j] are those of method i at the toy's σ number j.
type toyFigure struct {
	*toy
	methods []toyMethod
	runs    [][][]toyRun
	loads   [][]float64 // the foreign load meanwhile: loads[i][j] beside runs[i][j]
}

// phase is one of a figure's two halves.
type phase struct {
	letter, name string
	of           func(toyRun) float64
}

var phases = []phase{
	{"a", "training", func(r toyRun) float64 { return r.train }},
	{"b", "test", func(r toyRun) float64 { return r.test }},
}

// of returns one number of every run, infinite for those that overflowed.
func (f *toyFigure) of(i, j int, number func(toyRun) float64) []float64 {
	v := make([]float64, len(f.runs[i][j]))
	for k, run := range f.runs[i][j] {
		v[k] = number(run)
	}
	return v
}

// rmseCell is the root of the mean of squares, with its standard error √Var(s)/(2·RMSE·√M_c). Runs that overflowed are
// told of and make it a lower bound.
func rmseCell(squares []float64) Cell {
	var finite []float64
	for _, s := range squares {
		if !math.IsInf(s, 0) {
			finite = append(finite, s)
		}
	}
	if len(finite) == 0 {
		c := None()
		c.Note = "every run overflowed"
		return c
	}
	c := Cell{Value: math.Sqrt(stat.Mean(finite, nil)), Paper: math.NaN()}
	if len(finite) > 1 && c.Value > 0 {
		c.Spread = stat.StdErr(stat.StdDev(finite, nil), float64(len(finite))) / (2 * c.Value)
	}
	if lost := len(squares) - len(finite); lost > 0 {
		c.Bound, c.Note = AtLeast, fmt.Sprintf("%d of %d overflowed", lost, len(squares))
	}
	return c
}

// expectedRMSE is what least squares of two lines has on average: with n = 5 training points, σ√(2(n − 2)) on them
// and σ√(2 Σ h(x)) at the test points, h(x) = 1/n + (x − x̄)²/Σ(x_i − x̄)² the variance of a fitted value.
func expectedRMSE(sigma float64, test bool) float64 {
	if !test {
		return sigma * math.Sqrt(2*(5-2))
	}
	sum := 0.0
	for x := 2.0; x <= 10; x += 2 {
		sum += 1./5 + (x-5)*(x-5)/40
	}
	return sigma * math.Sqrt(2*sum)
}

func (f *toyFigure) lines() bool { return f.data == "bpls-linear" }

func (f *toyFigure) tables() []Table {
	var all []Table
	for _, p := range phases {
		t := Table{
			Title: fmt.Sprintf("[T] figure %d%s: RMSE against σ, %s, %s", f.figure, p.letter, f.title, p.name),
			Notes: []string{
				"± is the standard error of the RMSE over the runs. The paper has curves and no numbers, and its values of σ are not in its text.",
				"BPLS: as printed, eq. 5 without a ridge. BPLS + ridge: the shortest change of all nodes together, and a ridge of 0.01, which the paper has not. random hidden: least squares over random nodes. lm: Levenberg-Marquardt, 100 iterations.",
			},
		}
		t.Columns = f.names()
		if f.lines() {
			t.Columns = append(t.Columns, "theory")
			t.Notes = append(t.Notes, "theory: what exact least squares of two lines has on average.")
		}
		for j, sigma := range f.sigmas {
			t.Rows = append(t.Rows, rowOf(fmt.Sprintf("σ = %g", sigma), Number, len(t.Columns), func(i int) Cell {
				if i == len(f.methods) {
					return figure(expectedRMSE(sigma, p.name == "test"))
				}
				return rmseCell(f.of(i, j, p.of))
			}))
		}
		t.Brief = []string{t.Rows[0].Name, t.Rows[len(t.Rows)-1].Name}
		all = append(all, t)
	}
	return append(all, f.times())
}

// times is how long a run takes, at the largest σ.
func (f *toyFigure) times() Table {
	t := Table{
		Title: fmt.Sprintf("Beside figure %d: time of a run, %s, σ = %g", f.figure, f.title, f.sigmas[len(f.sigmas)-1]),
		Notes: []string{"Runs go side by side, one on each core. ± is the standard deviation over them."},
	}
	t.Columns = f.names()
	t.Rows = []Row{
		rowOf("time of a run", Seconds, len(f.methods), func(i int) Cell { return measured(f.seconds(i)) }),
		rowOf("foreign load", Percent, len(f.methods), func(i int) Cell { return figure(f.loads[i][len(f.sigmas)-1]) }),
		rowOf("epochs at most", Count, len(f.methods), func(i int) Cell { return figure(float64(f.methods[i].steps)) }),
	}
	return t
}

func (f *toyFigure) seconds(i int) []float64 {
	return f.of(i, len(f.sigmas)-1, func(r toyRun) float64 { return r.seconds })
}

func (f *toyFigure) names() (all []string) {
	for _, m := range f.methods {
		all = append(all, m.name)
	}
	return all
}

// column returns the number of a method, or −1 where it was left out.
func (f *toyFigure) column(name string) int { return slices.Index(f.names(), name) }

// best returns the first-order method with the least RMSE at σ number j, or −1 where all were left out.
func (f *toyFigure) best(j int, of func(toyRun) float64) int {
	best, least := -1, math.Inf(1)
	for i, m := range f.methods {
		if mean := stat.Mean(f.of(i, j, of), nil); m.rival && (best < 0 || mean < least) {
			best, least = i, mean
		}
	}
	return best
}

// matching is by what factor an RMSE may be larger than another that it matches.
const matching = 1.05

func (f *toyFigure) statements() []Statement {
	all := []Statement{f.grows()}
	bpls := f.column("BPLS")
	if bpls < 0 {
		return all
	}
	if f.best(0, phases[0].of) < 0 {
		return all
	}
	surpass := "slightly surpasses"
	if !f.lines() {
		surpass = "somewhat more clearly outperforms"
	}
	all = append(all,
		f.against(bpls, phases[0], matching, fmt.Sprintf("%s: in training BPLS matches the best first-order method at every σ, within %.0f %%", f.title, 100*(matching-1))),
		f.against(bpls, phases[1], 1, fmt.Sprintf("%s: in the test BPLS %s the best first-order method at every σ", f.title, surpass)),
		f.faster(bpls))
	return all
}

// grows: "all algorithms exhibit deterioration in their performance when the noise power grows".
func (f *toyFigure) grows() Statement {
	s := Statement{Claim: fmt.Sprintf("%s: the errors of all methods grow with the noise", f.title)}
	var parts []Verdict
	worst := ""
	for i, m := range f.methods {
		for _, p := range phases {
			for j := 1; j < len(f.sigmas); j++ {
				v := atMost(differences(f.of(i, j-1, p.of), f.of(i, j, p.of), 1), 0)
				parts = append(parts, v)
				if v != Holds && worst == "" {
					worst = fmt.Sprintf("not shown of %s in %s from σ = %g to %g", m.name, p.name, f.sigmas[j-1], f.sigmas[j])
				}
			}
		}
	}
	s.Holds, s.Found = together(parts), worst
	if worst == "" {
		s.Found = "from each σ to the next, in training and test"
	}
	return s
}

// shown returns squares of which those of an RMSE below 10⁻⁶, which no plot shows, are all the same.
func shown(squares []float64) []float64 {
	for k, v := range squares {
		squares[k] = max(v, 1e-12)
	}
	return squares
}

// against holds BPLS against the best first-order method at every σ, run by run.
func (f *toyFigure) against(bpls int, p phase, factor float64, claim string) Statement {
	last := len(f.sigmas) - 1
	best := f.best(last, p.of)
	ours, theirs := rmseCell(f.of(bpls, last, p.of)), rmseCell(f.of(best, last, p.of))
	return f.everywhere(claim, fmt.Sprintf("%.3g ± %.1g, %s %.3g ± %.1g", ours.Value, ours.Spread, f.methods[best].name, theirs.Value, theirs.Spread),
		func(j int) Verdict {
			return atMost(differences(shown(f.of(bpls, j, p.of)), shown(f.of(f.best(j, p.of), j, p.of)), factor*factor), 0)
		})
}

// everywhere is a claim that is to hold at every σ, with what is at the last one.
func (f *toyFigure) everywhere(claim, last string, at func(j int) Verdict) Statement {
	var parts []Verdict
	held := 0
	for j := range f.sigmas {
		v := at(j)
		if v == Holds {
			held++
		}
		parts = append(parts, v)
	}
	return Statement{Claim: claim, Holds: together(parts),
		Found: fmt.Sprintf("so at %d of %d values of σ; at σ = %g %s", held, len(parts), f.sigmas[len(parts)-1], last)}
}

// faster: "significantly faster that the existing ones, and requires a single iteration (epoch)".
func (f *toyFigure) faster(bpls int) Statement {
	s := Statement{Claim: f.title + ": BPLS is faster than every first-order method, in one epoch"}
	var parts []Verdict
	own := f.seconds(bpls)
	var loads []float64 // but those beside BPLS, whose runs are over before a system has counted anything
	least := math.Inf(1)
	for i, m := range f.methods {
		if m.rival {
			theirs := f.seconds(i)
			loads = append(loads, f.loads[i][len(f.sigmas)-1])
			parts = append(parts, atMost(differences(own, theirs, 1), 0))
			least = min(least, stat.Mean(theirs, nil)/stat.Mean(own, nil))
		}
	}
	s.Found = fmt.Sprintf("the fastest of them takes %.2g × its time for 1,000 epochs", least)
	s.Holds = together(parts)
	return s.timedBy(loads)
}
