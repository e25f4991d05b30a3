package style

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// Clean makes text from data safe to draw: one line, no control or format characters (a ZWJ or a
// direction mark moves what stands after it), no variation selectors, no emoji, whose widths the
// terminals disagree on.
func Clean(s string) string {
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

// Cells returns how many columns plain text takes.
func Cells(s string) int {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return Columns(s)
		}
	}
	return len(s)
}

// Columns is ansi.StringWidth, quick where every character is known to take one column: most of the time that a screen
// takes would go into it.
func Columns(s string) int {
	n := 0
	for i := 0; i < len(s); {
		switch c := s[i]; {
		case c == 0x1b:
			style := StyleLength(s[i:])
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
			if !Narrow(r) {
				return ansi.StringWidth(s)
			}
			n++
			i += size
		}
	}
	return n
}

const blank = "                                                                                "

func Spaces(n int) string {
	if n <= 0 {
		return ""
	}
	if n <= len(blank) {
		return blank[:n]
	}
	return strings.Repeat(" ", n)
}

// Fit cuts or fills a drawn row to exactly w columns.
func Fit(s string, w int) string {
	n := Columns(s)
	if n > w {
		s = ansi.Truncate(s, w, "")
		n = Columns(s)
	}
	return s + Spaces(w-n)
}

func Repeat(s string, n int) string {
	if n <= 0 {
		return ""
	}
	return strings.Repeat(s, n)
}

// StyleLength is the length of the SGR sequence that a string begins with, 0 if it begins with anything else.
func StyleLength(s string) int {
	if len(s) < 3 || s[0] != 0x1b || s[1] != '[' {
		return 0
	}
	for i := 2; i < len(s); i++ {
		switch c := s[i]; {
		case c == 'm':
			return i + 1
		case (c < '0' || c > '9') && c != ';' && c != ':':
			return 0
		}
	}
	return 0
}

// Narrow reports whether a character is known to take one column of every terminal, whatever stands beside it: Latin
// and Greek letters, and what drawings are made of.
func Narrow(r rune) bool {
	return r >= 0xa1 && r < 0x300 && r != 0xad || r >= 0x370 && r < 0x3ff || r >= 0x2010 && r < 0x2028 ||
		r >= 0x2030 && r < 0x205f || r >= 0x2070 && r < 0x20a0 || r >= 0x2190 && r < 0x2300 || r >= 0x2500 && r < 0x25fd ||
		r >= 0x2800 && r < 0x2900
}

// Block cuts and fills rows to exactly w × h.
func Block(rows []string, w, h int) []string {
	out := make([]string, h)
	for i := range out {
		if i < len(rows) {
			out[i] = Fit(rows[i], w)
		} else {
			out[i] = Spaces(w)
		}
	}
	return out
}

// Beside joins two blocks with two columns between them.
func Beside(left []string, w int, right []string) []string {
	rows := make([]string, max(len(left), len(right)))
	for i := range rows {
		a, b := Spaces(w), ""
		if i < len(left) {
			a = Fit(left[i], w)
		}
		if i < len(right) {
			b = right[i]
		}
		rows[i] = a + "  " + b
	}
	return rows
}

// Abreast joins blocks of rows with two columns between them.
func Abreast(blocks [][]string, h int) []string {
	rows := make([]string, h)
	for y := range rows {
		for i, b := range blocks {
			if i > 0 {
				rows[y] += "  "
			}
			rows[y] += b[y]
		}
	}
	return rows
}

func Right(s string, w int) string { return Spaces(w-Cells(s)) + s }

func Pad(s string, w int) string { return s + Spaces(w-Cells(s)) }

// Wrapped breaks plain text between words.
func Wrapped(s string, w int) []string {
	rows := strings.Split(ansi.Wrap(s, max(w, 8), ""), "\n")
	for i := range rows {
		rows[i] = strings.TrimRight(rows[i], " ")
	}
	return rows
}

func Clip(rows []string, n int) []string { return rows[:max(0, min(n, len(rows)))] }
