package stream

import (
	"bytes"
	"context"

	"newtop/trainer/event"
	"newtop/trainer/logs/files"
)

// maxReread bounds how many bytes of a console are read that were printed before.
const maxReread = 1 << 20

// consoled is a source with the lines of a console beside its events.
type consoled struct {
	Source
	path  files.Path
	file  files.File // nil: there is none so far
	at    int64      // how much of it was read
	ready []byte     // read, and not yet given
	next  event.Event
}

// WithConsole returns a source that also gives the lines of a file, which may come later and grow: those that a program
// printed whose run the source has.
func WithConsole(s Source, path files.Path) Source { return &consoled{Source: s, path: path} }

// Unwrap is the source of the events.
func (c *consoled) Unwrap() Source { return c.Source }

// Next gives what was printed before what was told then: the run opens before, and ends behind it.
func (c *consoled) Next(ctx context.Context) (e event.Event, err error) {
	if e = c.next; e == nil {
		if e, err = c.Source.Next(ctx); err != nil && err != ErrNone {
			return nil, err
		}
	}
	c.next = nil
	_, ends := e.(event.DoneEvent)
	if e != nil && !ends {
		return e, nil
	}
	if line, ok := c.line(ends); ok {
		c.next = e
		return printed(line), nil
	}
	return e, err
}

// line returns the next line, the last one also where it has no end.
func (c *consoled) line(last bool) (line []byte, ok bool) {
	i := bytes.IndexByte(c.ready, '\n')
	for block := make([]byte, 1<<16); i < 0 && c.open(); {
		n, err := c.file.ReadAt(block, c.at)
		c.ready, c.at = append(c.ready, block[:n]...), c.at+int64(n)
		if i = bytes.IndexByte(c.ready, '\n'); err != nil {
			break
		}
	}
	switch {
	case i >= 0:
		line, c.ready = c.ready[:i], c.ready[i+1:]
	case last && len(c.ready) > 0:
		line, c.ready = c.ready, nil
	default:
		return nil, false
	}
	line = bytes.TrimRight(line, "\r")
	return line[bytes.LastIndexByte(line, '\r')+1:], true // what a progress bar wrote over is gone
}

// open opens the file near its end, and reports whether there is one.
func (c *consoled) open() bool {
	if c.file != nil {
		return true
	}
	f, err := c.path.Open()
	if err != nil {
		return false
	}
	if info, err := f.Stat(); err == nil {
		c.at = max(0, info.Size()-maxReread)
	}
	c.file = f
	return true
}

// Close implements Source.
func (c *consoled) Close() error {
	if c.file != nil {
		_ = c.file.Close() // which was only read
	}
	return c.Source.Close()
}
