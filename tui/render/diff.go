package render

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"newtop/internal/format"
	"newtop/tui/style"
)

// diff is what turns rows of a terminal into others: it compares them cell by cell and writes those that differ. The
// rows are of one width, and of nothing but text and SGR sequences; a style ends with a reset before the next begins.
type diff struct {
	profile  colorprofile.Profile // what the terminal can show
	codes    map[string]string    // styles as it can show them
	out      []byte
	style    string // that the terminal has now
	old, new []rowCell
}

// rowCell is one column of a row.
type rowCell struct{ style, text string }

// gap is how many cells that are the same may be written again: going past them takes as many bytes.
const gap = 3

// maxCodes bounds how many styles are kept as the terminal can show them.
const maxCodes = 1 << 12

// row writes what differs in row y, counted from 0, where was is what stands there; blank says that nothing does.
func (p *diff) row(y int, was, now string, blank bool) {
	var plain, wasPlain bool
	p.new, plain = cellsOf(p.new[:0], now)
	if blank {
		p.old, wasPlain = p.old[:0], true
	} else {
		p.old, wasPlain = cellsOf(p.old[:0], was)
	}
	if !plain || !wasPlain {
		p.at(y, 0)
		p.out = append(p.out, ansi.EraseLineRight...) // where a terminal has its characters narrower
		p.out = append(p.out, p.shown(now)...)
		p.out = append(p.out, ansi.ResetStyle...)
		p.style = ""
		return
	}
	end := len(p.new) // from where on there is nothing but blanks
	for end > 0 && p.new[end-1] == (rowCell{"", " "}) {
		end--
	}
	cursor := -1 // the column that it stands in, −1 for another row
	for x := 0; x < len(p.new); x++ {
		if p.same(x, blank) {
			continue
		}
		if x >= end {
			p.move(y, x, cursor)
			p.code("")
			p.out = append(p.out, ansi.EraseLineRight...)
			break
		}
		if cursor >= 0 && x-cursor <= gap {
			x = cursor
		} else {
			p.move(y, x, cursor)
		}
		p.code(p.new[x].style)
		p.out = append(p.out, p.new[x].text...)
		cursor = x + 1
	}
	p.code("")
}

// same reports whether a cell needs no writing.
func (p *diff) same(x int, blank bool) bool {
	if blank {
		return p.new[x] == rowCell{"", " "}
	}
	return x < len(p.old) && p.new[x] == p.old[x]
}

// move goes to a column of a row, from a column of the same row or from elsewhere.
func (p *diff) move(y, x, from int) {
	switch {
	case from < 0:
		p.at(y, x)
	case from != x:
		p.out = append(p.out, "\x1b["...)
		p.out = strconv.AppendInt(p.out, int64(x-from), 10)
		p.out = append(p.out, 'C')
	}
}

func (p *diff) at(y, x int) {
	p.out = append(p.out, "\x1b["...)
	p.out = strconv.AppendInt(p.out, int64(y+1), 10)
	p.out = append(p.out, ';')
	p.out = strconv.AppendInt(p.out, int64(x+1), 10)
	p.out = append(p.out, 'H')
}

func (p *diff) code(style string) {
	if style == p.style {
		return
	}
	if p.style != "" {
		p.out = append(p.out, ansi.ResetStyle...)
	}
	p.style = style
	if p.profile == colorprofile.TrueColor {
		p.out = append(p.out, style...)
		return
	}
	ink, ok := p.codes[style]
	if !ok {
		if p.codes == nil || len(p.codes) >= maxCodes {
			p.codes = map[string]string{}
		}
		ink = p.shown(style)
		p.codes[strings.Clone(style)] = ink
	}
	p.out = append(p.out, ink...)
}

// shown is text with the colours that the terminal has.
func (p *diff) shown(s string) string {
	if p.profile == colorprofile.TrueColor {
		return s
	}
	var b strings.Builder
	w := colorprofile.Writer{Forward: &b, Profile: p.profile}
	_, _ = w.WriteString(s) // a Builder takes everything
	return b.String()
}

// cellsOf divides a row into its cells. It returns false where not every character is known to take one column.
func cellsOf(dst []rowCell, row string) (_ []rowCell, plain bool) {
	ink, from, to := "", 0, 0 // the sequences in force, and where they stand if they stand together
	for i := 0; i < len(row); {
		c := row[i]
		switch {
		case c == 0x1b:
			n := format.StyleLength(row[i:])
			if n == 0 {
				return dst, false
			}
			switch {
			case row[i:i+n] == ansi.ResetStyle || row[i:i+n] == "\x1b[0m":
				ink = ""
			case ink == "":
				from, to = i, i+n
				ink = row[from:to]
			case to == i:
				to += n
				ink = row[from:to]
			default:
				ink += row[i : i+n]
			}
			i += n
		case c < 0x20 || c == 0x7f:
			return dst, false
		case c < 0x80:
			dst = append(dst, rowCell{ink, row[i : i+1]})
			i++
		default:
			r, n := utf8.DecodeRuneInString(row[i:])
			if !style.Narrow(r) {
				return dst, false
			}
			dst = append(dst, rowCell{ink, row[i : i+n]})
			i += n
		}
	}
	return dst, true
}
