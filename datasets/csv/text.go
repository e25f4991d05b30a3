package csv

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"unicode/utf8"

	"newtop/datasets/fault"
)

// checkText returns where a text starts behind its byte order mark, or a *fault.FormatError where it is no UTF-8.
// A zero byte, the sign of a file that is no text at all, counts before anything else.
func checkText(file string, r io.Reader) (from int64, err error) {
	in := bufio.NewReaderSize(r, 1<<16)
	start, err := in.Peek(3)
	if err != nil && err != io.EOF {
		return 0, err
	}
	mark, err := markOf(file, start)
	if err != nil {
		return 0, err
	}
	var bad *fault.FormatError // the first byte that is no UTF-8
	fault := func(line int, b byte) *fault.FormatError {
		return &fault.FormatError{File: file, Line: line, Found: byteName(b), Expected: "text in UTF-8"}
	}
	line := 1
	for {
		_, err := in.Peek(in.Size())
		if err != nil && err != io.EOF {
			return 0, err
		}
		text, _ := in.Peek(in.Buffered())
		if err == nil {
			text = text[:wholeRunes(text)]
		}
		if len(text) == 0 && bad == nil {
			return int64(mark), nil
		}
		if len(text) == 0 {
			return 0, bad
		}
		if i := bytes.IndexByte(text, 0); i >= 0 {
			return 0, fault(line+bytes.Count(text[:i], newline), 0)
		}
		if bad == nil && !utf8.Valid(text) {
			i := firstInvalid(text)
			bad = fault(line+bytes.Count(text[:i], newline), text[i])
		}
		line += bytes.Count(text, newline)
		if _, err := in.Discard(len(text)); err != nil {
			return 0, err
		}
	}
}

// markOf returns how many bytes of a text's start are its byte order mark, or a *fault.FormatError for UTF-16.
func markOf(file string, start []byte) (int, error) {
	if bytes.HasPrefix(start, []byte{0xff, 0xfe}) || bytes.HasPrefix(start, []byte{0xfe, 0xff}) {
		return 0, &fault.FormatError{File: file, Line: 1, Found: "UTF-16", Expected: "text in UTF-8"}
	}
	if mark := []byte("\xef\xbb\xbf"); bytes.HasPrefix(start, mark) {
		return len(mark), nil
	}
	return 0, nil
}

func byteName(b byte) string { return fmt.Sprintf("byte %#02x", b) }

var newline = []byte{'\n'}

// wholeRunes returns how many bytes of text are before a rune that may go on behind it.
func wholeRunes(text []byte) int {
	for n := 1; n < utf8.UTFMax && n < len(text); n++ {
		if tail := text[len(text)-n:]; utf8.RuneStart(tail[0]) {
			if utf8.FullRune(tail) {
				break
			}
			return len(text) - n
		}
	}
	return len(text)
}

// firstInvalid returns where the first byte is that belongs to no rune; there must be one.
func firstInvalid(text []byte) int {
	for i := 0; ; {
		r, n := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
}
