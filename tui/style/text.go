package style

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"newtop/internal/format"
)

// Clean makes text from data safe to draw: one line, nothing that is invisible or changes the direction of text (a ZWJ
// or a direction mark moves what stands after it), no variation selectors, no emoji, whose widths the terminals
// disagree on. Line.Put does it with whatever it draws; where a width is asked for before, it is the width of the clean
// text.
func Clean(s string) string {
	if tame(s) {
		return s
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t' || r == '\n' || r == '\r':
			return ' '
		case r >= 0x1F000, r == unicode.ReplacementChar:
			return '?'
		case !unicode.IsGraphic(r), unicode.Is(unicode.M, r):
			return -1
		}
		return r
	}, s)
}

// tame reports, at a glance, that Clean leaves a text as it is.
func tame(s string) bool {
	for _, r := range s {
		if r < ' ' || r == 0x7f || r >= utf8.RuneSelf && !Narrow(r) {
			return false
		}
	}
	return true
}

// Shown returns a drawn row as a terminal may get it: nothing but sequences of colours acts on it.
func Shown(row string) string {
	if acts(row) < 0 {
		return row
	}
	var b strings.Builder
	for i := acts(row); i >= 0; i = acts(row) {
		b.WriteString(row[:i])
		_, n := utf8.DecodeRuneInString(row[i:])
		row = row[i+n:]
	}
	return b.String() + row
}

// acts returns where in a row something stands that is neither graphic nor a sequence of colours, or -1.
func acts(row string) int {
	for i := 0; i < len(row); {
		c := row[i]
		if c >= ' ' && c < 0x7f {
			i++
			continue
		}
		if n := format.StyleLength(row[i:]); n > 0 {
			i += n
			continue
		}
		r, n := utf8.DecodeRuneInString(row[i:])
		if !Narrow(r) && !unicode.IsGraphic(r) || r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return -1
}

// Cells returns how many columns plain text takes.
//
//go:noinline
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
			style := format.StyleLength(s[i:])
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

//
//go:noinline
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

//
//go:noinline
func Repeat(s string, n int) string {
	if n <= 0 {
		return ""
	}
	return strings.Repeat(s, n)
}

// Narrow reports whether a character is known to take one column of every terminal, whatever stands beside it: Latin
// and Greek letters, and what drawings are made of.
func Narrow(r rune) bool {
	return r >= 0xa1 && r < 0x300 && r != 0xad || r >= 0x370 && r < 0x3ff || r >= 0x2010 && r < 0x2028 ||
		r >= 0x2030 && r < 0x205f || r >= 0x2070 && r < 0x20a0 || r >= 0x2190 && r < 0x2300 || r >= 0x2500 &&
		r < 0x25fd ||
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

// Right fills a text on its left up to w columns.
func Right(s string, w int) string { return Spaces(w-Cells(s)) + s }

// Tail cuts a text's beginning to w columns, where its end tells more.
func Tail(s string, w int) string {
	if over := Cells(s) - w; over > 0 {
		return "…" + ansi.TruncateLeft(s, over+1, "")
	}
	return s
}

// Pad fills a text on its right up to w columns.
func Pad(s string, w int) string { return s + Spaces(w-Cells(s)) }

// Wrapped breaks plain text between words.
func Wrapped(s string, w int) []string {
	rows := strings.Split(ansi.Wrap(s, max(w, 8), ""), "\n")
	for i := range rows {
		rows[i] = strings.TrimRight(rows[i], " ")
	}
	return rows
}

// Clip returns the first n rows.
func Clip(rows []string, n int) []string { return rows[:max(0, min(n, len(rows)))] }
