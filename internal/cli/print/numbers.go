package print

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"newtop/internal/format"
	"newtop/trainer/event"
)

// Number formats a figure with the given digits, and a missing one as a dot. One that is not finite is written as it
// is.
func Number(f event.Float, digits int) string {
	if f.Absent() {
		return "."
	}
	return fmt.Sprintf("%.*g", digits, float64(f))
}

// Fixed formats a figure with that many digits behind the point, and a missing one as a dot.
func Fixed(f event.Float, digits int) string {
	if f.Absent() {
		return "."
	}
	return fmt.Sprintf("%.*f", digits, float64(f))
}

// Percent writes a fraction as a percentage, and a missing one as a dot.
func Percent(f event.Float) string {
	if !f.Finite() {
		return Number(f, 1)
	}
	return fmt.Sprintf("%.2f %%", 100*float64(f))
}

// Share writes a fraction that a flag has, as 0.15, as 15 %, and anything else as it is.
func Share(text string) string {
	if f, err := strconv.ParseFloat(text, 64); err == nil && f < 1 {
		return strconv.FormatFloat(math.Round(1e4*f)/100, 'g', -1, 64) + " %"
	}
	return text
}

// MeasureOf writes what a run is judged by in an epoch; a missing figure is a dot.
func MeasureOf(m event.Measure, e *event.EpochEvent) string {
	if e == nil {
		return "."
	}
	return Measure(m, m.Value(e))
}

// Measure writes an error as a percentage, and an RMSE or a loss as it is.
func Measure(m event.Measure, v float64) string {
	if m.Info().Share {
		return Percent(event.Float(v))
	}
	return Number(event.Float(v), 4)
}

// Work writes gradient equivalents, short; a missing number is a dot.
func Work(v event.Float) string {
	if v >= 1000 {
		return fmt.Sprintf("%.0f", float64(v))
	}
	return Number(v, 3)
}

// Elapsed writes training seconds for people, short; a missing number is a dot.
func Elapsed(s event.Float) string {
	if !known(s) {
		return "."
	}
	d := time.Duration(float64(s) * float64(time.Second))
	switch {
	case d == 0:
		return "0 s"
	case d < time.Second:
		return fmt.Sprintf("%.3g ms", d.Seconds()*1e3)
	case d < time.Minute:
		return fmt.Sprintf("%.3g s", d.Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%d:%02d", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%d:%02d:%02d", int(d.Hours()), int(d.Minutes())%60, int(d.Seconds())%60)
}

// When writes a time as short as it is clear on the day of now.
func When(t, now time.Time) string {
	t, now = t.Local(), now.Local()
	switch {
	case t.IsZero():
		return "."
	case t.YearDay() == now.YearDay() && t.Year() == now.Year():
		return t.Format("15:04:05")
	case t.Year() == now.Year():
		return t.Format("Jan 2 15:04")
	}
	return t.Format("2006-01-02")
}

// Printable returns a text of strangers' as format.Printable does.
func Printable(text string) string { return format.Printable(text) }

// Count writes how many there are of something.
func Count(n int, what string) string { return CountOf(n, what, what+"s") }

// CountOf writes how many there are of something whose plural has its own form.
func CountOf(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// Names joins names, leaving out the middle of long lists.
func Names(names []string) string {
	if len(names) > 30 {
		return strings.Join(names[:8], " ") + " … " + strings.Join(names[len(names)-2:], " ")
	}
	return strings.Join(names, " ")
}

// known reports whether a figure is seconds that a time.Duration can hold.
func known(s event.Float) bool { return math.Abs(float64(s)) <= math.MaxInt64/1e9 }

// seconds writes training seconds to the millisecond; a missing number is empty.
func seconds(s event.Float) string {
	if !known(s) {
		return ""
	}
	d := time.Duration(float64(s) * float64(time.Second))
	if d < 10*time.Millisecond {
		return d.Round(10 * time.Microsecond).String()
	}
	return d.Round(time.Millisecond).String()
}

// CountRange writes that many of something, or from that many to that many.
func CountRange(low, high int, what string) string {
	if low < high {
		return fmt.Sprintf("%d to %d %ss", low, high, what)
	}
	return Count(high, what)
}

// fewHosts is how many hosts are named.
const fewHosts = 4

// Hosts says on how many hosts processes are, and how many on each of the first.
func Hosts(of []string) string {
	var names []string
	on := map[string]int{}
	for _, h := range of {
		if on[h] == 0 {
			names = append(names, h)
		}
		on[h]++
	}
	var each []string
	for _, h := range names[:min(len(names), fewHosts)] {
		each = append(each, fmt.Sprintf("%s ×%d", Printable(h), on[h]))
	}
	if more := len(names) - len(each); more > 0 {
		each = append(each, fmt.Sprintf("%d more", more))
	}
	return fmt.Sprintf("%s (%s)", Count(len(names), "host"), strings.Join(each, ", "))
}

// TextWidth is what sentences fit into, and tables where no terminal is wider.
const TextWidth = 80

// Fold breaks a text that is wider than width between its words, and nowhere else: a command that is copied from it
// is whole.
func Fold(text string, width int) string {
	if ansi.StringWidth(text) <= width {
		return text
	}
	var b strings.Builder
	at := 0
	for i, word := range strings.Fields(text) {
		n := ansi.StringWidth(word)
		switch {
		case i == 0:
		case at+1+n > width:
			b.WriteByte('\n')
			at = 0
		default:
			b.WriteByte(' ')
			at++
		}
		b.WriteString(word)
		at += n
	}
	return b.String()
}

// Bytes writes a size for people.
func Bytes(n int64) string {
	switch {
	case n < 1e3:
		return fmt.Sprintf("%d bytes", n)
	case n < 1e6:
		return fmt.Sprintf("%.0f kB", float64(n)/1e3)
	case n < 1e9:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%.1f GB", float64(n)/1e9)
}
