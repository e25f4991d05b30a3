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
	var bad error // of the first byte that is no UTF-8
	fault := func(line int, b byte) error {
		return &fault.FormatError{File: file, Line: line, Found: byteName(b), Expected: "text in UTF-8"}
	}
	for line := 1; ; {
		text, _ := in.Peek(in.Buffered())
		n := ascii(text)
		line += bytes.Count(text[:n], []byte{'\n'})
		_, _ = in.Discard(n) // of what is buffered
		c, size, err := in.ReadRune()
		switch {
		case err == io.EOF && bad != nil:
			return 0, bad
		case err == io.EOF:
			return int64(mark), nil
		case err != nil:
			return 0, err
		case c == 0:
			return 0, fault(line, 0)
		case c == '\n':
			line++
		case c == utf8.RuneError && size == 1 && bad == nil:
			_ = in.UnreadRune() // of a rune that was read
			b, _ := in.ReadByte()
			bad = fault(line, b)
		}
	}
}

// ascii returns how many bytes from 1 to 127 a text begins with.
func ascii(text []byte) int {
	for i, b := range text {
		if b-1 >= 0x7f {
			return i
		}
	}
	return len(text)
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
