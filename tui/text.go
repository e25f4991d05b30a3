package tui

import (
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

func repeat(s string, n int) string {
	if n <= 0 {
		return ""
	}
	return strings.Repeat(s, n)
}
