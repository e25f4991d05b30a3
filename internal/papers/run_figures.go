package papers

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"newtop/models"
)

// confidence is that of the intervals that verdicts on means over trials rest on, by Student's t.
const confidence = 0.95

// interval returns within what the mean of v lies with that confidence: mean ± margin. One number tells no margin: it is
// +Inf then, and NaN with none.
func interval(v []float64) (mean, margin float64) {
	n := float64(len(v))
	switch len(v) {
	case 0:
		return math.NaN(), math.NaN()
	case 1:
		return v[0], math.Inf(1)
	}
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: n - 1}.Quantile((1 + confidence) / 2)
	return stat.Mean(v, nil), t * stat.StdErr(stat.StdDev(v, nil), n)
}

// atMost holds if the whole interval of the mean of v is at most bound, and fails if none of it is.
func atMost(v []float64, bound float64) Verdict {
	mean, margin := interval(v)
	switch {
	case mean+margin <= bound:
		return Holds
	case mean-margin > bound:
		return Fails
	}
	return Open
}

// atLeast is atMost the other way round.
func atLeast(v []float64, bound float64) Verdict {
	negative := make([]float64, len(v))
	for i := range v {
		negative[i] = -v[i]
	}
	return atMost(negative, -bound)
}

// ratioAtLeast holds if the mean of a is at least factor times that of b, in this sense: the intervals of both are taken
// at the ends that speak against it. It fails if it is not so at the ends that speak for it. The numbers are positive.
func ratioAtLeast(a, b []float64, factor float64) Verdict {
	x, dx := interval(a)
	y, dy := interval(b)
	switch {
	case x-dx >= factor*(y+dy):
		return Holds
	case x+dx < factor*max(0, y-dy):
		return Fails
	}
	return Open
}

// collect returns a figure of every outcome that there is. A NaN is no figure.
func collect(outcomes []*outcome, figure func(*outcome) float64) []float64 {
	var v []float64
	for _, o := range outcomes {
		if o == nil {
			continue
		}
		if f := figure(o); !math.IsNaN(f) {
			v = append(v, f)
		}
	}
	return v
}

// done returns those outcomes that there are.
func done(outcomes []*outcome) []*outcome {
	var some []*outcome
	for _, o := range outcomes {
		if o != nil {
			some = append(some, o)
		}
	}
	return some
}

// grid is what came of the trials of a table.
type grid struct {
	names   []string     // of the columns
	results [][]*outcome // of each column, by seed; nil: not finished
}

// of returns the trials of a column, nil if it was not chosen.
func (g *grid) of(name string) []*outcome {
	if i := slices.Index(g.names, name); i >= 0 {
		return g.results[i]
	}
	return nil
}

// shortage says which of so many trials of a column are not there or diverged; empty where all is well.
func (g *grid) shortage(i, trials int) string {
	var list []string
	if n := len(done(g.results[i])); n < trials {
		list = append(list, fmt.Sprintf("%d of %d trials", n, trials))
	}
	if text := lost(g.results[i]); text != "" {
		list = append(list, text)
	}
	return strings.Join(list, "; ")
}

// beside is a cell of the mean with the paper's figure beside it.
func beside(v []float64, paper float64) Cell {
	c := measured(v)
	c.Paper = paper
	return c
}

// given writes the mean and the margin of its interval, each with what writes a figure.
func given(v []float64, write func(float64) string) string {
	mean, margin := interval(v)
	switch {
	case len(v) == 0:
		return "not measured"
	case len(v) == 1:
		return write(mean) + " in one trial"
	}
	return fmt.Sprintf("%s ± %s (95 %%) over %d trials", write(mean), write(margin), len(v))
}

// Writers of figures.
func percent(v float64) string { return fmt.Sprintf("%.2f %%", 100*v) }

func decimal(v float64) string { return fmt.Sprintf("%.1f", v) }

func seconds(v float64) string {
	if math.Abs(v) >= 100 {
		return fmt.Sprintf("%.0f s", v)
	}
	return fmt.Sprintf("%.3g s", v)
}

// lost says what became of trials that diverged; empty where none did.
func lost(outcomes []*outcome) string {
	diverged := 0
	for _, o := range outcomes {
		if o != nil && o.diverged != nil {
			diverged++
		}
	}
	if diverged == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d diverged", diverged, len(done(outcomes)))
}

// shapeOf writes the layers of a network, as 16-70-50-26.
func shapeOf(n *models.Network) string {
	a := n.Architecture()
	text := fmt.Sprint(a.Inputs)
	for _, l := range a.Layers {
		text += fmt.Sprintf("-%d", l.Nodes)
	}
	return text
}

// join writes a list as "a, b and c".
func join(list []string) string {
	if len(list) < 2 {
		return strings.Join(list, "")
	}
	last := len(list) - 1
	return strings.Join(list[:last], ", ") + " and " + list[last]
}

// rounded is a number to three digits.
func rounded(v float64) float64 {
	if v == 0 || math.IsNaN(v) || math.IsInf(v, 0) {
		return v
	}
	unit := math.Pow(10, math.Floor(math.Log10(math.Abs(v)))-2)
	return math.Round(v/unit) * unit
}
