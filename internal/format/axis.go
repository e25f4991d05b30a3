package format

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// Units of an axis that change how its labels are written; another unit follows the number after a space.
const (
	PercentUnit = "%" // the values are shares: 0.05 is "5 %"
	SecondsUnit = "s" // whole seconds become minutes and hours where there are many
)

// Labels writes the values of one axis in one style: three significant digits, more where ticks that are not alike
// would read alike, and large numbers with an SI letter. Where a tick is beyond the letters, or small, all have an
// exponent.
type Labels struct {
	unit            string
	digits          int
	exponent, clock bool
}

// Exponents of ten of the largest and the smallest values that are written without an exponent.
const (
	largest  = 14
	smallest = -4
)

// AxisLabels returns how an axis with these ticks is labelled.
func AxisLabels(ticks []float64, unit string) Labels {
	l := Labels{unit: unit, digits: 3}
	minSize, maxSize := math.Inf(1), 0.0
	for _, v := range ticks {
		if v == 0 || !Finite(v) {
			continue
		}
		e := exponentOf(l.scaled(v), l.digits)
		l.exponent = l.exponent || e > largest || e < smallest
		minSize, maxSize = min(minSize, math.Abs(v)), max(maxSize, math.Abs(v))
	}
	l.clock = unit == SecondsUnit && maxSize >= 100 && maxSize < 1e9 && minSize >= 1
	const longest = 12
	for l.digits < longest && l.inexact(ticks) {
		l.digits++
	}
	return l
}

// inexact reports whether the digits move a tick by a part of the distance to its neighbour that can be seen.
func (l Labels) inexact(ticks []float64) bool {
	sorted := slices.Sorted(slices.Values(ticks))
	for i, v := range sorted {
		gap := math.Inf(1)
		if i > 0 {
			gap = v - sorted[i-1]
		}
		if i+1 < len(sorted) {
			gap = min(gap, sorted[i+1]-v)
		}
		if gap > 0 && Finite(gap) && math.Abs(Significant(v, l.digits)-v) > gap/20 {
			return true
		}
	}
	return false
}

// Of writes a value of the axis.
func (l Labels) Of(v float64) string {
	switch {
	case !Finite(v):
		return Number(v)
	case l.clock:
		return Clock(math.Round(v))
	case l.unit == "":
		return l.number(v)
	}
	return l.number(l.scaled(v)) + " " + l.unit
}

// All writes the ticks, as "" that which reads as the one before.
func (l Labels) All(ticks []float64) []string {
	labels := make([]string, len(ticks))
	for i, v := range ticks {
		labels[i] = l.Of(v)
	}
	for i := len(labels) - 1; i > 0; i-- {
		if labels[i] == labels[i-1] {
			labels[i] = ""
		}
	}
	return labels
}

func (l Labels) scaled(v float64) float64 {
	if l.unit == PercentUnit {
		return 100 * v
	}
	return v
}

func (l Labels) number(v float64) string {
	if v == 0 {
		return "0"
	}
	if l.exponent {
		mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(v, 'e', l.digits-1, 64), "e")
		if e, _ := strconv.Atoi(exponent); e != 0 {
			return trimmed(mantissa) + "e" + strconv.Itoa(e)
		}
		return trimmed(mantissa)
	}
	e, letter := exponentOf(v, l.digits), ""
	if e >= 3 {
		u := units[max(len(units)-e/3, 0)]
		v, letter = v/u.size, u.letter
		e -= int(math.Round(math.Log10(u.size)))
	}
	return trimmed(strconv.FormatFloat(v, 'f', max(0, l.digits-1-e), 64)) + letter
}

// exponentOf is that of a number rounded to that many digits.
func exponentOf(v float64, digits int) int {
	s := strconv.FormatFloat(v, 'e', digits-1, 64)
	e, _ := strconv.Atoi(s[strings.IndexByte(s, 'e')+1:])
	return e
}

// trimmed drops zeros that end a decimal fraction.
func trimmed(s string) string {
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}

// Tick writes a number with three significant digits, as short as its value allows.
func Tick(v float64) string { return AxisLabels([]float64{v}, "").Of(v) }

// Target writes what a measure is to reach, with the digits that it was given with: of a share 0.0125 is "1.25 %".
func Target(v float64, share bool) string {
	const digits = 6
	if share {
		return Target(100*v, false) + " " + PercentUnit
	}
	return Brief(strconv.FormatFloat(Significant(v, digits), 'g', -1, 64))
}

// Setting writes the value of a setting with four significant digits at most, for where it is shown and not edited or
// recorded: 4.656612873077393e-10 is 4.657e-10.
func Setting(text string) string {
	const digits, short = 4, 7
	v, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil || !Finite(v):
		return text
	case len(text) <= short:
		return Brief(text)
	}
	return Brief(strconv.FormatFloat(v, 'g', digits, 64))
}
