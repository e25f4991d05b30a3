// Package format writes quantities for people: numbers, percentages, spans of time, sizes and counts, each by one rule
// on every screen and figure. What commands print has forms of its own, in internal/cli/print. And it makes texts of
// strangers fit to be shown.
package format

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// Number writes v with about four significant digits and at most nine columns: 0.0312, 3.142, 53.3k,
// 1.23e-5. math.NaN(), which stands for what is absent, is a dash; a NaN that was computed is one.
func Number(v float64) string {
	a := math.Abs(v)
	switch {
	case math.Float64bits(v) == math.Float64bits(math.NaN()):
		return "–"
	case math.IsNaN(v):
		return "NaN"
	case math.IsInf(v, 1):
		return "inf"
	case math.IsInf(v, -1):
		return "-inf"
	case a == 0:
		return "0"
	case a < 1e-3:
		return Brief(strconv.FormatFloat(v, 'e', 2, 64))
	case a < 1:
		return strconv.FormatFloat(v, 'f', 4, 64)
	case a < 10:
		return strconv.FormatFloat(v, 'f', 3, 64)
	case a < 100:
		return strconv.FormatFloat(v, 'f', 2, 64)
	case a < 1000:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return scaled(v)
}

// units are the SI letters of large numbers.
var units = [...]struct {
	size   float64
	letter string
}{{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}}

// scaled writes a number ≥ 1000 in magnitude with an SI letter.
func scaled(v float64) string {
	for _, u := range units {
		if q := v / u.size; math.Abs(q) >= 0.9995 {
			switch a := math.Abs(q); {
			case a >= 1e4:
				return Brief(strconv.FormatFloat(v, 'e', 2, 64))
			case a >= 100:
				return strconv.FormatFloat(q, 'f', 0, 64) + u.letter
			case a >= 10:
				return strconv.FormatFloat(q, 'f', 1, 64) + u.letter
			}
			return strconv.FormatFloat(q, 'f', 2, 64) + u.letter
		}
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}

// Brief drops what an exponent can do without: 1e-05 is 1e-5, 1e+22 is 1e22.
func Brief(s string) string {
	return strings.Replace(strings.Replace(strings.Replace(s, "e-0", "e-", 1), "e+0", "e", 1), "e+", "e", 1)
}

// Round rounds to that many digits behind the point.
func Round(v float64, digits int) float64 {
	p := math.Pow(10, float64(digits))
	return math.Round(v*p) / p
}

// Significant rounds to a number of significant digits.
func Significant(x float64, digits int) float64 {
	x, _ = strconv.ParseFloat(strconv.FormatFloat(x, 'e', digits-1, 64), 64)
	return x
}

// Percent writes a fraction as a percentage that keeps its width from epoch to epoch.
func Percent(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return Number(v)
	}
	if p := 100 * v; p < 99.95 {
		if p < 9.995 {
			return strconv.FormatFloat(p, 'f', 2, 64) + " %"
		}
		return strconv.FormatFloat(p, 'f', 1, 64) + " %"
	}
	return strconv.FormatFloat(100*v, 'f', 0, 64) + " %"
}

// Count writes a whole number with thousands apart.
func Count(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Counted writes a number of things.
//
//go:noinline
func Counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return Count(n) + " " + thing + "s"
}

// Short writes a ratio with two decimals.
func Short(x float64) string {
	if math.Abs(x) < 100 {
		return strconv.FormatFloat(x, 'f', 2, 64)
	}
	return Number(x)
}

// Plain writes a number, a whole one without decimals.
func Plain(x float64) string {
	if x == math.Trunc(x) && math.Abs(x) < 1e6 {
		return Count(int(x))
	}
	return Number(x)
}

// Work writes a number of evaluations.
func Work(x float64) string {
	switch {
	case math.IsNaN(x) || math.IsInf(x, 0):
		return "–"
	case math.Abs(x) >= 1e5:
		return Number(x)
	case math.Abs(x) >= 1000:
		return Count(int(math.Round(x)))
	}
	return Tick(Round(x, 1))
}

// CountWithin writes a number of things in that many columns: whole, or with fewer digits.
func CountWithin(v float64, columns int) string {
	if !Finite(v) || math.Abs(v) >= 1e15 {
		return Number(v)
	}
	s := Count(int(math.Round(v)))
	for digits := 3; digits > 0 && len(s) > columns; digits-- {
		scale := math.Pow(10, math.Floor(math.Log10(math.Abs(v)))+1-float64(digits))
		s = Tick(math.Round(v/scale) * scale)
	}
	return s
}

// Span writes seconds as 31 µs, 4.2 ms, 0.42 s, 12.3 s, 3:05 or 2:03:04.
func Span(seconds float64) string {
	switch {
	case math.IsNaN(seconds) || math.IsInf(seconds, 0) || seconds < 0:
		return "–"
	case seconds < 1e-4:
		return strconv.FormatFloat(1e6*seconds, 'f', 0, 64) + " µs"
	case seconds < 0.1:
		return strconv.FormatFloat(1e3*seconds, 'f', 1, 64) + " ms"
	case seconds < 10:
		return strconv.FormatFloat(seconds, 'f', 2, 64) + " s"
	case seconds < 100:
		return strconv.FormatFloat(seconds, 'f', 1, 64) + " s"
	}
	return Clock(seconds)
}

// Elapsed writes training seconds.
//
//go:noinline
func Elapsed(seconds float64) string {
	if seconds == 0 {
		return "0 s"
	}
	return Span(seconds)
}

// Age writes for how long nothing has come, as 25 min, 3 h or 2 days, rounded down.
func Age(d time.Duration) string {
	switch h := int(d.Hours()); {
	case h >= 48:
		return Count(h/24) + " days"
	case h >= 1:
		return Count(h) + " h"
	}
	return Count(max(0, int(d.Minutes()))) + " min"
}

// Clock writes seconds as m:ss or h:mm:ss.
func Clock(seconds float64) string {
	if math.IsNaN(seconds) || seconds < 0 || seconds > 1e9 {
		return "–"
	}
	s := int(seconds)
	if s < 3600 {
		return strconv.Itoa(s/60) + ":" + two(s%60)
	}
	return strconv.Itoa(s/3600) + ":" + two(s/60%60) + ":" + two(s%60)
}

func two(n int) string {
	if n < 10 {
		return "0" + strconv.Itoa(n)
	}
	return strconv.Itoa(n)
}

// Bytes writes a size as 48 B, 48.1 kB or 4.81 MB.
func Bytes(n int64) string {
	switch {
	case n < 1000:
		return Count(int(n)) + " B"
	case n < 1e6:
		return Tick(Significant(float64(n)/1e3, 3)) + " kB"
	}
	return Tick(Significant(float64(n)/1e6, 3)) + " MB"
}

// Finite reports whether v is a number, and no infinity.
func Finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
