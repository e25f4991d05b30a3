package papers

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// confidence is that of the intervals that verdicts rest on.
const confidence = 0.95

// normal is how many standard deviations to either side of a normal mean have that confidence.
var normal = distuv.UnitNormal.Quantile((1 + confidence) / 2)

// fewest is how many equal values tell that there is no spread, as many as the papers' smallest number of trials. Fewer
// tell nothing about it: two trials that end in the same epoch may be one chance in ten.
const fewest = 10

// interval returns within what the mean of v lies with that confidence, by Student's t: mean ± margin. The margin is +Inf
// of one number, and of fewer than fewest equal ones, and NaN of none.
func interval(v []float64) (mean, margin float64) {
	n := float64(len(v))
	switch {
	case len(v) == 0:
		return math.NaN(), math.NaN()
	case len(v) == 1:
		return v[0], math.Inf(1)
	case len(v) < fewest && slices.Min(v) == slices.Max(v):
		return v[0], math.Inf(1)
	}
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: n - 1}.Quantile((1 + confidence) / 2)
	return stat.Mean(v, nil), t * stat.StdErr(stat.StdDev(v, nil), n)
}

// sampled returns the margin that a share p of so many test rows has because other rows might have been drawn: binomial,
// with two rows of either kind added (Agresti & Coull 1998), so that a share of 0 has one too.
func sampled(p float64, rows int) float64 {
	n := float64(rows) + 4
	q := (p*float64(rows) + 2) / n
	return normal * math.Sqrt(q*(1-q)/n)
}

// shareInterval is interval for errors, or accuracies, of trials that all met the same so many test rows: the rows' margin
// is in it.
func shareInterval(v []float64, rows int) (mean, margin float64) {
	mean, margin = interval(v)
	return mean, math.Hypot(margin, sampled(mean, rows))
}

// pairedInterval is the interval of the mean difference of two sides by seed, as differences has it, where both met the
// same test rows: each row tells how much more often one side missed it, and the rows' margin is the spread of that.
func pairedInterval(differences, rows []float64) (mean, margin float64) {
	mean, margin = interval(differences)
	return mean, math.Hypot(margin, normal*stat.StdErr(stat.StdDev(rows, nil), float64(len(rows))))
}

// below holds if the whole interval is at most bound, and fails if none of it is.
func below(mean, margin, bound float64) Verdict {
	switch {
	case mean+margin <= bound:
		return Holds
	case mean-margin > bound:
		return Fails
	}
	return Open
}

// atMost is below for the interval of the mean of v.
func atMost(v []float64, bound float64) Verdict {
	mean, margin := interval(v)
	return below(mean, margin, bound)
}

// atLeast is atMost the other way round.
func atLeast(v []float64, bound float64) Verdict {
	mean, margin := interval(v)
	return below(-mean, margin, -bound)
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

// quiet is the most foreign load beside which a time says something.
const quiet = 0.05

// timed leaves a claim about times open unless all their trials ran on a quiet machine.
func (s Statement) timed(trials ...[]*outcome) Statement {
	var loads []float64
	for _, list := range trials {
		loads = append(loads, collectLoads(list)...)
	}
	return s.timedBy(loads)
}

// timedBy is timed for foreign loads. One that is not known is none to rely on.
func (s Statement) timedBy(loads []float64) Statement {
	most := 0.0
	for _, l := range loads {
		if math.IsNaN(l) {
			return s.open("the load of the machine is not known")
		}
		most = max(most, l)
	}
	if most > quiet {
		return s.open(fmt.Sprintf("others took up to %.0f %% of the processors, and with more than %.0f %% a time decides nothing", 100*most, 100*quiet))
	}
	return s
}

func collectLoads(list []*outcome) (loads []float64) {
	for _, o := range done(list) {
		loads = append(loads, o.foreign)
	}
	return loads
}

// open leaves a claim open for a reason, and says what it would be otherwise.
func (s Statement) open(why string) Statement {
	switch s.Holds {
	case Holds:
		s.Why = "would hold; " + why
	case Fails:
		s.Why = "would fail; " + why
	}
	s.Holds = Open
	return s
}

// opened leaves all claims open for a reason.
func opened(list []Statement, why string) []Statement {
	for i := range list {
		list[i] = list[i].open(why)
	}
	return list
}

// given writes the mean and the margin of its interval, each with what writes a figure.
func given(v []float64, write func(float64) string) string {
	mean, margin := interval(v)
	return intervalWords(mean, margin, len(v), write)
}

// givenShare is given for errors on the same so many test rows.
func givenShare(v []float64, rows int, write func(float64) string) string {
	mean, margin := shareInterval(v, rows)
	return intervalWords(mean, margin, len(v), write)
}

func intervalWords(mean, margin float64, trials int, write func(float64) string) string {
	switch {
	case trials == 0:
		return "not measured"
	case trials == 1:
		return write(mean) + " in one trial"
	case math.IsInf(margin, 1):
		return fmt.Sprintf("%s in each of %d trials", write(mean), trials)
	}
	return fmt.Sprintf("%s ± %s (95 %%) over %d trials", write(mean), write(margin), trials)
}
