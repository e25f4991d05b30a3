package tui

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

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

// styleLength is the length of the SGR sequence that a string begins with, 0 if it begins with anything else.
func styleLength(s string) int {
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

// narrow reports whether a character is known to take one column of every terminal, whatever stands beside it: Latin
// and Greek letters, and what drawings are made of.
func narrow(r rune) bool {
	return r >= 0xa1 && r < 0x300 && r != 0xad || r >= 0x370 && r < 0x3ff || r >= 0x2010 && r < 0x2028 ||
		r >= 0x2030 && r < 0x205f || r >= 0x2070 && r < 0x20a0 || r >= 0x2190 && r < 0x2300 || r >= 0x2500 && r < 0x25fd ||
		r >= 0x2800 && r < 0x2900
}

// block cuts and fills rows to exactly w × h.
func block(rows []string, w, h int) []string {
	out := make([]string, h)
	for i := range out {
		if i < len(rows) {
			out[i] = fit(rows[i], w)
		} else {
			out[i] = spaces(w)
		}
	}
	return out
}

// beside joins two blocks with two columns between them.
func beside(left []string, w int, right []string) []string {
	rows := make([]string, max(len(left), len(right)))
	for i := range rows {
		a, b := spaces(w), ""
		if i < len(left) {
			a = fit(left[i], w)
		}
		if i < len(right) {
			b = right[i]
		}
		rows[i] = a + "  " + b
	}
	return rows
}

// abreast joins blocks of rows with two columns between them.
func abreast(blocks [][]string, h int) []string {
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

func right(s string, w int) string { return spaces(w-cells(s)) + s }

func pad(s string, w int) string { return s + spaces(w-cells(s)) }

// wrapped breaks plain text between words.
func wrapped(s string, w int) []string {
	rows := strings.Split(ansi.Wrap(s, max(w, 8), ""), "\n")
	for i := range rows {
		rows[i] = strings.TrimRight(rows[i], " ")
	}
	return rows
}

func clip(rows []string, n int) []string { return rows[:max(0, min(n, len(rows)))] }
