// Package plain makes UTF-8 text of the bytes of a log, wherever they come from: it unpacks gzip, zstd and xz, and
// decodes UTF-16 and Latin-1.
package plain

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

var byteOrderMark = []byte("\xef\xbb\xbf")

// encoding is how a text is written.
type encoding uint8

const (
	unknown encoding = iota
	utf8Text
	littleEndian // UTF-16
	bigEndian
)

// Decoder makes UTF-8 of text that comes in pieces, by how it begins. Bytes of UTF-8 pass as they are, wrong ones too.
// The zero Decoder has read nothing.
type Decoder struct {
	how  encoding
	held []byte // the beginning, or half a character
}

// Append appends the text of the next bytes, which may be those that follow in the destination's array.
func (d *Decoder) Append(dst, raw []byte) []byte {
	if d.how == utf8Text {
		return append(dst, raw...)
	}
	raw = append(d.held, raw...)
	d.held = nil
	if d.how == unknown {
		if d.how = encodingOf(raw); d.how == unknown {
			d.held = raw
			return dst
		}
		if d.how == utf8Text {
			return append(dst, bytes.TrimPrefix(raw, byteOrderMark)...)
		}
	}
	for len(raw) >= 2 {
		c, n := rune(d.unit(raw)), 2
		if utf16.IsSurrogate(c) {
			if len(raw) < 4 {
				break
			}
			if c = utf16.DecodeRune(c, rune(d.unit(raw[2:]))); c != utf8.RuneError {
				n = 4
			}
		}
		raw = raw[n:]
		if c != '\ufeff' { // the mark
			dst = utf8.AppendRune(dst, c)
		}
	}
	d.held = bytes.Clone(raw)
	return dst
}

func (d *Decoder) unit(b []byte) uint16 {
	if d.how == bigEndian {
		return uint16(b[0])<<8 | uint16(b[1])
	}
	return uint16(b[1])<<8 | uint16(b[0])
}

// End appends what was held back, as nothing more comes.
func (d *Decoder) End(dst []byte) []byte {
	if d.how == unknown {
		dst = append(dst, d.held...)
	}
	d.held = nil
	return dst
}

// encodingOf tells by how a text begins how it is written; unknown: more must come. Every other byte of UTF-16 is zero
// where the letters are Latin, which is so of a third of the characters of every log.
func encodingOf(head []byte) encoding {
	switch {
	case bytes.HasPrefix(head, []byte("\xff\xfe")):
		return littleEndian
	case bytes.HasPrefix(head, []byte("\xfe\xff")):
		return bigEndian
	}
	var zeros [2]int
	for i, c := range head {
		if c == 0 {
			zeros[i%2]++
		}
	}
	if len(head) < 4 && (zeros[0]+zeros[1] > 0 || len(head) > 0 && head[0] >= 0xef) {
		return unknown
	}
	switch third := max(2, len(head)/6); {
	case 8*zeros[0] <= zeros[1] && zeros[1] >= third:
		return littleEndian
	case 8*zeros[1] <= zeros[0] && zeros[0] >= third:
		return bigEndian
	}
	return utf8Text
}

// Line returns a line as UTF-8. Bytes that are none are letters of Latin-1, and its control characters stand for
// something that can't be read. The line is returned itself where nothing is wrong with it.
func Line(line []byte) []byte {
	if utf8.Valid(line) {
		return line
	}
	out := make([]byte, 0, len(line)+len(line)/4)
	for len(line) > 0 {
		c, n := utf8.DecodeRune(line)
		if c == utf8.RuneError && n == 1 {
			if c = rune(line[0]); c < 0xa0 {
				c = utf8.RuneError
			}
		}
		out, line = utf8.AppendRune(out, c), line[n:]
	}
	return out
}

// Binary reports whether bytes among which there are zeros are no text with a hole, as a file has where its writer
// crashed: they have control characters that no text has, or are no UTF-8.
func Binary(text []byte) bool {
	for _, c := range text {
		if c < ' ' && c != 0 && (c < '\a' || c > '\r') && c != '\x1b' {
			return true
		}
	}
	for cut := range min(utf8.UTFMax, len(text)) { // the last character may be
		if utf8.Valid(text[:len(text)-cut]) {
			return false
		}
	}
	return len(text) > 0
}
