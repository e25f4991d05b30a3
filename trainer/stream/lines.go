package stream

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"newtop/internal/hosts"
	"newtop/trainer/event"
	"newtop/trainer/logs/plain"
	"newtop/trainer/logs/shape"
)

const (
	// maxLine is the longest line that is read; a longer one is passed over.
	maxLine = 64 << 20
	// maxStrange is how many lines without a number of a log a stream may begin with before it is given up, and
	// maxStrangeBytes how much text.
	maxStrange      = 1 << 17
	maxStrangeBytes = 64 << 20
	// maxTail is the longest text that is tried as an event before the end of its line has come.
	maxTail  = 1 << 20
	readSize = 128 << 10
	// maxHole is the longest hole of zeros that a text may begin with: where a log was truncated under its writer.
	maxHole = 16 << 20
)

// LineError says what is wrong with a line of a stream.
type LineError struct {
	Name            string // of the stream
	Line            int64  // from 1
	Found, Expected string // Expected is empty where Found says it
}

func (e *LineError) Error() string {
	if e.Expected == "" {
		return fmt.Sprintf("%s:%d: %s", e.Name, e.Line, e.Found)
	}
	return fmt.Sprintf("%s:%d: %s: expected %s", e.Name, e.Line, e.Found, e.Expected)
}

// lines cuts text into lines and has them decoded. A line that can't be read is counted and passed over, since programs
// print other things too; a stream that has no numbers at all is an error.
type lines struct {
	name      string
	text      plain.Decoder
	buf       []byte // text that came and was not used yet, from at on
	at        int
	seen      int   // of buf, how far there is no line end
	number    int64 // of the last line that was used
	used      int64 // bytes before buf[at]
	bad       int64 // lines that could not be read
	first     string
	suggested string // pattern for the first, if that is columns of numbers
	last      *LineError
	hole      int  // zeros that were passed over
	long      bool // within a line that is too long
	fed       time.Time
	came      time.Time // when the newest text came
	before    time.Time // and what came before it
	fresh     int       // how long that text is
	decoder   *decoder
	lenient   bool // a program that is run here may print what it likes
	logged    bool // what a program writes beside what it prints
	options   shape.Options
}

func newLines(name string) lines {
	return lines{name: name, decoder: newDecoder(NameOf(name)), came: time.Now()}
}

// timed has rows that tell no time take, from now on, the time at which they came. What came at once was written since
// what came before it, as evenly as it is long.
func (l *lines) timed() {
	d, from := l.decoder, time.Now()
	l.came = from
	d.rows.clock = func() float64 { return d.written.Sub(from).Seconds() }
}

// note says how much has just come.
func (l *lines) note(n int) {
	l.fed = time.Now()
	if n > 0 {
		l.before, l.came, l.fresh = l.came, l.fed, n
	}
}

// configure says how text is read.
func (l *lines) configure(o shape.Options) {
	l.options = o
	l.decoder.text.Configure(o)
}

func (l *lines) lend(take func(*event.EpochEvent)) { l.decoder.lent.take = take }

// explain says what became of the lines of text.
func (l *lines) explain() *shape.Explanation { return shape.Explain(l.decoder.text) }

// feed appends what came.
func (l *lines) feed(raw []byte) {
	l.compact()
	l.buf = l.text.Append(l.buf, raw)
	l.note(len(raw))
}

// room returns where up to readSize bytes can be put, for a call of grow.
func (l *lines) room() []byte {
	l.compact()
	l.buf = slices.Grow(l.buf, readSize)
	return l.buf[len(l.buf) : len(l.buf)+readSize]
}

func (l *lines) grow(n int) {
	l.buf = l.text.Append(l.buf, l.buf[len(l.buf):len(l.buf)+n])
	l.note(n)
}

func (l *lines) compact() {
	if l.at == 0 {
		return
	}
	l.used += int64(l.at)
	n := copy(l.buf, l.buf[l.at:])
	l.buf, l.seen, l.at = l.buf[:n], l.seen-l.at, 0
	if n == 0 && cap(l.buf) > 8*readSize { // one line was long
		l.buf = nil
	}
}

// rest is how much text has not been used.
func (l *lines) rest() int { return len(l.buf) - l.at }

// next returns the next event of the whole lines, nil if there is none, and an error for a stream of something else.
func (l *lines) next() (event.Event, error) {
	for {
		if e := l.decoder.next(); e != nil {
			return e, nil
		}
		end := bytes.IndexByte(l.buf[l.seen:], '\n')
		if end < 0 {
			if l.rest() > 0 && l.buf[l.at] == 0 { // a hole may be longer than what can be kept
				rest := bytes.TrimLeft(l.buf[l.at:], "\x00")
				l.hole += l.rest() - len(rest)
				if l.hole > maxHole && !l.decoder.metrics() { // as of /dev/zero
					l.number++
					return nil, l.binary(l.buf[l.at:])
				}
				l.at = len(l.buf) - len(rest)
				l.seen = max(l.seen, l.at)
			}
			// What is no text need not have lines. What came before was looked at then.
			fresh := l.seen
			for fresh > l.at && fresh < len(l.buf) && !utf8.RuneStart(l.buf[fresh]) {
				fresh--
			}
			if !l.decoder.metrics() && bytes.IndexByte(l.buf[l.seen:], 0) >= 0 && plain.Binary(l.buf[fresh:]) {
				l.number++
				return nil, l.binary(l.buf[l.at:])
			}
			l.seen = len(l.buf)
			if l.rest() > maxLine {
				l.tooLong()
			}
			if l.logged { // it is known before what is printed of it
				l.decoder.settle()
			}
			return l.decoder.next(), nil
		}
		end += l.seen
		line := l.buf[l.at:end]
		l.at, l.seen = end+1, end+1
		l.number++
		left := min(1, float64(l.rest())/float64(l.fresh))
		l.decoder.written = l.came.Add(-time.Duration(left * float64(l.came.Sub(l.before))))
		if l.long {
			l.long = false
			continue
		}
		if err := l.decode(line); err != nil {
			return nil, err
		}
	}
}

// tail uses the text after the last line end, as far as that needs no end: a whole object, behind which nothing can
// come but the line's end, and what a progress bar has drawn over. At the end of a stream all of the text is used.
func (l *lines) tail(ended bool) (event.Event, error) {
	if ended {
		l.buf = l.text.End(l.buf)
	}
	l.decoder.written = l.came
	line := bytes.TrimSpace(l.buf[l.at:])
	if len(line) == 0 || l.long {
		if ended {
			l.decoder.end()
		}
		return l.decoder.next(), nil
	}
	switch {
	case ended:
		l.number++
		l.at, l.seen = len(l.buf), len(l.buf)
		if err := l.decode(line); err != nil {
			return nil, err
		}
		l.decoder.end()
	case len(line) <= maxTail && line[0] == '{' && line[len(line)-1] == '}' && l.decoder.unended(line):
		l.at, l.seen = len(l.buf), len(l.buf)
	default:
		l.redrawn()
	}
	return l.decoder.next(), nil
}

// redrawn uses what stands before the newest carriage return of an unfinished line, unless that may be the line's end,
// and a bar without a name that is whole behind it.
func (l *lines) redrawn() {
	text := l.buf[l.at:]
	end := bytes.LastIndexByte(text[:len(text)-1], '\r')
	bar := bytes.Index(text[max(end, 0):], []byte("%|"))
	if bar > 0 && bar < len("\r 100%") && text[len(text)-1] == ']' {
		end = len(text)
	}
	if end <= 0 {
		return
	}
	line := text[:end]
	l.at += end
	l.seen = max(l.seen, l.at)
	l.failed(l.decoder.release())
	l.decoder.text.Redrawn(line, l.decoder)
}

// due is how long to wait at most before the values of a step that is not complete are given; 0: no step is under way.
func (l *lines) due() time.Duration {
	rest := time.Until(l.fed.Add(rowPatience))
	if !l.decoder.open && rest <= 0 {
		return 0
	}
	return max(rest, time.Millisecond)
}

// idle gives what was held back, when all that is there has been used.
func (l *lines) idle() event.Event {
	l.decoder.idle(time.Since(l.fed) >= rowPatience)
	return l.decoder.next()
}

// decode has a line decoded, and returns an error where the stream has shown to be something else. A hole, as a crash
// or a truncation leaves in a file, ends a line.
func (l *lines) decode(line []byte) error {
	if bytes.IndexByte(line, 0) < 0 {
		return l.decodeText(line)
	}
	if !l.decoder.metrics() && plain.Binary(line) {
		return l.binary(line)
	}
	for part := range bytes.SplitSeq(line, []byte{0}) {
		if err := l.decodeText(part); err != nil {
			return err
		}
	}
	return nil
}

var byteOrderMark = []byte("\xef\xbb\xbf")

func (l *lines) decodeText(line []byte) error {
	line = bytes.TrimPrefix(line, byteOrderMark) // of a file that was appended to another
	line = bytes.TrimRight(line, "\r\n")
	if len(bytes.TrimSpace(line)) == 0 {
		return nil
	}
	line = plain.Line(line)
	if l.first == "" && !l.decoder.metrics() {
		l.first, l.suggested = quote(line), shape.Suggest(line)
	}
	if line[0] == ' ' && bytes.TrimLeft(line, " ")[0] == '{' {
		line = bytes.TrimLeft(line, " ")
	}
	l.decoder.logged = l.logged
	err := l.decoder.line(line)
	if l.decoder.logged = false; err != nil {
		l.bad++
		l.last = &LineError{Name: l.name, Line: l.number, Found: quote(line) + " (" + err.Error() + ")"}
	}
	if !l.lenient && !l.decoder.metrics() && (l.number >= maxStrange || l.used > maxStrangeBytes) {
		return l.noNumbers()
	}
	return nil
}

// pass passes over what can't be text, up to the next line end.
func (l *lines) pass(err error) {
	l.failed(err)
	var of *LineError
	if errors.As(err, &of) {
		l.last = of
	}
	if l.rest() > 0 && bytes.IndexByte(l.buf[l.at:], '\n') < 0 {
		l.at, l.seen, l.long = len(l.buf), len(l.buf), true
	}
}

// failed notes an error of what stands behind the last line end.
func (l *lines) failed(err error) {
	if err != nil {
		l.bad++
		l.last = &LineError{Name: l.name, Line: l.number, Found: err.Error()}
	}
}

func (l *lines) binary(line []byte) error {
	return &LineError{Name: l.name, Line: l.number, Found: quote(line) + " is not text", Expected: expectedLog}
}

// noneYet says that there are no numbers so far.
func (l *lines) noneYet() string {
	if l.suggested != "" {
		return l.name + ": columns of numbers without names: expected them by --pattern '" + l.suggested + "'"
	}
	return l.name + ": no metric yet, the first line is " + l.first
}

// noNumbers says that there are no numbers.
func (l *lines) noNumbers() error {
	if l.first == "" {
		return &LineError{Name: l.name, Line: 1, Found: "nothing", Expected: expectedLog}
	}
	found := fmt.Sprintf("no metric in %d lines, the first is %s", l.number, l.first)
	if l.number == 1 {
		found = "no metric in " + l.first
	}
	if l.last != nil {
		found = l.last.Found
	}
	if l.suggested != "" {
		return &LineError{Name: l.name, Line: 1, Found: "columns of numbers without names, as " + l.first,
			Expected: "their names: --pattern '" + l.suggested + "'"}
	}
	return &LineError{Name: l.name, Line: 1, Found: found, Expected: expectedLog}
}

func (l *lines) tooLong() {
	if !l.long {
		l.long = true
		l.bad++
		found := fmt.Sprintf("more than %d MB", maxLine>>20)
		l.last = &LineError{Name: l.name, Line: l.number + 1, Found: found, Expected: "a shorter line"}
	}
	l.used += int64(len(l.buf))
	l.buf, l.at, l.seen = nil, 0, 0
}

// over returns what a stream ends with: io.EOF, or an error if there was nothing in it.
func (l *lines) over() error {
	if l.decoder.metrics() || l.lenient {
		return io.EOF
	}
	return l.noNumbers()
}

// Warning says which lines could not be read, or where their reading may be wrong, or is empty.
func (l *lines) Warning() string {
	switch l.bad {
	case 0:
		if !l.decoder.metrics() || l.decoder.own {
			return "" // the first is an error of its own; what stands beside events is the console's
		}
		return cmp.Or(l.decoder.text.Warning(), l.decoder.leftOut(l.name))
	case 1:
		return l.last.Error()
	}
	return fmt.Sprintf("%d lines could not be read, the last is %v", l.bad, l.last)
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

// NameOf is how the run of a log is called that does not say it: as its file, of another host HOST:DIRECTORY/FILE.
func NameOf(log string) string {
	host, at, remote, _ := hosts.Split(filepath.ToSlash(log))
	if !remote {
		return filepath.Base(log)
	}
	parts := strings.Split(at, "/")
	return host + ":" + strings.TrimPrefix(strings.Join(parts[max(0, len(parts)-2):], "/"), "~/")
}
