package print

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"sync"
	"syscall"
	"unicode/utf8"

	"newtop/internal/format"
)

// Output is standard output or standard error, to which everything goes that commands print. It lets through lines of
// what is printable, with tabs, and writes all else as format.Printable does: whatever a file of strangers or an
// argument holds, a terminal shows it and does not act on it, and what is JSON stays the same. It remembers that
// something could not be written. Several goroutines may use it.
type Output struct {
	to   io.Writer
	name string

	mu      sync.Mutex
	pending []byte // the beginning of a character whose end is yet to come
	err     error  // the first
}

// NewOutput returns what writes to a stream, which errors call by its name.
func NewOutput(to io.Writer, name string) *Output { return &Output{to: to, name: name} }

func (o *Output) Write(p []byte) (int, error) { return o.write(p, false) }

// Flush writes what is left, and returns the first error of all that was written.
func (o *Output) Flush() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.pending) > 0 {
		o.writeTo([]byte(string(utf8.RuneError)))
		o.pending = nil
	}
	return o.err
}

func (o *Output) write(p []byte, styled bool) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	text := p
	if len(o.pending) > 0 || !plain(p) {
		text = o.printable(p, styled)
	}
	if err := o.writeTo(text); err != nil {
		return 0, err
	}
	return len(p), nil
}

func (o *Output) writeTo(text []byte) error {
	_, err := o.to.Write(text)
	if err == nil {
		return nil
	}
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		err = path.Err
	}
	err = &OutputError{o.name, err}
	if o.err == nil {
		o.err = err
	}
	return err
}

// plain reports whether a text has nothing in it but lines of ASCII.
func plain(p []byte) bool {
	for _, c := range p {
		if (c < ' ' || c >= 0x7f) && c != '\n' && c != '\t' {
			return false
		}
	}
	return true
}

// printable returns what is written of a text. Of styled text it leaves sequences that choose colours, which are whole
// in one text.
func (o *Output) printable(p []byte, styled bool) []byte {
	p = append(o.pending, p...)
	o.pending = nil
	out := make([]byte, 0, len(p)+16)
	for len(p) > 0 {
		if n := format.StyleLength(p); styled && n > 0 {
			out = append(out, p[:n]...)
			p = p[n:]
			continue
		}
		if !utf8.FullRune(p) {
			o.pending = append([]byte(nil), p...)
			break
		}
		r, n := utf8.DecodeRune(p)
		if r == '\n' || r == '\t' {
			out = append(out, byte(r))
		} else {
			out = format.AppendPrintable(out, r)
		}
		p = p[n:]
	}
	return out
}

// Styled returns what writes to the same stream for a library that colours what it prints, and prints nothing of
// strangers' as it is. To the library it is the terminal that the stream may be.
func (o *Output) Styled() io.Writer {
	if f, ok := o.to.(*os.File); ok {
		return &styledFile{styled{o}, f}
	}
	return &styled{o}
}

type styled struct{ o *Output }

func (s *styled) Write(p []byte) (int, error) { return s.o.write(p, true) }

type styledFile struct {
	styled
	file *os.File
}

func (s *styledFile) Fd() uintptr              { return s.file.Fd() }
func (s *styledFile) Read([]byte) (int, error) { return 0, io.EOF }
func (s *styledFile) Close() error             { return nil }

// Styled returns what a library that colours what it prints may print to in the place of out.
func Styled(out io.Writer) io.Writer {
	if o, ok := out.(*Output); ok {
		return o.Styled()
	}
	return out
}

// File returns the file that out writes to, if it is one: to draw on, or for another program.
func File(out io.Writer) (f *os.File, ok bool) {
	if o, is := out.(*Output); is {
		out = o.to
	}
	f, ok = out.(*os.File)
	return f, ok
}

// OutputError is the failure to write to standard output or standard error.
type OutputError struct {
	Name string // of the stream
	Err  error
}

func (e *OutputError) Error() string { return "can't write to " + e.Name + ": " + e.Err.Error() }
func (e *OutputError) Unwrap() error { return e.Err }

// Unread reports whether the reader of a pipe is gone, who has had all that it wanted.
func (e *OutputError) Unread() bool { return errors.Is(e.Err, syscall.EPIPE) }
