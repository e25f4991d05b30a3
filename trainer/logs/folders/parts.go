package folders

import (
	"context"
	"fmt"

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

// lines gives each line of a file that grows to a parser.
type lines struct {
	logs.Tail
	parser logs.Parser
}

func linesOf(path files.Path, parser logs.Parser) *lines {
	return &lines{logs.Tail{Path: path}, parser}
}

func (l *lines) Read(_ context.Context, to logs.Sink) (more bool, err error) {
	if more, err = l.Lines(func(line []byte) { l.parser.Line(line, to) }); !more && err == nil {
		l.parser.Flush(to)
	}
	return more, err
}

func (l *lines) Warning() string {
	if w, ok := l.parser.(interface{ Warning() string }); ok && w.Warning() != "" {
		return l.Path.Name + ": " + w.Warning()
	}
	return ""
}

// console is a parser of what a program printed.
type console struct{}

func (console) Line(line []byte, to logs.Sink) error {
	to.Line([]byte(logs.Clean(string(line))))
	return nil
}

func (console) Flush(logs.Sink) {}
