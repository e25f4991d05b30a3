package logs

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"newtop/trainer/logs/files"
)

// Tail follows a file that grows by lines. A line that is not written to its end is waited for, and so is a file that
// is not there yet.
type Tail struct {
	Path    files.Path
	Used    int64 // bytes up to the end of the last line that was given
	version files.Version
	last    []byte // what is before that, and changes if the file is written over
	seen    int64  // how far the file was read
	chunk   int64  // how much is read at once
	long    bool   // within a line of more than maxLine
}

const (
	chunk     = 64 << 10
	maxLine   = 64 << 20
	tailBytes = 64
)

// Size is how large the file was when Lines looked last.
func (t *Tail) Size() int64 {
	if t.version.Info == nil {
		return 0
	}
	return t.version.Info.Size()
}

// Lines calls f with each of the next lines, and reports whether there are more already. It returns ErrRestart where
// the file was cut short, written over or replaced.
func (t *Tail) Lines(f func(line []byte)) (more bool, err error) {
	info, err := t.Path.Stat()
	if err != nil {
		if t.Used > 0 && errors.Is(err, fs.ErrNotExist) {
			return false, ErrRestart
		}
		return false, nil
	}
	if !info.Mode().IsRegular() {
		return false, nil
	}
	before := t.version.Info
	if before != nil && (info.Size() < t.Used || !t.Path.In.Same(info, before)) {
		return false, ErrRestart
	}
	if !t.version.Changed(t.Path.In, info) && t.seen >= info.Size() {
		return false, nil
	}
	t.chunk = max(t.chunk, chunk)
	buf := make([]byte, int64(len(t.last))+min(t.chunk, info.Size()-t.Used))
	file, err := t.Path.Open()
	if err != nil {
		return false, nil
	}
	defer file.Close()
	n, err := file.ReadAt(buf, t.Used-int64(len(t.last)))
	if err != nil && err != io.EOF {
		return false, fmt.Errorf("%s: %w", t.Path, err)
	}
	text, ok := bytes.CutPrefix(buf[:n], t.last)
	if !ok {
		return false, ErrRestart
	}
	used := t.use(text, f)
	t.seen = t.Used + int64(len(text))
	t.Used += int64(used)
	t.last = bytes.Clone(buf[max(0, len(t.last)+used-tailBytes) : len(t.last)+used])
	return t.seen < info.Size(), nil
}

// use gives the whole lines of a text, and returns how long they are.
func (t *Tail) use(text []byte, f func(line []byte)) (used int) {
	for end := bytes.IndexByte(text, '\n'); end >= 0; end = bytes.IndexByte(text[used:], '\n') {
		line := text[used : used+end]
		used += end + 1
		if t.long {
			t.long = false
			continue
		}
		f(line)
	}
	switch {
	case used > 0 || int64(len(text)) < t.chunk:
		t.chunk = chunk
	case t.chunk < maxLine:
		t.chunk *= 2
	default:
		t.long = true
		used = len(text)
	}
	return used
}
