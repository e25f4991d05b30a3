package shape

import (
	"bytes"
	"unicode/utf8"
)

// widest is how many cells of a line are kept. What a program writes beyond them is dropped.
const widest = 1 << 13

// terminal shows one line as a screen does: carriage returns, backspaces and escape sequences do what they say.
type terminal struct {
	cells []rune
	at    int
	fresh bool // something was written since the last state was shown
	over  bool // the line is not at its end
	out   []byte
}

// plain reports whether a line is shown as it is written.
func plain(line []byte) bool {
	for _, c := range line {
		if c < ' ' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}

// play calls show with every state of the line that the program then wrote over, and returns the last one. What show is
// given and what play returns is valid until the next call.
func (t *terminal) play(line []byte, show func(state []byte)) []byte {
	t.cells, t.at, t.fresh = t.cells[:0], 0, false
	for i := 0; i < len(line); {
		switch c := line[i]; {
		case c == '\r':
			t.snapshot(show)
			t.at = 0
			i++
		case c == '\b':
			t.snapshot(show)
			t.at = max(t.at-1, 0)
			i++
		case c == 0x1b:
			i += t.escape(line[i:], show)
		case c < ' ' && c != '\t' || c == 0x7f:
			i++
		default:
			r, n := utf8.DecodeRune(line[i:])
			t.write(r)
			i += n
		}
	}
	return t.text()
}

func (t *terminal) write(r rune) {
	if t.at >= widest {
		return
	}
	for len(t.cells) < t.at {
		t.cells = append(t.cells, ' ')
	}
	if t.at < len(t.cells) {
		t.cells[t.at] = r
	} else {
		t.cells = append(t.cells, r)
	}
	t.at++
	t.fresh = true
}

func (t *terminal) snapshot(show func([]byte)) {
	if t.fresh {
		t.fresh = false
		if s := t.text(); len(s) > 0 {
			show(s)
		}
	}
}

// text is what stands on the line, without blanks at its end.
func (t *terminal) text() []byte {
	t.out = t.out[:0]
	for _, r := range t.cells {
		t.out = utf8.AppendRune(t.out, r)
	}
	return bytes.TrimRight(t.out, " \t")
}

// escape obeys the sequence at the start of s and returns its length.
func (t *terminal) escape(s []byte, show func([]byte)) int {
	if len(s) < 2 {
		return len(s)
	}
	switch s[1] {
	case '[':
	case ']', 'P', 'X', '^', '_': // up to BEL or ESC \
		for i := 2; i < len(s); i++ {
			if s[i] == 7 {
				return i + 1
			}
			if s[i] == 0x1b {
				return min(i+2, len(s))
			}
		}
		return len(s)
	case '(', ')', '*', '+', '#', '%':
		return min(3, len(s))
	default:
		return 2
	}
	n, i := 0, 2
	for ; i < len(s) && (s[i] < 0x40 || s[i] > 0x7e); i++ {
		if c := s[i]; c >= '0' && c <= '9' {
			n = min(10*n+int(c-'0'), widest)
		}
	}
	if i == len(s) {
		return i
	}
	t.control(s[i], n, show)
	return i + 1
}

// control obeys the sequences that move within the line or erase it.
func (t *terminal) control(final byte, n int, show func([]byte)) {
	switch final {
	case 'C':
		t.at = min(t.at+max(n, 1), widest)
	case 'D':
		t.at = max(t.at-max(n, 1), 0)
	case 'G':
		t.snapshot(show)
		t.at = max(n, 1) - 1
	case 'K', 'J':
		t.snapshot(show)
		switch {
		case n == 0 && t.at < len(t.cells):
			t.cells = t.cells[:t.at]
		case n == 1:
			for i := range t.cells[:min(t.at, len(t.cells))] {
				t.cells[i] = ' '
			}
		case n >= 2:
			t.cells = t.cells[:0]
		}
	}
}
