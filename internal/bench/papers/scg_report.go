package papers

import (
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/gonum/stat"
)

// table is what the runs of a problem took.
func (s *scgStudy) table() Table {
	t := Table{
		Title: fmt.Sprintf("[M] §4.1: SCG to a training loss of %g on %s, %s", s.loss, s.name, s.net),
		Notes: []string{fmt.Sprintf("A run that does not reach the loss in %d iterations counts with those it did, and makes the mean a lower bound.", s.most),
			"SCG is as published (form=published): it starts again from the steepest descent every N steps and nowhere else, and Δ has no bound. " +
				"newtop's default bounds Δ and starts again where p is no direction of descent."},
	}
	rows := []struct {
		name string
		unit Unit
		of   func(scgRun) float64
	}{
		{"iterations", Count, func(r scgRun) float64 { return r.Iterations }},
		{"gradient equivalents", Count, func(r scgRun) float64 { return r.Equivalents }},
		{"time", Seconds, func(r scgRun) float64 { return r.Seconds }},
	}
	for _, c := range s.columns {
		t.Columns = append(t.Columns, c.name)
	}
	t.Brief = []string{"iterations", "gradient equivalents"}
	for _, row := range rows {
		cells := make([]Cell, len(s.columns))
		for i := range s.columns {
			cells[i] = measured(s.of(i, row.of))
			if n := s.reached(i); n < len(s.runs[i]) {
				cells[i].Bound, cells[i].Note = AtLeast, fmt.Sprintf("%d of %d reached it", n, len(s.runs[i]))
			}
		}
		t.Rows = append(t.Rows, Row{Name: row.name, Unit: row.unit, Cells: cells})
	}
	return t
}

func (s *scgStudy) of(column int, f func(scgRun) float64) []float64 {
	v := make([]float64, len(s.runs[column]))
	for k, r := range s.runs[column] {
		v[k] = f(r)
	}
	return v
}

func (s *scgStudy) reached(column int) int {
	n := 0
	for _, r := range s.runs[column] {
		if r.Reached {
			n++
		}
	}
	return n
}

// scgErrors is the error of differences over σ, at the start and at the end of training.
func scgErrors(studies []*scgStudy) Table {
	t := Table{
		Title: "[M eq. 15]: relative error of a difference against σ",
		Notes: []string{
			"‖(E'(w + σ_k p) − E'(w))/σ_k − E''p‖ / ‖E''p‖ for p = −E'(w), σ_k = σ/‖p‖: geometric means over the seeds, at the starting weights and where the loss is reached.",
			"2u/σ: what the paper's 2ε/σ is for gradients that are right to the last bit, u = 2⁻⁵³. In single precision every figure below the least error is met at a σ 5·10⁸ times as large.",
		},
	}
	for _, s := range studies {
		t.Columns = append(t.Columns, s.name+" start", s.name+" end")
	}
	t.Columns = append(t.Columns, "2u/σ")
	for i, sigma := range scgSigmas {
		row := Row{Name: fmt.Sprintf("σ = %.0e", sigma)}
		for _, s := range studies {
			row.Cells = append(row.Cells, figure(geometric(s.start[i])), figure(geometric(s.end[i])))
		}
		row.Cells = append(row.Cells, figure(0x1p-52/sigma))
		t.Rows = append(t.Rows, row)
	}
	return t
}

// scgPrices is what products cost.
func scgPrices(studies []*scgStudy) Table {
	t := Table{
		Title: "[M §3]: a gradient with an exact product, in gradients",
		Notes: []string{"A gradient and an Hv over a gradient alone, which keeps nothing for products. By the clock: for each seed the median over rounds in which both took turns. A gradient with a difference costs 2."},
	}
	for _, s := range studies {
		t.Columns = append(t.Columns, s.name)
	}
	t.Brief = []string{"multiplications", "time"}
	t.Rows = []Row{
		rowOf("multiplications", Ratio, len(studies), func(i int) Cell { return Cell{Value: studies[i].price.counted, Paper: priceOfM} }),
		rowOf("foreign load", Percent, len(studies), func(i int) Cell { return measured(studies[i].price.loads) }),
		rowOf("time", Ratio, len(studies), func(i int) Cell { return beside(studies[i].price.timed, priceOfM) }),
	}
	return t
}

// priceOfM is "about 2.5 times the time complexity of a gradient calculation alone" [M §3].
const priceOfM = 2.5

// publishedSigma is the largest σ of the published algorithm, and the default here.
const publishedSigma = 1e-4

func scgStatements(studies []*scgStudy) []Statement {
	exact, published := -1, -1
	if len(studies) > 0 {
		for i, c := range studies[0].columns {
			switch c.sigma {
			case 0:
				exact = i
			case publishedSigma:
				published = i
			}
		}
	}
	var all []Statement
	if exact >= 0 && published >= 0 {
		const unnamed = "the paper does not name its test problems"
		all = append(all,
			scgCompare(studies, exact, published, func(r scgRun) float64 { return r.Equivalents },
				"[M §4.1] a minor speed-up by exact products: less work to the loss than with σ = 1e-4").open(unnamed),
			scgCompare(studies, exact, published, func(r scgRun) float64 { return r.Seconds },
				"[M §4.1] a minor speed-up by exact products: less time to the loss than with σ = 1e-4").open(unnamed))
	}
	return append(all, scgSlope(studies), scgPriceHolds(studies))
}

// logRatios returns log(a/b) run by run over all problems. A run that did not reach its loss counts as it ended.
func logRatios(studies []*scgStudy, a, b int, of func(scgRun) float64) []float64 {
	var all []float64
	for _, s := range studies {
		x, y := s.of(a, of), s.of(b, of)
		for k := range x {
			if x[k] > 0 && y[k] > 0 {
				all = append(all, math.Log(x[k]/y[k]))
			}
		}
	}
	return all
}

// scgCompare holds column a against b, seed by seed: the geometric mean of the ratios must be below 1.
func scgCompare(studies []*scgStudy, a, b int, of func(scgRun) float64, claim string) Statement {
	logs := logRatios(studies, a, b, of)
	mean, low, high := geometricRange(logs)
	var each []string
	for _, s := range studies {
		m, _, _ := geometricRange(logRatios([]*scgStudy{s}, a, b, of))
		each = append(each, fmt.Sprintf("%.2f on %s", m, s.name))
	}
	return Statement{
		Claim: claim,
		Found: fmt.Sprintf("%.2f × over all pairs of runs (%.2f to %.2f by two standard errors): %s", mean, low, high, strings.Join(each, ", ")),
		Holds: atMost(logs, 0),
	}
}

// geometricRange returns the geometric mean of ratios by their logarithms, and two standard errors to each side.
func geometricRange(logs []float64) (mean, low, high float64) {
	if len(logs) == 0 {
		return math.NaN(), math.NaN(), math.NaN()
	}
	m, sd := moments(logs)
	margin := 2 * sd / math.Sqrt(float64(len(logs)))
	return math.Exp(m), math.Exp(m - margin), math.Exp(m + margin)
}

// roundingFrom is the σ from which on downwards rounding is all of a difference's error on the problems here.
const roundingFrom = 1e-10

// scgSlope: "the relative error gets higher when σ is lowered", as 1/σ where rounding is all of it.
func scgSlope(studies []*scgStudy) Statement {
	s := Statement{Claim: "[M §4.1] the error of a difference grows as 1/σ when σ is lowered"}
	var parts []Verdict
	low, high := math.Inf(1), math.Inf(-1)
	least, most := math.Inf(1), 0.0
	for _, study := range studies {
		for _, errors := range [][][]float64{study.start, study.end} {
			slope := slopeBelow(errors, roundingFrom)
			low, high = min(low, slope), max(high, slope)
			parts = append(parts, decide(slope < -0.8 && slope > -1.2, true))
			for i, sigma := range scgSigmas {
				if sigma <= roundingFrom && sigma > 1e-15 {
					c := geometric(errors[i]) * sigma / 0x1p-52
					least, most = min(least, c), max(most, c)
				}
			}
		}
	}
	s.Found = fmt.Sprintf("as σ to the power of %.2f to %.2f from 1e-10 to 1e-14, and %.2g to %.2g times 2u/σ", low, high, least, most)
	s.Holds = together(parts)
	return s
}

// slopeBelow is that of log error over log σ, by least squares, from 1e-14 to a largest σ.
func slopeBelow(errors [][]float64, most float64) float64 {
	var x, y []float64
	for i, sigma := range scgSigmas {
		if sigma <= most && sigma > 1e-15 {
			x, y = append(x, math.Log(sigma)), append(y, math.Log(geometric(errors[i])))
		}
	}
	_, slope := stat.LinearRegression(x, y, nil, false)
	return slope
}

// scgPriceHolds holds the time of products against the paper's.
func scgPriceHolds(studies []*scgStudy) Statement {
	s := Statement{Claim: fmt.Sprintf("[M §3] a gradient with an exact product takes at most about %g times a gradient alone", priceOfM)}
	var found []string
	var parts []Verdict
	for _, study := range studies {
		over := make([]float64, len(study.price.timed))
		for i, v := range study.price.timed {
			over[i] = v - 1.05*priceOfM
		}
		mean, _ := moments(study.price.timed)
		parts = append(parts, atMost(over, 0))
		found = append(found, fmt.Sprintf("%.2f × on %s", mean, study.name))
	}
	s.Found, s.Holds = strings.Join(found, ", "), together(parts)
	var loads []float64
	for _, study := range studies {
		loads = append(loads, study.price.loads...)
	}
	return s.timedBy(loads)
}
