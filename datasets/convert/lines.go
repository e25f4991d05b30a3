package convert

import (
	"bytes"
	"fmt"
	"io"

	"newtop/datasets/fault"
)

const (
	chunkBytes = 1 << 20 // how much of a text is read at a time
	maxLine    = 1 << 26 // bytes of a line
)

// chunk is whole lines of a text.
type chunk struct {
	text []byte
	line int // of the first, from 1
}

// chunks returns a function that gives the lines of a text from an offset on, which is on that line.
func (f *File) chunks(at int64, line int) func() (chunk, bool, error) {
	return func() (chunk, bool, error) {
		for size := int64(chunkBytes); at < f.Size; size *= 4 {
			c := chunk{make([]byte, min(size, f.Size-at)), line}
			if err := f.readTo(c.text, at); err != nil {
				return c, false, err
			}
			if end := bytes.LastIndexByte(c.text, '\n'); end >= 0 {
				c.text = c.text[:end+1]
			} else if at+size < f.Size && size <= maxLine {
				continue
			} else if size > maxLine {
				return c, false, f.onLine(line, "", fmt.Sprintf("more than %d bytes", maxLine), "a row")
			}
			at += int64(len(c.text))
			line += bytes.Count(c.text, []byte{'\n'})
			return c, true, nil
		}
		return chunk{}, false, nil
	}
}

// lines gives the lines of a chunk without their ends, with their numbers.
func (c chunk) lines(yield func(line int, text []byte) bool) {
	for n, rest := c.line, c.text; len(rest) > 0; n++ {
		var text []byte
		text, rest, _ = bytes.Cut(rest, []byte{'\n'})
		if !yield(n, bytes.TrimSuffix(text, []byte{'\r'})) {
			return
		}
	}
}

// onLine returns a fault on a line.
func (f *File) onLine(line int, column, found, expected string) error {
	return &fault.FormatError{File: f.Name, Line: line, Column: column, Found: found, Expected: expected}
}

// eachLine visits the lines of a text in several goroutines.
func (f *File) eachLine(visit func(line int, text []byte) error) error {
	return inOrder(io.Discard, f.chunks(0, 1), func(dst []byte, c chunk) ([]byte, error) {
		for line, text := range c.lines {
			if err := visit(line, text); err != nil {
				return nil, err
			}
		}
		return dst, nil
	})
}
