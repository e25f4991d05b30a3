package tui

import (
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// utf8Locale follows POSIX: LC_ALL, then LC_CTYPE, then LANG; C and POSIX are seven bits. With none of
// them set the terminal is taken to be a modern one, as a bare container's usually is.
func utf8Locale(environ []string) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := lookup(environ, name); v != "" {
			v = strings.ToUpper(v)
			return strings.Contains(v, "UTF-8") || strings.Contains(v, "UTF8")
		}
	}
	return true
}

// lookup returns the last value of a variable, as the shell would see it.
func lookup(environ []string, name string) string {
	for i := len(environ) - 1; i >= 0; i-- {
		if k, v, ok := strings.Cut(environ[i], "="); ok && k == name {
			return v
		}
	}
	return ""
}

// clean makes text from data safe to draw: one line, no control or format characters (a ZWJ or a
// direction mark moves what stands after it), no variation selectors, no emoji, whose widths the
// terminals disagree on.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t' || r == '\n' || r == '\r':
			return ' '
		case r >= 0x1F000, r == unicode.ReplacementChar:
			return '?'
		case unicode.IsControl(r), unicode.In(r, unicode.Cf, unicode.Co, unicode.Cs, unicode.M):
			return -1
		}
		return r
	}, s)
}

// cells returns how many columns plain text takes.
func cells(s string) int {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return columns(s)
		}
	}
	return len(s)
}

// columns is ansi.StringWidth, quick where every character is known to take one column: most of the time that a screen
// takes would go into it.
func columns(s string) int {
	n := 0
	for i := 0; i < len(s); {
		switch c := s[i]; {
		case c == 0x1b:
			style := styleLength(s[i:])
			if style == 0 {
				return ansi.StringWidth(s)
			}
			i += style
		case c < 0x20 || c == 0x7f:
			return ansi.StringWidth(s)
		case c < 0x80:
			n++
			i++
		default:
			r, size := utf8.DecodeRuneInString(s[i:])
			if !narrow(r) {
				return ansi.StringWidth(s)
			}
			n++
			i += size
		}
	}
	return n
}

// line builds one row of the screen that never gets wider than its room.
type line struct {
	th   *theme
	b    strings.Builder
	w    int
	room int
}

func (p *pen) line(room int) *line { return &line{th: p.th, room: max(room, 0)} }

// put appends text in a token's ink, cutting what does not fit.
func (l *line) put(t token, s string) *line {
	n := cells(s)
	if l.w+n > l.room {
		s = ansi.Truncate(s, l.room-l.w, "")
		n = cells(s)
	}
	if n == 0 {
		return l
	}
	l.run(t, s, n)
	return l
}

// run appends text that is known to fit and to be n columns wide.
func (l *line) run(t token, s string, n int) {
	if n == 0 {
		return
	}
	l.w += n
	if ink := l.th.ink[t]; ink != "" {
		l.b.WriteString(ink)
		l.b.WriteString(s)
		l.b.WriteString(ansi.ResetStyle)
		return
	}
	l.b.WriteString(s)
}

// left is how many columns are still free.
func (l *line) left() int { return l.room - l.w }

// group appends parts that are only worth showing together.
func (l *line) group(parts ...part) bool {
	n := 0
	for _, p := range parts {
		n += cells(p.s)
	}
	if n > l.left() {
		return false
	}
	for _, p := range parts {
		l.put(p.t, p.s)
	}
	return true
}

// part is text with its meaning.
type part struct {
	t token
	s string
}

// of is text that means this.
func (t token) of(s string) part { return part{t: t, s: s} }

func width(parts []part) int {
	n := 0
	for _, p := range parts {
		n += cells(p.s)
	}
	return n
}

// to fills with spaces up to a column.
func (l *line) to(column int) *line {
	if n := min(column, l.room) - l.w; n > 0 {
		l.b.WriteString(spaces(n))
		l.w += n
	}
	return l
}

// raw appends text that is drawn already and known to be w columns wide.
func (l *line) raw(s string, w int) *line {
	if w > l.left() {
		s = ansi.Truncate(s, l.left(), "")
		w = l.left()
	}
	l.b.WriteString(s)
	l.w += w
	return l
}

// full returns the row filled to its room.
func (l *line) full() string { return l.to(l.room).b.String() }

const blank = "                                                                                "

func spaces(n int) string {
	if n <= 0 {
		return ""
	}
	if n <= len(blank) {
		return blank[:n]
	}
	return strings.Repeat(" ", n)
}

// fit cuts or fills a drawn row to exactly w columns.
func fit(s string, w int) string {
	n := columns(s)
	if n > w {
		s = ansi.Truncate(s, w, "")
		n = columns(s)
	}
	return s + spaces(w-n)
}

// number writes v with about four significant digits and at most nine columns: 0.0312, 3.142, 53.3k,
// 1.23e-5.
func number(v float64) string {
	a := math.Abs(v)
	switch {
	case math.IsNaN(v):
		return "–"
	case math.IsInf(v, 1):
		return "inf"
	case math.IsInf(v, -1):
		return "-inf"
	case a == 0:
		return "0"
	case a < 1e-3:
		return brief(strconv.FormatFloat(v, 'e', 2, 64))
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

// scaled writes a number ≥ 1000 in magnitude with an SI letter.
func scaled(v float64) string {
	for _, u := range [...]struct {
		size   float64
		letter string
	}{{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
		if q := v / u.size; math.Abs(q) >= 0.9995 {
			switch a := math.Abs(q); {
			case a >= 1e4:
				return strconv.FormatFloat(v, 'e', 2, 64)
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

// tick writes an axis label: as short as its value allows.
func tick(v float64) string {
	a := math.Abs(v)
	switch {
	case a == 0:
		return "0"
	case a >= 1e15 || a < 1e-4:
		return brief(strconv.FormatFloat(v, 'e', -1, 64))
	case a >= 1e3:
		for _, u := range [...]struct {
			size   float64
			letter string
		}{{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
			if a >= u.size {
				return strconv.FormatFloat(round(v/u.size, 4), 'f', -1, 64) + u.letter
			}
		}
	}
	return strconv.FormatFloat(round(v, 6), 'f', -1, 64)
}

// brief drops what an exponent can do without: 1e-05 is 1e-5.
func brief(s string) string {
	return strings.Replace(strings.Replace(s, "e-0", "e-", 1), "e+0", "e", 1)
}

func round(v float64, digits int) float64 {
	p := math.Pow(10, float64(digits))
	return math.Round(v*p) / p
}

// percent writes a fraction as a percentage that keeps its width from epoch to epoch.
func percent(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return number(v)
	}
	if p := 100 * v; p < 99.95 {
		if p < 9.995 {
			return strconv.FormatFloat(p, 'f', 2, 64) + "%"
		}
		return strconv.FormatFloat(p, 'f', 1, 64) + "%"
	}
	return strconv.FormatFloat(100*v, 'f', 0, 64) + "%"
}

// count writes a whole number with thousands apart.
func count(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// span writes seconds as 31 µs, 4.2 ms, 0.42 s, 12.3 s, 3:05 or 2:03:04.
func span(seconds float64) string {
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
	return clock(seconds)
}

// clock writes seconds as m:ss or h:mm:ss.
func clock(seconds float64) string {
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

func repeat(s string, n int) string {
	if n <= 0 {
		return ""
	}
	return strings.Repeat(s, n)
}
