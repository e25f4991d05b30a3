package folders

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"newtop/trainer/logs"
	"newtop/trainer/logs/jsonlog"
)

// stamp tells versions of a file apart.
type stamp struct {
	info   fs.FileInfo
	stable bool // whether a later change would show in the file's time
}

// changed reports whether a file is another one than at the last call.
func (s *stamp) changed(info fs.FileInfo) bool {
	same := s.stable && os.SameFile(info, s.info) && info.Size() == s.info.Size() &&
		info.ModTime().Equal(s.info.ModTime())
	s.info, s.stable = info, time.Since(info.ModTime()) > 100*time.Millisecond
	return !same
}

// fact is what a small file says of the run.
type fact struct {
	info    logs.Info
	state   logs.State
	message string
}

// facts reads a small file that is written whole, again when it has changed. A file that can't be read may be half
// written.
type facts struct {
	path     string
	parse    func(text []byte) (fact, error)
	stamp    stamp
	reported string // what was reported last
	fault    string // why it could not be read
}

func (f *facts) read(_ context.Context, to logs.Sink) (bool, error) {
	info, err := os.Stat(f.path)
	if err != nil || !info.Mode().IsRegular() || !f.stamp.changed(info) {
		return false, nil
	}
	text, err := os.ReadFile(f.path)
	var parsed fact
	if err == nil {
		parsed, err = f.parse(text)
	}
	if err != nil {
		f.fault = fmt.Sprintf("%s: %v", f.path, err)
		return false, nil
	}
	f.fault = ""
	if said := fmt.Sprint(parsed); said != f.reported {
		f.reported = said
		if i := parsed.info; i.Name != "" || !i.Began.IsZero() || len(i.Config) > 0 {
			to.Info(i)
		}
		if parsed.state != logs.Unknown {
			to.End(parsed.state, parsed.message)
		}
	}
	return false, nil
}

func (f *facts) warning() string { return f.fault }

// document reads a JSON document, once it is there.
type document struct {
	path   string
	reader logs.Reader
	err    string
}

func (d *document) read(ctx context.Context, to logs.Sink) (bool, error) {
	if d.reader == nil {
		if _, err := os.Stat(d.path); err != nil {
			return false, nil
		}
		r, err := jsonlog.OpenFile(d.path)
		if err != nil {
			d.err = err.Error()
			return false, nil
		}
		d.reader, d.err = r, ""
	}
	return d.reader.Read(ctx, to)
}

func (d *document) warning() string {
	if d.reader != nil {
		return d.reader.Warning()
	}
	return d.err
}

// lines follows a file that grows by lines, and gives each whole one to a parser. A line that is not written to its end
// is waited for.
type lines struct {
	path   string
	parser logs.Parser
	stamp  stamp
	offset int64  // behind the last whole line
	last   []byte // what is before it, and changes if the file is written over
	seen   int64  // how far the file was read
	chunk  int64  // how much is read at once
	long   bool   // within a line of more than maxLine
}

const (
	chunk     = 64 << 10
	maxLine   = 64 << 20
	tailBytes = 64
)

func (l *lines) read(_ context.Context, to logs.Sink) (more bool, err error) {
	info, err := os.Stat(l.path)
	if err != nil {
		if l.offset > 0 && errors.Is(err, fs.ErrNotExist) {
			return false, logs.ErrRestart
		}
		return false, nil
	}
	if !info.Mode().IsRegular() {
		return false, nil
	}
	before := l.stamp.info
	if before != nil && (info.Size() < l.offset || !os.SameFile(info, before)) {
		return false, logs.ErrRestart
	}
	if !l.stamp.changed(info) && l.seen >= info.Size() {
		return false, nil
	}
	l.chunk = max(l.chunk, chunk)
	buf := make([]byte, int64(len(l.last))+min(l.chunk, info.Size()-l.offset))
	f, err := os.Open(l.path)
	if err != nil {
		return false, nil
	}
	defer f.Close()
	n, err := f.ReadAt(buf, l.offset-int64(len(l.last)))
	if err != nil && err != io.EOF {
		return false, fmt.Errorf("%s: %w", l.path, err)
	}
	text, ok := bytes.CutPrefix(buf[:n], l.last)
	if !ok {
		return false, logs.ErrRestart
	}
	used := l.use(text, to)
	l.seen = l.offset + int64(len(text))
	l.offset += int64(used)
	l.last = append([]byte(nil), buf[max(0, len(l.last)+used-tailBytes):len(l.last)+used]...)
	if l.seen >= info.Size() {
		l.parser.Flush(to)
	}
	return l.seen < info.Size(), nil
}

// use gives the whole lines of a text to the parser, and returns how long they are.
func (l *lines) use(text []byte, to logs.Sink) (used int) {
	for {
		n := bytes.IndexByte(text[used:], '\n')
		if n < 0 {
			break
		}
		line := text[used : used+n]
		used += n + 1
		if l.long {
			l.long = false
			continue
		}
		l.parser.Line(line, to)
	}
	switch {
	case used > 0 || int64(len(text)) < l.chunk:
		l.chunk = chunk
	case l.chunk < maxLine:
		l.chunk *= 2
	default:
		l.long = true
		used = len(text)
	}
	return used
}

func (l *lines) warning() string {
	if w, ok := l.parser.(interface{ Warning() string }); ok && w.Warning() != "" {
		return l.path + ": " + w.Warning()
	}
	return ""
}

// console is a parser of what a program printed.
type console struct{}

func (console) Line(line []byte, to logs.Sink) error {
	to.Line(logs.Clean(string(line)))
	return nil
}

func (console) Flush(logs.Sink) {}
