package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"newtop/internal/bench/papers"
	"newtop/internal/cli/print"
)

// nothing stands where a figure was not measured.
const nothing = "–"

// digits are those of a figure of newtop's that count.
const digits = 3

// mostDecimals are the digits behind a point; what needs more is written with a power of ten.
const mostDecimals = 6

// scale is what a figure of a unit is multiplied by before it is written, and what stands behind it.
type scale struct {
	by   float64
	unit string
}

// scaleOf returns how a value is written. Times have the unit that suits their size.
func scaleOf(u papers.Unit, v float64) scale {
	switch u {
	case papers.Percent: // the sign stands in the row's name
		return scale{by: 100}
	case papers.Ratio:
		return scale{1, " ×"}
	case papers.Seconds:
		switch v = math.Abs(v); {
		case v == 0:
			return scale{1, " s"}
		case v < 1e-3:
			return scale{1e6, " µs"}
		case v < 0.1:
			return scale{1e3, " ms"}
		case v < 120:
			return scale{1, " s"}
		case v < 7200:
			return scale{1. / 60, " min"}
		}
		return scale{1. / 3600, " h"}
	}
	return scale{by: 1}
}

// rowName returns a row's name, with its unit where the figures are written without.
func rowName(r *papers.Row) string {
	if r.Unit == papers.Percent && !strings.Contains(r.Name, "%") {
		return r.Name + ", %"
	}
	return r.Name
}

// ours writes newtop's figure of a cell with its bound and its spread.
func ours(c *papers.Cell, u papers.Unit) string {
	switch {
	case math.IsNaN(c.Value):
		return nothing
	case math.IsInf(c.Value, 0):
		return "∞"
	}
	s := scaleOf(u, c.Value)
	v, spread := c.Value*s.by, c.Spread*s.by
	places, form := decimals(v, spread), byte('f')
	switch {
	case u == papers.Count:
		places = countDecimals(v, spread)
	case places > mostDecimals:
		places, form = digits-1, 'e'
	}
	text := strconv.FormatFloat(v, form, places, 64)
	switch {
	case math.IsInf(spread, 1):
		text += " ± ∞"
	case spread > 0:
		text += " ± " + strconv.FormatFloat(spread, form, places, 64)
	}
	switch c.Bound {
	case papers.AtLeast:
		text = "≥ " + text
	case papers.AtMost:
		text = "≤ " + text
	}
	return text + s.unit
}

// decimals returns how many digits behind the point show a figure to three digits, and at least one of its spread.
func decimals(v, spread float64) int {
	places := digits - 1 - exponent(v)
	if spread > 0 && !math.IsInf(spread, 0) {
		places = max(places, min(-exponent(spread), places+2))
	}
	return max(places, 0)
}

// countDecimals is decimals for a mean of whole numbers; what is whole itself has none.
func countDecimals(v, spread float64) int {
	if math.Abs(v) >= 1000 || v == math.Trunc(v) && !(spread > 0) {
		return 0
	}
	return 1
}

// exponent returns a number's power of ten, that of 1 for 0.
func exponent(v float64) int {
	if v == 0 {
		return 0
	}
	return int(math.Floor(math.Log10(math.Abs(v))))
}

// papersOwn writes the paper's figure of a cell with the digits that it was printed with; empty where it has none.
func papersOwn(c *papers.Cell, u papers.Unit) string {
	if math.IsNaN(c.Paper) {
		return ""
	}
	s := scaleOf(u, c.Paper)
	const printed = 7 // digits that conversion to per cent or from minutes leaves right
	v, err := strconv.ParseFloat(strconv.FormatFloat(c.Paper*s.by, 'g', printed, 64), 64)
	if u == papers.Seconds && s.unit != " s" { // converted twice
		v, err = strconv.ParseFloat(strconv.FormatFloat(c.Paper*s.by, 'g', printed-3, 64), 64)
	}
	if err != nil {
		panic("cli: a number that was just written: " + err.Error())
	}
	return strconv.FormatFloat(v, 'f', -1, 64) + s.unit
}

// seedsText writes seeds, consecutive ones as a range.
func seedsText(seeds []uint64) string {
	if len(seeds) == 0 {
		return ""
	}
	for i, s := range seeds {
		if s != seeds[0]+uint64(i) {
			return "seeds " + strings.Trim(fmt.Sprint(seeds), "[]")
		}
	}
	if len(seeds) == 1 {
		return fmt.Sprint("seed ", seeds[0])
	}
	return fmt.Sprintf("seeds %d…%d", seeds[0], seeds[len(seeds)-1])
}

// verdicts are the words for whether a claim holds.
var verdicts = map[papers.Verdict]string{papers.Open: "open", papers.Holds: "holds", papers.Fails: "fails"}

// tally counts the verdicts in words.
func tally(list []papers.Statement) string {
	n := map[papers.Verdict]int{}
	for i := range list {
		n[list[i].Holds]++
	}
	hold, fail := "hold", "fail"
	if n[papers.Holds] == 1 {
		hold = "holds"
	}
	if n[papers.Fails] == 1 {
		fail = "fails"
	}
	return fmt.Sprintf("of %s %d %s, %d %s, %d open", print.Count(len(list), "claim"), n[papers.Holds], hold, n[papers.Fails], fail, n[papers.Open])
}
