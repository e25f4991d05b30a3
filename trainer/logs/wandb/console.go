package wandb

import (
	"bytes"
	"io"
	"strings"
	"time"

	"newtop/trainer/logs"
	"newtop/trainer/logs/files"
)

// console makes lines of what a program printed piece by piece.
type console struct{ part []byte }

const maxLine = 16 << 10 // bytes of a line that doesn't end

func (c *console) write(b []byte, line func(string)) {
	for len(b) > 0 {
		i := bytes.IndexByte(b, '\n')
		if i >= 0 {
			line(clean(append(c.part, b[:i]...)))
			c.part, b = c.part[:0], b[i+1:]
			continue
		}
		c.part, b = append(c.part, b...), nil
		// Of a line that is drawn again and again, only the last counts.
		if i := bytes.LastIndexByte(c.part[:len(c.part)-1], '\r'); i >= 0 {
			c.part = c.part[:copy(c.part, c.part[i+1:])]
		}
		if len(c.part) > maxLine {
			line(clean(c.part))
			c.part = c.part[:0]
		}
	}
}

// clean returns what a terminal shows of a line, without blanks at its end.
func clean(b []byte) string { return strings.TrimRight(logs.Clean(string(b)), " ") }

// output follows the file in which W&B keeps what the program prints. A line that the program draws again, as a bar, is
// written again in its place, so the last line is always read again.
type output struct {
	f     files.File
	at    int64  // where the last line begins
	last  string // that line
	size  int64
	wrote time.Time
}

const atOnce = 64 << 10 // bytes of the file that are read at once

// read gives the lines that came, and reports whether there may be more.
func (o *output) read(line func(string)) bool {
	info, err := o.f.Stat()
	if err != nil || info.Size() == o.size && info.ModTime().Equal(o.wrote) {
		return false
	}
	begin := min(o.at, info.Size())
	from := max(begin-1, 0)
	b := make([]byte, atOnce)
	n, err := o.f.ReadAt(b, from)
	if err != nil && err != io.EOF {
		return false
	}
	whole := n < len(b)
	if b = b[:n]; begin > 0 { // the rest of a line, if lines before it have changed
		i := bytes.IndexByte(b, '\n') + 1
		b, from = b[i:], from+int64(i)
	}
	for i := bytes.IndexByte(b, '\n'); i >= 0; i = bytes.IndexByte(b, '\n') {
		if text := clean(b[:i]); from != o.at || text != o.last {
			line(text)
			o.last = text
		}
		o.at = from
		b, from = b[i+1:], from+int64(i+1)
	}
	if whole {
		o.size, o.wrote = info.Size(), info.ModTime()
	} else if o.at == begin { // one line fills it all
		o.at, o.last = from+int64(len(b)), ""
	}
	return !whole
}
