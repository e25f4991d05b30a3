package folders

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"newtop/trainer/logs"
	"newtop/trainer/logs/files"
)

// fact is what a small file says of the run.
type fact struct {
	info    logs.Info
	state   logs.State
	message string
}

// facts reads a small file that is written whole, again when it has changed. A file that can't be read may be half
// written.
type facts struct {
	path     files.Path
	parse    func(text []byte) (fact, error)
	version  files.Version
	reported string // what was reported last
	fault    string // why it could not be read
}

func (f *facts) Read(_ context.Context, to logs.Sink) (bool, error) {
	info, err := f.path.Stat()
	if err != nil || !info.Mode().IsRegular() || !f.version.Changed(f.path.In, info) {
		return false, nil
	}
	text, err := f.path.Read(files.All)
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

func (f *facts) Warning() string { return f.fault }

// lines follows a file that grows by lines, and gives each whole one to a parser. A line that is not written to its end
// is waited for.
type lines struct {
	path    files.Path
	parser  logs.Parser
	version files.Version
	offset  int64  // behind the last whole line
	last    []byte // what is before it, and changes if the file is written over
	seen    int64  // how far the file was read
	chunk   int64  // how much is read at once
	long    bool   // within a line of more than maxLine
}

const (
	chunk     = 64 << 10
	maxLine   = 64 << 20
	tailBytes = 64
)

func (l *lines) Read(_ context.Context, to logs.Sink) (more bool, err error) {
	info, err := l.path.Stat()
	if err != nil {
		if l.offset > 0 && errors.Is(err, fs.ErrNotExist) {
			return false, logs.ErrRestart
		}
		return false, nil
	}
	if !info.Mode().IsRegular() {
		return false, nil
	}
	before := l.version.Info
	if before != nil && (info.Size() < l.offset || !l.path.In.Same(info, before)) {
		return false, logs.ErrRestart
	}
	if !l.version.Changed(l.path.In, info) && l.seen >= info.Size() {
		return false, nil
	}
	l.chunk = max(l.chunk, chunk)
	buf := make([]byte, int64(len(l.last))+min(l.chunk, info.Size()-l.offset))
	f, err := l.path.Open()
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

func (l *lines) Warning() string {
	if w, ok := l.parser.(interface{ Warning() string }); ok && w.Warning() != "" {
		return l.path.Name + ": " + w.Warning()
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
