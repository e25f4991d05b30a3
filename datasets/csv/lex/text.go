package lex

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"newtop/datasets/fault"
)

// BadByte is a byte that no text in UTF-8 has. A zero byte, the sign of a file that is no text at all, counts before
// anything else.
type BadByte struct {
	Line int // from 0
	Byte byte
}

// FindBadBytes returns the first zero byte of a text and the first other byte that is not UTF-8, nil where there is
// none.
func FindBadBytes(text []byte) (zero, other *BadByte) {
	badByteAt := func(i int) *BadByte { return &BadByte{bytes.Count(text[:i], []byte{'\n'}), text[i]} }
	if i := bytes.IndexByte(text, 0); i >= 0 {
		zero = badByteAt(i)
	}
	if utf8.Valid(text) {
		return zero, nil
	}
	for i := 0; ; {
		r, n := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && n == 1 {
			return zero, badByteAt(i)
		}
		i += n
	}
}

// NotTextError says that a byte of a line is none of a text.
func NotTextError(file string, line int, b byte) error {
	return &fault.FormatError{File: file, Line: line, Found: fmt.Sprintf("byte %#02x", b), Expected: "text in UTF-8"}
}

// ByteOrderMark returns how many bytes of a text's start are its byte order mark, or a *fault.FormatError for UTF-16.
func ByteOrderMark(file string, start []byte) (int, error) {
	if bytes.HasPrefix(start, []byte{0xff, 0xfe}) || bytes.HasPrefix(start, []byte{0xfe, 0xff}) {
		return 0, &fault.FormatError{File: file, Line: 1, Found: "UTF-16", Expected: "text in UTF-8"}
	}
	if mark := []byte("\xef\xbb\xbf"); bytes.HasPrefix(start, mark) {
		return len(mark), nil
	}
	return 0, nil
}
