package stream

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strconv"
	"unicode/utf8"

	"newtop/trainer/event"
)

const (
	// maxLine is the longest line that is read; a longer one is passed over.
	maxLine = 64 << 20
	// maxStrange is how many lines that are no events a stream may begin with before it is given up.
	maxStrange = 1000
	// maxTail is the longest text that is tried as an event before the end of its line has come.
	maxTail  = 1 << 20
	readSize = 128 << 10
)

// LineError says which line of a stream is not an event.
type LineError struct {
	Name            string // of the stream
	Line            int64  // from 1
	Found, Expected string
}

func (e *LineError) Error() string {
	return fmt.Sprintf("%s:%d: %s: expected %s", e.Name, e.Line, e.Found, e.Expected)
}

const expectedLine = "a JSON object with a type, as {\"type\":\"epoch\",\"epoch\":1,\"loss\":0.5}"

// lines cuts text into lines and reads them as events. A line that is not an event is counted and passed over, since
// programs print other things too; a stream that has no events at all is an error.
type lines struct {
	name   string
	buf    []byte // text that came and was not used yet, from at on
	at     int
	seen   int   // of buf, how far there is no line end
	number int64 // of the last line that was used
	events int64
	bad    int64 // lines that were no events
	first  *LineError
	last   *LineError
	long   bool // within a line that is too long
}

// feed appends text.
func (l *lines) feed(text []byte) {
	l.compact()
	l.buf = append(l.buf, text...)
}

// room returns where up to readSize bytes of text can be put, for a call of grow.
func (l *lines) room() []byte {
	l.compact()
	l.buf = slices.Grow(l.buf, readSize)
	return l.buf[len(l.buf) : len(l.buf)+readSize]
}

func (l *lines) grow(n int) { l.buf = l.buf[:len(l.buf)+n] }

func (l *lines) compact() {
	if l.at == 0 {
		return
	}
	n := copy(l.buf, l.buf[l.at:])
	l.buf, l.seen, l.at = l.buf[:n], l.seen-l.at, 0
	if n == 0 && cap(l.buf) > 8*readSize { // one line was long
		l.buf = nil
	}
}

// rest is how much text has not been used.
func (l *lines) rest() int { return len(l.buf) - l.at }

// next returns the event of the next whole line, nil if there is none, and an error for a stream of something else.
func (l *lines) next() (event.Event, error) {
	for {
		end := bytes.IndexByte(l.buf[l.seen:], '\n')
		if end < 0 {
			if l.events == 0 && bytes.IndexByte(l.buf[l.seen:], 0) >= 0 { // no text: its line need not end
				l.number++
				return nil, l.strange(quote(l.buf[l.at:]), expectedLine, l.buf[l.at:])
			}
			l.seen = len(l.buf)
			if l.rest() > maxLine {
				l.tooLong()
			}
			return nil, nil
		}
		end += l.seen
		line := l.buf[l.at:end]
		l.at, l.seen = end+1, end+1
		l.number++
		if l.long {
			l.long = false
			continue
		}
		if e, err := l.event(line); e != nil || err != nil {
			return e, err
		}
	}
}

// tail returns the event of the text after the last line end, if that is a whole object: what is after it then can be
// nothing but the line's end. At the end of a stream all of the text is used.
func (l *lines) tail(ended bool) (event.Event, error) {
	line := bytes.TrimSpace(l.buf[l.at:])
	if len(line) == 0 || l.long || !ended && (len(line) > maxTail || line[0] != '{' || line[len(line)-1] != '}') {
		return nil, nil
	}
	if !ended {
		e, err := event.DecodeForeign(line)
		if err != nil || e == nil {
			return nil, nil
		}
		l.events++
		l.at, l.seen = len(l.buf), len(l.buf)
		return e, nil
	}
	l.number++
	l.at, l.seen = len(l.buf), len(l.buf)
	return l.event(line)
}

var byteOrderMark = []byte("\xef\xbb\xbf")

func (l *lines) event(line []byte) (event.Event, error) {
	if l.number == 1 {
		line = bytes.TrimPrefix(line, byteOrderMark)
	}
	line = bytes.TrimSpace(line)
	if len(line) == 0 {
		return nil, nil
	}
	if line[0] != '{' {
		return nil, l.strange(quote(line), expectedLine, line)
	}
	e, err := event.DecodeForeign(line)
	if err != nil {
		return nil, l.strange(quote(line)+" ("+err.Error()+")", "an event", line)
	}
	if e != nil {
		l.events++
	}
	return e, nil
}

// strange counts a line that is no event. It returns an error where a stream has shown to be something else.
func (l *lines) strange(found, expected string, line []byte) error {
	l.bad++
	l.last = &LineError{Name: l.name, Line: l.number, Found: found, Expected: expected}
	if l.first == nil {
		l.first = l.last
	}
	if l.events == 0 && (l.bad >= maxStrange || bytes.IndexByte(line, 0) >= 0) {
		return l.first
	}
	return nil
}

func (l *lines) tooLong() {
	if !l.long {
		l.long = true
		l.bad++
		found := fmt.Sprintf("more than %d MB", maxLine>>20)
		l.last = &LineError{Name: l.name, Line: l.number + 1, Found: found, Expected: "a shorter line"}
		if l.first == nil {
			l.first = l.last
		}
	}
	l.buf, l.at, l.seen = nil, 0, 0
}

// over returns what a stream ends with: io.EOF, or an error if there was no event in it.
func (l *lines) over() error {
	switch {
	case l.events > 0:
		return io.EOF
	case l.first != nil:
		return l.first
	}
	return &LineError{Name: l.name, Line: 1, Found: "nothing", Expected: "events, one JSON object a line"}
}

// Warning says which lines were no events, or is empty.
func (l *lines) Warning() string {
	switch l.bad {
	case 0:
		return ""
	case 1:
		return l.last.Error()
	}
	return fmt.Sprintf("%d lines are no events, the last is %v", l.bad, l.last)
}

// quote shows the beginning of a line.
func quote(line []byte) string {
	const most = 40
	if len(line) <= most {
		return strconv.Quote(string(line))
	}
	cut := most
	for cut > most-utf8.UTFMax && !utf8.RuneStart(line[cut]) {
		cut--
	}
	return strconv.Quote(string(line[:cut])) + "…"
}
