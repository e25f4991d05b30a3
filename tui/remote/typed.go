package remote

import (
	"errors"
	"io"
)

// longestSequence bounds an escape sequence, a terminal's answer or a paste, in bytes.
const longestSequence = 64 << 10

var errEndless = errors.New("newtop: an escape sequence or a paste did not end")

// typed is what a client types, of which no sequence is endless: the screen's parser keeps one until it ends, and looks
// at all of it again with every byte.
type typed struct {
	io.Reader
	state typedState
	long  int    // bytes of the sequence so far
	tail  []byte // its last few
	rest  int    // bytes that a character of UTF-8 still has
}

type typedState uint8

const (
	typedText   typedState = iota
	typedEscape            // after ESC
	typedCSI               // up to a final byte
	typedString            // of OSC, DCS, SOS, PM or APC, up to BEL or the next ESC
	typedPaste             // up to the end of a bracketed paste
)

const (
	pasteStart = "\x1b[200~"
	pasteEnds  = "\x1b[201~"
)

// Read fails with errEndless.
func (t *typed) Read(p []byte) (int, error) {
	n, err := t.Reader.Read(p)
	for _, b := range p[:n] {
		if t.step(b); t.long > longestSequence {
			return 0, errEndless
		}
	}
	return n, err
}

// step takes the next byte.
func (t *typed) step(b byte) {
	if t.state == typedText && b != 0x1b {
		t.letter(b)
		return
	}
	t.long++
	if t.tail = append(t.tail, b); len(t.tail) > len(pasteEnds) {
		t.tail = t.tail[1:]
	}
	switch {
	case t.state == typedPaste:
		if string(t.tail) == pasteEnds {
			t.start(typedText)
		}
	case b == 0x1b: // as the parser has it, this ends any other sequence
		t.start(typedEscape)
		t.long, t.tail = 1, append(t.tail, b)
	case t.state == typedEscape && b == '[':
		t.state = typedCSI
	case t.state == typedEscape && (b == ']' || b == 'P' || b == 'X' || b == '^' || b == '_'):
		t.state = typedString
	case t.state == typedEscape:
		t.start(typedText)
	case t.state == typedCSI && b >= 0x40 && b < 0x7f:
		if string(t.tail) == pasteStart {
			t.state = typedPaste
			return
		}
		t.start(typedText)
	case t.state == typedString:
		if b == 0x07 {
			t.start(typedText)
		}
	}
}

// letter takes a byte of text. One of the C1 controls begins a sequence, unless it is within a character of UTF-8.
func (t *typed) letter(b byte) {
	switch {
	case t.rest > 0 && b&0xc0 == 0x80:
		t.rest--
		return
	case b == 0x9b:
		t.start(typedCSI)
	case b == 0x90 || b == 0x98 || b >= 0x9d && b <= 0x9f:
		t.start(typedString)
	}
	t.rest = 0
	switch {
	case b >= 0xf0:
		t.rest = 3
	case b >= 0xe0:
		t.rest = 2
	case b >= 0xc0:
		t.rest = 1
	}
}

func (t *typed) start(s typedState) { t.state, t.long, t.tail = s, 0, t.tail[:0] }
